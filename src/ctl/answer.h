/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CTL_ANSWER_H
#define NAILUP_CTL_ANSWER_H

/*
 * A reply of the daemon taken apart: tables of typed cells. What came over the socket is not
 * believed to be well formed. Cells point into the text, which the answer owns.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "nailup/control.h"

enum column_type {
#define CONTROL_TYPE(name, text) COLUMN_##name,
    CONTROL_TYPES(CONTROL_TYPE)
#undef CONTROL_TYPE
};

struct column {
    const char *name;
    enum column_type type;
};

struct table {
    const char *name;
    bool is_record; /* one thing, not a list */
    size_t column_count;
    struct column columns[CONTROL_COLUMNS_MAX];
    size_t row_count, row_room;
    const char **cells; /* row_count times column_count */
    const char *cut;    /* how many rows are missing; NULL: none */
    void *made;         /* text of cells that are not the daemon's; from malloc() */
};

struct answer {
    char *text;
    const char *refused; /* why; NULL: not refused */
    size_t table_count;
    struct table *tables;
};

/* Takes the text (len bytes from malloc, with room for one more), also on error. ERR_BAD_MESSAGE:
 * no reply of this language, or not a whole one. */
MUST_USE enum err answer_parse(struct answer *out, char *text, size_t len);

void answer_deinit(struct answer *answer);

static inline const char *table_cell(const struct table *table, size_t row, size_t column)
{
    return table->cells[row * table->column_count + column];
}

#endif
