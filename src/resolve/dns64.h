/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_DNS64_H
#define NAILUP_RESOLVE_DNS64_H

/*
 * DNS64 (RFC 6147): AAAA records made from A records, so that clients without IPv4 reach servers
 * without IPv6 through a NAT64. serve asks this module before and after it asks the resolver. The
 * made answer is for one client and is never cached: the cache has the AAAA and A answers of the
 * name, and both have passed validation. Pure; any thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/prefix.h"
#include "cache/answer.h"
#include "cache/compose.h"
#include "dns/question.h"

struct name_map;

/* Filled by config. */
struct dns64_options {
    struct prefix prefix; /* 32, 40, 48, 56, 64 or 96 bits of IPv6 (RFC 6052 section 2.2) */
    const struct prefix_set *exclude; /* AAAA records in these count as absent; NULL: none */
    const struct prefix_set *clients; /* the clients that it concerns; NULL: all */
    const struct name_map *ignored;   /* names at and below which no AAAA counts; NULL: none */
};

enum {
    DNS64_TTL_S = 600, /* at most, without a SOA in the answer to AAAA (RFC 6147 section 5.1.7) */
    DNS64_IPV4_BYTES = 4,
    DNS64_IPV6_BYTES = 16,
};

/* Whether addresses can be made with it: an IPv6 prefix with a length of RFC 6052 section 2.2,
 * whose bits 64 to 71 are zero. */
bool dns64_is_sound(const struct prefix *prefix);

/* Writes the address that the prefix gives an IPv4 host, and the reverse. The bits 64 to 71 are
 * zero (RFC 6052 section 2.2). False: the address does not have the prefix. */
void dns64_embed(const struct prefix *prefix, const uint8_t ipv4[DNS64_IPV4_BYTES],
                 uint8_t ipv6[DNS64_IPV6_BYTES]);
bool dns64_extract(const struct prefix *prefix, const uint8_t ipv6[DNS64_IPV6_BYTES],
                   uint8_t ipv4[DNS64_IPV4_BYTES]);

enum dns64_stage {
    DNS64_NONE,    /* the question is an ordinary one */
    DNS64_KNOWN,   /* AAAA of ipv4only.arpa: the answer needs no server (RFC 8880) */
    DNS64_FIRST,   /* AAAA: the answer to it comes first */
    DNS64_SECOND,  /* AAAA: the answer to A is next */
    DNS64_REVERSE, /* PTR of an address with the prefix: the PTR of its IPv4 address is next */
};

/* Decides about a question of class IN. A client that sets DO and CD validates and so must not get
 * made records (RFC 6147 section 5.5). */
enum dns64_stage dns64_begin(const struct dns64_options *options, const struct question *question,
                             const struct addr *client, bool dnssec_ok, bool checking_disabled);

enum dns64_verdict {
    DNS64_KEEP,   /* the client gets this answer */
    DNS64_REDUCE, /* the client gets the rest of it, without excluded addresses */
    DNS64_ASK,    /* there is no address: ask for A */
};

/*
 * Judges the answer to AAAA. NXDOMAIN, local data, and addresses that are not excluded stay. No
 * data and other failures are followed by the question for A (RFC 6147 sections 5.1.1 to 5.1.4),
 * but not bogus ones (section 5.5). *ttl_s then bounds the TTL of made records.
 */
enum dns64_verdict dns64_judge(const struct dns64_options *options, const struct question *question,
                               const struct answer *answer, uint64_t now, uint32_t *ttl_s);

/*
 * Writes the question that comes next, for DNS64_SECOND and DNS64_REVERSE, to *next. Its name is in
 * lower case and borrows wire. False: the address of DNS64_REVERSE does not have the prefix. A
 * reload may have changed the prefix since dns64_begin().
 */
MUST_USE bool dns64_question(const struct dns64_options *options, enum dns64_stage stage,
                             const struct question *question, struct question *next,
                             uint8_t wire[NAME_WIRE_MAX]);

/* Writes the answer to AAAA without its excluded addresses. It is no longer signed. False: it does
 * not fit. The question's name is in lower case, as in the next functions, and *out borrows space.
 */
MUST_USE bool dns64_reduce(const struct dns64_options *options, struct answer *out,
                           struct compose_space *space, const struct question *question,
                           const struct answer *answer, uint64_t now);

enum dns64_made {
    DNS64_MADE,
    DNS64_EMPTY,     /* there is no A record */
    DNS64_TOO_LARGE, /* the records do not fit into a message */
    DNS64_MOVED,     /* the prefix has changed: the answer is that of another address */
};

/*
 * Writes the answer to the client's question from the answer to dns64_question(): AAAA records in
 * place of A records with a TTL of ttl_s at most, or the alias of a reverse name before the answer
 * to its target. AD is never set, because no zone has signed it. Aliases keep their records and
 * signatures. *out has an answer only with DNS64_MADE.
 */
enum dns64_made dns64_make(const struct dns64_options *options, enum dns64_stage stage,
                           struct answer *out, struct compose_space *space,
                           const struct question *question, uint32_t ttl_s,
                           const struct answer *answer, uint64_t now);

/* Whether dns64_make() or dns64_reduce() writes what the client gets of this answer. Then the
 * signatures of its addresses do not reach the client. */
bool dns64_drops_signatures(const struct dns64_options *options, enum dns64_stage stage,
                            const struct question *question, const struct answer *answer,
                            uint64_t now);

/* Writes the answer for DNS64_KNOWN: clients learn the prefix from it (RFC 7050). */
void dns64_known(const struct dns64_options *options, struct answer *out,
                 struct compose_space *space, const struct question *question, uint64_t now);

/* Writes an answer without records to A as an answer to AAAA, for a name without both. */
void dns64_turn(struct answer *out, struct compose_space *space, const struct answer *answer);

#endif
