/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_DELAY_LINE_H
#define NAILUP_BENCH_DELAY_LINE_H

/*
 * Answers wait here until they are due. Items that fall due in the order of their arrival, as with
 * a fixed delay, go through a ring at no cost. Others (jitter, names with their own delay) go
 * through a heap. DELAY_LINE_MAX bounds the items; 100,000 have been tested.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { DELAY_LINE_MAX = 1 << 20 };

/* The head of an item. The caller owns the rest of it. */
struct delayed {
    uint64_t due_us;
};

struct delay_queue {
    struct delayed **items;
    size_t start, count, cap; /* in the heap, start is 0 */
};

struct delay_line {
    struct delay_queue ring, heap;
};

void delay_line_init(struct delay_line *line);

/* ERR_LIMIT and ERR_NO_MEMORY leave the item with the caller. Otherwise the line keeps the pointer.
 */
MUST_USE enum err delay_line_add(struct delay_line *line, struct delayed *item);

/* Returns the instant when the next item is due, or UINT64_MAX if the line is empty. */
uint64_t delay_line_next_us(const struct delay_line *line);

/* Returns the earliest item that is due, or NULL. Items with the same due time keep their order if
 * all of them went through the ring. */
struct delayed *delay_line_take(struct delay_line *line, uint64_t now_us);

size_t delay_line_count(const struct delay_line *line);

/* Frees the queues but not the items. Take all items first, with UINT64_MAX as now. */
void delay_line_deinit(struct delay_line *line);

#endif
