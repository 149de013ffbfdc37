/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The scripted servers. Invariant: at most one entry answers a query, unless the script says
 * otherwise (copies, EXTRA_PACKET, STEP REPLY LATE).
 */
#include "scenario/servers.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "dns/edns.h"
#include "dns/message.h"
#include "scenario/match.h"

static void on_datagram(void *owner, const struct fake_query *query, struct span datagram);
static void on_message(void *owner, struct fake_conn *conn, size_t index, struct span message);

static void on_fin(void *owner, struct fake_conn *conn)
{
    (void)owner;
    fake_conn_close(conn);
}

static const struct fake_server_handler handler = {
    .on_datagram = on_datagram, .on_message = on_message, .on_fin = on_fin};

struct place {
    struct world *world;
    struct fake_server *server;
};

void servers_add(struct world *world, const struct addr *addr)
{
    if (fake_server_at(world->net, addr))
        return;
    struct place *place = fake_net_take(world->net, sizeof(*place));
    place->world = world;
    place->server = fake_server_new(world->net, addr, &handler, place);
    fake_server_set_latency(place->server, WORLD_LATENCY_US);
}

void servers_add_minted(struct world *world)
{
    struct addr addr;
    struct prefix prefix;
    MUST(addr_parse(&addr, "10.128.0.1@53", 0) == ERR_OK);
    MUST(prefix_parse(&prefix, "10.128.0.0/9") == ERR_OK);
    servers_add(world, &addr);
    fake_server_take_prefix(fake_server_at(world->net, &addr), &prefix);
}

struct fake_server *servers_at(struct world *world, const struct addr *addr)
{
    return fake_server_at(world->net, addr);
}

/* ---- queries ---- */

/* In most files, the ADDRESS of a range has no port. */
static bool is_at(const struct addr *wanted, const struct addr *addr)
{
    return addr_family(wanted) == AF_UNSPEC || addr_equal(wanted, addr) ||
           (addr_port(wanted) == 53 && addr_equal_ip(wanted, addr));
}

static const struct entry *find_entry(struct world *world, const struct out *out)
{
    char why[MATCH_WHY_MAX];
    for (const struct script_range *range = world->script->ranges; range; range = range->next) {
        if (world->now < range->first || world->now > range->last ||
            !is_at(&range->addr, &out->addr))
            continue;
        for (const struct entry *entry = range->entries; entry; entry = entry->next)
            if (match_message(entry, out->bytes, out->over_tcp, why))
                return entry;
    }
    return NULL;
}

static void send_stream(struct out *out, const struct entry *entry, const uint8_t *message,
                        size_t len);

static void ask_zones(struct world *world, struct out *out)
{
    static uint8_t message[MESSAGE_MAX];
    static const struct entry plain = {0};
    size_t len =
        zone_answer(world->script, world->now, &out->addr, out->over_tcp, out->bytes, message);
    if (!len)
        return;
    out->answered = true;
    if (out->over_tcp)
        send_stream(out, &plain, message, len);
    else
        fake_query_reply(&out->datagram, span_of(message, len), 0);
}

static void look(struct world *world, struct out *out)
{
    const struct entry *entry = find_entry(world, out);
    if (entry)
        servers_answer(world, out, entry);
    else
        ask_zones(world, out);
}

static struct out *note(struct place *place, struct span bytes)
{
    struct world *world = place->world;
    struct out *out = fake_net_take(world->net, sizeof(*out) + bytes.len);
    uint8_t *copy = (uint8_t *)(out + 1);
    memcpy(copy, bytes.data, bytes.len);
    out->bytes = span_of(copy, bytes.len);
    out->addr = *fake_server_addr(place->server);
    list_append(&world->outs, &out->node);
    world->out_count++;
    return out;
}

static void on_datagram(void *owner, const struct fake_query *query, struct span datagram)
{
    struct place *place = owner;
    struct out *out = note(place, datagram);
    out->datagram = *query;
    look(place->world, out);
}

static void on_message(void *owner, struct fake_conn *conn, size_t index, struct span message)
{
    (void)index;
    struct place *place = owner;
    struct out *out = note(place, message);
    out->over_tcp = true;
    out->conn = conn;
    look(place->world, out);
}

void servers_look_again(struct world *world)
{
    LIST_EACH(node, &world->outs)
    {
        struct out *out = LIST_ITEM(node, struct out, node);
        if (!out->answered && servers_is_open(out))
            look(world, out);
    }
}

bool servers_is_open(const struct out *out)
{
    return out->over_tcp ? fake_conn_is_held(out->conn) : fake_query_is_open(&out->datagram);
}

