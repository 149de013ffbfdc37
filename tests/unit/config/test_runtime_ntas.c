/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Negative trust anchors that are set at run time. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>

#include "base/units.h"
#include "config/runtime_ntas.h"
#include "unit/config/config_text.h"
#include "validate/anchors.h"

static struct runtime_ntas ntas;
static char why[RUNTIME_NTA_WHY_MAX];

static int begin(void **state)
{
    (void)state;
    ntas.count = 0;
    return 0;
}

static struct name name_of(const char *text)
{
    static uint8_t wire[NAME_WIRE_MAX];
    struct name name;
    assert_int_equal(name_parse(&name, wire, text, strlen(text)), ERR_OK);
    return name;
}

static uint64_t end_of(const char *time)
{
    struct runtime_nta nta;
    assert_int_equal(runtime_nta_parse(&nta, "Corp.Example", time, 1000, why), ERR_OK);
    assert_true(name_equal_exact(runtime_nta_name(&nta), name_of("corp.example")));
    return nta.ends_at - 1000;
}

static void set(const char *name, const char *time, uint64_t now)
{
    struct runtime_nta nta;
    assert_int_equal(runtime_nta_parse(&nta, name, time, now, why), ERR_OK);
    assert_int_equal(runtime_ntas_put(&ntas, &nta), ERR_OK);
}

static void test_the_time_is_an_hour_unless_given(void **state)
{
    (void)state;
    assert_int_equal(end_of(NULL), 3600 * US_PER_S);
    assert_int_equal(end_of("1s"), US_PER_S);
    assert_int_equal(end_of("90m"), 5400 * US_PER_S);
    assert_int_equal(end_of("7d"), 7 * 86400 * US_PER_S);
}

static void expect_refused(const char *name, const char *time, const char *sentence)
{
    struct runtime_nta nta;
    assert_int_equal(runtime_nta_parse(&nta, name, time, 0, why), ERR_INVALID);
    assert_string_equal(why, sentence);
}

static void test_wrong_words_are_refused_with_advice(void **state)
{
    (void)state;
    static const char *const times[] = {"",
                                        "0s",
                                        "8d",
                                        "604801s",
                                        "500ms",
                                        "3600",
                                        "1w",
                                        "-1h",
                                        "never",
                                        "1h1h",
                                        "99999999999999999999d"};
    char sentence[RUNTIME_NTA_WHY_MAX];
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        snprintf(sentence, sizeof(sentence),
                 "'%s' is not a time from 1s to 7d; write it like 30m, 1h or 1d", times[i]);
        expect_refused("a.example", times[i], sentence);
    }
    expect_refused("a..example", "1h",
                   "'a..example' is not a domain name; write it like corp.example, or a dot for "
                   "all names");
    expect_refused("", NULL,
                   "'' is not a domain name; write it like corp.example, or a dot for all names");
}

static void test_a_name_is_in_the_list_once(void **state)
{
    (void)state;
    set("a.example", "1h", 0);
    set("b.example", "2h", 0);
    set("A.EXAMPLE", "3h", 0);
    assert_int_equal(ntas.count, 2);
    assert_int_equal(runtime_ntas_find(&ntas, name_of("a.example"))->ends_at, 10800 * US_PER_S);
    assert_true(runtime_ntas_remove(&ntas, name_of("a.example")));
    assert_false(runtime_ntas_remove(&ntas, name_of("a.example")));
    assert_null(runtime_ntas_find(&ntas, name_of("a.example")));
    assert_non_null(runtime_ntas_find(&ntas, name_of("b.example")));
}

static void test_the_first_end_comes_first(void **state)
{
    (void)state;
    struct runtime_nta nta;
    assert_int_equal(runtime_ntas_next_end(&ntas), UINT64_MAX);
    set("late.example", "2h", 0);
    set("soon.example", "1h", 0);
    set("soon.too.example", "1h", 0);
    assert_int_equal(runtime_ntas_next_end(&ntas), 3600 * US_PER_S);
    assert_false(runtime_ntas_take_ended(&ntas, 3600 * US_PER_S - 1, &nta));
    assert_true(runtime_ntas_take_ended(&ntas, 3600 * US_PER_S, &nta));
    assert_true(name_equal_exact(runtime_nta_name(&nta), name_of("soon.example")));
    assert_true(runtime_ntas_take_ended(&ntas, 3600 * US_PER_S, &nta));
    assert_false(runtime_ntas_take_ended(&ntas, 3600 * US_PER_S, &nta));
    assert_int_equal(ntas.count, 1);
    assert_int_equal(runtime_ntas_next_end(&ntas), 7200 * US_PER_S);
}

static void test_their_number_is_bounded(void **state)
{
    (void)state;
    char name[32];
    struct runtime_nta nta;
    for (int i = 0; i < RUNTIME_NTAS_MAX; i++) {
        snprintf(name, sizeof(name), "z%d.example", i);
        set(name, NULL, 0);
    }
    assert_int_equal(runtime_nta_parse(&nta, "one-more.example", NULL, 0, why), ERR_OK);
    assert_int_equal(runtime_ntas_put(&ntas, &nta), ERR_LIMIT);
    set("z0.example", "2h", 0);
    assert_int_equal(ntas.count, RUNTIME_NTAS_MAX);
    assert_true(runtime_ntas_remove(&ntas, name_of("z255.example")));
    assert_int_equal(runtime_ntas_put(&ntas, &nta), ERR_OK);
}

static void test_they_displace_the_anchors_of_the_configuration(void **state)
{
    (void)state;
    struct config *config = load_fine("dnssec: {validate: yes, negative-trust-anchors: [b]}\n");
    struct anchors *anchors;
    assert_int_equal(runtime_ntas_anchors(&ntas, config, NULL, &anchors), ERR_OK);
    assert_null(anchors);
    set("a", NULL, 0);
    set("b", NULL, 0);
    assert_int_equal(runtime_ntas_anchors(&ntas, config, NULL, &anchors), ERR_OK);
    config_free(config);
    assert_int_equal(anchors_count(anchors), 3);
    assert_int_equal(anchors_find(anchors, name_of("x.a"))->kind, ANCHOR_NEGATIVE);
    assert_string_equal(anchors_find(anchors, name_of("x.a"))->source, "nta");
    assert_string_equal(anchors_find(anchors, name_of("x.b"))->source, "nta");
    assert_int_equal(anchors_find(anchors, name_of("c"))->kind, ANCHOR_TRUSTED);
    anchors_free(anchors);
}

static void test_the_root_turns_validation_off(void **state)
{
    (void)state;
    struct config *config = load_fine("dnssec: {validate: yes}\n");
    struct anchors *anchors;
    set(".", NULL, 0);
    assert_int_equal(runtime_ntas_anchors(&ntas, config, NULL, &anchors), ERR_OK);
    assert_int_equal(anchors_find(anchors, name_of("com"))->kind, ANCHOR_NEGATIVE);
    anchors_free(anchors);
    config_free(config);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup(test, begin)
    const struct CMUnitTest tests[] = {
        TEST(test_the_time_is_an_hour_unless_given),
        TEST(test_wrong_words_are_refused_with_advice),
        TEST(test_a_name_is_in_the_list_once),
        TEST(test_the_first_end_comes_first),
        TEST(test_their_number_is_bounded),
        TEST(test_they_displace_the_anchors_of_the_configuration),
        TEST(test_the_root_turns_validation_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
