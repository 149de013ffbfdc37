/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_CLASSIFY_H
#define NAILUP_RESOLVE_CLASSIFY_H

/* What kind of response is this? Pure; any thread. */

#include <stdbool.h>
#include <stdint.h>

#include "dns/message.h"
#include "dns/question.h"
#include "resolve/alias.h"

struct zone;

enum response_kind {
    RESPONSE_ANSWER,   /* the records asked for, at the end of a chain of aliases or at once */
    RESPONSE_ALIAS,    /* only aliases: what the last name is must be asked for */
    RESPONSE_NODATA,   /* the name has no such records (RFC 2308 section 2.2) */
    RESPONSE_NXDOMAIN, /* the name, or the chain's last (RFC 6604), does not exist */
    RESPONSE_YXDOMAIN, /* a DNAME made the name too long, and the answer shows it */
    RESPONSE_REFERRAL, /* "ask those": of no use from a forwarder; of an authoritative server it
                          leads to a zone below, on the way to the name */
    RESPONSE_LOOP,     /* aliases in a circle, or more than are followed */
    RESPONSE_SERVFAIL, /* the rcodes that say no */
    RESPONSE_REFUSED,
    RESPONSE_NOTIMP,
    RESPONSE_FORMERR,
    RESPONSE_OTHER,     /* any other rcode */
    RESPONSE_TRUNCATED, /* TC where nothing may be truncated */
    RESPONSE_UNSOUND,   /* contradicts itself or has malformed RDATA: nothing of it is believed */
    RESPONSE_LAME, /* the server should have the zone and has not: it refers sideways, upwards or
                      to itself, has nothing by the SOA of another zone, no name by that of one
                      above, or asks others itself */
};

/* Not to be copied (struct alias_chain). Records are of the message that was classified. */
struct response {
    enum response_kind kind;
    uint16_t rcode;    /* as sent, all twelve bits */
    uint16_t ede;      /* the extended error that came with it, or EDE_NONE */
    bool has_soa;      /* a negative answer: the SOA of the name's zone was there */
    bool is_recursive; /* lame because it asks others itself */
    bool is_empty;     /* a nodata that nothing speaks for but a zone above: some servers' way to
                          say no */
    bool soa_is_above; /* that zone is above the one asked: the SOA limits the life, and goes */
    struct rr soa;     /* in authority */
    enum section data; /* where an answer's records are: authority for a DS that a referral has */
    enum section referral; /* the section of a referral's NS records */
    uint32_t soa_ttl;      /* the lesser of its TTL and MINIMUM (RFC 2308 section 5) */
    struct alias_chain chain;
};

/* True for the kinds that hold something for the client: answer, alias, nodata, nxdomain,
 * yxdomain. */
bool response_is_useful(enum response_kind kind);

/* "nodata"; static storage. */
const char *response_kind_name(enum response_kind kind);

/* message has parsed OK and belongs to the question; zone is the one whose servers sent it: they
 * are believed for its names alone. That AA is missing is forgiven where the server does not offer
 * recursion either: old ones leave it out. */
void classify(struct response *out, const struct message *message, const struct question *question,
              const struct zone *zone);

#endif
