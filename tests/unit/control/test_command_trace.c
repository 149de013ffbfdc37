/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Tests what the command trace shows, and that it leaves nothing behind. */

#include "unit/control/desk.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/units.h"
#include "config/config.h"
#include "control/call.h"
#include "control/request.h"
#include "resolve/trace.h"

enum { CALLS = 10000 };

struct office {
    struct desk desk;
    struct config *config;
    unsigned done;
    struct call *last;
};

static int open_office(void **state)
{
    static const char text[] = "server: {listen: [127.0.0.1@5353]}\n"
                               "recursion: {enabled: no}\n"
                               "local-data: [\"nas.lan. A 192.0.2.7\"]\n"
                               "forward-zones: [{name: z.example, upstreams: [192.0.2.1]}]\n";
    static struct office office;
    struct buf errors;
    buf_init(&errors, CONFIG_ERRORS_BYTES);
    assert_int_equal(config_parse("nailup.yaml", text, sizeof(text) - 1, &office.config, &errors),
                     ERR_OK);
    buf_deinit(&errors);
    desk_open_with(&office.desk, &office.config->route);
    for (int i = 0; i < DESK_WORKERS; i++)
        resolver_set_local(office.desk.workers[i].resolver, office.config->local);
    office.done = 0;
    office.last = NULL;
    *state = &office;
    return 0;
}

static int close_office(void **state)
{
    struct office *office = *state;
    desk_close(&office->desk);
    config_free(office->config);
    return 0;
}

static void keep(struct call *call, void *context)
{
    struct office *office = context;
    office->done++;
    office->last = call;
}

static void count_and_free(struct call *call, void *context)
{
    ((struct office *)context)->done++;
    call_free(call);
}

static struct call *request(struct office *office, const char *line,
                            void (*on_done)(struct call *, void *))
{
    struct call *call = call_new(office->desk.loop, &office->desk.view, on_done, office);
    assert_non_null(call);
    request_run(call, span_of(line, strlen(line)));
    return call;
}

static void pass(struct office *office, uint64_t us)
{
    fake_loop_advance(office->desk.workers[0].loop, us);
    desk_settle(&office->desk);
}

/* Returns the reply; waits at most us for it. */
static const char *ask(struct office *office, const char *line, uint64_t us)
{
    static char text[64 * 1024];
    office->last = NULL;
    struct call *call = request(office, line, keep);
    desk_settle(&office->desk);
    if (!office->last)
        pass(office, us);
    assert_ptr_equal(office->last, call);
    struct span all = buf_span(&call->reply.buf);
    snprintf(text, sizeof(text), "%.*s", (int)all.len, (const char *)all.data);
    call_free(call);
    return text;
}

#define ASSERT_SAYS(reply, part) assert_non_null(strstr(reply, part))
#define ASSERT_REFUSED(reply, part)                                                                \
    do {                                                                                           \
        const char *said_ = (reply);                                                               \
        assert_memory_equal(said_, "refused\t", 8);                                                \
        ASSERT_SAYS(said_, part);                                                                  \
    } while (0)

static void test_trace_shows_local_data_with_its_records(void **state)
{
    const char *reply = ask(*state, "trace\tNAS.lan", 0);
    ASSERT_SAYS(reply, "\nrow\tnas.lan.\tA\there\tNOERROR\tpositive\t\t\t0\t0\t0\n");
    ASSERT_SAYS(reply, "\t0\there\tnas.lan. A\t");
    ASSERT_SAYS(reply, "\nrow\tanswer\tnas.lan. ");
    ASSERT_SAYS(reply, " IN A 192.0.2.7\n");
}

static void test_trace_of_a_dead_zone_shows_each_attempt_and_the_failure(void **state)
{
    const char *reply = ask(*state, "trace\twww.z.example\tAAAA", 15 * US_PER_S);
    ASSERT_SAYS(reply, "\nrow\twww.z.example.\tAAAA\tby upstreams\tSERVFAIL\tfailure\t");
    ASSERT_SAYS(reply, "\t0\tquestion\twww.z.example. AAAA\tz.example.\t");
    ASSERT_SAYS(reply, "\t192.0.2.1@53\tudp\tno\t");
    ASSERT_SAYS(reply, "\trefused or no route\t");
    ASSERT_SAYS(reply, "\tgiven up\twww.z.example. AAAA\tz.example.\t");
}

static void test_trace_reports_a_name_without_a_zone(void **state)
{
    const char *reply = ask(*state, "trace\twww.example.org\tknown", 0);
    ASSERT_SAYS(reply, "\nrow\twww.example.org.\tA\trefused: no zone matches\t\t\t");
    assert_null(strstr(reply, "records"));
}

