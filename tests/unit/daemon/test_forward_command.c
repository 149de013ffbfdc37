/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The arguments of `nailupctl forward`, good and hostile. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>

#include "control/view.h"
#include "daemon/forward_command.h"
#include "unit/config/config_text.h"
#include "unit/daemon/shown_call.h"
#include "unit/zone/zone_make.h"
#include "zone/zone_set.h"

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

/* Makes a view with a member of cat.test, which delegates sub.member.test. */
static struct control_view view_with_member(struct control_zone *row, enum zone_use use)
{
    struct zone_held held = {.use = use};
    struct name name = name_copy(zone_make_name("member.test"), held.wire);
    held.name_len = row->name_len = name_copy(name, row->wire).len;
    row->catalog_len = name_copy(zone_make_name("cat.test"), row->catalog).len;
    held.data = zone_make("member.test", "@ 60 SOA . . 1 1 1 1 1\n@ 60 NS .\nsub 60 NS ns.test.\n");
    struct control_view view = {.zones = zone_set_new(&held, 1), .held = row, .held_count = 1};
    zone_data_unref(held.data);
    return view;
}

static void test_names_of_a_member_need_no_servers(void **state)
{
    struct control_zone row = {0};
    struct control_view view = view_with_member(&row, ZONE_FOR_BOTH);

    (void)state;
    assert_int_equal(READ("Member.test", "192.0.2.1"), ERR_OK);
    assert_int_equal(forward_command_check_held(&view, &zone, why), ERR_INVALID);
    assert_string_equal(
        why, "member.test. is a member of the catalog cat.test., so no server of it would be "
             "asked; give the catalog for: upstream in the file, or take the zone out of the "
             "catalog");
    assert_int_equal(READ("lab.member.test", "192.0.2.1"), ERR_OK);
    assert_int_equal(forward_command_check_held(&view, &zone, why), ERR_INVALID);
    assert_string_equal(
        why, "lab.member.test. is below member.test., which is held here and does not delegate it, "
             "so no server of it would be asked; delegate it there, or give that zone for: "
             "upstream in the file");
    assert_int_equal(READ("member.test", "off"), ERR_OK);
    assert_int_equal(forward_command_check_held(&view, &zone, why), ERR_OK);
    zone_set_unref((struct zone_set *)view.zones);
}

static void test_names_beside_and_below_cuts_of_a_member_may_have_servers(void **state)
{
    static const char *const names[] = {"sub.member.test", "a.sub.member.test", "test",
                                        "other.test"};
    struct control_zone row = {0};
    struct control_view view = view_with_member(&row, ZONE_FOR_CLIENTS), none = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        assert_int_equal(READ(names[i], "192.0.2.1"), ERR_OK);
        assert_int_equal(forward_command_check_held(&view, &zone, why), ERR_OK);
    }
    zone_set_unref((struct zone_set *)view.zones);
    assert_int_equal(READ("member.test", "192.0.2.1"), ERR_OK);
    assert_int_equal(forward_command_check_held(&none, &zone, why), ERR_OK);
    view = view_with_member(&row, ZONE_FOR_UPSTREAM);
    assert_int_equal(forward_command_check_held(&view, &zone, why), ERR_OK);
    zone_set_unref((struct zone_set *)view.zones);
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

static void test_each_server_of_each_zone_is_shown(void **state)
{
    struct call *call = shown_call();

    (void)state;
    assert_int_equal(READ("corp.example", "192.0.2.1", "192.0.2.2@5353"), ERR_OK);
    assert_int_equal(forward_command_set(&zones, &zone, why), ERR_OK);
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
        TEST(test_names_of_a_member_need_no_servers),
        TEST(test_names_beside_and_below_cuts_of_a_member_may_have_servers),
        TEST(test_zones_are_bounded_and_the_refusal_says_so),
        TEST(test_each_server_of_each_zone_is_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
