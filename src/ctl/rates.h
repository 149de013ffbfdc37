/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CTL_RATES_H
#define NAILUP_CTL_RATES_H

/* How fast counters grow between two answers to one command. Pure. */

#include <stdint.h>

struct answer;

/*
 * Puts a column of rates behind each column of counters, with its name. previous: the answer
 * elapsed_us ago, with or without such columns; NULL: there is none, and no rate is known. Rows are
 * the same thing when they agree in what names it (worker, upstream, transport, zone, metric) and,
 * where there is an age, it grew by the time that has passed; so one that was replaced has no rate
 * yet. A table without room for more columns, or memory for them, stays as it is.
 */
void rates_add(struct answer *answer, const struct answer *previous, uint64_t elapsed_us);

#endif
