/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* nailup's own steps about the network between resolver and servers. README.md describes each. */
#include "scenario/play.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/units.h"
#include "cache/cache.h"
#include "cache/spans.h"
#include "dns/message.h"
#include "dns/rrtype.h"
#include "loop/loop.h"
#include "scenario/servers.h"
#include "scenario/tls.h"
#include "support/fake_tls.h"

static struct fake_server *server_of(struct play *play)
{
    struct fake_server *server = servers_at(&play->world, &play->step->addr);
    if (!server)
        play_fail(play, "nobody is at this ADDRESS");
    return server;
}

static int choice(const struct play *play, const char *const *words)
{
    for (int i = 0; words[i]; i++)
        if (play_has(play, words[i]))
            return i;
    return -1;
}

/* ---- behaviour of servers ---- */

static bool do_stream(struct play *play)
{
    static const char *const words[] = {"accept",      "refuse",   "blackhole",
                                        "unreachable", "fail_now", NULL};
    struct fake_server *server = server_of(play);
    int how = choice(play, words);
    if (!server)
        return false;
    if (how < 0)
        return play_fail(play, "accept, refuse, blackhole, unreachable or fail_now?");
    fake_server_set_dial(server, (enum fake_dial)how);
    fake_server_set_accept_delay(server, play_duration(play, "delay", 0));
    return true;
}

static bool do_udp(struct play *play)
{
    static const char *const words[] = {"deliver",     "drop",     "refuse",
                                        "unreachable", "fail_now", NULL};
    struct fake_server *server = server_of(play);
    int how = choice(play, words);
    if (!server)
        return false;
    if (how < 0 && !play_arg(play, "lose"))
        return play_fail(play, "deliver, drop, refuse, unreachable, fail_now or lose=N?");
    if (how >= 0)
        fake_server_set_udp(server, (enum fake_udp)how);
    fake_server_lose_datagrams(server, (unsigned)play_number(play, "lose", 0));
    return true;
}

static bool do_tls(struct play *play)
{
    struct fake_server *server = server_of(play);
    int word = choice(play, tls_words);
    if (!server)
        return false;
    if (word < 0)
        return play_fail(play, "how is TLS to be spoken?");
    tls_speak(server, word);
    return true;
}

static bool do_latency(struct play *play)
{
    struct fake_server *server = server_of(play);
    if (server)
        fake_server_set_latency(server, play_duration(play, "one_way", WORLD_LATENCY_US));
    return server;
}

/* connection=K is the K-th dial, counted from 0. Without it, the step means the latest open
 * connection. */
static struct fake_conn *conn_of(struct play *play)
{
    struct fake_server *server = server_of(play);
    if (!server)
        return NULL;
    size_t dials = fake_server_dials(server);
    if (play_arg(play, "connection")) {
        size_t number = play_number(play, "connection", 0);
        if (number < dials)
            return fake_server_conn(server, number);
    } else {
        for (size_t i = dials; i-- > 0;)
            if (fake_conn_state(fake_server_conn(server, i)) == FAKE_CONN_OPEN)
                return fake_server_conn(server, i);
    }
    play_fail(play, "no such connection; there were %zu dials", dials);
    return NULL;
}

static bool do_close(struct play *play)
{
    struct fake_conn *conn = conn_of(play);
    if (conn)
        fake_conn_close(conn);
    return conn;
}

static bool do_reset(struct play *play)
{
    struct fake_conn *conn = conn_of(play);
    if (conn)
        fake_conn_reset(conn);
    return conn;
}

static bool do_stall(struct play *play)
{
    struct fake_conn *conn = conn_of(play);
    if (conn)
        fake_conn_stop_reading(conn, play_number(play, "window", 0));
    return conn;
}

static bool do_resume(struct play *play)
{
    struct fake_conn *conn = conn_of(play);
    if (conn)
        fake_conn_start_reading(conn);
    return conn;
}

static bool do_dark(struct play *play)
{
    struct fake_conn *conn = conn_of(play);
    if (conn)
        fake_conn_go_dark(conn);
    return conn;
}

