/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The arguments of `nailupctl forward`, good and hostile. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>

#include "control/call.h"
#include "daemon/forward_command.h"
#include "unit/config/config_text.h"

static struct config *config;
static struct runtime_zones zones;
static struct runtime_zone zone;
static char why[RUNTIME_ZONE_WHY_MAX];

static int begin(void **state)
{
    (void)state;
    config = load_fine(ZONE);
    memset(&zones, 0, sizeof(zones));
    why[0] = '\0';
    return 0;
}

static int end(void **state)
{
    (void)state;
    runtime_zones_deinit(&zones);
    config_free(config);
    return 0;
}

static enum err read_words(int count, const char *const *words)
{
    static struct call call;

    call.argc = count;
    for (int i = 0; i < count; i++)
        call.argv[i] = words[i];
    return forward_command_read(&call, config, &zone, why);
}

#define READ(...)                                                                                  \
    read_words((int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)),                      \
               (const char *[]){__VA_ARGS__})

static void test_servers_of_a_zone_are_read(void **state)
{
    (void)state;
    assert_int_equal(READ("Corp.Example", "192.0.2.1", "192.0.2.2@5353"), ERR_OK);
    assert_int_equal(zone.upstream_count, 2);
    assert_true(forward_command_is_change(&zones, &zone));
}

static void test_off_removes_a_zone_that_was_set(void **state)
{
    (void)state;
    assert_int_equal(READ("corp.example", "192.0.2.1"), ERR_OK);
    assert_int_equal(forward_command_set(&zones, &zone, why), ERR_OK);
    assert_false(forward_command_is_change(&zones, &zone));
    assert_int_equal(READ("corp.example", "off"), ERR_OK);
    assert_int_equal(zone.upstream_count, 0);
    assert_true(forward_command_is_change(&zones, &zone));
    assert_int_equal(forward_command_set(&zones, &zone, why), ERR_OK);
    assert_int_equal(zones.count, 0);
    assert_false(forward_command_is_change(&zones, &zone));
}

static void test_a_zone_alone_is_refused_with_advice(void **state)
{
    (void)state;
    assert_int_equal(READ("corp.example"), ERR_INVALID);
    assert_string_equal(why, "name the servers of corp.example, or off to use the servers of the "
                             "file again");
}

static void test_wrong_words_are_refused_and_change_nothing(void **state)
{
    static char long_name[400];

    (void)state;
    memset(long_name, 'a', sizeof(long_name) - 1);
    assert_int_equal(READ("a..b", "192.0.2.1"), ERR_INVALID);
    assert_int_equal(READ(long_name), ERR_INVALID);
    assert_int_equal(READ("corp.example", "off", "192.0.2.1"), ERR_INVALID);
    assert_int_equal(READ("corp.example", "not-an-address"), ERR_INVALID);
    assert_int_equal(READ("corp.example", "192.0.2.1", "192.0.2.1"), ERR_INVALID);
    assert_int_equal(READ("corp.example", "192.0.2.1@0"), ERR_INVALID);
    assert_true(strlen(why) > 0 && strlen(why) < sizeof(why));
    assert_int_equal(zones.count, 0);
}

static void test_zones_are_bounded_and_the_refusal_says_so(void **state)
{
    char name[32];

    (void)state;
    for (int i = 0; i < RUNTIME_ZONES_MAX; i++) {
        snprintf(name, sizeof(name), "z%d.example", i);
        assert_int_equal(READ(name, "192.0.2.1"), ERR_OK);
        assert_int_equal(forward_command_set(&zones, &zone, why), ERR_OK);
    }
    assert_int_equal(READ("one-more.example", "192.0.2.1"), ERR_OK);
    assert_int_equal(forward_command_set(&zones, &zone, why), ERR_LIMIT);
    assert_non_null(strstr(why, "remove one of them first"));
    assert_int_equal(READ("z0.example", "192.0.2.9"), ERR_OK);
    assert_int_equal(forward_command_set(&zones, &zone, why), ERR_OK);
    assert_int_equal(zones.count, RUNTIME_ZONES_MAX);
}

static void on_done(struct call *call, void *context)
{
    char *shown = context;
    struct span text = buf_span(&call->reply.buf);

    assert_true(text.len < 4096);
    memcpy(shown, text.data, text.len);
    shown[text.len] = '\0';
    call_free(call);
}

static void test_each_server_of_each_zone_is_shown(void **state)
{
    static char shown[4096];
    struct call *call = call_new(NULL, NULL, on_done, shown);

    (void)state;
    assert_int_equal(READ("corp.example", "192.0.2.1", "192.0.2.2@5353"), ERR_OK);
    assert_int_equal(forward_command_set(&zones, &zone, why), ERR_OK);
    reply_ok(&call->reply);
    forward_command_show(call, config, &zones);
    call_done(call);
    assert_non_null(strstr(shown, "\nrow\tcorp.example.\t192.0.2.1@53\t"));
    assert_non_null(strstr(shown, "\nrow\tcorp.example.\t192.0.2.2@5353\t"));
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(test_servers_of_a_zone_are_read),
        TEST(test_off_removes_a_zone_that_was_set),
        TEST(test_a_zone_alone_is_refused_with_advice),
        TEST(test_wrong_words_are_refused_and_change_nothing),
        TEST(test_zones_are_bounded_and_the_refusal_says_so),
        TEST(test_each_server_of_each_zone_is_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
