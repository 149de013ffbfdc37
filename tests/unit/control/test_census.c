/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Counts upstreams that one worker or several workers have. */
#include "control/census.h"

#include "unit/control/desk.h"

#include <stdio.h>
#include <stdlib.h>

static struct census *last;
static int times;

static void on_done(void *context, struct census *census)
{
    (void)context;
    free(last);
    last = census;
    times++;
}

static int open_desk(void **state)
{
    static struct desk desk;
    desk_open(&desk);
    times = 0;
    *state = &desk;
    return 0;
}

static int close_desk(void **state)
{
    desk_close(*state);
    free(last);
    last = NULL;
    return 0;
}

static void know(struct desk *desk, int worker, const char *text, enum transport transport)
{
    struct upstream_options options = upstream_options_default;
    struct addr addr;
    options.transport = transport;
    assert_int_equal(addr_parse(&addr, text, 53), ERR_OK);
    assert_non_null(upstreams_get(desk->workers[worker].upstreams, &addr, &options));
}

static void know_many(struct desk *desk, int worker, unsigned first_port, unsigned count)
{
    for (unsigned port = first_port; port < first_port + count; port++) {
        char text[64];
        snprintf(text, sizeof(text), "192.0.2.1@%u", port);
        know(desk, worker, text, TRANSPORT_UDP);
    }
}

static void take(struct desk *desk)
{
    struct census_taking *taking;
    assert_int_equal(census_take(&taking, desk->loop, &desk->view, on_done, NULL), ERR_OK);
    assert_int_equal(times, 0);
    desk_settle(desk);
    assert_int_equal(times, 1);
    assert_non_null(last);
}

static void test_an_upstream_that_all_workers_know_counts_once(void **state)
{
    struct desk *desk = *state;
    know(desk, 0, "192.0.2.1", TRANSPORT_UDP);
    know(desk, 1, "192.0.2.1", TRANSPORT_UDP);
    know(desk, 1, "192.0.2.2", TRANSPORT_UDP);
    take(desk);
    assert_int_equal(last->count, 2);
    assert_int_equal(last->left_out, 0);
    assert_string_equal(last->upstreams[0].transport, "udp");
}

static void test_another_port_or_transport_is_another_upstream(void **state)
{
    struct desk *desk = *state;
    know(desk, 0, "192.0.2.1", TRANSPORT_UDP);
    know(desk, 0, "192.0.2.1@54", TRANSPORT_UDP);
    know(desk, 0, "192.0.2.1", TRANSPORT_TCP);
    take(desk);
    assert_int_equal(last->count, 3);
    assert_string_equal(last->upstreams[2].transport, "tcp");
}

static void test_a_worker_reports_no_more_upstreams_than_fit(void **state)
{
    struct desk *desk = *state;
    know_many(desk, 0, 1000, CENSUS_UPSTREAMS_MAX + 7);
    take(desk);
    assert_int_equal(last->count, CENSUS_UPSTREAMS_MAX);
    assert_int_equal(last->left_out, 7);
}

static void test_all_workers_together_report_no_more_upstreams_than_fit(void **state)
{
    struct desk *desk = *state;
    know_many(desk, 0, 1000, CENSUS_UPSTREAMS_MAX - 1);
    know_many(desk, 1, 5000, 3);
    take(desk);
    assert_int_equal(last->count, CENSUS_UPSTREAMS_MAX);
    assert_int_equal(last->left_out, 2);
}

static void test_counts_are_summed_and_times_are_those_of_the_slowest(void **state)
{
    static struct census sum, part;
    (void)state;
    part.count = 1;
    assert_int_equal(addr_parse(&part.upstreams[0].addr, "192.0.2.1", 53), ERR_OK);
    part.upstreams[0].transport = "udp";
    part.upstreams[0].values[PER_UPSTREAM_queries] = 5;
    part.upstreams[0].values[PER_UPSTREAM_nailed] = 1;
    part.upstreams[0].values[PER_UPSTREAM_udp_rtt_us] = 900;
    census_add(&sum, &part);
    part.upstreams[0].values[PER_UPSTREAM_udp_rtt_us] = 300;
    census_add(&sum, &part);
    assert_int_equal(sum.count, 1);
    assert_int_equal(sum.upstreams[0].values[PER_UPSTREAM_queries], 10);
    assert_int_equal(sum.upstreams[0].values[PER_UPSTREAM_nailed], 2);
    assert_int_equal(sum.upstreams[0].values[PER_UPSTREAM_udp_rtt_us], 900);
}

static void test_a_worker_that_has_ended_is_left_out_without_delay(void **state)
{
    struct desk *desk = *state;
    struct upstreams *ended = desk->workers[1].upstreams;
    know(desk, 0, "192.0.2.1", TRANSPORT_UDP);
    know(desk, 1, "192.0.2.2", TRANSPORT_UDP);
    desk->workers[1].upstreams = NULL;
    take(desk);
    desk->workers[1].upstreams = ended;
    assert_int_equal(last->count, 1);
}

static void test_an_abandoned_census_is_dropped(void **state)
{
    struct desk *desk = *state;
    struct census_taking *taking;
    assert_int_equal(census_take(&taking, desk->loop, &desk->view, on_done, NULL), ERR_OK);
    fake_loop_settle(desk->workers[0].loop);
    census_abandon(&taking);
    assert_null(taking);
    desk_settle(desk);
    assert_int_equal(times, 0);
    census_abandon(&taking);
}

#define WITH_DESK(test) cmocka_unit_test_setup_teardown(test, open_desk, close_desk)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_DESK(test_an_upstream_that_all_workers_know_counts_once),
        WITH_DESK(test_another_port_or_transport_is_another_upstream),
        WITH_DESK(test_a_worker_reports_no_more_upstreams_than_fit),
        WITH_DESK(test_all_workers_together_report_no_more_upstreams_than_fit),
        cmocka_unit_test(test_counts_are_summed_and_times_are_those_of_the_slowest),
        WITH_DESK(test_a_worker_that_has_ended_is_left_out_without_delay),
        WITH_DESK(test_an_abandoned_census_is_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
