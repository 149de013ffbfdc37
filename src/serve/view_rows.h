/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_VIEW_ROWS_H
#define NAILUP_SERVE_VIEW_ROWS_H

/*
 * Which row of struct stats counts a view? A name keeps its row for the life of the process, so
 * that its counters go on over reloads. The first STATS_VIEWS_MAX names have rows of their own;
 * later ones share the last row. Immutable, any thread.
 */

#include <stddef.h>

#include "serve/server_options.h"

struct view_rows;

/* The name of the last row for people. No view can have this name. */
#define VIEW_ROWS_OTHER "(other)"

/* Makes the rows of these options. Names in before (NULL: none) keep their rows. Returns NULL when
 * out of memory. */
struct view_rows *view_rows_new(const struct server_options *options,
                                const struct view_rows *before);

/* NULL is fine. */
void view_rows_free(struct view_rows *rows);

/* Returns the row of a view, by its number from 1. A number that the options lack has the last row.
 */
unsigned view_rows_find(const struct view_rows *rows, unsigned view);

/* Returns the rows with names. */
size_t view_rows_count(const struct view_rows *rows);

/* Returns the name of a row. */
const char *view_rows_name(const struct view_rows *rows, size_t row);

/* Whether views share the last row. */
bool view_rows_has_others(const struct view_rows *rows);

#endif
