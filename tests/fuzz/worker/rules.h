/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_FUZZ_WORKER_RULES_H
#define NAILUP_TESTS_FUZZ_WORKER_RULES_H

/* Checks of the worker's counters and bounds, which hold whatever happens. */

#include <stdint.h>

struct stage;

/* Between two turns; cheap. No busy loop: time moves after a bounded number of turns. */
void rules_check_turn(struct stage *stage);

/* After each step of a schedule. */
void rules_check_step(struct stage *stage);

/* Nothing waits, nothing is under way, and every query is answered or counted as dropped. */
void rules_check_rest(struct stage *stage);

/* All is closed. */
void rules_check_end(struct stage *stage);

/* Queries without an answer for a reason that was counted. */
uint64_t rules_drops(const struct stage *stage);

#endif
