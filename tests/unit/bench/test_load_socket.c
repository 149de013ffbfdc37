/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* The load's counters: each query counts at the instant when it was due. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "load.h"

enum { GAP_NS = 1000, BATCH = 10, START_NS = 1000000 };

static struct load load;
static int server;

static int init(void **state)
{
    (void)state;
    uint8_t suffix[WIRE_NAME_MAX];
    struct wire_style style = {0};
    socklen_t len = sizeof(load.options.server.in);
    memset(&load, 0, sizeof(load));
    list_init(&load.dirty);
    latency_init(&load.latency);
    latency_init(&load.lag);
    query_source_init_unique(&load.source, suffix, wire_name_from_text(suffix, "example"),
                             WIRE_TYPE_A, &style);
    server = socket(AF_INET, SOCK_DGRAM, 0);
    assert_int_equal(addr_parse(&load.options.server, "127.0.0.1@0", 0), ERR_OK);
    assert_int_equal(bind(server, &load.options.server.sa, len), 0);
    assert_int_equal(getsockname(server, &load.options.server.sa, &len), 0);
    load.options.connections = 1;
    load.options.in_flight = 64;
    assert_int_equal(poller_open(&load.poller), ERR_OK);
    assert_int_equal(load_sockets_open(&load), ERR_OK);
    return 0;
}

static int deinit(void **state)
{
    (void)state;
    load_sockets_close(&load);
    query_source_deinit(&load.source);
    close(load.poller);
    close(server);
    return 0;
}

/* Answers the queries that have reached the server. */
static void answer_all(void)
{
    uint8_t bytes[512];
    for (int i = 0; i < BATCH; i++) {
        assert_true(recv(server, bytes, sizeof(bytes), 0) > 0);
        bytes[2] |= 0x80; /* QR */
        load_socket_on_answer(&load.sockets[0], bytes, START_NS + 1000 * GAP_NS);
    }
}

static void send_counted_from(uint64_t count_from_ns)
{
    load.count_from_ns = count_from_ns;
    assert_int_equal(load_socket_send(&load.sockets[0], BATCH, START_NS, GAP_NS), BATCH);
    assert_int_equal(load.sent_in_all, BATCH);
}

static void test_a_batch_after_the_warm_up_counts_whole(void **state)
{
    (void)state;
    send_counted_from(START_NS);
    answer_all();
    assert_int_equal(load.counters.sent, BATCH);
    assert_int_equal(load.lag.count, BATCH);
    assert_int_equal(load.counters.answered, BATCH);
}

static void test_a_batch_in_the_warm_up_does_not_count(void **state)
{
    (void)state;
    send_counted_from(START_NS + BATCH * GAP_NS);
    answer_all();
    assert_int_equal(load.counters.sent, 0);
    assert_int_equal(load.counters.answered, 0);
    assert_int_equal(load.answered_in_all, BATCH);
}

static void test_a_batch_across_the_end_of_the_warm_up_counts_in_part(void **state)
{
    (void)state;
    send_counted_from(START_NS + 4 * GAP_NS);
    answer_all();
    assert_int_equal(load.counters.sent, BATCH - 4);
    assert_int_equal(load.lag.count, BATCH - 4);
    assert_int_equal(load.counters.answered, load.counters.sent);
}

static void test_only_sent_queries_without_an_answer_are_lost(void **state)
{
    (void)state;
    send_counted_from(START_NS + 4 * GAP_NS);
    load_sockets_sweep(&load, UINT64_MAX);
    assert_int_equal(load.counters.lost, load.counters.sent);
    answer_all(); /* late */
    assert_int_equal(load.counters.answered, 0);
    assert_int_equal(load.counters.unexpected, BATCH);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, init, deinit)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_a_batch_after_the_warm_up_counts_whole),
        CASE(test_a_batch_in_the_warm_up_does_not_count),
        CASE(test_a_batch_across_the_end_of_the_warm_up_counts_in_part),
        CASE(test_only_sent_queries_without_an_answer_are_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
