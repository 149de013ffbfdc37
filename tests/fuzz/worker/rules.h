/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_FUZZ_WORKER_RULES_H
#define NAILUP_TESTS_FUZZ_WORKER_RULES_H

/* Checks of the worker's counters and bounds. They hold in every schedule. */

#include <stdint.h>

struct stage;

/* Makes cheap checks between two turns. Time must advance after a bounded number of turns, which
 * excludes busy loops. */
void rules_check_turn(struct stage *stage);

/* Checks the worker after each step of a schedule. */
void rules_check_step(struct stage *stage);

/* Checks the worker at rest: nothing waits or is in flight, and every query is answered or counted
 * as dropped. */
void rules_check_rest(struct stage *stage);

/* Checks that everything is closed. */
void rules_check_end(struct stage *stage);

/* Returns how many queries had no answer for a counted reason. */
uint64_t rules_drops(const struct stage *stage);

#endif