struct out *servers_waiting(struct world *world, const struct addr *addr, const struct entry *entry)
{
    char why[MATCH_WHY_MAX];
    for (struct list *node = world->outs.prev; node != &world->outs; node = node->prev) {
        struct out *out = LIST_ITEM(node, struct out, node);
        if (out->answered || !servers_is_open(out) || !is_at(addr, &out->addr))
            continue;
        if (!entry || match_message(entry, out->bytes, out->over_tcp, why))
            return out;
    }
    return NULL;
}

/* ---- answers ---- */

/* Returns the end of a message's question, as far as the question is sound. */
static size_t question_end(struct span bytes)
{
    size_t end = bytes.len > HEADER_LEN ? name_skip(bytes, HEADER_LEN) : 0;
    return end && end + 4 <= bytes.len ? end + 4 : 0;
}

/* Replaces the message's question with the query's, and moves the rest. */
static size_t copy_question(uint8_t *message, size_t len, struct span query)
{
    size_t ours = question_end(span_of(message, len)), theirs = question_end(query);
    if (!ours || !theirs || len - ours + theirs > MESSAGE_MAX)
        return len;
    memmove(message + theirs, message + ours, len - ours);
    memcpy(message + HEADER_LEN, query.data + HEADER_LEN, theirs - HEADER_LEN);
    return len - ours + theirs;
}

static bool same_name(const uint8_t *message, size_t len, struct span query)
{
    struct message a, b;
    return message_parse(&a, span_of(message, len)) != MESSAGE_SHORT && a.has_question &&
           message_parse(&b, query) == MESSAGE_OK && b.has_question &&
           name_equal(a.question.name, b.question.name);
}

