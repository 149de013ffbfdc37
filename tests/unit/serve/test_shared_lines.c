/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Hits of several workers write to no shared cache line, because workers would then wait for each
 * other. The memory that workers share is read-only while two of them answer hits: a write kills
 * the test.
 *
 * The quota and the prefix sets are compiled into this file, with memory that can be made
 * read-only in the place of the heap's.
 */
#include "unit/serve/shared_memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define malloc(size) shared_take(1, size)
#define calloc(count, size) shared_take(count, size)
#define aligned_alloc(alignment, size) shared_take(1, size)
#define free(memory) ((void)(memory))
#include "base/prefix_set.c"
#include "serve/server_quota.c"
#undef malloc
#undef calloc
#undef aligned_alloc
#undef free

#include "loop/loop.h"
#include "resolve/resolver.h"
#include "serve/server.h"
#include "support/fake_loop.h"
#include "support/fake_net.h"
#include "unit/serve/canned.h"
#include "upstream/upstreams.h"

/* ---- two workers ---- */

struct worker {
    struct loop *loop;
    struct fake_net *net;
    struct stats stats;
    struct nail_quota nails;
    struct upstreams *upstreams;
    struct resolver *resolver;
    struct server *server;
    struct fake_conn *stream;
};

enum { WORKERS = 2, CACHE_BYTES = 4 << 20 };
static struct worker workers[WORKERS];
static struct cache *cache;
static struct server_options *options;
static struct server_quota *quota;
static struct listen_sockets *sockets;
static struct route_options *routes;
static struct addr here, me;

static void make_options(void)
{
    options = shared_take(1, sizeof(*options));
    struct addr *listens = shared_take(1, sizeof(*listens));
    *listens = here;
    *options = (struct server_options){
        .listen = listens,
        .listen_count = 1,
        .access = prefix_set_new(),
        .max_udp_size = 1232,
        .client_idle_timeout_us = 30 * US_PER_S,
        .max_clients = 100,
        .max_clients_per_address = 50,
        .max_waiting = 1000,
        .max_waiting_per_client = 1000,
        .client_prefix_v4 = 32,
        .client_prefix_v6 = 56,
    };
    struct prefix prefix;
    assert_int_equal(prefix_parse(&prefix, "127.0.0.0/8"), ERR_OK);
    assert_int_equal(prefix_set_add(options->access, &prefix, SERVER_ALLOW), ERR_OK);
    assert_int_equal(prefix_set_freeze(options->access), ERR_OK);
    quota = server_quota_new(options, NULL);
    routes = shared_take(1, sizeof(*routes));
}

static void worker_begin(struct worker *worker)
{
    *worker = (struct worker){.loop = loop_new()};
    worker->net = fake_net_of(worker->loop);
    worker->upstreams = upstreams_new(worker->loop, &worker->stats, &worker->nails);
    worker->resolver =
        resolver_new(worker->loop, cache, worker->upstreams, routes, 100, &worker->stats);
    assert_non_null(worker->resolver);
    struct listen_share *share = listen_sockets_take(sockets, (size_t)(worker - workers));
    assert_int_equal(server_open(&worker->server, worker->loop, options, &share, worker->resolver,
                                 quota, &worker->stats),
                     ERR_OK);
    worker->stream = fake_client_tcp_open(worker->net, &here, &me);
    fake_loop_settle(worker->loop);
}

static int set_up(void **state)
{
    (void)state;
    static const struct cache_options bounds = {.size_bytes = CACHE_BYTES,
                                                .max_ttl_s = 86400,
                                                .max_negative_ttl_s = 900,
                                                .failure_ttl_s = 5};
    here = fake_addr("127.0.0.1@53");
    me = fake_addr("127.0.0.9@4000");
    shared_begin();
    cache = cache_found(&bounds);
    cache_thread_begin();
    make_options();
    size_t which;
    sockets = listen_sockets_new(WORKERS);
    assert_int_equal(listen_sockets_prepare(sockets, options, &which), ERR_OK);
    for (size_t i = 0; i < WORKERS; i++)
        worker_begin(&workers[i]);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    share_again();
    for (size_t i = 0; i < WORKERS; i++) {
        server_free(workers[i].server);
        resolver_free(workers[i].resolver);
        upstreams_free(workers[i].upstreams);
        fake_loop_settle(workers[i].loop);
        loop_free(workers[i].loop);
    }
    listen_sockets_free(sockets);
    server_quota_free(quota);
    cache_thread_end();
    cache_free(cache);
    munmap(shared.at, shared.len);
    return 0;
}

/* ---- questions and answers ---- */

enum { KINDS = 5, NAMES = 200 };
static struct canned canned;
static uint8_t sent[512 + 2];

/* Stores an answer of one of five kinds for n<number>.example: one record, seven records, more than
 * a datagram holds, NXDOMAIN, a failure. */
static void store(unsigned number, bool dnssec_ok)
{
    static const uint16_t flags[KINDS] = {0, HEADER_AD, 0, RCODE_NXDOMAIN, RCODE_SERVFAIL};
    static const uint8_t records[KINDS] = {1, 7, 200, 0, 0};
    static const uint8_t kinds[KINDS] = {ANSWER_POSITIVE, ANSWER_POSITIVE, ANSWER_POSITIVE,
                                         ANSWER_NXDOMAIN, ANSWER_FAILURE};
    char name[40];
    uint8_t wire[NAME_WIRE_MAX];
    struct cache_key key;
    unsigned kind = number % KINDS;
    snprintf(name, sizeof(name), "n%u.example", number);
    struct question question = canned_question(name, RRTYPE_A, wire);
    canned_make(&canned, &question, flags[kind], records[kind], 20);
    canned.answer.kind = kinds[kind];
    canned.answer.ede_count = kinds[kind] == ANSWER_FAILURE;
    canned.answer.ede[0] = EDE_NETWORK_ERROR;
    canned.answer.stored_at = loop_now(workers[0].loop);
    resolver_key(workers[0].resolver, RESOLVER_NO_VIEW, &key, &question, dnssec_ok, false);
    assert_true(cache_store(cache, &key, &canned.answer));
}

