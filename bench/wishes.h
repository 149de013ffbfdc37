/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_WISHES_H
#define NAILUP_BENCH_WISHES_H

/*
 * The labels of a queried name ask for behaviour of the responder, so that a test's question says
 * what its answer must be. answer.h lists the labels.
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
    uint16_t last_label; /* offset of its top-level label in the name; 0 for the root */
};

/* Reads all labels of the query's name. Members without a label are zero. */
void wishes_read(struct wishes *wishes, const struct wire_query *query, bool is_stream);

#endif