/* WRITE_MAX bytes=N: every write of the resolver takes at most N bytes. With ADDRESS it applies to
 * one connection, else to all connections opened from now on. */
static bool do_write_max(struct play *play)
{
    size_t bytes = play_number(play, "bytes", 0);
    if (addr_family(&play->step->addr) == AF_UNSPEC) {
        fake_net_set_write_max(play->world.net, bytes);
        return true;
    }
    struct fake_conn *conn = conn_of(play);
    if (conn)
        fake_conn_set_write_max(conn, bytes);
    return conn;
}

/* ---- checks ---- */

/* Returns true if the line lacks the key, or gives it this value. */
static bool is(struct play *play, const char *key, uint64_t value)
{
    const char *wanted = play_arg(play, key);
    if (!wanted || play_number(play, key, 0) == value)
        return true;
    return play_fail(play, "%s is %llu, not %s", key, (unsigned long long)value, wanted);
}

static bool do_check_connections(struct play *play)
{
    struct fake_server *server = server_of(play);
    if (!server || !is(play, "open", fake_server_open_conns(server)) ||
        !is(play, "dials", fake_server_dials(server)))
        return false;
    if (!play_arg(play, "queries"))
        return true;
    struct fake_conn *conn = conn_of(play);
    return conn && is(play, "queries", fake_conn_messages(conn));
}

/* Returns whether the query has the name and type of the line. */
static bool is_counted(const struct play *play, const struct out *out)
{
    const char *at = play_arg(play, "name"), *below = play_arg(play, "below");
    const char *type = play_arg(play, "type");
    uint8_t wire[NAME_WIRE_MAX];
    struct name name;
    struct message message;
    uint16_t wanted;
    if (!at && !below && !type)
        return true;
    if (message_parse(&message, out->bytes) != MESSAGE_OK ||
        (type && (rrtype_parse(&wanted, type) != ERR_OK || wanted != message.question.type)))
        return false;
    const char *text = at ? at : below;
    if (!text || name_parse(&name, wire, text, strlen(text)) != ERR_OK)
        return !text;
    return at ? name_equal(message.question.name, name)
              : name_is_below(message.question.name, name);
}

static bool is_between(struct play *play, uint64_t count)
{
    if (count > play_number(play, "most", UINT64_MAX) || count < play_number(play, "least", 0))
        return play_fail(play, "there are %llu", (unsigned long long)count);
    return true;
}

/* CHECK_QUERIES [ADDRESS a] [name=N|below=N] [type=T] [udp=N] [tcp=N] [tls=N] [all=N] [most=N]
 * [least=N]: counts queries since the start. */
static bool do_check_queries(struct play *play)
{
    uint64_t udp = 0, tcp = 0, tls = 0;
    const struct addr *addr = &play->step->addr;
    LIST_EACH(node, &play->world.outs)
    {
        const struct out *out = LIST_ITEM(node, struct out, node);
        if (addr_family(addr) != AF_UNSPEC && !addr_equal(addr, &out->addr))
            continue;
        if (!is_counted(play, out))
            continue;
        bool over_tls = out->over_tcp && fake_conn_speaks_tls(out->conn);
        udp += !out->over_tcp;
        tcp += out->over_tcp && !over_tls;
        tls += over_tls;
    }
    return is(play, "udp", udp) && is(play, "tcp", tcp) && is(play, "tls", tls) &&
           is(play, "all", udp + tcp + tls) && is_between(play, udp + tcp + tls);
}

static bool do_check_writes(struct play *play)
{
    struct fake_conn *conn = conn_of(play);
    return conn && is(play, "writes", fake_conn_writes(conn)) &&
           is(play, "most_a_turn", fake_conn_most_writes_a_turn(conn));
}

/* CHECK_COUNTS sockets_most=N: the largest number of open UDP sockets for queries. */
static bool opened_most(struct play *play)
{
    size_t most = fake_net_counts(play->world.net).most_open_queries;
    return most <= play_number(play, "sockets_most", UINT64_MAX) ||
           play_fail(play, "%zu sockets were open", most);
}

