/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_UNIT_SERVE_HARNESS_H
#define NAILUP_TESTS_UNIT_SERVE_HARNESS_H

/* A whole server for each test, on the fake loop and network, in front of the stub resolver. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/log.h"
#include "base/rand.h"
#include "base/stats.h"
#include "loop/loop.h"
#include "net/udp_server.h"
#include "serve/server.h"
#include "serve/server_quota.h"
#include "support/fake_loop.h"
#include "support/fake_net.h"
#include "unit/serve/stub_resolver.h"

static struct loop *loop;
static struct fake_net *net;
static struct stats stats;
static struct server_options options;
static struct server_quota *quota;
static struct listen_sockets *sockets;
static struct server *server;
static struct addr listens[2];
static struct addr here, me; /* the listener, and the usual client */

static inline void harness_access(const char *text, enum server_access access)
{
    struct prefix prefix;
    assert_int_equal(prefix_parse(&prefix, text), ERR_OK);
    assert_int_equal(prefix_set_add(options.access, &prefix, (int)access), ERR_OK);
}

/* A test may change the options between this call and harness_open(). */
static inline void harness_begin(void)
{
    loop = loop_new();
    net = fake_net_of(loop);
    stub_reset();
    stats = (struct stats){0};
    listens[0] = here = fake_addr("127.0.0.1@53");
    listens[1] = fake_addr("::1@53");
    me = fake_addr("127.0.0.9@4000");
    options = (struct server_options){
        .listen = listens,
        .listen_count = 2,
        .access = prefix_set_new(),
        .max_udp_size = 1232,
        .client_idle_timeout_us = 30 * US_PER_S,
        .max_clients = 100,
        .max_clients_per_address = 50,
        .max_waiting = 1000,
        .max_waiting_per_client = 1000,
        .client_prefix_v4 = 32,
        .client_prefix_v6 = 56,
        .rate_limit_slip = 2,
        .rate_limit_clients = 1024,
        .cookies = true,
    };
    harness_access("127.0.0.0/8", SERVER_ALLOW);
    harness_access("::1", SERVER_ALLOW);
    harness_access("192.0.2.66", SERVER_DROP);
}

/* Opens a server with the sockets of one worker. */
static inline void harness_serve_from(struct listen_sockets *from)
{
    size_t which;
    sockets = from;
    assert_int_equal(listen_sockets_prepare(sockets, &options, &which), ERR_OK);
    struct listen_share *share = listen_sockets_take(sockets, 0);
    listen_sockets_commit(sockets);
    assert_int_equal(server_open(&server, loop, &options, &share, &stub, quota, &stats), ERR_OK);
    assert_null(share);
}

static inline void harness_serve(void)
{
    harness_serve_from(listen_sockets_new(1));
}

static inline void harness_end_server(void)
{
    server_free(server);
    server = NULL;
    listen_sockets_free(sockets);
    sockets = NULL;
}

static inline void harness_open(void)
{
    assert_int_equal(prefix_set_freeze(options.access), ERR_OK);
    quota = server_quota_new(&options, NULL);
    harness_serve();
}

static inline int harness_setup(void **state)
{
    (void)state;
    harness_begin();
    harness_open();
    return 0;
}

/* Checks that the server has left nothing behind. */
static inline int harness_teardown(void **state)
{
    (void)state;
    harness_end_server();
    fake_loop_settle(loop);
    assert_int_equal(fake_listen_sockets(), 0);
    assert_int_equal(fake_net_open_sockets(net), 0);
    assert_int_equal(server_quota_waiting(quota), 0);
    assert_int_equal(server_quota_clients(quota), 0);
    assert_int_equal((int64_t)stats.stream_clients, 0);
    assert_int_equal(stub.waiting, 0);
    assert_int_equal(stub_readers, 0);
    server_quota_free(quota);
    prefix_set_free(options.access);
    loop_free(loop);
    return 0;
}

/* Expects this many waiting queries whose clients have left. Such queries keep their places until
 * they are answered. */
static inline void expect_orphans(unsigned count)
{
    assert_int_equal(stub.leaves, 0);
    assert_int_equal(stub.waiting, count);
    assert_int_equal(server_quota_waiting(quota), count);
    while (stub_answer(false))
        continue;
    fake_loop_settle(loop);
    assert_int_equal(server_quota_waiting(quota), 0);
}

#define HARNESS_TEST(name) cmocka_unit_test_setup_teardown(name, harness_setup, harness_teardown)

/* ---- messages ---- */

static uint8_t sent[65535 + 2];
static size_t sent_len;
static struct message got; /* the last answer, parsed from got_bytes */
static uint8_t got_bytes[65535];

static inline void make_query(const char *name, uint16_t id)
{
    struct canned_query query = {name, id, RRTYPE_A, HEADER_RD, 1232, false, false, false};
    sent_len = canned_query(sent, &query);
}

static inline void got_message(struct span bytes)
{
    memcpy(got_bytes, bytes.data, bytes.len);
    assert_int_equal(message_parse(&got, span_of(got_bytes, bytes.len)), MESSAGE_OK);
}

/* ---- datagrams ---- */

static inline void udp_send_from(const struct addr *from)
{
    fake_client_udp_send(net, &here, from, span_of(sent, sent_len));
    fake_loop_settle(loop);
}

static inline void udp_ask(const char *name, uint16_t id)
{
    make_query(name, id);
    udp_send_from(&me);
}

/* Returns false if no answer has come. */
static inline bool udp_got(void)
{
    struct fake_reply reply;
    fake_loop_settle(loop);
    if (!fake_client_udp_next(net, NULL, &reply))
        return false;
    got_message(reply.datagram);
    return true;
}

#endif
