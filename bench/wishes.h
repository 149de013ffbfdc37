/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_WISHES_H
#define NAILUP_BENCH_WISHES_H

/*
 * The labels of a queried name request a behaviour from the responder, so that a test's question
 * determines its answer. answer.h lists the labels.
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
    uint16_t last_label; /* the offset of the top-level label in the name; 0 for the root */
};

/* Reads all labels of the query's name. A member is zero if no label sets it. */
void wishes_read(struct wishes *wishes, const struct wire_query *query, bool is_stream);

#endif
