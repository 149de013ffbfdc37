/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Decides which records about a zone cut are believed, and how a cut is kept. It does not decide
 * which server is asked or looked up.
 *
 * Invariants: the zone's name is the first in names; every place of a server or address is below
 * its count; addr_count of a server is the number of its addresses.
 */
#include "recurse/delegation.h"

#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/units.h"
#include "dns/rrtype.h"

/* ---- the value ---- */

static bool delegation_put_name(struct delegation *delegation, struct name name, uint16_t *at)
{
    if (delegation->names_len + name.len > DELEGATION_NAME_BYTES)
        return false;
    *at = delegation->names_len;
    uint8_t folded[NAME_WIRE_MAX];
    memcpy(delegation->names + *at, name_fold(name, folded).wire, name.len);
    delegation->names_len = (uint16_t)(delegation->names_len + name.len);
    return true;
}

void delegation_init(struct delegation *delegation, struct name zone, enum delegation_origin origin,
                     uint64_t ends_at)
{
    uint16_t at;
    delegation->origin = origin;
    delegation->ends_at = ends_at;
    delegation->server_count = delegation->addr_count = 0;
    delegation->referrer_labels = DELEGATION_NO_REFERRER;
    delegation->names_len = 0;
    MUST(delegation_put_name(delegation, zone, &at));
    delegation->zone_len = zone.len;
}

struct name delegation_zone(const struct delegation *delegation)
{
    return (struct name){delegation->names, delegation->zone_len};
}

struct name delegation_server(const struct delegation *delegation, unsigned server)
{
    MUST(server < delegation->server_count);
    const struct delegation_server *found = &delegation->servers[server];
    return (struct name){delegation->names + found->name_at, found->name_len};
}

int delegation_find(const struct delegation *delegation, struct name server)
{
    for (unsigned i = 0; i < delegation->server_count; i++)
        if (name_equal(delegation_server(delegation, i), server))
            return (int)i;
    return DELEGATION_NONE;
}

int delegation_add(struct delegation *delegation, struct name server)
{
    int known = delegation_find(delegation, server);
    uint16_t at;
    if (known != DELEGATION_NONE)
        return known;
    if (delegation->server_count == DELEGATION_SERVERS_MAX ||
        !delegation_put_name(delegation, server, &at))
        return DELEGATION_NONE;
    delegation->servers[delegation->server_count] =
        (struct delegation_server){.name_at = at, .name_len = server.len};
    return delegation->server_count++;
}

static struct span bytes_of(const struct delegation_addr *addr)
{
    return span_of(addr->bytes, addr->len);
}

/* An address counts once, whichever servers have it: it is one machine. */
static bool has_addr(const struct delegation *delegation, struct span bytes)
{
    for (unsigned i = 0; i < delegation->addr_count; i++)
        if (span_equal(bytes_of(&delegation->addrs[i]), bytes))
            return true;
    return false;
}

/* Whether this is an IPv4 address as IPv6 (RFC 4291 section 2.5.5). A packet to it would reach the
 * IPv4 address and evade the rules for that address. No host on the internet has one. */
static bool is_disguised(struct span bytes)
{
    struct in6_addr v6;
    if (bytes.len != sizeof(v6))
        return false;
    memcpy(&v6, bytes.data, sizeof(v6));
    return IN6_IS_ADDR_V4MAPPED(&v6) || IN6_IS_ADDR_V4COMPAT(&v6);
}

bool delegation_add_addr(struct delegation *delegation, unsigned server, struct span bytes)
{
    MUST(server < delegation->server_count && (bytes.len == 4 || bytes.len == 16));
    if (has_addr(delegation, bytes)) {
        delegation->servers[server].shares_addr = true;
        return false;
    }
    if (delegation->addr_count == DELEGATION_ADDRS_MAX ||
        delegation->servers[server].addr_count == DELEGATION_ADDRS_EACH_MAX || is_disguised(bytes))
        return false;
    struct delegation_addr *addr = &delegation->addrs[delegation->addr_count++];
    addr->server = (uint8_t)server;
    addr->len = (uint8_t)bytes.len;
    memcpy(addr->bytes, bytes.data, bytes.len);
    delegation->servers[server].addr_count++;
    return true;
}

static bool delegation_is_address(const struct rr *rr)
{
    return rr->cls == RRCLASS_IN && ((rr->type == RRTYPE_A && rr->rdata_len == 4) ||
                                     (rr->type == RRTYPE_AAAA && rr->rdata_len == 16));
}

void delegation_add_answer(struct delegation *delegation, unsigned server,
                           const struct message *message)
{
    struct rr_iter iter = message_rrs(message, SECTION_ANSWER);
    for (struct rr rr; message_rr_next(&iter, &rr);)
        if (delegation_is_address(&rr))
            (void)delegation_add_addr(delegation, server, message_rdata(message, &rr));
}

