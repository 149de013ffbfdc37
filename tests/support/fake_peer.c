/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * A DNS server in the fake network (fake_peer.h). It builds messages by hand, so that it does not
 * repeat a mistake of src/dns.
 */

#include "support/fake_peer.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "support/fake_tls.h"

enum {
    HEADER = 12,
    FLAG_QR = 0x80,
    FLAG_TC = 0x02,
    FLAG_RD = 0x01,
    FLAG_RA = 0x80,
    TYPE_A = 1,
    TYPE_SOA = 6,
    TYPE_OPT = 41,
};

struct fake_peer {
    struct fake_server *server;
    struct fake_net *net;
    fake_peer_fn fn;
    void *owner;
    size_t queries[FAKE_TLS + 1]; /* counted by transport */
    struct fake_answer answer;
};

static void answer_any(void *owner, const struct fake_ask *ask, struct fake_answer *answer)
{
    (void)owner;
    fake_answer_a(answer, ask->query, "192.0.2.1", 300);
}

/* Returns the peer's answer, valid until the next query. */
static struct fake_answer *ask_test(struct fake_peer *peer, struct fake_ask *ask)
{
    struct fake_answer *answer = &peer->answer;

    /* leaves the 64 KiB of data alone, which would cost time */
    memset(answer, 0, offsetof(struct fake_answer, data));
    ask->peer = peer;
    ask->count = fake_peer_queries(peer);
    peer->queries[ask->transport]++;
    peer->fn(peer->owner, ask, answer);
    return answer;
}

/* ---------------------------------------------------------------- UDP */

static void on_datagram(void *owner, const struct fake_query *query, struct span datagram)
{
    struct fake_ask ask = {.transport = FAKE_UDP, .query = datagram, .datagram = query};
    struct fake_answer *answer = ask_test(owner, &ask);

    if (answer->how == FAKE_REFUSE)
        fake_query_icmp(query, ERR_REFUSED, answer->delay_us);
    if (answer->how == FAKE_ANSWER && answer->len > 0) {
        for (unsigned i = 0; i <= answer->extra_copies; i++)
            fake_query_reply(query, span_of(answer->data, answer->len), answer->delay_us);
    }
}

/* ---------------------------------------------------------------- TCP */

static void send_answer(struct fake_conn *conn, const struct fake_answer *answer)
{
    uint8_t *framed = malloc(2 + answer->len);

    MUST(framed && answer->len <= UINT16_MAX);
    put_u16(framed, (uint16_t)answer->len);
    memcpy(framed + 2, answer->data, answer->len);
    for (unsigned i = 0; i <= answer->extra_copies; i++) {
        struct span bytes = span_of(framed, 2 + answer->len);
        if (answer->piece_bytes)
            fake_conn_send_pieces(conn, bytes, answer->piece_bytes, answer->gap_us);
        else
            fake_conn_send(conn, bytes);
    }
    free(framed);
}

static void act(struct fake_conn *conn, const struct fake_answer *answer)
{
    bool sends = answer->how == FAKE_ANSWER || answer->how == FAKE_CLOSE;

    if (sends && answer->len > 0)
        send_answer(conn, answer);
    if (answer->how == FAKE_CLOSE)
        fake_conn_close(conn);
    if (answer->how == FAKE_RESET || answer->how == FAKE_REFUSE)
        fake_conn_reset(conn);
}

/* Something that the peer does later on a connection, with the bytes of its answer. */
struct thought {
    struct fake_conn *conn;
    struct fake_answer answer;
};

static void on_thought(void *copy)
{
    struct thought *thought = copy;
    act(thought->conn, &thought->answer);
}

static void think(struct fake_conn *conn, const struct fake_answer *answer)
{
    size_t answer_size = offsetof(struct fake_answer, data) + answer->len;
    size_t size = offsetof(struct thought, answer) + answer_size;
    struct thought *thought = malloc(sizeof(*thought));

    MUST(thought);
    thought->conn = conn;
    memcpy(&thought->answer, answer, answer_size);
    fake_net_after(fake_conn_net(conn), answer->delay_us, on_thought, thought, size);
    free(thought);
}

static void on_message(void *owner, struct fake_conn *conn, size_t index, struct span message)
{
    struct fake_ask ask = {.transport = fake_conn_speaks_tls(conn) ? FAKE_TLS : FAKE_TCP,
                           .query = message,
                           .conn = fake_conn_number(conn),
                           .index = index,
                           .early = fake_conn_tls_in_early(conn),
                           .stream = conn};
    struct fake_answer *answer = ask_test(owner, &ask);

    if (answer->how == FAKE_SILENT)
        return;
    if (answer->delay_us)
        think(conn, answer);
    else
        act(conn, answer);
}

/* The code under test has closed its side, so the peer closes too. */
static void on_fin(void *owner, struct fake_conn *conn)
{
    (void)owner;
    fake_conn_close(conn);
}

static const struct fake_server_handler handler = {
    .on_datagram = on_datagram,
    .on_message = on_message,
    .on_fin = on_fin,
};

/* ---------------------------------------------------------------- life */

struct fake_peer *fake_peer_new(struct fake_net *net, const struct addr *addr, fake_peer_fn fn,
                                void *owner)
{
    struct fake_peer *peer = fake_net_take(net, sizeof(*peer));

    peer->net = net;
    fake_peer_set(peer, fn, owner);
    peer->server = fake_server_new(net, addr, &handler, peer);
    return peer;
}

void fake_peer_set(struct fake_peer *peer, fake_peer_fn fn, void *owner)
{
    peer->fn = fn ? fn : answer_any;
    peer->owner = owner;
}

struct fake_server *fake_peer_server(struct fake_peer *peer)
{
    return peer->server;
}

