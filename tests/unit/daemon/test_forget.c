/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>

#include "daemon/forget.h"
#include "loop/loop.h"
#include "resolve/space.h"
#include "support/fake_loop.h"
#include "unit/cache/made_answers.h"
#include "unit/transfer/zone_sample.h"
#include "zone/zone_set.h"

enum { ANSWERS = 5000 };

static struct loop *loop;
static struct cache *cache;
static struct forget forget;
static int done;

static void on_done(void *context)
{
    (void)context;
    done++;
}

static int open_all(void **state)
{
    static const struct cache_options options = {.size_bytes = 16 << 20, .max_ttl_s = 86400};
    (void)state;
    done = 0;
    loop = loop_new();
    cache_thread_begin();
    cache = cache_new(&options);
    forget_init(&forget, loop, cache, on_done, NULL);
    for (int i = 0; i < ANSWERS; i++)
        assert_true(store_number(cache, (uint64_t)i, loop_now(loop)));
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    loop_free(loop);
    cache_thread_end();
    cache_free(cache);
    return 0;
}

static uint64_t entries(void)
{
    struct cache_usage usage;
    cache_usage(cache, &usage);
    return usage.entries;
}

static void list_zone(const char *text)
{
    struct name name;
    uint8_t wire[NAME_WIRE_MAX];
    assert_int_equal(name_parse(&name, wire, text, strlen(text)), ERR_OK);
    forget_zone(&forget, name);
}

static void run(void)
{
    forget_begin(&forget);
    while (fake_loop_step(loop))
        ;
    assert_int_equal(done, 1);
    assert_false(forget.is_running);
}

static void test_an_empty_list_is_done_at_once(void **state)
{
    (void)state;
    forget_clear(&forget);
    forget_begin(&forget);
    assert_int_equal(done, 1);
    assert_int_equal(entries(), ANSWERS);
}

static void test_only_listed_zones_are_dropped(void **state)
{
    (void)state;
    forget_clear(&forget);
    list_zone("n7.example");
    list_zone("N8.Example");
    list_zone("other.example");
    run();
    assert_int_equal(forget.count, 2);
    assert_int_equal(entries(), ANSWERS - 2);
}

static void test_the_walk_takes_many_turns(void **state)
{
    (void)state;
    forget_clear(&forget);
    list_zone("example");
    uint64_t before = fake_loop_turns(loop);
    run();
    assert_true(fake_loop_turns(loop) > before + 1);
    assert_int_equal(entries(), 0);
}

static void test_too_many_zones_drop_the_whole_cache(void **state)
{
    (void)state;
    forget_clear(&forget);
    for (int i = 0; i <= RUNTIME_ZONES_MAX; i++) {
        char zone[32];
        snprintf(zone, sizeof(zone), "z%d.test", i);
        list_zone(zone);
        list_zone(zone);
    }
    run();
    assert_int_equal(entries(), 0);
}

/* Makes a set of the zones n0.example, n1.example and so on. Zones from number `from` on have data.
 */
static struct zone_set *zones_with_data(unsigned count, unsigned from)
{
    enum { MOST = 1000 };
    static struct zone_held zones[MOST];
    assert_true(count <= MOST);
    for (unsigned i = 0; i < count; i++) {
        char text[32];
        uint8_t wire[NAME_WIRE_MAX];
        struct name name;
        snprintf(text, sizeof(text), "n%u.example", i);
        assert_int_equal(name_parse(&name, wire, text, strlen(text)), ERR_OK);
        zones[i] = (struct zone_held){.use = ZONE_FOR_CLIENTS};
        zones[i].name_len = name_copy(name, zones[i].wire).len;
        zones[i].data = i >= from ? zone_sample(name, 1, 1) : NULL;
    }
    struct zone_set *set = zone_set_new(zones, count);
    assert_non_null(set);
    for (unsigned i = 0; i < count; i++)
        zone_data_unref(zones[i].data);
    return set;
}

/* The zones of a catalog may come at once, more of them than RUNTIME_ZONES_MAX. */
static void test_answers_that_hide_new_zones_are_dropped_and_no_others(void **state)
{
    (void)state;
    struct zone_set *before = zones_with_data(1000, 990), *after = zones_with_data(1000, 400);
    forget_clear(&forget);
    forget_hiding(&forget, after, before);
    run();
    assert_int_equal(forget.count, 590);
    assert_int_equal(entries(), ANSWERS - 590);
    done = 0;
    forget_clear(&forget);
    forget_hiding(&forget, after, NULL);
    run();
    assert_int_equal(entries(), ANSWERS - 600);
    zone_set_unref(before);
    zone_set_unref(after);
}

static void store_in_space(uint32_t space)
{
    static struct made made;
    struct cache_key key;
    make_question(&made, 1);
    make_answer(&made, 1, 0, 1, loop_now(loop));
    cache_key_init(&key, cache, &made.question, 0, 0, space);
    assert_true(cache_store(cache, &key, &made.answer));
}

static void test_only_answers_from_behind_a_portal_are_dropped(void **state)
{
    (void)state;
    store_in_space(1);
    store_in_space(SPACE_PORTALS);
    store_in_space(SPACE_PORTALS + 7);
    store_in_space(SPACE_NUMBERS - 1);
    assert_int_equal(entries(), ANSWERS + 4);
    forget_clear(&forget);
    forget_portals(&forget);
    run();
    assert_int_equal(entries(), ANSWERS + 1);
    assert_int_equal(forget.count, 3);
}

int main(void)
{
#define WITH_ALL(test) cmocka_unit_test_setup_teardown(test, open_all, close_all)
    const struct CMUnitTest tests[] = {
        WITH_ALL(test_an_empty_list_is_done_at_once),
        WITH_ALL(test_only_listed_zones_are_dropped),
        WITH_ALL(test_the_walk_takes_many_turns),
        WITH_ALL(test_only_answers_from_behind_a_portal_are_dropped),
        WITH_ALL(test_too_many_zones_drop_the_whole_cache),
        WITH_ALL(test_answers_that_hide_new_zones_are_dropped_and_no_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