void delegation_addr(const struct delegation *delegation, unsigned at, uint16_t port,
                     struct addr *out)
{
    MUST(at < delegation->addr_count);
    const struct delegation_addr *addr = &delegation->addrs[at];
    memset(out, 0, sizeof(*out));
    if (addr->len == 4) {
        out->in.sin_family = AF_INET;
        memcpy(&out->in.sin_addr, addr->bytes, 4);
    } else {
        out->in6.sin6_family = AF_INET6;
        memcpy(&out->in6.sin6_addr, addr->bytes, 16);
    }
    addr_set_port(out, port);
}

/* Returns a bit for each server with this IP address. */
static uint16_t delegation_servers_at(const struct delegation *delegation, const struct addr *ip)
{
    uint16_t servers = 0;
    struct addr known;
    for (unsigned i = 0; i < delegation->addr_count; i++) {
        delegation_addr(delegation, i, 0, &known);
        if (addr_equal_ip(&known, ip))
            servers |= (uint16_t)(1u << delegation->addrs[i].server);
    }
    return servers;
}

bool delegation_is_one_server(const struct delegation *delegation, const struct addr *one,
                              const struct addr *other)
{
    return delegation_servers_at(delegation, one) & delegation_servers_at(delegation, other);
}

bool delegation_needs_glue(const struct delegation *delegation, unsigned server)
{
    return name_is_below(delegation_server(delegation, server), delegation_zone(delegation));
}

bool delegation_take_glue(struct delegation *delegation, unsigned server,
                          const struct delegation *from)
{
    int place = delegation_find(from, delegation_server(delegation, server));
    if (place == DELEGATION_NONE || !from->servers[place].addr_count)
        return false;
    for (unsigned i = 0; i < from->addr_count; i++)
        if (from->addrs[i].server == place)
            (void)delegation_add_addr(delegation, server, bytes_of(&from->addrs[i]));
    return true;
}

void delegation_inherit(struct delegation *delegation, const struct delegation *from)
{
    for (unsigned i = 0; i < from->addr_count; i++) {
        const struct delegation_addr *addr = &from->addrs[i];
        int server = delegation_find(delegation, delegation_server(from, addr->server));
        if (server != DELEGATION_NONE)
            (void)delegation_add_addr(delegation, (unsigned)server, bytes_of(addr));
    }
}

bool delegation_is_reachable(const struct delegation *delegation)
{
    bool is_reachable = delegation->addr_count > 0;
    for (unsigned i = 0; i < delegation->server_count && !is_reachable; i++)
        is_reachable = !delegation_needs_glue(delegation, i);
    return is_reachable;
}

uint64_t delegation_addrs_mark(const struct delegation *delegation)
{
    uint64_t mark = delegation->addr_count;
    for (unsigned i = 0; i < delegation->addr_count; i++)
        mark += hash_bytes(delegation->addrs[i].bytes, delegation->addrs[i].len, 0);
    return mark;
}

/* ---- from messages ---- */

/* Takes the NS records that the zone owns; *ttl_s becomes their lowest TTL. */
static void take_servers(struct delegation *out, const struct message *message,
                         enum section section, uint32_t *ttl_s)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct name server;
    struct rr_iter iter = message_rrs(message, section);
    for (struct rr rr; message_rr_next(&iter, &rr);) {
        if (rr.type != RRTYPE_NS || rr.cls != RRCLASS_IN ||
            !message_owner_is(message, &rr, delegation_zone(out)) ||
            !message_target(message, &rr, wire, &server))
            continue;
        *ttl_s = MIN(*ttl_s, rr.ttl);
        (void)delegation_add(out, server);
    }
}

/* Takes the addresses of hosts at or below the asked zone; *ttl_s becomes the lowest TTL. */
static void take_addresses(struct delegation *out, const struct message *message,
                           enum section section, struct name asked_zone, uint32_t *ttl_s)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct rr_iter iter = message_rrs(message, section);
    for (struct rr rr; message_rr_next(&iter, &rr);) {
        if (!delegation_is_address(&rr))
            continue;
        struct name host = message_owner(message, &rr, wire);
        int server = delegation_find(out, host);
        if (server == DELEGATION_NONE || !name_is_below(host, asked_zone))
            continue;
        *ttl_s = MIN(*ttl_s, rr.ttl);
        (void)delegation_add_addr(out, (unsigned)server, message_rdata(message, &rr));
    }
}

static void take_glue(struct delegation *out, const struct message *message, struct name asked_zone)
{
    uint32_t ttl_s = 0; /* the NS records decide */
    take_addresses(out, message, SECTION_ADDITIONAL, asked_zone, &ttl_s);
}

static uint64_t ends_after(uint64_t now, uint32_t ttl_s)
{
    return now + (uint64_t)ttl_s * US_PER_S;
}

/* Finds the first zone that the section refers to: below the asked zone, and on the way to the
 * name. */
static bool find_zone(struct delegation *out, const struct message *message, enum section section,
                      struct name asked_zone, struct name name)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct rr_iter iter = message_rrs(message, section);
    for (struct rr rr; message_rr_next(&iter, &rr);) {
        if (rr.type != RRTYPE_NS || rr.cls != RRCLASS_IN)
            continue;
        struct name zone = message_owner(message, &rr, wire);
        if (zone.len <= asked_zone.len || !name_is_below(zone, asked_zone) ||
            !name_is_below(name, zone))
            continue;
        delegation_init(out, zone, DELEGATION_PARENT, 0);
        return true;
    }
    return false;
}

