/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * DNS64 (dns64.h). It judges and writes answers, without clients and tasks. Invariant: a
 * made record never has a longer life than the records and the denial that it comes from.
 */
#include "resolve/dns64.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "dns/message.h"
#include "dns/rrtype.h"
#include "local/name_map.h"

enum {
    ZERO_BYTE = 8,        /* RFC 6052 section 2.2: bits 64 to 71 of an address */
    REVERSE_LABELS = 34,  /* of an address in ip6.arpa */
    REVERSE_TTL_S = 3600, /* of the alias to in-addr.arpa */
};

/* ---- addresses ---- */

static const uint8_t *prefix_bytes(const struct prefix *prefix)
{
    size_t len;
    return addr_bytes(&prefix->addr, &len);
}

bool dns64_is_sound(const struct prefix *prefix)
{
    unsigned bits = prefix->length;
    if (addr_family(&prefix->addr) != AF_INET6)
        return false;
    return (bits == 96 && prefix_bytes(prefix)[ZERO_BYTE] == 0) ||
           (bits >= 32 && bits <= 64 && bits % 8 == 0);
}

void dns64_embed(const struct prefix *prefix, const uint8_t ipv4[DNS64_IPV4_BYTES],
                 uint8_t ipv6[DNS64_IPV6_BYTES])
{
    size_t at = prefix->length / 8;
    memset(ipv6, 0, DNS64_IPV6_BYTES);
    memcpy(ipv6, prefix_bytes(prefix), at);
    for (size_t i = 0; i < DNS64_IPV4_BYTES; i++) {
        at += at == ZERO_BYTE;
        ipv6[at++] = ipv4[i];
    }
}

bool dns64_extract(const struct prefix *prefix, const uint8_t ipv6[DNS64_IPV6_BYTES],
                   uint8_t ipv4[DNS64_IPV4_BYTES])
{
    uint8_t again[DNS64_IPV6_BYTES];
    size_t at = prefix->length / 8;
    for (size_t i = 0; i < DNS64_IPV4_BYTES; i++) {
        at += at == ZERO_BYTE;
        ipv4[i] = ipv6[at++];
    }
    dns64_embed(prefix, ipv4, again);
    return memcmp(again, ipv6, at) == 0; /* the bits after it are ignored: RFC 6052 section 2.2 */
}

/* ---- questions ---- */

