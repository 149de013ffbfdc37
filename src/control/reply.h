/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONTROL_REPLY_H
#define NAILUP_CONTROL_REPLY_H

/*
 * A reply of the control socket while it is written, in the protocol of nailup/control.h. No
 * function here fails: rows that do not fit are counted, and the reply tells their number. One
 * thread at a time.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "nailup/control.h"

struct reply {
    struct buf buf;
    bool refused; /* the refusal is its only content */
    uint64_t cut; /* rows of this table that did not fit */
    size_t row_len;
    unsigned row_cells;        /* cells of the line, its first word included */
    char row[CONTROL_ROW_MAX]; /* the line being written */
};

/* max bounds the bytes: CONTROL_REPLY_MAX, or less in tests. */
void reply_init(struct reply *reply, size_t max);
void reply_deinit(struct reply *reply);

/* Begins a successful answer. */
void reply_ok(struct reply *reply);

/* Replaces the whole reply by a refusal. The sentence says what to do. */
void reply_refuse(struct reply *reply, const char *format, ...) PRINTF_LIKE(2, 3);

/* A table after the refusal: one error per row. */
void reply_errors_begin(struct reply *reply);
void reply_error(struct reply *reply, const char *error);

/* Begins a text: the caller appends lines to buf, none of which is "end". */
void reply_text_begin(struct reply *reply);

/* Begins a list, or a record of one thing. columns: "name:type" separated by tabs. */
void reply_table(struct reply *reply, const char *name, const char *columns);
void reply_record(struct reply *reply, const char *name, const char *columns);

/* A row: begin it, write one cell for each column, end it. Control characters in text become '?'.
 */
void reply_row(struct reply *reply);
void reply_text(struct reply *reply, const char *text);
void reply_count(struct reply *reply, uint64_t count); /* bytes too */
void reply_duration(struct reply *reply, uint64_t us);
void reply_ratio(struct reply *reply, uint64_t part, uint64_t whole); /* unknown if whole is 0 */
void reply_flag(struct reply *reply, bool flag);
void reply_unknown(struct reply *reply);
void reply_row_end(struct reply *reply);

/* Appends the rows of a reply that has only rows. */
void reply_take_rows(struct reply *reply, const struct reply *from);

/* Writes the last line. */
void reply_end(struct reply *reply);

#endif
