/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_ZONE_ZONE_RECORD_H
#define NAILUP_ZONE_ZONE_RECORD_H

/* Views of the records of a zone. They borrow from the zone. */

#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"
#include "dns/name.h"

/* The numbers of the SOA record (RFC 1035 section 3.3.13); times in seconds. */
struct zone_soa {
    uint32_t serial, refresh, retry, expire, minimum;
    uint32_t ttl; /* of the record itself */
};

/* An RRset; borrows from the zone. All its records have the TTL of the smallest (RFC 2181 section
 * 5.2). */
struct zone_rrset {
    uint16_t type;
    uint16_t count;
    uint32_t ttl;        /* seconds */
    struct span records; /* for zone_rrset_next() */
};

/* Takes the RDATA of the next record. Returns false at the end. */
static inline bool zone_rrset_next(struct zone_rrset *rrset, struct span *rdata)
{
    uint16_t len;
    return span_take_u16(&rrset->records, &len) && span_take(&rrset->records, len, rdata);
}

struct zone_record {
    struct name owner;
    uint16_t type;
    uint32_t ttl; /* seconds */
    struct span rdata;
};

/* The parameters of an NSEC3 chain (RFC 5155 section 4). */
struct zone_nsec3param {
    uint16_t iterations;
    struct span salt; /* borrows from the zone */
};

#endif
