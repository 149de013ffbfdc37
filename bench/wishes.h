/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_WISHES_H
#define NAILUP_BENCH_WISHES_H

/*
 * What the labels of a queried name ask of the responder, so that a test says in the question what
 * the answer shall be. The list of labels is in answer.h.
 */

#include <stdbool.h>
#include <stdint.h>

#include "verdict.h"
#include "wire.h"

struct wishes {
    enum answer_verdict verdict;
    enum rcode rcode;
    bool nodata, big, alias, truncated, wrong_id, wrong_name;
    bool has_delay, has_ttl;
    uint32_t delay_ms, ttl_s;
    uint16_t last_label; /* offset in the name of its top-level label, 0 in the root's */
};

/* Reads all labels of the query's name; what is not asked for is zero. */
void wishes_read(struct wishes *wishes, const struct wire_query *query, bool is_stream);

#endif
