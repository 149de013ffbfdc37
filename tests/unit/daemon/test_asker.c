/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "config/changes.h"
#include "config/config.h"
#include "control/call.h"
#include "daemon/asker.h"
#include "daemon/reload_report.h"
#include "unit/config/config_text.h"

static size_t count;
static struct askers first, second;
static int done;
static char last[4096];

/* Frees the call, as the control socket does. */
static void on_done(struct call *call, void *context)
{
    (void)context;
    struct span text = buf_span(&call->reply.buf);
    assert_true(text.len < sizeof(last));
    memcpy(last, text.data, text.len);
    last[text.len] = '\0';
    done++;
    call_free(call);
}

static struct call *new_call(void)
{
    struct call *call = call_new(NULL, NULL, on_done, NULL);
    reply_ok(&call->reply);
    return call;
}

static struct asker *add(struct askers *askers, const char *zone)
{
    char why[RUNTIME_ZONE_WHY_MAX];
    struct asker *asker = askers_add(askers, new_call());
    assert_non_null(asker);
    asker->kind = zone ? ASKER_FORWARD : ASKER_FILE;
    if (zone)
        assert_int_equal(runtime_zone_parse(&asker->forward, zone, 0, NULL, why), ERR_OK);
    return asker;
}

static int open_all(void **state)
{
    (void)state;
    count = 0;
    done = 0;
    askers_init(&first, &count);
    askers_init(&second, &count);
    return 0;
}

static void test_each_asker_is_answered_once_in_whichever_list(void **state)
{
    (void)state;
    struct config *config = load_fine(ZONE);
    static const struct changes changes;
    const struct reload_report report = {.config_file = "f", .config = config, .changes = &changes};
    add(&first, NULL);
    add(&second, "a.example");
    askers_move(&second, &first);
    askers_answer(&first, &report);
    assert_int_equal(done, 0);
    askers_answer(&second, &report);
    assert_int_equal(done, 2);
    assert_int_equal(count, 0);
    assert_non_null(strstr(last, "record\treload\n"));
    config_free(config);
}

static void test_all_lists_share_one_bound(void **state)
{
    (void)state;
    for (int i = 0; i < ASKERS_MAX; i++)
        add(i % 2 ? &first : &second, NULL);
    assert_null(askers_add(&first, new_call()));
    assert_int_equal(done, 1);
    assert_non_null(strstr(last, "refused\ttoo many"));
    askers_refuse(&first, "no");
    askers_refuse(&second, "no");
    assert_int_equal(done, ASKERS_MAX + 1);
    assert_string_equal(last, "refused\tno\nend\n");
}

static void test_errors_are_listed_line_by_line(void **state)
{
    (void)state;
    static const char errors[] = "f:1:2: error: a: b\nf:3:4: error: c: d\n";
    struct reload_report report = {.why = "nothing was changed",
                                   .errors = {(const uint8_t *)errors, sizeof(errors) - 1}};
    add(&first, NULL);
    askers_refuse_report(&first, &report);
    assert_string_equal(last, "refused\tnothing was changed\ntable\terrors\n"
                              "columns\terror:text\nrow\tf:1:2: error: a: b\n"
                              "row\tf:3:4: error: c: d\nend\n");
}

static void test_only_askers_of_the_forward_are_refused(void **state)
{
    (void)state;
    struct runtime_zone forward = add(&first, "a.example")->forward;
    add(&first, "b.example");
    add(&first, NULL);
    askers_refuse_forward(&first, &forward, "no");
    assert_int_equal(done, 1);
    assert_int_equal(count, 2);
    askers_refuse(&first, "no");
}

static void test_an_asker_whose_client_left_is_freed_too(void **state)
{
    (void)state;
    struct asker *asker = add(&first, NULL);
    call_abandon(asker->call);
    askers_refuse(&first, "no");
    assert_int_equal(done, 0);
    assert_int_equal(count, 0);
}

int main(void)
{
#define WITH_ALL(test) cmocka_unit_test_setup(test, open_all)
    const struct CMUnitTest tests[] = {
        WITH_ALL(test_each_asker_is_answered_once_in_whichever_list),
        WITH_ALL(test_all_lists_share_one_bound),
        WITH_ALL(test_errors_are_listed_line_by_line),
        WITH_ALL(test_only_askers_of_the_forward_are_refused),
        WITH_ALL(test_an_asker_whose_client_left_is_freed_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
