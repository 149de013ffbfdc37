/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_SCENARIO_ZONE_H
#define NAILUP_TESTS_SCENARIO_ZONE_H

/*
 * ZONE_BEGIN to ZONE_END: a zone of a server, which answers from it as in RFC 1034 section 4.3.2.
 * Ranges take precedence over zones, so that a scenario writes only the wrong answers.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/span.h"
#include "dns/name.h"
#include "scenario/reader.h"
#include "scenario/zone_sign.h"

struct script;

enum {
    ZONE_ADDRS_MAX = 16,
    ZONE_FIXED_LEN = 10, /* the bytes of a record's type, class, TTL and length */
};

/* Manners: the words that may follow the zone's name. */
enum zone_manner {
    ZONE_FULL = 1 << 0,        /* answers also contain the zone's NS records */
    ZONE_NO_ENT = 1 << 1,      /* denies empty non-terminals with NXDOMAIN */
    ZONE_LOWER_CASE = 1 << 2,  /* returns the question in lower case */
    ZONE_NO_EDNS = 1 << 3,     /* answers queries with EDNS with FORMERR */
    ZONE_DROPS_EDNS = 1 << 4,  /* does not answer queries with EDNS */
    ZONE_TRUNCATES = 1 << 5,   /* truncates every answer over UDP */
    ZONE_NOT_AA = 1 << 6,      /* never sets AA */
    ZONE_OFFERS_RA = 1 << 7,   /* always sets RA */
    ZONE_REFUSES_RD0 = 1 << 8, /* refuses queries without RD, as a resolver does */
};

/* Records, in the order of the file. */
struct zone_record {
    struct zone_record *next;
    struct name owner;
    uint16_t type;
    struct span rest; /* the record without its owner */
};

struct script_zone {
    struct script_zone *next;
    int first, last; /* the steps in which it applies, as for ranges */
    struct addr addrs[ZONE_ADDRS_MAX];
    unsigned addr_count;
    uint32_t manners;
    struct zone_signing signing;
    struct name apex;
    struct zone_record *records;
};

/* Reads up to ZONE_END. The reader is at ZONE_BEGIN. The script owns the memory. Returns NULL and
 * sets the script's error. */
struct script_zone *zone_read(struct script *script, struct reader *reader);

/* From "ZONE_MORE name" to ZONE_END: further records for the latest zone with that name. */
bool zone_read_more(struct script *script, struct reader *reader);

/* Writes the answer of the server at this address to a query in this step. out has room for
 * MESSAGE_MAX. Returns the length, or 0 if the server has no zone or is silent. */
size_t zone_answer(const struct script *script, int now, const struct addr *addr, bool over_tcp,
                   struct span bytes, uint8_t *out);

#endif
