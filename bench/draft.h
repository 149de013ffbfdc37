/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_DRAFT_H
#define NAILUP_BENCH_DRAFT_H

/* An answer that the responder is writing. The functions do not check for room, because answer.c
 * has room for the longest answer. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a name is written: as a pointer, or as the root. */
enum {
    DRAFT_ROOT = 0,
    DRAFT_POINTER = 0xC000,  /* with an offset: a compressed name (RFC 1035 4.1.4) */
    DRAFT_QUESTION = 0xC00C, /* a pointer to the queried name */
};

struct draft {
    uint8_t *start, *p;
    uint16_t answers, authorities, additionals; /* records written so far, except OPT */
};

void draft_bytes(struct draft *draft, const void *bytes, size_t len);

/* Writes a name. The root is written in full, because some clients refuse a pointer to it. */
void draft_name(struct draft *draft, uint16_t name);

/* Writes a record up to its data. The caller writes the data and counts the record. */
void draft_record(struct draft *draft, uint16_t owner, uint16_t type, uint32_t ttl_s,
                  uint16_t data_len);

/* Adds an A or AAAA record to the answers. Its address comes from the hash. */
void draft_address(struct draft *draft, uint16_t owner, uint16_t type, uint32_t ttl_s,
                   uint64_t hash);

/* Writes an SOA record (RFC 1035 3.3.13). Both of its names are the zone. The caller counts the
 * record. */
void draft_soa(struct draft *draft, uint16_t zone, uint32_t ttl_s);

#endif
