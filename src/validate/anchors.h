/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_VALIDATE_ANCHORS_H
#define NAILUP_VALIDATE_ANCHORS_H

/*
 * Trust anchors and negative trust anchors (RFC 7646): an immutable table that all workers share.
 * The closest one at or above a name decides. Made by the configuration; freed by its owner after
 * the last use.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/span.h"
#include "dns/name.h"

struct anchors;

enum {
    ANCHORS_MAX = 32768,     /* zones of one table */
    ANCHOR_RECORDS_MAX = 32, /* of one zone */
};

enum anchor_kind {
    ANCHOR_TRUSTED,  /* has DS or DNSKEY records */
    ANCHOR_NEGATIVE, /* everything at and below it is treated as insecure */
};

struct anchor_record {
    uint16_t type; /* RRTYPE_DS or RRTYPE_DNSKEY */
    struct span rdata;
    const char *source; /* anchors_set_source()'s */
};

struct anchor {
    enum anchor_kind kind;
    struct name zone;
    size_t count; /* of a trusted one; at least 1 */
    const struct anchor_record *record;
    const char *source; /* of a negative anchor; anchors_set_source() sets it */
};

/* Returns the closest anchor at or above the name, in any case, or NULL: nothing is trusted there.
 * Borrows from the table. For a DS record, callers pass the parent of its owner. A table with
 * nothing but the root costs one comparison; else each number of labels that some anchor has costs
 * a hash of the name's suffix. */
const struct anchor *anchors_find(const struct anchors *anchors, struct name name);

/* Returns a table without anchors, to which the following functions add. NULL: out of memory. */
struct anchors *anchors_new(void);
void anchors_free(struct anchors *anchors); /* NULL is fine */

/* Returns a copy to which more can be added. NULL: out of memory. */
struct anchors *anchors_copy(const struct anchors *anchors);

/* Returns such a copy without the records of this zone that have another source. */
struct anchors *anchors_copy_keeping(const struct anchors *anchors, struct name zone,
                                     const char *source);

/* Sets the word that tells people where the following additions come from. Static text; "" at
 * first. */
void anchors_set_source(struct anchors *anchors, const char *source);

/* Adds the record to the trusted anchor of this zone. A record that is there already, or whose zone
 * is a negative anchor, changes nothing. ERR_INVALID: RDATA that is no DS record and no DNSKEY
 * record which may sign. ERR_LIMIT: a bound above is reached. ERR_NO_MEMORY: the
 * table may only be freed. */
MUST_USE enum err anchors_add(struct anchors *anchors, struct name zone, uint16_t type,
                              struct span rdata);

/* Makes the zone a negative anchor, which displaces a trusted one at the same name, before or
 * after. ERR_LIMIT, ERR_NO_MEMORY. */
MUST_USE enum err anchors_add_negative(struct anchors *anchors, struct name zone);

/* Adds the root's built-in anchors (KSK-2017, tag 20326, and KSK-2024, tag 38696). Like
 * anchors_add(). */
MUST_USE enum err anchors_add_root(struct anchors *anchors);

/* Visits each zone whose anchor is in one of the two tables only or differs between them. */
void anchors_compare(const struct anchors *before, const struct anchors *after,
                     void (*visit)(void *context, struct name zone), void *context);

/* Returns a number that equal tables have in common, whatever the order of their anchors is. It is
 * the same in each process. */
uint64_t anchors_hash(const struct anchors *anchors);

/* Returns the number of anchors, and each of them in the order in which they were added: for
 * people. */
size_t anchors_count(const struct anchors *anchors);
const struct anchor *anchors_at(const struct anchors *anchors, size_t at);

#endif
