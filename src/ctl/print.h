/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CTL_PRINT_H
#define NAILUP_CTL_PRINT_H

/* An answer for people, or for programs. */

#include <stdio.h>

struct answer;

/* A string of JSON, quoted; what is no UTF-8 is replaced. */
void print_json_string(const char *text, FILE *out);

/* Lists as aligned columns under their names, numbers to the right; a record as a name a line.
 * Durations and sizes have units. Columns that are empty everywhere are left out. */
void print_text(const struct answer *answer, FILE *out);

/*
 * One JSON object: a list of objects for each table, an object for each record. Numbers are
 * numbers, flags true or false, what is not known null. Durations are in seconds and their names
 * end in _seconds, sizes end in _bytes, rates in _per_second. Of a table that did not fit its reply
 * NAME_cut is how many rows are missing.
 */
void print_json(const struct answer *answer, FILE *out);

#endif
