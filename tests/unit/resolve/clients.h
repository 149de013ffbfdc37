/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_RESOLVE_CLIENTS_H
#define NAILUP_TESTS_RESOLVE_CLIENTS_H

#include "unit/resolve/fake_exchange.h"
#include "unit/resolve/sample.h"

#include "base/rand.h"
#include "dns/edns.h"
#include "dns/ttl.h"
#include "resolve/alias.h"
#include "resolve/resolver.h"
#include "support/fake_loop.h"

/*
 * The whole folder above exchanges that the test answers by hand, with the zones ".", "example" and
 * "test", whose upstreams are 1000, 1001 and 1002. One file of a program includes this.
 */
enum { MAX_TASKS = 150, SECOND = 1000000, PATIENCE_US = 1800000 };

static struct loop *loop;
static struct cache *cache;
static struct stats stats;
static struct zone_set zones;
static struct resolver *resolver;

/* ---- clients ---- */

struct client {
    struct waiter waiter;
    unsigned answers;
    uint8_t kind, rcode, ede_count;
    uint16_t ede[2];
    enum err error;
    uint8_t security;
    bool ad;
    char reason[ANSWER_TEXT_MAX];
    uint32_t stale_s;
    int source; /* the number of the exchange that answered; -1: none */
    char text[4096];
    const char *asks_again; /* a name that on_answer queries */
};

static inline void client_ask(struct client *client, const char *name, unsigned flags);

/* Checks that the TTLs of a stale answer do not age. */
static inline void stale_show(struct client *client, const struct answer *got)
{
    uint16_t offsets[64];
    struct message message;
    struct answer whole = *got;
    assert_int_equal(got->ttl_count, 0);
    assert_int_equal(message_parse(&message, got->message), MESSAGE_OK);
    whole.ttl_offsets = offsets;
    whole.ttl_count = (uint16_t)ttl_collect(&message, offsets, ARRAY_LEN(offsets));
    snprintf(client->text, sizeof(client->text), "%.4095s", answer_show(&whole));
}

static inline void on_answer(struct waiter *waiter, const struct answer *got)
{
    struct client *client = CONTAINER_OF(waiter, struct client, waiter);
    client->answers++;
    client->source = waiter->source ? addr_port(&waiter->source->addr) : -1;
    client->kind = got->kind;
    client->rcode = header_rcode(got->message.data);
    client->ede_count = got->ede_count;
    client->error = got->error;
    client->security = got->security;
    client->ad = header_flags(got->message.data) & HEADER_AD;
    snprintf(client->reason, sizeof(client->reason), "%s", got->text ? got->text : "");
    memcpy(client->ede, got->ede, sizeof(client->ede));
    client->stale_s = got->stale_s;
    if (got->stale_s)
        stale_show(client, got);
    else
        snprintf(client->text, sizeof(client->text), "%.4095s", answer_show(got));
    if (client->asks_again) {
        const char *name = client->asks_again;
        client->asks_again = NULL;
        client_ask(client, name, 0);
    }
}

static inline struct cache_key key_of(const char *name, unsigned flags)
{
    struct cache_key key;
    struct question question = {NAME(name), RRTYPE_A, RRCLASS_IN};
    resolver_key(resolver, RESOLVER_NO_VIEW, &key, &question, flags & CACHE_KEY_DO,
                 flags & CACHE_KEY_CD);
    return key;
}

static inline enum resolver_result try_ask(struct client *client, const char *name, unsigned flags)
{
    struct cache_key key = key_of(name, flags);
    list_init(&client->waiter.node);
    client->waiter.on_answer = on_answer;
    client->waiter.takes_stale = true;
    client->waiter.client = 0;
    unsigned before = client->answers;
    cache_read_begin();
    enum resolver_result result = resolver_ask(resolver, RESOLVER_NO_VIEW, &key, &client->waiter);
    cache_read_end();
    assert_int_equal(client->answers, before);
    return result;
}

static inline void client_ask(struct client *client, const char *name, unsigned flags)
{
    assert_int_equal(try_ask(client, name, flags), RESOLVER_WAITING);
}

/* Ends the resolver. A test calls it before its waiting clients go out of scope. */
static inline void end_resolver(void)
{
    resolver_free(resolver);
    resolver = NULL;
}

static inline bool find_with(const char *name, unsigned flags, struct answer *out)
{
    struct cache_key key = key_of(name, flags);
    cache_read_begin();
    bool found = resolver_find(resolver, RESOLVER_NO_VIEW, &key, out);
    cache_read_end();
    return found;
}

static inline bool find(const char *name, struct answer *out)
{
    return find_with(name, 0, out);
}

#define WWW "www.example"
#define WWW_A                                                                                      \
    (struct sections)                                                                              \
    {                                                                                              \
        .answer = { "www.example. 300 IN A 192.0.2.1" }                                            \
    }
#define WWW_TEXT "an www.example. 300 A 192.0.2.1\n"

static inline int set_up(void **state)
{
    (void)state;
    static const struct cache_options options = {.size_bytes = CACHE_SIZE_MIN,
                                                 .max_ttl_s = 86400,
                                                 .max_negative_ttl_s = 900,
                                                 .failure_ttl_s = 5,
                                                 .prefetch = true,
                                                 .serve_stale_s = 86400,
                                                 .stale_answer_timeout_us = PATIENCE_US};
    memset(&stats, 0, sizeof(stats));
    asked_count = 0;
    active_count = 0;
    loop = loop_new();
    cache = cache_new(&options);
    cache_thread_begin();
    resolver =
        resolver_new(loop, cache, NULL, ZONES(&zones, ".", "example", "test"), MAX_TASKS, &stats);
    return !resolver;
}

static inline int tear_down(void **state)
{
    (void)state;
    resolver_free(resolver);
    cache_thread_end();
    cache_free(cache);
    loop_free(loop);
    return 0;
}

/* Acts as a client's query does: finds an answer, delivers it, and then refreshes it if that is
 * due. */
static inline bool query(const char *name)
{
    struct cache_key key = key_of(name, 0);
    struct answer found;
    cache_read_begin();
    bool is_found = resolver_find(resolver, RESOLVER_NO_VIEW, &key, &found);
    if (is_found && found.is_due)
        resolver_refresh(resolver, RESOLVER_NO_VIEW, &key);
    cache_read_end();
    return is_found;
}

static inline void keep(const char *name, const char *record)
{
    struct client client = {0};
    client_ask(&client, name, 0);
    answer(asked_count - 1, 0, (struct sections){.answer = {record}});
    assert_int_equal(client.answers, 1);
}

#define SENTENCE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

#endif
