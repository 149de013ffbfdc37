/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_CLASSIFY_H
#define NAILUP_RESOLVE_CLASSIFY_H

/* The kind of a response. Pure; any thread. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dns/message.h"
#include "dns/question.h"
#include "resolve/alias.h"

struct zone;

enum response_kind {
    RESPONSE_ANSWER,   /* the records asked for, directly or at the end of an alias chain */
    RESPONSE_ALIAS,    /* only aliases: the target must be asked for */
    RESPONSE_NODATA,   /* the name has no such records (RFC 2308 section 2.2) */
    RESPONSE_NXDOMAIN, /* the name, or the last of the chain (RFC 6604), does not exist */
    RESPONSE_YXDOMAIN, /* a DNAME made the name too long, and the answer proves it */
    RESPONSE_REFERRAL, /* names other servers: useless from a forwarder; from an authoritative
                          server it leads to a zone below, on the way to the name */
    RESPONSE_LOOP,     /* an alias loop, or more aliases than are followed */
    RESPONSE_SERVFAIL, /* the rcodes that refuse or fail */
    RESPONSE_REFUSED,
    RESPONSE_NOTIMP,
    RESPONSE_FORMERR,
    RESPONSE_OTHER,     /* any other rcode */
    RESPONSE_TRUNCATED, /* TC where nothing may be truncated */
    RESPONSE_UNSOUND,   /* contradicts itself or has malformed RDATA: nothing in it is believed */
    RESPONSE_LAME, /* the server should have the zone and does not: it refers sideways, upwards or
                      to itself, denies by the SOA of another zone, denies the name by that of a
                      zone above, or recurses itself */
};

/* Must not be copied (struct alias_chain). The records are of the classified message. */
struct response {
    enum response_kind kind;
    uint16_t rcode;    /* as sent, all twelve bits */
    uint16_t ede;      /* the extended error, or EDE_NONE */
    bool has_soa;      /* a negative answer has the SOA of the name's zone */
    bool is_recursive; /* lame because it recurses itself */
    bool is_empty; /* a NODATA without an SOA, or with that of a zone above, or an NXDOMAIN without
                      AA and SOA: some servers that have lost the zone say so */
    bool soa_is_above; /* that zone is above the asked one: its SOA limits the life of the answer
                          and is dropped */
    struct rr soa;     /* in the authority section */
    enum section data; /* of the answer's records: authority for a DS record in a referral */
    enum section referral; /* of a referral's NS records */
    uint32_t soa_ttl;      /* the lower of its TTL and MINIMUM (RFC 2308 section 5) */
    struct alias_chain chain;
};

/* A response without aliases, as most are. It may be copied, and borrows the QNAME. */
struct plain_response {
    unsigned char bytes[offsetof(struct response, chain.wire)];
};

/* Copies the response. False: it has aliases. */
bool response_to_plain(struct plain_response *out, const struct response *from);
void response_from_plain(struct response *out, const struct plain_response *from);

/* Whether the kind has something for the client: answer, alias, nodata, nxdomain, yxdomain. */
bool response_is_useful(enum response_kind kind);

/* Keeps only the first alias of the chain. The chain must have one, and the caller has to ask for
 * its target. The response must come from this question and message. */
void response_cut_at_alias(struct response *response, const struct message *message,
                           const struct question *question);

/* "nodata"; static storage. */
const char *response_kind_name(enum response_kind kind);

/* Classifies a message that has parsed OK and belongs to the question. zone is the one whose
 * servers sent it: they are believed about its names only. A missing AA is forgiven where the
 * server does not offer recursion either, because old servers leave it out. */
void classify(struct response *out, const struct message *message, const struct question *question,
              const struct zone *zone);

#endif