/* CHECK_COUNTS spans=N span_zones=N span_zones_dropped_least=N: RRsets that answer for other names,
 * their zones, and zones that made room. */
static bool check_spans(struct play *play)
{
    struct spans_usage usage;
    spans_usage(cache_spans(play->world.cache), &usage);
    return is(play, "spans", usage.items) && is(play, "span_zones", usage.zones) &&
           (usage.dropped_zones >= play_number(play, "span_zones_dropped_least", 0) ||
            play_fail(play, "%llu zones made room, with %llu bytes in use",
                      (unsigned long long)usage.dropped_zones, (unsigned long long)usage.bytes)) &&
           (usage.bytes <= SPANS_BYTES_MAX || play_fail(play, "the spans take too much memory"));
}

/* Stores a record of this length in a new zone of three labels. Returns the bytes that it takes. */
static uint64_t add_filler(struct spans *spans, unsigned number, size_t len, uint64_t now)
{
    static const uint8_t bytes[SPANS_ITEM_BYTES_MAX];
    struct spans_usage before, after;
    uint8_t wire[NAME_WIRE_MAX];
    char text[32];
    struct span record = span_of(bytes, len);
    struct spans_entry entry = {.space = CACHE_SPACE_SHARED,
                                .shelf = SPANS_RECORDS,
                                .type = RRTYPE_TXT,
                                .expires_at = now + 3600 * US_PER_S,
                                .record = &record,
                                .count = 1};
    snprintf(text, sizeof(text), "z%u.filled.test", number);
    MUST(name_parse(&entry.zone, wire, text, strlen(text)) == ERR_OK);
    entry.owner = entry.zone;
    spans_usage(spans, &before);
    MUST(spans_store(spans, &entry, now));
    spans_usage(spans, &after);
    return after.bytes - before.bytes;
}

/* FILL_SPANS: zones of three labels take the memory of spans: large ones, then small ones, until
 * another small one does not fit. */
static bool do_fill_spans(struct play *play)
{
    struct spans *spans = cache_spans(play->world.cache);
    uint64_t now = loop_now(play->world.loop), took = 0;
    struct spans_usage usage;
    unsigned number = 0;
    for (spans_usage(spans, &usage); usage.bytes + took <= SPANS_BYTES_MAX;
         spans_usage(spans, &usage)) {
        bool is_large = usage.bytes + 2 * SPANS_ITEM_BYTES_MAX <= SPANS_BYTES_MAX;
        took = add_filler(spans, number++, is_large ? SPANS_ITEM_BYTES_MAX - 256 : 1, now);
        if (is_large)
            took = 0;
    }
    return usage.dropped_zones == 0 || play_fail(play, "the spans were full before");
}

/* CHECK_COUNTS [used=N] ...: the worker's own counters. */
static bool do_check_counts(struct play *play)
{
    return is(play, "used", play->world.nail_quota.used) && check_spans(play) &&
           is(play, "ready", (uint64_t)play->world.stats.upstream_ready) &&
           is(play, "in_flight", (uint64_t)play->world.stats.upstream_in_flight) &&
           is(play, "cold", (uint64_t)play->world.stats.upstream_cold_queries) &&
           is(play, "forged", (uint64_t)play->world.stats.upstream_forged) && opened_most(play);
}

const struct play_verb play_stream_verbs[] = {
    {"STREAM", do_stream, false},
    {"UDP", do_udp, false},
    {"TLS", do_tls, false},
    {"LATENCY", do_latency, false},
    {"CLOSE", do_close, false},
    {"RESET", do_reset, false},
    {"STALL", do_stall, false},
    {"RESUME", do_resume, false},
    {"FILL_SPANS", do_fill_spans, false},
    {"DARK", do_dark, false},
    {"WRITE_MAX", do_write_max, false},
    {"CHECK_CONNECTIONS", do_check_connections, true},
    {"CHECK_QUERIES", do_check_queries, true},
    {"CHECK_WRITES", do_check_writes, true},
    {"CHECK_COUNTS", do_check_counts, true},
    {NULL, NULL, false},
};
