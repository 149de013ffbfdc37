/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CTL_ANSWER_H
#define NAILUP_CTL_ANSWER_H

/*
 * A parsed reply of the daemon: tables of typed cells. Treats the bytes from the socket as
 * untrusted. Cells point into the text, which the answer owns.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
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
    bool is_record; /* one thing instead of a list */
    size_t column_count;
    struct column columns[CONTROL_COLUMNS_MAX];
    size_t row_count, row_room;
    const char **cells; /* row_count times column_count */
    const char *cut;    /* the number of missing rows; NULL: none */
};

struct parsed_reply {
    char *text;
    const char *refused; /* the reason; NULL: not refused */
    size_t table_count;
    struct table *tables;
    struct arena added; /* cells made here */
};

/* Bytes that cells made here may take. */
enum { ANSWER_ADDED_MAX = 64 * 1024 * 1024 };

/* Takes the text (len bytes from malloc(), with room for one more), on error too. ERR_BAD_MESSAGE:
 * the text is not a complete reply in this protocol. */
MUST_USE enum err answer_parse(struct parsed_reply *out, char *text, size_t len);

void answer_deinit(struct parsed_reply *answer);

/* The index of the column with this name, or -1. */
int answer_column(const struct table *table, const char *name);

static inline const char *answer_cell(const struct table *table, size_t row, size_t column)
{
    return table->cells[row * table->column_count + column];
}

#endif