bool delegation_from_referral(struct delegation *out, const struct message *message,
                              enum section section, struct name asked_zone,
                              const struct question *question, uint64_t now)
{
    uint32_t ttl_s = INT32_MAX;
    if (question->cls != RRCLASS_IN ||
        !find_zone(out, message, section, asked_zone, question->name))
        return false;
    take_servers(out, message, section, &ttl_s);
    take_glue(out, message, asked_zone);
    out->referrer_labels = (uint8_t)name_label_count(asked_zone);
    out->ends_at = ends_after(now, ttl_s);
    return out->server_count > 0;
}

bool delegation_from_address(struct delegation *out, const struct message *message,
                             struct name zone, struct name asked_zone, const struct question *asked,
                             uint64_t referral_ends_at, uint64_t now)
{
    uint32_t ttl_s = INT32_MAX;
    delegation_init(out, zone, DELEGATION_PARENT, 0);
    int server = delegation_add(out, asked->name);
    MUST(server != DELEGATION_NONE);
    take_addresses(out, message, SECTION_ANSWER, asked_zone, &ttl_s);
    out->referrer_labels = (uint8_t)name_label_count(asked_zone);
    out->ends_at = MIN(ends_after(now, ttl_s), referral_ends_at);
    return out->addr_count > 0;
}

bool delegation_from_child(struct delegation *out, const struct message *message, struct name zone,
                           const struct question *asked, bool is_proven, uint64_t parent_ends_at,
                           uint64_t now)
{
    uint32_t ttl_s = INT32_MAX;
    bool is_asked = asked->type == RRTYPE_NS && name_equal(asked->name, zone);
    delegation_init(out, zone, DELEGATION_CHILD, 0);
    if (is_asked || is_proven)
        take_servers(out, message, SECTION_ANSWER, &ttl_s);
    if (is_proven)
        take_servers(out, message, SECTION_AUTHORITY, &ttl_s);
    if (!out->server_count)
        return false;
    take_glue(out, message, zone);
    out->ends_at = MIN(ends_after(now, ttl_s), parent_ends_at);
    return true;
}

void delegation_end_with(struct delegation *delegation, const struct delegation *asked)
{
    if (!name_is_root(delegation_zone(asked)))
        delegation->ends_at = MIN(delegation->ends_at, asked->ends_at);
}

/* ---- to and from the cache ---- */

static void write_records(const struct delegation *delegation, struct compose *compose,
                          uint32_t ttl_s)
{
    build_section(&compose->build, SECTION_AUTHORITY);
    for (unsigned i = 0; i < delegation->server_count; i++) {
        struct name server = delegation_server(delegation, i);
        compose_rr(compose, delegation_zone(delegation), RRTYPE_NS, ttl_s,
                   span_of(server.wire, server.len));
    }
    if (!delegation->addr_count)
        return;
    build_section(&compose->build, SECTION_ADDITIONAL);
    for (unsigned i = 0; i < delegation->addr_count; i++) {
        const struct delegation_addr *addr = &delegation->addrs[i];
        compose_rr(compose, delegation_server(delegation, addr->server),
                   addr->len == 4 ? RRTYPE_A : RRTYPE_AAAA, ttl_s, bytes_of(addr));
    }
}

bool delegation_to_answer(const struct delegation *delegation, struct answer *out,
                          struct compose_space *space, uint32_t ttl_max_s, uint64_t now)
{
    bool is_learned =
        delegation->origin == DELEGATION_PARENT || delegation->origin == DELEGATION_CHILD;
    if (!is_learned || delegation->ends_at < now + US_PER_S || !delegation->server_count)
        return false;
    uint64_t left_s = (delegation->ends_at - now) / US_PER_S;
    uint32_t ttl_s = (uint32_t)MIN(left_s, (uint64_t)ttl_max_s);
    struct question key = {delegation_zone(delegation), RRTYPE_NS, RRCLASS_IN};
    struct compose compose;
    compose_begin(&compose, space, &key, delegation->origin == DELEGATION_CHILD ? HEADER_AA : 0);
    write_records(delegation, &compose, ttl_s);
    if (!compose_end(&compose, out))
        return false;
    out->kind = ANSWER_POSITIVE;
    out->stored_at = now;
    return out->ttl_s > 0;
}

bool delegation_from_answer(struct delegation *out, const struct answer *answer)
{
    struct message message;
    uint32_t ttl_s = 0;
    if (answer->kind != ANSWER_POSITIVE || message_parse(&message, answer->message) != MESSAGE_OK ||
        !message.has_question || message.question.type != RRTYPE_NS)
        return false;
    delegation_init(out, message.question.name,
                    message.flags & HEADER_AA ? DELEGATION_CHILD : DELEGATION_PARENT,
                    ends_after(answer->stored_at, answer->ttl_s));
    take_servers(out, &message, SECTION_AUTHORITY, &ttl_s);
    take_glue(out, &message, name_root());
    return out->server_count > 0;
}