/* Adds the query's cookie and eight bytes of the server. Makes an OPT record if necessary. */
static size_t add_cookie(uint8_t *message, size_t len, struct span query)
{
    static const uint8_t server_part[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    struct message ours, theirs;
    struct edns_cookie cookie;
    if (message_parse(&ours, span_of(message, len)) != MESSAGE_OK ||
        message_parse(&theirs, query) != MESSAGE_OK ||
        edns_find_cookie(&theirs.edns, &cookie) != EDNS_FOUND)
        return len;
    if (!ours.edns.present) {
        memcpy(message + len, "\0\0\x29\x04\xd0\0\0\0\0\0\0", 11);
        len += 11;
        header_set_count(message, SECTION_ADDITIONAL,
                         (uint16_t)(header_count(message, SECTION_ADDITIONAL) + 1));
    }
    uint8_t *rdlen = message + len - 2 - ours.edns.options.len;
    put_u16(rdlen, (uint16_t)(ours.edns.options.len + 20));
    put_u16(message + len, EDNS_COOKIE);
    put_u16(message + len + 2, 16);
    memcpy(message + len + 4, cookie.client.data, 8);
    memcpy(message + len + 12, server_part, 8);
    return len + 20;
}

/* Adds this many address records for the queried name right after the question, from 192.0.2.1 on.
 */
static size_t add_addrs(uint8_t *message, size_t len, unsigned count)
{
    static const uint8_t record[16] = {0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 1, 44, 0, 4, 192, 0, 2, 1};
    size_t end = question_end(span_of(message, len)), bytes = count * sizeof(record);
    if (!end || len + bytes > MESSAGE_MAX)
        return len;
    memmove(message + end + bytes, message + end, len - end);
    for (unsigned i = 0; i < count; i++) {
        uint8_t *at = message + end + i * sizeof(record);
        memcpy(at, record, sizeof(record));
        put_u32(at + 12, get_u32(at + 12) + i);
    }
    header_set_count(message, SECTION_ANSWER,
                     (uint16_t)(header_count(message, SECTION_ANSWER) + count));
    return len + bytes;
}

/* Turns the message into a referral: the queried name becomes a zone cut with this many servers.
 * Each has an address in 10.128.0.0/9 that no other name has. */
static size_t add_referral(uint8_t *message, size_t len, unsigned servers)
{
    size_t end = question_end(span_of(message, len));
    if (!end)
        return len;
    uint32_t first = (uint32_t)hash_bytes(message + HEADER_LEN, end - HEADER_LEN, 0);
    for (unsigned i = 0; i < 2 * servers; i++) {
        uint8_t letter = (uint8_t)('a' + i % servers), *at = message + end;
        const uint8_t ns[] = {0xc0, 0x0c, 0, 2, 0, 1, 0, 0, 14, 16, 0, 4, 1, letter, 0xc0, 0x0c};
        const uint8_t glue[] = {1, letter, 0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 14, 16, 0, 4};
        bool is_ns = i < servers;
        memcpy(at, is_ns ? ns : glue, is_ns ? sizeof(ns) : sizeof(glue));
        end += is_ns ? sizeof(ns) : sizeof(glue);
        if (is_ns)
            continue;
        put_u32(message + end, 0x0a800000 | ((first + i) & 0x7fffff));
        end += 4;
    }
    header_set_count(message, SECTION_AUTHORITY, (uint16_t)servers);
    header_set_count(message, SECTION_ADDITIONAL, (uint16_t)servers);
    return end;
}

/* Flips the case of the name's first letter. */
static void flip_case(uint8_t *message, size_t len)
{
    for (size_t i = HEADER_LEN + 1; i < len; i++) {
        if ((message[i] | 0x20) < 'a' || (message[i] | 0x20) > 'z')
            continue;
        message[i] ^= 0x20;
        return;
    }
}

/* Applies the ADJUST words. message has room for any answer. Returns its length. */
static size_t adjust(struct world *world, const struct entry *entry, uint8_t *message, size_t len,
                     struct span query)
{
    bool is_ours = world->script->is_ours;
    if (len < HEADER_LEN)
        return len;
    if ((entry->adjust & ADJUST_COPY_ID) ||
        !is_ours) /* Unbound's fake network knows which query waits */
        header_set_id(message, header_id(query.data));
    if (entry->adjust & ADJUST_WRONG_ID)
        header_set_id(message, (uint16_t)(header_id(query.data) + 1));
    if (entry->adjust & ADJUST_COPY_QUERY)
        len = copy_question(message, len, query);
    else if (is_ours && (entry->adjust & ADJUST_COPY_ID) && same_name(message, len, query))
        memcpy(message + HEADER_LEN, query.data + HEADER_LEN,
               question_end(query) - 4 - HEADER_LEN); /* the query's spelling of the name */
    if (entry->adjust & ADJUST_FLIP_CASE)
        flip_case(message, len);
    if (entry->mints) {
        servers_add_minted(world);
        len = add_referral(message, len, entry->mints);
    }
    if (entry->addrs)
        len = add_addrs(message, len, entry->addrs);
    if (entry->adjust & (ADJUST_COOKIE | ADJUST_WRONG_COOKIE) || world->script->gives_cookies)
        len = add_cookie(message, len, query);
    if (entry->adjust & ADJUST_WRONG_COOKIE)
        message[len - 16] ^= 1; /* the cookie that the server must return */
    return len;
}

static void send_stream(struct out *out, const struct entry *entry, const uint8_t *message,
                        size_t len)
{
    uint8_t *framed = malloc(len + 2);
    MUST(framed);
    put_u16(framed, (uint16_t)len);
    memcpy(framed + 2, message, len);
    if (entry->sleep_us)
        fake_conn_send_later(out->conn, span_of(framed, len + 2), entry->sleep_us);
    else if (entry->piece_bytes)
        fake_conn_send_pieces(out->conn, span_of(framed, len + 2), entry->piece_bytes,
                              entry->gap_us);
    else
        fake_conn_send(out->conn, span_of(framed, len + 2));
    free(framed);
}

static void send_packet(struct out *out, const struct entry *entry, const uint8_t *message,
                        size_t len)
{
    for (unsigned i = 0; i <= entry->copies; i++) {
        if (out->over_tcp)
            send_stream(out, entry, message, len);
        else if (entry->adjust & ADJUST_SPOOF)
            fake_query_spoof(&out->datagram, span_of(message, len));
        else
            fake_query_reply(&out->datagram, span_of(message, len), entry->sleep_us);
    }
}

static void end_conn(struct out *out, const struct entry *entry)
{
    if (entry->adjust & ADJUST_CLOSE)
        fake_conn_close(out->conn);
    if (entry->adjust & ADJUST_RESET)
        fake_conn_reset(out->conn);
}

void servers_answer(struct world *world, struct out *out, const struct entry *entry)
{
    static uint8_t message[MESSAGE_MAX + 512];
    out->answered = true;
    if ((entry->adjust & ADJUST_ICMP) && !out->over_tcp) {
        fake_query_icmp(&out->datagram, ERR_REFUSED, entry->sleep_us);
        return;
    }
    for (const struct entry_packet *packet = entry->packets; packet; packet = packet->next) {
        if (entry->adjust & ADJUST_SILENT)
            break;
        memcpy(message, packet->bytes.data, packet->bytes.len);
        size_t len = adjust(world, entry, message, packet->bytes.len, out->bytes);
        send_packet(out, entry, message, len);
    }
    if (out->over_tcp)
        end_conn(out, entry);
}
