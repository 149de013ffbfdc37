/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Prints tables for people. Formats every cell twice, because it measures the widths first. */

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "ctl/answer.h"
#include "ctl/colour.h"
#include "ctl/layout.h"
#include "ctl/print.h"
#include "ctl/utf8.h"

enum { CELL_MAX = CONTROL_ROW_MAX, INDENT = 2, LEVEL_MAX = 20 };

/* Formats with about three digits: 0us 850us 3.21ms 3.2s 4m05s 2h13m 5d07h. */
static void format_duration(char *out, size_t size, const char *cell)
{
    uint64_t us = strtoull(cell, NULL, 10);
    uint64_t s = us / 1000000;

    if (us < 1000)
        snprintf(out, size, "%uus", (unsigned)us);
    else if (us < 1000000)
        snprintf(out, size,
                 us < 10000    ? "%.2fms"
                 : us < 100000 ? "%.1fms"
                               : "%.0fms",
                 (double)us / 1e3);
    else if (s < 60)
        snprintf(out, size, "%u.%us", (unsigned)s, (unsigned)(us % 1000000 / 100000));
    else if (s < 3600)
        snprintf(out, size, "%um%02us", (unsigned)(s / 60), (unsigned)(s % 60));
    else if (s < 86400)
        snprintf(out, size, "%uh%02um", (unsigned)(s / 3600), (unsigned)(s % 3600 / 60));
    else
        snprintf(out, size, "%llud%02uh", (unsigned long long)(s / 86400),
                 (unsigned)(s % 86400 / 3600));
}

static void format_bytes(char *out, size_t size, const char *cell)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)strtoull(cell, NULL, 10);
    size_t unit = 0;

    for (; value >= 1024 && unit + 1 < ARRAY_LEN(units); unit++)
        value /= 1024;
    snprintf(out, size, unit && value < 100 ? "%.1f%s" : "%.0f%s", value, units[unit]);
}

static const char *format(char out[CELL_MAX], const struct column *column, const char *cell)
{
    if (!*cell)
        snprintf(out, CELL_MAX, "-");
    else if (column->type == COLUMN_DURATION)
        format_duration(out, CELL_MAX, cell);
    else if (column->type == COLUMN_BYTES)
        format_bytes(out, CELL_MAX, cell);
    else if (column->type == COLUMN_RATE)
        snprintf(out, CELL_MAX, strtod(cell, NULL) < 100 ? "%.1f" : "%.0f", strtod(cell, NULL));
    else if (column->type == COLUMN_RATIO)
        snprintf(out, CELL_MAX, "%.1f%%", strtod(cell, NULL) * 100);
    else
        snprintf(out, CELL_MAX, "%s", cell);
    return utf8_clean(out);
}

static bool is_left(const struct column *column)
{
    return column->type == COLUMN_TEXT || column->type == COLUMN_FLAG;
}

enum { TITLE_MAX = CONTROL_NAME_MAX + 2 };

/* Returns a name with spaces instead of underscores. */
static const char *print_text_name(char out[TITLE_MAX], const char *name)
{
    snprintf(out, CONTROL_NAME_MAX, "%s", name);
    for (char *p = out; *p; p++) {
        if (*p == '_')
            *p = ' ';
    }
    return utf8_clean(out);
}

static const char *title(char out[TITLE_MAX], const struct column *column)
{
    print_text_name(out, column->name);
    if (column->type == COLUMN_RATE)
        memcpy(out + strlen(out), "/s", sizeof("/s"));
    return out;
}

static bool is_empty_column(const struct table *table, size_t column)
{
    for (size_t row = 0; row < table->row_count; row++) {
        if (*answer_cell(table, row, column))
            return false;
    }
    return true;
}

/* The indentation of a cell, from the level column before it. */
static int indent_of(const struct table *table, size_t row, size_t column)
{
    if (column == 0 || table->columns[column - 1].type != COLUMN_LEVEL)
        return 0;
    uint64_t level = strtoull(answer_cell(table, row, column - 1), NULL, 10);
    return (int)(INDENT * MIN(level, (uint64_t)LEVEL_MAX));
}

/* Whether a column is printed. Levels only indent. */
static bool is_shown(const struct table *table, size_t column)
{
    return table->columns[column].type != COLUMN_LEVEL && !is_empty_column(table, column);
}

static const char *format_at(char out[CELL_MAX], const struct table *table, size_t row,
                             size_t column)
{
    char text[CELL_MAX];
    int indent = indent_of(table, row, column);
    const char *cell = format(text, &table->columns[column], answer_cell(table, row, column));
    snprintf(out, CELL_MAX, "%*s%.*s", indent, "", CELL_MAX - INDENT * LEVEL_MAX - 1, cell);
    return out;
}

static void measure(const struct table *table, int widths[CONTROL_COLUMNS_MAX])
{
    char text[CELL_MAX], name[TITLE_MAX];

    for (size_t i = 0; i < table->column_count; i++) {
        widths[i] = -1;
        if (!is_shown(table, i))
            continue;
        widths[i] = (int)strlen(title(name, &table->columns[i]));
        for (size_t row = 0; row < table->row_count; row++) {
            const char *cell = format_at(text, table, row, i);
            widths[i] = MAX(widths[i], (int)strlen(cell));
        }
    }
}