static int nibble_of(uint8_t byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    byte |= 0x20;
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* Reads an address of ip6.arpa. False: the name is another one. */
static bool read_reverse(struct name name, uint8_t ipv6[DNS64_IPV6_BYTES])
{
    static const uint8_t zone[] = "\3ip6\4arpa";
    if (name.len != 2 * 32 + sizeof(zone) || name_label_count(name) != REVERSE_LABELS ||
        !name_equal(name_suffix(name, 2), (struct name){zone, sizeof(zone)}))
        return false;
    for (size_t i = 0; i < DNS64_IPV6_BYTES; i++) {
        const uint8_t *labels = name.wire + 4 * (DNS64_IPV6_BYTES - 1 - i);
        int low = nibble_of(labels[1]), high = nibble_of(labels[3]);
        if (labels[0] != 1 || labels[2] != 1 || low < 0 || high < 0)
            return false;
        ipv6[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

static bool is_known_name(struct name name)
{
    static const uint8_t wire[] = "\10ipv4only\4arpa";
    return name_equal(name, (struct name){wire, sizeof(wire)});
}

static bool is_concerned(const struct dns64_options *options, const struct addr *client)
{
    return !options->clients || prefix_set_find(options->clients, client) >= 0;
}

enum dns64_stage dns64_begin(const struct dns64_options *options, const struct question *question,
                             const struct addr *client, bool dnssec_ok, bool checking_disabled)
{
    uint8_t ipv6[DNS64_IPV6_BYTES], ipv4[DNS64_IPV4_BYTES];
    bool is_address = question->type == RRTYPE_AAAA;
    if ((!is_address && question->type != RRTYPE_PTR) || (dnssec_ok && checking_disabled) ||
        !is_concerned(options, client))
        return DNS64_NONE;
    if (is_address)
        return is_known_name(question->name) ? DNS64_KNOWN : DNS64_FIRST;
    bool is_behind =
        read_reverse(question->name, ipv6) && dns64_extract(&options->prefix, ipv6, ipv4);
    return is_behind ? DNS64_REVERSE : DNS64_NONE;
}

/* Writes the name of an IPv4 address in in-addr.arpa. */
static struct name ipv4_reverse_name(const uint8_t ipv4[DNS64_IPV4_BYTES],
                                     uint8_t wire[NAME_WIRE_MAX])
{
    static const uint8_t zone[] = "\7in-addr\4arpa";
    size_t at = 0;
    for (size_t i = DNS64_IPV4_BYTES; i-- > 0;) {
        char digits[4];
        int len = snprintf(digits, sizeof(digits), "%u", ipv4[i]);
        wire[at++] = (uint8_t)len;
        memcpy(wire + at, digits, (size_t)len);
        at += (size_t)len;
    }
    memcpy(wire + at, zone, sizeof(zone));
    return (struct name){wire, (uint8_t)(at + sizeof(zone))};
}

bool dns64_question(const struct dns64_options *options, enum dns64_stage stage,
                    const struct question *question, struct question *next,
                    uint8_t wire[NAME_WIRE_MAX])
{
    uint8_t ipv6[DNS64_IPV6_BYTES], ipv4[DNS64_IPV4_BYTES];
    if (stage == DNS64_SECOND) {
        *next = (struct question){name_fold(question->name, wire), RRTYPE_A, question->cls};
        return true;
    }
    MUST(stage == DNS64_REVERSE);
    if (!read_reverse(question->name, ipv6) || !dns64_extract(&options->prefix, ipv6, ipv4))
        return false;
    *next = (struct question){ipv4_reverse_name(ipv4, wire), RRTYPE_PTR, question->cls};
    return true;
}

/* ---- the answer to AAAA ---- */

static bool is_ignored(const struct dns64_options *options, struct name name)
{
    uint8_t wire[NAME_WIRE_MAX], len;
    return options->ignored &&
           name_map_find_suffix(options->ignored, name_fold(name, wire), &len) != NULL;
}

/* A mapped address stays one here: ::ffff:0:0/96 is what is excluded most often. */
static bool is_excluded(const struct dns64_options *options, struct span rdata)
{
    struct addr addr = {.in6 = {.sin6_family = AF_INET6}};
    if (!options->exclude || rdata.len != DNS64_IPV6_BYTES)
        return false;
    memcpy(&addr.in6.sin6_addr, rdata.data, DNS64_IPV6_BYTES);
    return prefix_set_find(options->exclude, &addr) >= 0;
}

static uint32_t dns64_aged(uint32_t ttl, uint32_t age_s)
{
    return ttl > age_s ? ttl - age_s : 0;
}

/* The TTL of the denial, which bounds that of made records (RFC 6147 section 5.1.7). */
static uint32_t denial_ttl(const struct message *message, uint32_t age_s)
{
    struct rr_iter iter = message_rrs(message, SECTION_AUTHORITY);
    for (struct rr rr; message_rr_next(&iter, &rr);)
        if (rr.type == RRTYPE_SOA)
            return dns64_aged(rr.ttl, age_s);
    return DNS64_TTL_S;
}

/* Servers may put records of other classes and lengths into a message. */
static bool is_ipv6_record(const struct rr *rr)
{
    return rr->type == RRTYPE_AAAA && rr->cls == RRCLASS_IN && rr->rdata_len == DNS64_IPV6_BYTES;
}

static bool is_ipv4_record(const struct rr *rr)
{
    return rr->type == RRTYPE_A && rr->cls == RRCLASS_IN && rr->rdata_len == DNS64_IPV4_BYTES;
}

static enum dns64_verdict judge_addresses(const struct dns64_options *options,
                                          const struct question *question,
                                          const struct message *message)
{
    unsigned usable = 0, excluded = 0;
    bool ignores = is_ignored(options, question->name);
    struct rr_iter iter = message_rrs(message, SECTION_ANSWER);
    for (struct rr rr; message_rr_next(&iter, &rr);) {
        if (!is_ipv6_record(&rr))
            continue;
        if (ignores || is_excluded(options, message_rdata(message, &rr)))
            excluded++;
        else
            usable++;
    }
    if (excluded == 0)
        return DNS64_KEEP;
    return usable ? DNS64_REDUCE : DNS64_ASK;
}

enum dns64_verdict dns64_judge(const struct dns64_options *options, const struct question *question,
                               const struct answer *answer, uint64_t now, uint32_t *ttl_s)
{
    struct message message;
    MUST(message_parse(&message, answer->message) == MESSAGE_OK);
    *ttl_s = DNS64_TTL_S;
    if (message.flags & HEADER_AA) /* local data is the operator's, so it stays unchanged */
        return DNS64_KEEP;
    switch ((enum answer_kind)answer->kind) {
    case ANSWER_POSITIVE:
        return judge_addresses(options, question, &message);
    case ANSWER_NODATA:
        *ttl_s = denial_ttl(&message, answer_age(answer, now));
        return DNS64_ASK;
    case ANSWER_FAILURE:
        return answer->security == SECURITY_BOGUS ? DNS64_KEEP : DNS64_ASK;
    case ANSWER_NXDOMAIN:
        break;
    }
    return DNS64_KEEP;
}

static bool has_ipv4_record(const struct answer *answer)
{
    struct message message;
    MUST(message_parse(&message, answer->message) == MESSAGE_OK);
    struct rr_iter iter = message_rrs(&message, SECTION_ANSWER);
    for (struct rr rr; message_rr_next(&iter, &rr);)
        if (is_ipv4_record(&rr))
            return true;
    return false;
}

bool dns64_drops_signatures(const struct dns64_options *options, enum dns64_stage stage,
                            const struct question *question, const struct answer *answer,
                            uint64_t now)
{
    uint32_t ttl_s;
    if (stage == DNS64_FIRST)
        return dns64_judge(options, question, answer, now, &ttl_s) == DNS64_REDUCE;
    return stage == DNS64_SECOND && has_ipv4_record(answer);
}

/* ---- writing ---- */

/* One answer that records are copied from. */
struct source {
    struct message message;
    uint32_t age_s;
    struct copy copy;
};

static void source_begin(struct source *source, struct compose *compose,
                         const struct answer *answer, uint64_t now)
{
    MUST(message_parse(&source->message, answer->message) == MESSAGE_OK);
    source->age_s = answer_age(answer, now);
    copy_init(&source->copy, &compose->build, &source->message);
}

static void source_copy(struct source *source, struct compose *compose, const struct rr *rr)
{
    compose_copy(compose, &source->copy, rr, dns64_aged(rr->ttl, source->age_s));
}

/* Finishes an answer that no zone has signed as a whole. */
static bool dns64_end(struct compose *compose, struct answer *out, const struct answer *from,
                      uint64_t now)
{
    if (!compose_end(compose, out))
        return false;
    out->kind = from->kind;
    out->stored_at = now;
    out->stale_s = from->stale_s;
    out->ede_count = from->ede_count;
    memcpy(out->ede, from->ede, sizeof(out->ede));
    out->security = from->security == SECURITY_SECURE ? SECURITY_INSECURE : from->security;
    return true;
}

static uint16_t covered_by(const struct message *message, const struct rr *rr)
{
    struct span rdata = message_rdata(message, rr);
    return rdata.len >= 2 ? get_u16(rdata.data) : 0;
}

/* Aliases and their signatures. */
static bool is_of_alias(const struct message *message, const struct rr *rr)
{
    uint16_t type = rr->type == RRTYPE_RRSIG ? covered_by(message, rr) : rr->type;
    return type == RRTYPE_CNAME || type == RRTYPE_DNAME;
}

bool dns64_reduce(const struct dns64_options *options, struct answer *out,
                  struct compose_space *space, const struct question *question,
                  const struct answer *answer, uint64_t now)
{
    struct compose compose;
    struct source source;
    compose_begin(&compose, space, question, RCODE_NOERROR);
    source_begin(&source, &compose, answer, now);
    build_section(&compose.build, SECTION_ANSWER);
    unsigned count = 0;
    struct rr_iter iter = message_rrs(&source.message, SECTION_ANSWER);
    for (struct rr rr; message_rr_next(&iter, &rr);) {
        bool is_address =
            is_ipv6_record(&rr) && !is_excluded(options, message_rdata(&source.message, &rr));
        if (is_address || is_of_alias(&source.message, &rr))
            source_copy(&source, &compose, &rr);
        count += is_address;
    }
    if (!dns64_end(&compose, out, answer, now))
        return false;
    out->kind = count ? ANSWER_POSITIVE : ANSWER_NODATA;
    return true;
}

/* Returns the number of addresses. */
static unsigned make_addresses(const struct dns64_options *options, struct compose *compose,
                               struct source *source, uint32_t ttl_s)
{
    unsigned count = 0;
    uint8_t wire[NAME_WIRE_MAX], ipv6[DNS64_IPV6_BYTES];
    struct rr_iter iter = message_rrs(&source->message, SECTION_ANSWER);
    for (struct rr rr; message_rr_next(&iter, &rr);) {
        if (is_of_alias(&source->message, &rr))
            source_copy(source, compose, &rr);
        if (!is_ipv4_record(&rr))
            continue;
        dns64_embed(&options->prefix, message_rdata(&source->message, &rr).data, ipv6);
        compose_rr(compose, message_owner(&source->message, &rr, wire), RRTYPE_AAAA,
                   MIN(ttl_s, dns64_aged(rr.ttl, source->age_s)), span_of(ipv6, sizeof(ipv6)));
        count++;
    }
    return count;
}

static void source_copy_all(struct compose *compose, struct source *source)
{
    for (enum section section = SECTION_ANSWER; section < SECTION_COUNT; section++) {
        build_section(&compose->build, section);
        struct rr_iter iter = message_rrs(&source->message, section);
        for (struct rr rr; message_rr_next(&iter, &rr);)
            source_copy(source, compose, &rr);
    }
}

/* Writes the alias of the reverse name and the answer to its target. False: the answer is that of
 * another address. */
static bool make_reverse(const struct dns64_options *options, struct compose *compose,
                         struct source *source, const struct question *question)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct question target;
    if (!dns64_question(options, DNS64_REVERSE, question, &target, wire) ||
        !question_equal(&target, &source->message.question))
        return false;
    compose_cname(compose, question->name, question->cls, REVERSE_TTL_S, target.name);
    source_copy_all(compose, source);
    return true;
}

enum dns64_made dns64_make(const struct dns64_options *options, enum dns64_stage stage,
                           struct answer *out, struct compose_space *space,
                           const struct question *question, uint32_t ttl_s,
                           const struct answer *answer, uint64_t now)
{
    struct compose compose;
    struct source source;
    uint16_t rcode = get_u16(answer->message.data + 2) & HEADER_RCODE_MASK;
    compose_begin(&compose, space, question, rcode);
    source_begin(&source, &compose, answer, now);
    build_section(&compose.build, SECTION_ANSWER);
    if (stage == DNS64_REVERSE) {
        if (!make_reverse(options, &compose, &source, question))
            return DNS64_MOVED;
    } else if (make_addresses(options, &compose, &source, ttl_s) == 0) {
        return DNS64_EMPTY;
    }
    return dns64_end(&compose, out, answer, now) ? DNS64_MADE : DNS64_TOO_LARGE;
}

void dns64_known(const struct dns64_options *options, struct answer *out,
                 struct compose_space *space, const struct question *question, uint64_t now)
{
    static const uint8_t known[2][DNS64_IPV4_BYTES] = {{192, 0, 0, 170}, {192, 0, 0, 171}};
    struct compose compose;
    uint8_t ipv6[DNS64_IPV6_BYTES];
    compose_begin(&compose, space, question, RCODE_NOERROR);
    build_section(&compose.build, SECTION_ANSWER);
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        dns64_embed(&options->prefix, known[i], ipv6);
        compose_rr(&compose, question->name, RRTYPE_AAAA, DNS64_TTL_S, span_of(ipv6, sizeof(ipv6)));
    }
    MUST(compose_end(&compose, out));
    out->stored_at = now;
}

void dns64_turn(struct answer *out, struct compose_space *space, const struct answer *answer)
{
    size_t name_end = name_skip(answer->message, HEADER_LEN);
    MUST(name_end != 0 && answer->message.len <= sizeof(space->bytes));
    *out = *answer;
    memcpy(space->bytes, answer->message.data, answer->message.len);
    put_u16(space->bytes + name_end, RRTYPE_AAAA);
    out->message.data = space->bytes;
}
