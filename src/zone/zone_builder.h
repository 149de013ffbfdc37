/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_ZONE_ZONE_BUILDER_H
#define NAILUP_ZONE_ZONE_BUILDER_H

/*
 * Makes a version of a zone: from nothing (a file, AXFR), or from changes to another version
 * (IXFR). It gathers changes in any order and sorts them at the end. One thread, never a worker:
 * the end of a large zone takes a second.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/span.h"
#include "dns/name.h"

struct zone_builder;
struct zone_data;

/* The largest size of a zone, whatever the options say: offsets have 32 bits. */
#define ZONE_BYTES_MAX ((size_t)UINT32_MAX)

/* Begins a zone. max_bytes bounds the memory of the finished zone, and that of the gathered changes
 * as well; at most ZONE_BYTES_MAX counts. Copies origin. Returns NULL when out of memory. */
struct zone_builder *zone_builder_new(struct name origin, size_t max_bytes);

/* Begins with the records of another version and keeps a reference to it until the end. */
struct zone_builder *zone_builder_new_over(struct zone_data *old, size_t max_bytes);

/* Forgets everything. NULL is allowed. */
void zone_builder_free(struct zone_builder *builder);

struct name zone_builder_origin(const struct zone_builder *builder);

/*
 * Adds a record of class IN. rdata is uncompressed. A record that exists gets the new TTL. A TTL
 * with the top bit set counts as 0 (RFC 2181 section 8). ERR_OUT_OF_ZONE: the owner is not at or
 * below the origin. ERR_INVALID: a type that is no data, RDATA without the shape of its type, or a
 * SOA below the origin. ERR_LIMIT: max_bytes. ERR_NO_MEMORY. An error leaves the builder unchanged.
 */
MUST_USE enum err zone_builder_add(struct zone_builder *builder, struct name owner, uint16_t type,
                                   uint32_t ttl, struct span rdata);

/* Removes the record with this owner, type and RDATA in any case of names. Changes apply in the
 * order of the calls. Errors are those of zone_builder_add(); zone_builder_finish() reports a
 * record that did not exist. */
MUST_USE enum err zone_builder_remove(struct zone_builder *builder, struct name owner,
                                      uint16_t type, struct span rdata);

/*
 * Ends the builder, sets *builder to NULL and makes the version, with one reference for the caller.
 * On an error *data is NULL. ERR_INVALID: the origin has no SOA record or several; ERR_NOT_FOUND: a
 * removed record did not exist, so the changes belong to another version; ERR_LIMIT: the zone
 * exceeds max_bytes, or an RRset has more than 65535 records; ERR_NO_MEMORY.
 */
MUST_USE enum err zone_builder_finish(struct zone_builder **builder, struct zone_data **data);

#endif
