/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CTL_SORT_H
#define NAILUP_CTL_SORT_H

/* Puts the rows of tables in order. Pure. */

#include <stdbool.h>
#include <stddef.h>

struct parsed_reply;

/*
 * Sorts each list that has the column: numbers from the highest, texts from a to z; a minus before
 * the name reverses that. Blanks and underscores in names are the same; NAME/s is a rate. Unknown
 * values come last, and equal rows keep their order. False: no list has the column, and why names
 * the columns that there are.
 */
bool sort_rows(struct parsed_reply *answer, const char *name, char *why, size_t size);

#endif