size_t fake_peer_queries(const struct fake_peer *peer)
{
    return peer->queries[FAKE_UDP] + peer->queries[FAKE_TCP] + peer->queries[FAKE_TLS];
}

size_t fake_peer_udp_queries(const struct fake_peer *peer)
{
    return peer->queries[FAKE_UDP];
}

size_t fake_peer_tcp_queries(const struct fake_peer *peer)
{
    return peer->queries[FAKE_TCP];
}

size_t fake_peer_tls_queries(const struct fake_peer *peer)
{
    return peer->queries[FAKE_TLS];
}

void fake_peer_speak_tls(struct fake_peer *peer, const struct fake_tls_options *options)
{
    fake_server_speak_tls(peer->server, options);
}

/* ---------------------------------------------------------------- answers */

/* Returns the length of a query's header and question, or 0 for a malformed one. */
static size_t question_end(struct span query)
{
    size_t at = HEADER;

    if (query.len < HEADER || get_u16(query.data + 4) != 1)
        return 0;
    while (at < query.len && query.data[at] != 0) {
        if (query.data[at] > 63)
            return 0;
        at += 1 + (size_t)query.data[at];
    }
    return at + 5 <= query.len ? at + 5 : 0;
}

void fake_answer_rcode(struct fake_answer *answer, struct span query, unsigned rcode)
{
    size_t len = question_end(query);

    if (len == 0)
        len = MIN(query.len, (size_t)HEADER);
    answer->how = FAKE_ANSWER;
    answer->len = len;
    memcpy(answer->data, query.data, len);
    if (len < HEADER)
        return;
    answer->data[2] |= FLAG_QR;
    answer->data[3] = (uint8_t)(FLAG_RA | (rcode & 15));
    memset(answer->data + 6, 0, 6);
    if (len == HEADER)
        put_u16(answer->data + 4, 0);
}

void fake_answer_truncated(struct fake_answer *answer, struct span query)
{
    fake_answer_rcode(answer, query, 0);
    if (answer->len >= HEADER)
        answer->data[2] |= FLAG_TC;
}

static void add(struct fake_answer *answer, const void *data, size_t len)
{
    MUST(answer->len + len <= sizeof(answer->data));
    memcpy(answer->data + answer->len, data, len);
    answer->len += len;
}

static void add_u16(struct fake_answer *answer, uint16_t value)
{
    uint8_t bytes[2];
    put_u16(bytes, value);
    add(answer, bytes, sizeof(bytes));
}

static void add_u32(struct fake_answer *answer, uint32_t value)
{
    uint8_t bytes[4];
    put_u32(bytes, value);
    add(answer, bytes, sizeof(bytes));
}

static void count_record(struct fake_answer *answer, size_t counter_at)
{
    uint16_t count = get_u16(answer->data + counter_at);
    put_u16(answer->data + counter_at, (uint16_t)(count + 1));
}

void fake_answer_record(struct fake_answer *answer, struct span query, uint16_t type, uint32_t ttl,
                        struct span rdata)
{
    if (answer->len == 0)
        fake_answer_rcode(answer, query, 0);
    if (answer->len <= HEADER)
        return;
    count_record(answer, 6);
    add_u16(answer, 0xc000 | HEADER); /* the QNAME */
    add_u16(answer, type);
    add_u16(answer, 1);
    add_u32(answer, ttl);
    add_u16(answer, (uint16_t)rdata.len);
    add(answer, rdata.data, rdata.len);
}

void fake_answer_a(struct fake_answer *answer, struct span query, const char *ipv4, uint32_t ttl)
{
    uint8_t rdata[4];

    MUST(inet_pton(AF_INET, ipv4, rdata) == 1);
    fake_answer_record(answer, query, TYPE_A, ttl, span_of(rdata, sizeof(rdata)));
}

void fake_answer_add_soa(struct fake_answer *answer, struct span zone, uint32_t ttl,
                         uint32_t minimum)
{
    count_record(answer, 8);
    add(answer, zone.data, zone.len);
    add_u16(answer, TYPE_SOA);
    add_u16(answer, 1);
    add_u32(answer, ttl);
    add_u16(answer, (uint16_t)(2 * zone.len + 20));
    add(answer, zone.data, zone.len); /* MNAME and RNAME have no influence */
    add(answer, zone.data, zone.len);
    add_u32(answer, 1); /* serial, refresh, retry, expire, minimum */
    add_u32(answer, 3600);
    add_u32(answer, 600);
    add_u32(answer, 86400);
    add_u32(answer, minimum);
}

/* ---------------------------------------------------------------- queries */

static size_t put_name(uint8_t *out, const char *name)
{
    size_t at = 0;

    while (*name) {
        size_t len = strcspn(name, ".");
        MUST(len <= 63 && at + len < 254);
        if (len > 0) {
            out[at] = (uint8_t)len;
            memcpy(out + at + 1, name, len);
            at += 1 + len;
        }
        name += len + (name[len] == '.');
    }
    out[at++] = 0;
    return at;
}

size_t fake_query_build(uint8_t *out, uint16_t id, const char *name, uint16_t type,
                        uint16_t edns_size)
{
    size_t at = HEADER;

    memset(out, 0, HEADER);
    put_u16(out, id);
    out[2] = FLAG_RD;
    put_u16(out + 4, 1);
    at += put_name(out + at, name);
    put_u16(out + at, type);
    put_u16(out + at + 2, 1);
    at += 4;
    if (edns_size == 0)
        return at;
    put_u16(out + 10, 1);
    memset(out + at, 0, 11);
    put_u16(out + at + 1, TYPE_OPT);
    put_u16(out + at + 3, edns_size);
    return at + 11;
}
