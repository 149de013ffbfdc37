/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CTL_RATES_H
#define NAILUP_CTL_RATES_H

/* Computes how fast counters grow between two answers to one command. Pure. */

#include <stdint.h>

struct parsed_reply;

/*
 * Adds a column of rates with the same name after each column of counters. previous is the answer
 * from elapsed_us ago, with or without such columns; NULL: rates are unknown. Two rows are the same
 * thing if their key columns agree (worker, upstream, transport, zone, metric) and, where there is
 * an age, if it grew by the elapsed time; so a replaced connection has no rate yet. Leaves a table
 * unchanged if it has no room for more columns, or if memory is short.
 */
void rates_add(struct parsed_reply *answer, const struct parsed_reply *previous,
               uint64_t elapsed_us);

#endif
