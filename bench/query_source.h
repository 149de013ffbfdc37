/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_QUERY_SOURCE_H
#define NAILUP_BENCH_QUERY_SOURCE_H

/*
 * Where the load's queries come from: a file in its order, names that are always new, or names of
 * Zipf popularity with a share of new names.
 */

#include <stdint.h>

#include "base/err.h"
#include "query_file.h"
#include "wire.h"
#include "zipf.h"

enum query_kind { QUERIES_FILE, QUERIES_UNIQUE, QUERIES_ZIPF };

struct query_source {
    enum query_kind kind;
    struct query_file file; /* for QUERIES_FILE */
    size_t next;
    struct zipf zipf;      /* for QUERIES_ZIPF */
    uint32_t unique_share; /* how often a name is new, as a share of 2^32 */
    uint64_t random;       /* the state of a small generator, which needs no secrecy */
    uint64_t counter; /* the number of the next new name; no other run starts at the same number */
    uint8_t template[WIRE_QUERY_MAX];
    size_t template_len;
};

/* Takes the queries of a loaded file, and with them its memory. */
void query_source_init_file(struct query_source *source, const struct query_file *file);

/* Makes names of 17 characters under suffix (wire form, at most 230 bytes): new names, or names
 * drawn by Zipf's law with the given count and exponent, of which unique_percent are new. */
void query_source_init_unique(struct query_source *source, const uint8_t *suffix, size_t suffix_len,
                              uint16_t type, const struct wire_style *style);
MUST_USE enum err query_source_init_zipf(struct query_source *source, uint32_t names, double s,
                                         double unique_percent);

void query_source_deinit(struct query_source *source);

/* Writes the next query with id 0 to out, which holds WIRE_QUERY_MAX. Returns its length. */
size_t query_source_next(struct query_source *source, uint8_t *out);

#endif
