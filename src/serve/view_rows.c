/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Invariant: a row never changes its name. */
#include "serve/view_rows.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"

struct view_rows {
    size_t name_count;
    char *names[STATS_VIEWS_MAX];
    bool has_others;
    size_t view_count;
    uint8_t of_views[]; /* by number, from 1 at place 0 */
};

/* Returns the row of the name, which is new if need be, or STATS_VIEWS_MAX. */
static unsigned view_rows_place(struct view_rows *rows, const char *name)
{
    for (size_t i = 0; i < rows->name_count; i++)
        if (strcmp(rows->names[i], name) == 0)
            return (unsigned)i;
    if (rows->name_count == STATS_VIEWS_MAX)
        return STATS_VIEWS_MAX;
    rows->names[rows->name_count] = strdup(name);
    return rows->names[rows->name_count] ? (unsigned)rows->name_count++ : STATS_VIEWS_MAX;
}

struct view_rows *view_rows_new(const struct server_options *options,
                                const struct view_rows *before)
{
    struct view_rows *rows = calloc(1, sizeof(*rows) + options->view_count);
    if (!rows)
        return NULL;
    size_t names = before ? before->name_count : 0;
    for (size_t i = 0; i < names; i++)
        (void)view_rows_place(rows, before->names[i]);
    if (rows->name_count < names) { /* the rows of two names must not change places */
        view_rows_free(rows);
        return NULL;
    }
    rows->has_others = before && before->has_others;
    rows->view_count = options->view_count;
    for (size_t i = 0; i < options->view_count; i++) {
        rows->of_views[i] = (uint8_t)view_rows_place(rows, options->views[i].name);
        rows->has_others |= rows->of_views[i] == STATS_VIEWS_MAX;
    }
    return rows;
}

void view_rows_free(struct view_rows *rows)
{
    for (size_t i = 0; rows && i < rows->name_count; i++)
        free(rows->names[i]);
    free(rows);
}

unsigned view_rows_find(const struct view_rows *rows, unsigned view)
{
    return view > 0 && view <= rows->view_count ? rows->of_views[view - 1] : STATS_VIEWS_MAX;
}

size_t view_rows_count(const struct view_rows *rows)
{
    return rows->name_count;
}

const char *view_rows_name(const struct view_rows *rows, size_t row)
{
    return rows->names[row];
}

bool view_rows_has_others(const struct view_rows *rows)
{
    return rows->has_others;
}
