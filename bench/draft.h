/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_DRAFT_H
#define NAILUP_BENCH_DRAFT_H

/* An answer of the responder while it is written. The functions do not check for room: answer.c
 * has enough for the longest answer. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A name that is written as a pointer, or the root. */
enum {
    DRAFT_ROOT = 0,
    DRAFT_POINTER = 0xC000,  /* and an offset: a compressed name (RFC 1035 4.1.4) */
    DRAFT_QUESTION = 0xC00C, /* the queried name */
};

struct draft {
    uint8_t *start, *p;
    uint16_t answers, authorities, additionals; /* records so far, without OPT */
};

void draft_bytes(struct draft *draft, const void *bytes, size_t len);

/* Writes the root as itself: some clients refuse a pointer to it. */
void draft_name(struct draft *draft, uint16_t name);

/* Writes a record without its data. The caller writes the data and counts the record. */
void draft_record(struct draft *draft, uint16_t owner, uint16_t type, uint32_t ttl_s,
                  uint16_t data_len);

/* Adds an A or AAAA record, made from the hash, to the answers. */
void draft_address(struct draft *draft, uint16_t owner, uint16_t type, uint32_t ttl_s,
                   uint64_t hash);

/* Writes an SOA record (RFC 1035 3.3.13), whose two names are the zone itself. The caller counts
 * it. */
void draft_soa(struct draft *draft, uint16_t zone, uint32_t ttl_s);

#endif