static size_t make_query(unsigned number, bool dnssec_ok, uint8_t *out)
{
    char name[40];
    snprintf(name, sizeof(name), "N%u.eXample", number);
    struct canned_query query = {name, (uint16_t)number, RRTYPE_A, HEADER_RD,
                                 1232, dnssec_ok,        false,    false};
    return canned_query(out, &query);
}

static void send_udp(struct worker *worker, unsigned number, bool dnssec_ok)
{
    size_t len = make_query(number, dnssec_ok, sent);
    fake_client_udp_send(worker->net, &here, &me, span_of(sent, len));
    fake_loop_settle(worker->loop);
}

static unsigned count_udp(struct worker *worker)
{
    struct fake_reply reply;
    unsigned count = 0;
    while (fake_client_udp_next(worker->net, NULL, &reply))
        count++;
    return count;
}

static void send_stream(struct worker *worker, unsigned number, bool dnssec_ok)
{
    size_t len = make_query(number, dnssec_ok, sent + 2);
    put_u16(sent, (uint16_t)len);
    fake_conn_send(worker->stream, span_of(sent, len + 2));
    fake_loop_settle(worker->loop);
}

/* Queries every name at both workers over both transports, and expects only hits. */
static void ask_all(void)
{
    for (size_t i = 0; i < WORKERS; i++) {
        struct worker *worker = &workers[i];
        uint64_t hits = worker->stats.cache_hits, misses = worker->stats.cache_misses;
        size_t streamed = fake_conn_messages(worker->stream);
        for (unsigned number = 0; number < NAMES; number++) {
            send_udp(worker, number, number & 1);
            send_stream(worker, number, number & 1);
        }
        assert_int_equal(count_udp(worker), NAMES);
        assert_int_equal(fake_conn_messages(worker->stream) - streamed, NAMES);
        assert_int_equal(worker->stats.cache_hits - hits, 2 * NAMES);
        assert_int_equal(worker->stats.cache_misses - misses, 0);
    }
}

static void store_all(void)
{
    for (unsigned number = 0; number < NAMES; number++)
        store(number, number & 1);
}

/* ---- tests ---- */

static void test_hits_write_nothing_that_workers_share(void **state)
{
    (void)state;
    store_all();
    ask_all(); /* the first hit sets the mark of an entry */
    share_read_only();
    for (int round = 0; round < 5; round++)
        ask_all();
    fake_loop_advance(workers[0].loop, US_PER_S); /* answers age in the copy */
    fake_loop_advance(workers[1].loop, US_PER_S);
    ask_all();
}

static void ask_a_hit(void)
{
    send_udp(&workers[1], 5, true);
}

static void test_an_entry_found_by_one_worker_is_marked_for_the_other(void **state)
{
    (void)state;
    store_all();
    send_udp(&workers[0], 5, true);
    share_read_only();
    assert_int_equal(signal_of(ask_a_hit), 0);
}

static void test_the_first_hit_of_an_entry_is_seen_to_write(void **state)
{
    (void)state;
    store_all();
    share_read_only();
    assert_int_equal(signal_of(ask_a_hit), SIGSEGV);
}

static void store_another(void)
{
    store(NAMES + 1, false);
}

static void test_a_store_is_seen_to_write(void **state)
{
    (void)state;
    store_all();
    share_read_only();
    assert_int_equal(signal_of(store_another), SIGSEGV);
}

static void ask_a_miss(void)
{
    send_udp(&workers[0], NAMES + 1, false);
}

static void test_a_miss_is_seen_to_take_its_place_of_the_quota(void **state)
{
    (void)state;
    share_read_only();
    assert_int_equal(signal_of(ask_a_miss), SIGSEGV);
    share_again();
    assert_int_equal(signal_of(ask_a_miss), 0);
}

static void connect_another(void)
{
    struct addr other = fake_addr("127.0.0.8@4001");
    fake_client_tcp_open(workers[0].net, &here, &other);
    fake_loop_settle(workers[0].loop);
}

static void test_a_client_that_connects_is_seen_to_be_counted(void **state)
{
    (void)state;
    share_read_only();
    assert_int_equal(signal_of(connect_another), SIGSEGV);
    share_again();
    assert_int_equal(signal_of(connect_another), 0);
}

static void change_access(void)
{
    options->access->frozen = false;
}

static void change_an_option(void)
{
    options->max_udp_size++;
}

static void test_options_are_out_of_reach_too(void **state)
{
    (void)state;
    share_read_only();
    assert_int_equal(signal_of(change_access), SIGSEGV);
    assert_int_equal(signal_of(change_an_option), SIGSEGV);
}

#define SHARED_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SHARED_TEST(test_options_are_out_of_reach_too),
        SHARED_TEST(test_a_client_that_connects_is_seen_to_be_counted),
        SHARED_TEST(test_a_miss_is_seen_to_take_its_place_of_the_quota),
        SHARED_TEST(test_a_store_is_seen_to_write),
        SHARED_TEST(test_the_first_hit_of_an_entry_is_seen_to_write),
        SHARED_TEST(test_an_entry_found_by_one_worker_is_marked_for_the_other),
        SHARED_TEST(test_hits_write_nothing_that_workers_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
