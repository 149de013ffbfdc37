/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CTL_PRINT_H
#define NAILUP_CTL_PRINT_H

/* Prints an answer for people or for programs. */

#include <stdbool.h>
#include <stdio.h>

struct parsed_reply;

struct print_style {
    unsigned width; /* characters of a line; 0: any number */
    bool colour;
};

/* Prints a quoted JSON string. Replaces bytes that are not UTF-8. */
void print_json_string(const char *text, FILE *out);

/* Prints a list as aligned columns under their names, numbers to the right, and a record as one
 * name per line. Durations and sizes have units. Leaves out columns that are empty in every row.
 * Lists fit the width: a line after them names the hidden columns (ctl/layout.h). */
void print_text(const struct parsed_reply *answer, const struct print_style *style, FILE *out);

/*
 * Prints one JSON object: a list of objects for each table, an object for each record. Numbers are
 * numbers, flags true or false, unknown values null. Durations are in seconds and their names end
 * in _seconds; sizes end in _bytes, rates in _per_second. If a table did not fit its reply,
 * NAME_cut is the number of missing rows.
 */
void print_json(const struct parsed_reply *answer, FILE *out);

#endif
