/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_ZONE_ZONE_DATA_H
#define NAILUP_ZONE_ZONE_DATA_H

/*
 * The records of one version of a zone, in class IN. zone_builder.h makes it. It never changes, and
 * an atomic count of references decides when it is freed, so any thread may read it. Names keep
 * their case; comparisons ignore it. RDATA is in uncompressed wire form and has the shape of its
 * type.
 *
 * A name with one record costs 16 bytes, 14 bytes, its owner's name and the RDATA: some 60 bytes
 * for a rule of a response policy zone.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"
#include "dns/name.h"
#include "zone/zone_record.h"

struct zone_data;

/* Adds and drops a reference. The last unref frees. NULL is allowed for unref. */
struct zone_data *zone_data_ref(struct zone_data *data);
void zone_data_unref(struct zone_data *data);

/* Borrow from data. */
struct name zone_data_origin(const struct zone_data *data);
const struct zone_soa *zone_data_soa(const struct zone_data *data);

/* Return how many records the zone has, and how many bytes of memory it takes. */
size_t zone_data_records(const struct zone_data *data);
size_t zone_data_bytes(const struct zone_data *data);

/* Finds the RRset of exactly this owner and type. Returns false when the zone has none: cuts,
 * aliases and wildcards mean nothing here. */
bool zone_data_find(const struct zone_data *data, struct name owner, uint16_t type,
                    struct zone_rrset *out);

/* ---- all records ---- */

struct zone_iter {
    const struct zone_data *data;
    uint32_t node;
    struct span rest; /* RRsets of the node that are still to come */
    struct name owner;
    struct zone_rrset rrset;
};

/* Iterates over all records: owners in canonical order (RFC 4034 section 6.1), the types of an
 * owner by number, records of an RRset by their RDATA. The caller holds a reference. */
void zone_iter_init(struct zone_iter *iter, const struct zone_data *data);

/* Gives the next record, which borrows from the zone. Returns false at the end. */
bool zone_iter_next(struct zone_iter *iter, struct zone_record *out);

#endif
