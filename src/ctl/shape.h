/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CTL_SHAPE_H
#define NAILUP_CTL_SHAPE_H

/* Which rows of an answer are shown, and in which order. Pure. */

#include <stdbool.h>
#include <stddef.h>

struct parsed_reply;

/* The rows and the order that the command line chooses. */
struct shape {
    const char *worker; /* a number, "all" or "sum" */
    const char *sort;   /* see sort_rows(); NULL: the daemon's order */
};

/* Whether the option --worker takes this word. */
bool shape_is_worker(const char *word);

/* Whether the shape shows one worker, which its number names. */
bool shape_is_one_worker(const struct shape *shape);

/* Whether the command has rows for each worker. */
bool shape_has_workers(const char *verb);

/* Keeps the rows of the worker, or adds up all workers. Call it before rates are computed. */
void shape_workers(const struct shape *shape, struct parsed_reply *answer);

/* Sorts. False: why says what is wrong. */
bool shape_order(const struct shape *shape, struct parsed_reply *answer, char *why, size_t size);

#endif
