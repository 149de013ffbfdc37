/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Settings in virtual time: when a change is due, which commands wait for it, and which settings
 * end by themselves. */
#include "unit/daemon/shown_call.h"

#include "config/config.h"
#include "config/runtime_zones.h"
#include "control/view.h"
#include "daemon/forget.h"
#include "daemon/settings.h"
#include "loop/loop.h"
#include "support/fake_loop.h"
#include "unit/config/config_text.h"

#define SECOND UINT64_C(1000000)

static struct loop *loop;
static struct config *config;
static struct control_view view;
static struct settings *settings;
static struct askers served;
static struct forget forget;
static size_t asker_count;
static bool is_changing;
static unsigned pending_count;

static bool get_changing(void *context)
{
    (void)context;
    return is_changing;
}

static void on_pending(void *context)
{
    (void)context;
    pending_count++;
}

static int begin(void **state)
{
    (void)state;
    const struct settings_host host = {.view = &view,
                                       .asker_count = &asker_count,
                                       .is_changing = get_changing,
                                       .on_pending = on_pending};
    struct settings_host own = host;
    loop = own.loop = loop_new();
    config = load_fine(ZONE);
    view = (struct control_view){.config = config};
    asker_count = pending_count = 0;
    is_changing = false;
    shown[0] = '\0';
    askers_init(&served, &asker_count);
    forget_init(&forget, loop, NULL, NULL, NULL);
    settings = settings_new(&own, config);
    assert_non_null(settings);
    return 0;
}

static int end(void **state)
{
    (void)state;
    settings_end(settings);
    askers_refuse(&served, "the end of the test");
    settings_free(settings);
    config_free(config);
    loop_free(loop);
    return 0;
}

static void run(void (*command)(struct settings *settings, struct call *call), int argc,
                const char *const *words)
{
    struct call *call = shown_call();
    call->argc = argc;
    for (int i = 0; i < argc; i++)
        call->argv[i] = words[i];
    shown[0] = '\0';
    command(settings, call);
}

#define RUN(command, ...)                                                                          \
    run(command, (int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)),                    \
        (const char *[]){__VA_ARGS__})

/* A change takes the settings and answers the commands that wait. */
static void change(void)
{
    settings_take(settings, &served, &forget);
    askers_answer(&served, NULL);
}

static void test_a_command_waits_until_a_change_has_its_setting(void **state)
{
    (void)state;
    RUN(settings_forward, "corp.example", "192.0.2.1");
    assert_string_equal(shown, "");
    assert_true(settings_are_pending(settings));
    assert_int_equal(pending_count, 1);
    assert_int_equal(settings_now(settings).forwards->count, 1);
    settings_take(settings, &served, &forget);
    assert_false(settings_are_pending(settings));
    assert_string_equal(shown, "");
    assert_int_equal(forget.zone_count, 1);
    askers_answer(&served, NULL);
    assert_non_null(strstr(shown, "corp.example"));
}

static void test_a_setting_in_effect_is_answered_at_once(void **state)
{
    (void)state;
    RUN(settings_forward, "corp.example", "192.0.2.1");
    change();
    RUN(settings_forward, "corp.example", "192.0.2.1");
    assert_non_null(strstr(shown, "corp.example"));
    assert_false(settings_are_pending(settings));
    is_changing = true; /* that change may fail */
    RUN(settings_forward, "corp.example", "192.0.2.1");
    assert_string_equal(shown, "");
    assert_true(settings_are_pending(settings));
}

static void test_the_servers_of_the_root_forget_no_answers(void **state)
{
    (void)state;
    RUN(settings_forward, ".", "192.0.2.1");
    settings_take(settings, &served, &forget);
    assert_int_equal(forget.zone_count, 0);
}

static void test_a_change_that_failed_forgets_no_answers(void **state)
{
    (void)state;
    RUN(settings_forward, "corp.example", "192.0.2.1");
    settings_take(settings, &served, NULL);
    assert_int_equal(forget.zone_count, 0);
    assert_false(settings_are_pending(settings));
    settings_retry_later(settings);
    fake_loop_advance(loop, 9 * SECOND);
    assert_false(settings_are_pending(settings));
    fake_loop_advance(loop, 2 * SECOND);
    assert_true(settings_are_pending(settings));
    assert_int_equal(pending_count, 2);
}

static void test_a_negative_trust_anchor_ends_by_itself(void **state)
{
    (void)state;
    RUN(settings_nta, "add", "broken.example", "30s");
    change();
    assert_int_equal(settings_now(settings).ntas->count, 1);
    fake_loop_advance(loop, 29 * SECOND);
    assert_false(settings_are_pending(settings));
    fake_loop_advance(loop, 2 * SECOND);
    assert_true(settings_are_pending(settings));
    assert_int_equal(settings_now(settings).ntas->count, 0);
}

static void test_a_portal_ends_after_ten_minutes_by_itself(void **state)
{
    (void)state;
    RUN(settings_portal, "on", "192.0.2.1");
    change();
    assert_true(view.has_portal);
    assert_non_null(settings_now(settings).forwards->portal);
    fake_loop_advance(loop, 599 * SECOND);
    assert_true(view.has_portal);
    fake_loop_advance(loop, 2 * SECOND);
    assert_false(view.has_portal);
    assert_null(settings_now(settings).forwards->portal);
    assert_true(settings_are_pending(settings));
}

static void test_a_new_file_drops_the_forwards_that_do_not_fit_it(void **state)
{
    (void)state;
    struct runtime_zones kept;
    struct config *next = load_fine(ZONE "local-zones: [{name: corp.example, action: refuse}]\n");
    RUN(settings_forward, "corp.example", "192.0.2.1");
    change();
    RUN(settings_forward, "lab.example", "192.0.2.1");
    struct generation_settings fitting = settings_for_file(settings, next, &kept);
    assert_int_equal(fitting.forwards->count, 1);
    assert_int_equal(settings_now(settings).forwards->count, 2); /* a later step may fail */
    settings_use_file(settings, next, NULL, &forget);
    assert_int_equal(settings_now(settings).forwards->count, 1);
    assert_int_equal(forget.zone_count, 1);
    config_free(next);
}

static void test_commands_are_refused_at_the_end(void **state)
{
    (void)state;
    RUN(settings_forward, "corp.example", "192.0.2.1");
    settings_end(settings);
    assert_non_null(strstr(shown, "refused\tnailupd is stopping"));
    RUN(settings_nta, "add", "broken.example", "30s");
    assert_non_null(strstr(shown, "refused\tnailupd is stopping"));
    RUN(settings_portal, "on", "192.0.2.1");
    assert_non_null(strstr(shown, "refused\tnailupd is stopping"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_command_waits_until_a_change_has_its_setting),
        TEST(test_a_setting_in_effect_is_answered_at_once),
        TEST(test_the_servers_of_the_root_forget_no_answers),
        TEST(test_a_change_that_failed_forgets_no_answers),
        TEST(test_a_negative_trust_anchor_ends_by_itself),
        TEST(test_a_portal_ends_after_ten_minutes_by_itself),
        TEST(test_a_new_file_drops_the_forwards_that_do_not_fit_it),
        TEST(test_commands_are_refused_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
