/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_DELAY_LINE_H
#define NAILUP_BENCH_DELAY_LINE_H

/*
 * Answers on their way: kept until they are due. What falls due in the order of its arrival, as
 * everything does under one fixed delay, passes a ring at no cost; what does not (jitter, names
 * with a delay of their own) a heap. Tested with 100,000 pending; bounded by DELAY_LINE_MAX.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { DELAY_LINE_MAX = 1 << 20 };

/* The head of what is kept; the rest of it is the caller's. */
struct delayed {
    uint64_t due_us;
};

struct delay_queue {
    struct delayed **items;
    size_t start, count, cap; /* start is 0 in the heap */
};

struct delay_line {
    struct delay_queue ring, heap;
};

void delay_line_init(struct delay_line *line);

/* ERR_LIMIT or ERR_NO_MEMORY leaves item with the caller; otherwise the line keeps the pointer. */
MUST_USE enum err delay_line_add(struct delay_line *line, struct delayed *item);

/* When the next one is due; UINT64_MAX: none is kept. */
uint64_t delay_line_next_us(const struct delay_line *line);

/* Gives back the earliest one that is due by now, or NULL. Those due at the same instant come in
 * the order in which they were added as long as they all passed the ring. */
struct delayed *delay_line_take(struct delay_line *line, uint64_t now_us);

size_t delay_line_count(const struct delay_line *line);

/* Frees the queues, not the items: take those first with UINT64_MAX as now. */
void delay_line_deinit(struct delay_line *line);

#endif
