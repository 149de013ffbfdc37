/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Sorts pointers to rows, and then copies the rows in their new order. */

#include "ctl/sort.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "ctl/answer.h"
#include "ctl/utf8.h"

/* The rows of a table while they are sorted. */
struct order {
    const struct table *table;
    size_t column;
    bool is_reversed;
};

static bool is_number(enum column_type type)
{
    return type != COLUMN_TEXT && type != COLUMN_FLAG;
}

/* A double cannot hold large whole numbers exactly, so whole numbers are compared by length
 * first. */
static int compare_numbers(const char *a, const char *b)
{
    bool are_whole = !strchr(a, '.') && !strchr(b, '.');
    size_t a_len = strlen(a), b_len = strlen(b);
    if (are_whole && a_len != b_len)
        return a_len < b_len ? -1 : 1;
    if (are_whole)
        return strcmp(a, b);
    double x = strtod(a, NULL), y = strtod(b, NULL);
    return x < y ? -1 : x > y;
}

static int compare_rows(const void *one, const void *other, void *context)
{
    const struct order *order = context;
    size_t a = *(const size_t *)one, b = *(const size_t *)other;
    const char *x = answer_cell(order->table, a, order->column);
    const char *y = answer_cell(order->table, b, order->column);
    int result;
    if (!*x || !*y)
        result = (*x == '\0') - (*y == '\0');
    else {
        bool numbers = is_number(order->table->columns[order->column].type);
        result = numbers ? -compare_numbers(x, y) : strcmp(x, y);
        result = order->is_reversed ? -result : result;
    }
    return result ? result : (a > b) - (a < b);
}

static void sort_table(struct table *table, size_t column, bool is_reversed)
{
    struct order order = {table, column, is_reversed};
    size_t width = table->column_count;
    size_t *rows = calloc(MAX(table->row_count, 1), sizeof(*rows));
    const char **cells = calloc(MAX(table->row_count * width, 1), sizeof(*cells));
    if (rows && cells) {
        for (size_t i = 0; i < table->row_count; i++)
            rows[i] = i;
        qsort_r(rows, table->row_count, sizeof(*rows), compare_rows, &order);
        for (size_t i = 0; i < table->row_count; i++)
            memcpy(cells + i * width, table->cells + rows[i] * width, width * sizeof(*cells));
        memcpy(table->cells, cells, table->row_count * width * sizeof(*cells));
    }
    free(rows);
    free(cells);
}

/* Whether the name means the column. */
static bool names_column(const char *name, const struct column *column)
{
    size_t len = strlen(column->name);
    for (size_t i = 0; i < len; i++)
        if (name[i] != column->name[i] && !(name[i] == ' ' && column->name[i] == '_'))
            return false;
    return strcmp(name + len, column->type == COLUMN_RATE ? "/s" : "") == 0;
}

static void tell_columns(const struct parsed_reply *answer, const char *name, char *why,
                         size_t size)
{
    char text[CONTROL_CELL_MAX];
    size_t len;
    snprintf(text, sizeof(text), "%s", name);
    len = (size_t)snprintf(why, size, "no column '%.60s'; the columns are", utf8_clean(text));
    for (size_t i = 0; i < answer->table_count; i++) {
        const struct table *table = &answer->tables[i];
        for (size_t j = 0; !table->is_record && j < table->column_count && len < size; j++)
            len += (size_t)snprintf(why + len, size - len, " %s%s", table->columns[j].name,
                                    table->columns[j].type == COLUMN_RATE ? "/s" : "");
    }
    utf8_clean(why);
}

bool sort_rows(struct parsed_reply *answer, const char *name, char *why, size_t size)
{
    bool is_reversed = *name == '-', is_found = false;
    name += is_reversed;
    for (size_t i = 0; i < answer->table_count; i++) {
        struct table *table = &answer->tables[i];
        for (size_t j = 0; !table->is_record && j < table->column_count; j++) {
            if (!names_column(name, &table->columns[j]))
                continue;
            sort_table(table, j, is_reversed);
            is_found = true;
            break;
        }
    }
    if (!is_found)
        tell_columns(answer, name, why, size);
    return is_found;
}