struct row_printer {
    FILE *out;
    int owed; /* spaces before the next cell; a row has none at its end */
};

/* Cuts a text that is too wide and marks the cut. Counts bytes, as measure() does; never cuts
 * within a character. */
static void cut_text(char *text, int width)
{
    size_t at = (size_t)MAX(width - 1, 0);
    if ((int)strlen(text) <= width)
        return;
    while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80)
        at--;
    memcpy(text + at, "~", sizeof("~"));
}

static void print_text_put(struct row_printer *printer, char *text, int width, bool left,
                           const char *colour)
{
    cut_text(text, width);
    int pad = width - (int)strlen(text);

    fprintf(printer->out, "%*s%s%s%s", printer->owed + (left ? 0 : pad), "", colour, text,
            *colour ? COLOUR_END : "");
    printer->owed = LAYOUT_GAP + (left ? pad : 0);
}

static void print_text_end_row(struct row_printer *printer)
{
    fputc('\n', printer->out);
    printer->owed = 0;
}

static void print_titles(const struct table *table, const int widths[CONTROL_COLUMNS_MAX],
                         FILE *out)
{
    struct row_printer printer = {.out = out};
    char name[TITLE_MAX];

    for (size_t i = 0; i < table->column_count; i++) {
        if (widths[i] >= 0) {
            title(name, &table->columns[i]);
            print_text_put(&printer, name, widths[i], is_left(&table->columns[i]), "");
        }
    }
    print_text_end_row(&printer);
}

static void print_row(const struct table *table, size_t row, const int widths[CONTROL_COLUMNS_MAX],
                      bool colours, FILE *out)
{
    struct row_printer printer = {.out = out};
    char text[CELL_MAX];

    for (size_t i = 0; i < table->column_count; i++) {
        const struct column *column = &table->columns[i];
        if (widths[i] < 0)
            continue;
        format_at(text, table, row, i);
        print_text_put(&printer, text, widths[i], is_left(column),
                       colours ? colour_of(column, answer_cell(table, row, i)) : "");
    }
    print_text_end_row(&printer);
}

/* Prints the names in lines of the width. */
static void print_hidden(const struct table *table, const size_t *hidden, size_t count,
                         unsigned width, FILE *out)
{
    char name[TITLE_MAX];
    unsigned at = (unsigned)fprintf(out, "(hidden:");

    for (size_t i = 0; i < count; i++) {
        const char *text = title(name, &table->columns[hidden[i]]);
        unsigned len = (unsigned)strlen(text) + 2; /* a space precedes, a comma or ) follows */
        if (at + len > width)
            at = (unsigned)fprintf(out, "\n ") - 1;
        fprintf(out, " %s%s", text, i + 1 < count ? "," : ")\n");
        at += len;
    }
}

static void print_list(const struct table *table, const struct print_style *style, FILE *out)
{
    int widths[CONTROL_COLUMNS_MAX];
    size_t hidden[CONTROL_COLUMNS_MAX];
    char name[TITLE_MAX];

    if (table->row_count == 0) {
        fprintf(out, "no %s\n", print_text_name(name, table->name));
        return;
    }
    measure(table, widths);
    size_t hidden_count = layout_fit(table, style->width, widths, hidden);
    print_titles(table, widths, out);
    for (size_t row = 0; row < table->row_count; row++)
        print_row(table, row, widths, style->colour, out);
    if (table->cut)
        fprintf(out, "(%" PRIu64 " more)\n", (uint64_t)strtoull(table->cut, NULL, 10));
    if (hidden_count > 0)
        print_hidden(table, hidden, hidden_count, style->width, out);
}

static void print_record(const struct table *table, bool colours, FILE *out)
{
    char text[CELL_MAX], name[TITLE_MAX];
    int width = 0;

    for (size_t i = 0; i < table->column_count; i++)
        width = MAX(width, (int)strlen(title(name, &table->columns[i])));
    for (size_t i = 0; table->row_count > 0 && i < table->column_count; i++) {
        const struct column *column = &table->columns[i];
        const char *cell = answer_cell(table, 0, i),
                   *colour = colours ? colour_of(column, cell) : "";
        fprintf(out, "%-*s  %s%s%s\n", width, title(name, column), colour,
                format(text, column, cell), *colour ? COLOUR_END : "");
    }
}

void print_text(const struct parsed_reply *answer, const struct print_style *style, FILE *out)
{
    char name[TITLE_MAX];

    for (size_t i = 0; i < answer->table_count; i++) {
        const struct table *table = &answer->tables[i];
        if (i > 0)
            fputc('\n', out);
        if (answer->table_count > 1)
            fprintf(out, "%s\n", print_text_name(name, table->name));
        if (table->is_record)
            print_record(table, style->colour, out);
        else
            print_list(table, style, out);
    }
}