static void test_trace_refuses_wrong_names_and_types(void **state)
{
    char line[CONTROL_REQUEST_MAX];
    ASSERT_REFUSED(ask(*state, "trace\ta..b", 0), "is not a name");
    ASSERT_REFUSED(ask(*state, "trace\ta.b\tNOTYPE", 0), "is not a type");
    ASSERT_REFUSED(ask(*state, "trace\ta.b\tAXFR", 0), "never queried");
    ASSERT_REFUSED(ask(*state, "trace\ta.b\tA\tfrech", 0), "is neither known nor fresh");
    ASSERT_REFUSED(ask(*state, "trace\ta.b\tA\tknown\tlab", 0), "no view has this name");
    ASSERT_REFUSED(ask(*state, "trace\ta.b\tA\tlab\tknown", 0), "is neither known nor fresh");
    ASSERT_REFUSED(ask(*state, "trace", 0), "usage: trace");
    int len = snprintf(line, sizeof(line), "trace\t");
    for (int i = 0; i < 128; i++)
        len += snprintf(line + len, sizeof(line) - (size_t)len, "aa.");
    ASSERT_REFUSED(ask(*state, line, 0), "is not a name");
    memset(line + 6, 'a', 64);
    snprintf(line + 70, sizeof(line) - 70, ".example");
    ASSERT_REFUSED(ask(*state, line, 0), "is not a name");
}

static void test_the_number_of_traces_is_bounded_and_all_end(void **state)
{
    struct office *office = *state;
    char line[64];
    for (int i = 0; i < CALLS; i++) {
        snprintf(line, sizeof(line), "trace\tn%d.z.example", i);
        request(office, line, count_and_free);
        if (i % 100 == 0)
            desk_settle(&office->desk);
    }
    desk_settle(&office->desk);
    assert_int_equal(office->done, CALLS - TRACES_MAX);
    assert_int_equal(resolver_tasks(office->desk.workers[0].resolver), TRACES_MAX);
    pass(office, 15 * US_PER_S);
    assert_int_equal(office->done, CALLS);
    assert_int_equal(resolver_tasks(office->desk.workers[0].resolver), 0);
    ASSERT_SAYS(ask(office, "trace\tnas.lan", 0), "\there\t");
}

static void test_a_client_that_leaves_a_trace_leaks_nothing(void **state)
{
    struct office *office = *state;
    struct call *call = request(office, "trace\twww.z.example", keep);
    desk_settle(&office->desk);
    call_abandon(call);
    pass(office, 15 * US_PER_S);
    assert_int_equal(office->done, 0);
    ASSERT_SAYS(ask(office, "trace\tnas.lan", 0), "\there\t");
}

static void test_a_trace_outlives_a_reload_unchanged(void **state)
{
    struct office *office = *state;
    static const struct route_options none;
    struct call *call = request(office, "trace\twww.z.example", keep);
    desk_settle(&office->desk);
    for (int i = 0; i < DESK_WORKERS; i++)
        assert_int_equal(
            resolver_reload(office->desk.workers[i].resolver, &none, office->config->local, 10),
            ERR_OK);
    pass(office, 15 * US_PER_S);
    assert_ptr_equal(office->last, call);
    call_free(call);
    ASSERT_SAYS(ask(office, "trace\twww.z.example", 0), "no zone matches");
}

static void test_a_trace_ends_with_its_worker(void **state)
{
    struct office *office = *state;
    static char text[8192];
    struct call *call = request(office, "trace\twww.z.example", keep);
    desk_settle(&office->desk);
    struct resolver *resolver = office->desk.workers[0].resolver;
    office->desk.workers[0].resolver = NULL;
    resolver_free(resolver);
    desk_settle(&office->desk);
    assert_ptr_equal(office->last, call);
    struct span all = buf_span(&call->reply.buf);
    snprintf(text, sizeof(text), "%.*s", (int)all.len, (const char *)all.data);
    ASSERT_SAYS(text, "\tSERVFAIL\tfailure\t14 Not Ready\t");
    call_free(call);
    ASSERT_REFUSED(ask(office, "trace\tnas.lan", 0), "nailupd is stopping");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_trace_shows_local_data_with_its_records, open_office,
                                        close_office),
        cmocka_unit_test_setup_teardown(
            test_trace_of_a_dead_zone_shows_each_attempt_and_the_failure, open_office,
            close_office),
        cmocka_unit_test_setup_teardown(test_trace_reports_a_name_without_a_zone, open_office,
                                        close_office),
        cmocka_unit_test_setup_teardown(test_trace_refuses_wrong_names_and_types, open_office,
                                        close_office),
        cmocka_unit_test_setup_teardown(test_the_number_of_traces_is_bounded_and_all_end,
                                        open_office, close_office),
        cmocka_unit_test_setup_teardown(test_a_client_that_leaves_a_trace_leaks_nothing,
                                        open_office, close_office),
        cmocka_unit_test_setup_teardown(test_a_trace_outlives_a_reload_unchanged, open_office,
                                        close_office),
        cmocka_unit_test_setup_teardown(test_a_trace_ends_with_its_worker, open_office,
                                        close_office),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
