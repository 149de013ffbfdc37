/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Writes lines of tab-separated cells. The commands choose the content; the control socket sends
 * it.
 *
 * Invariant: the buffer holds whole lines only, and always has room for the last lines.
 */

#include "control/reply.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"

enum { LAST_LINES_MAX = 64 }; /* "cut", its number, and "end" */

void reply_init(struct reply *reply, size_t max)
{
    MUST(max > LAST_LINES_MAX);
    buf_init(&reply->buf, max);
    reply->refused = false;
    reply->cut = 0;
    reply->row_len = 0;
    reply->row_cells = 0;
}

void reply_deinit(struct reply *reply)
{
    buf_deinit(&reply->buf);
}

static bool reply_append(struct reply *reply, const char *text, size_t len, size_t keep_free)
{
    if (buf_len(&reply->buf) + len + keep_free > reply->buf.max)
        return false;
    return buf_append(&reply->buf, text, len) == ERR_OK;
}

_Static_assert((CONTROL_COLUMNS_MAX + 1) * (CONTROL_CELL_MAX + 1) < CONTROL_ROW_MAX,
               "a line has room for every cell");

/* Writes every cell, however long the others are: a row without all its cells is invalid. */
static void reply_put_cell(struct reply *reply, const char *text)
{
    size_t len = strnlen(text, CONTROL_CELL_MAX);

    MUST(reply->row_cells <= CONTROL_COLUMNS_MAX);
    if (reply->row_cells++ > 0)
        reply->row[reply->row_len++] = '\t';
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        reply->row[reply->row_len++] = c < 0x20 || c == 0x7f ? '?' : (char)c;
    }
}

static void reply_clear_row(struct reply *reply)
{
    reply->row_len = 0;
    reply->row_cells = 0;
}

static bool reply_put_line(struct reply *reply, size_t keep_free)
{
    reply->row[reply->row_len++] = '\n';
    bool fits = reply_append(reply, reply->row, reply->row_len, keep_free);
    reply_clear_row(reply);
    return fits;
}

void reply_ok(struct reply *reply)
{
    MUST(buf_len(&reply->buf) == 0);
    reply_put_cell(reply, "ok");
    reply_put_line(reply, LAST_LINES_MAX);
}

void reply_refuse(struct reply *reply, const char *format, ...)
{
    char sentence[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(sentence, sizeof(sentence), format, arguments);
    va_end(arguments);
    buf_clear(&reply->buf);
    reply->cut = 0;
    reply_clear_row(reply);
    reply->refused = true;
    reply_put_cell(reply, "refused");
    reply_put_cell(reply, sentence);
    reply_put_line(reply, LAST_LINES_MAX);
}

void reply_errors_begin(struct reply *reply)
{
    reply_table(reply, "errors", "error:text");
}

void reply_error(struct reply *reply, const char *error)
{
    reply_row(reply);
    reply_text(reply, error);
    reply_row_end(reply);
}

static void reply_put_cut(struct reply *reply)
{
    char line[LAST_LINES_MAX];

    if (reply->cut == 0)
        return;
    int len = snprintf(line, sizeof(line), "cut\t%" PRIu64 "\n", reply->cut);
    reply->cut = 0;
    reply_append(reply, line, (size_t)len, sizeof("end\n") - 1);
}

static void reply_begin(struct reply *reply, const char *what, const char *name,
                        const char *columns)
{
    char line[CONTROL_ROW_MAX];

    reply_put_cut(reply);
    int len = snprintf(line, sizeof(line), "%s\t%s\ncolumns\t%s\n", what, name, columns);
    MUST(len > 0 && (size_t)len < sizeof(line));
    reply_append(reply, line, (size_t)len, LAST_LINES_MAX);
}

void reply_text_begin(struct reply *reply)
{
    reply_append(reply, "text\n", sizeof("text\n") - 1, LAST_LINES_MAX);
}

void reply_table(struct reply *reply, const char *name, const char *columns)
{
    reply_begin(reply, "table", name, columns);
}

void reply_record(struct reply *reply, const char *name, const char *columns)
{
    reply_begin(reply, "record", name, columns);
}

void reply_row(struct reply *reply)
{
    reply_clear_row(reply);
    reply_put_cell(reply, "row");
}

void reply_text(struct reply *reply, const char *text)
{
    reply_put_cell(reply, text);
}

void reply_count(struct reply *reply, uint64_t count)
{
    char text[24];
    snprintf(text, sizeof(text), "%" PRIu64, count);
    reply_put_cell(reply, text);
}

void reply_duration(struct reply *reply, uint64_t us)
{
    reply_count(reply, us);
}

void reply_ratio(struct reply *reply, uint64_t part, uint64_t whole)
{
    char text[24] = "";
    if (whole > 0)
        snprintf(text, sizeof(text), "%.6f", (double)part / (double)whole);
    reply_put_cell(reply, text);
}

void reply_flag(struct reply *reply, bool flag)
{
    reply_put_cell(reply, flag ? "yes" : "no");
}

void reply_unknown(struct reply *reply)
{
    reply_put_cell(reply, "");
}

void reply_row_end(struct reply *reply)
{
    if (reply->cut > 0 || !reply_put_line(reply, LAST_LINES_MAX))
        reply->cut++; /* after the first row that does not fit, no row of the table follows: a table
                         has no gaps */
    reply_clear_row(reply);
}

void reply_take_rows(struct reply *reply, const struct reply *from)
{
    struct span rest = buf_span(&from->buf);

    while (rest.len > 0) {
        const uint8_t *newline = memchr(rest.data, '\n', rest.len);
        size_t len = (size_t)(newline - rest.data) + 1;
        if (reply->cut > 0 || !reply_append(reply, (const char *)rest.data, len, LAST_LINES_MAX))
            reply->cut++;
        rest = span_of(rest.data + len, rest.len - len);
    }
    reply->cut += from->cut;
}

void reply_end(struct reply *reply)
{
    reply_put_cut(reply);
    reply_append(reply, "end\n", sizeof("end\n") - 1, 0);
}
