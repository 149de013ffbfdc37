/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Compares two answers row by row. Rows mostly keep their order, so the search for each begins
 * where the previous row was found.
 */

#include "ctl/rates.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "ctl/answer.h"

enum {
    RATE_TEXT_MAX = 24,
    ROWS_LOOKED_AT = 1000, /* searched for a row's predecessor, which mostly comes next */
};

/* The tolerance for an age: an answer is made some time before it arrives. */
#define AGE_SLACK_US UINT64_C(300000)

/* The index in another table of each column of a table; -1: none. */
struct columns {
    int same[CONTROL_COLUMNS_MAX];
    int age;
};

static const struct table *find_table(const struct parsed_reply *answer, const char *name)
{
    for (size_t i = 0; answer && i < answer->table_count; i++) {
        if (strcmp(answer->tables[i].name, name) == 0)
            return &answer->tables[i];
    }
    return NULL;
}

static int find_column(const struct table *table, const struct column *column)
{
    for (size_t i = 0; i < table->column_count; i++) {
        if (table->columns[i].type == column->type &&
            strcmp(table->columns[i].name, column->name) == 0)
            return (int)i;
    }
    return -1;
}

static struct columns match_columns(const struct table *table, const struct table *old)
{
    struct columns columns = {.age = -1};

    for (size_t i = 0; i < table->column_count; i++) {
        columns.same[i] = find_column(old, &table->columns[i]);
        if (table->columns[i].type == COLUMN_DURATION && columns.same[i] >= 0 &&
            strcmp(table->columns[i].name, "age") == 0)
            columns.age = (int)i;
    }
    return columns;
}

static bool is_row_key(const char *column)
{
    static const char *const names[] = {"worker", "upstream", "transport", "zone", "metric"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (strcmp(column, names[i]) == 0)
            return true;
    }
    return false;
}

static uint64_t rates_number_of(const char *cell)
{
    return strtoull(cell, NULL, 10);
}

static bool has_grown_by(const char *age, const char *old_age, uint64_t elapsed_us)
{
    uint64_t now = rates_number_of(age), expected = rates_number_of(old_age) + elapsed_us;
    uint64_t off = now > expected ? now - expected : expected - now;
    return off <= AGE_SLACK_US + elapsed_us / 10;
}

static bool rates_is_same(const struct table *table, size_t row, const struct table *old,
                          size_t old_row, const struct columns *columns, uint64_t elapsed_us)
{
    for (size_t i = 0; i < table->column_count; i++) {
        int same = columns->same[i];
        if (same >= 0 && is_row_key(table->columns[i].name) &&
            strcmp(answer_cell(table, row, i), answer_cell(old, old_row, (size_t)same)) != 0)
            return false;
    }
    if (columns->age < 0)
        return true;
    return has_grown_by(answer_cell(table, row, (size_t)columns->age),
                        answer_cell(old, old_row, (size_t)columns->same[columns->age]), elapsed_us);
}

/* Finds the row's predecessor, searching from *at on; -1: it has none. */
static long find_row(const struct table *table, size_t row, const struct table *old, size_t *at,
                     const struct columns *columns, uint64_t elapsed_us)
{
    for (size_t i = 0; i < MIN(old->row_count, (size_t)ROWS_LOOKED_AT); i++) {
        size_t old_row = (*at + i) % old->row_count;
        if (!rates_is_same(table, row, old, old_row, columns, elapsed_us))
            continue;
        *at = old_row + 1;
        return (long)old_row;
    }
    return -1;
}

static void format_rate(char out[RATE_TEXT_MAX], const char *cell, const char *old_cell,
                        uint64_t elapsed_us)
{
    uint64_t now = rates_number_of(cell), before = rates_number_of(old_cell);

    out[0] = '\0';
    if (*cell && *old_cell && now >= before && elapsed_us > 0)
        snprintf(out, RATE_TEXT_MAX, "%.3f", (double)(now - before) * 1e6 / (double)elapsed_us);
}

/* A table with the same rows and more columns. */
struct wider {
    size_t columns, rates;
    const char **cells;
    char (*texts)[RATE_TEXT_MAX];
};

static void widen_row(struct wider *wider, const struct table *table, size_t row,
                      const struct table *old, long old_row, const struct columns *columns,
                      uint64_t elapsed_us)
{
    const char **out = wider->cells + row * wider->columns;
    char(*text)[RATE_TEXT_MAX] = wider->texts + row * wider->rates;

    for (size_t i = 0; i < table->column_count; i++) {
        const char *cell = answer_cell(table, row, i);
        *out++ = cell;
        if (table->columns[i].type != COLUMN_COUNTER)
            continue;
        (*text)[0] = '\0';
        if (old_row >= 0 && columns->same[i] >= 0)
            format_rate(*text, cell, answer_cell(old, (size_t)old_row, (size_t)columns->same[i]),
                        elapsed_us);
        *out++ = *text++;
    }
}

static void widen_columns(struct table *table, size_t columns)
{
    struct column old[CONTROL_COLUMNS_MAX];
    size_t out = 0;

    memcpy(old, table->columns, sizeof(old));
    for (size_t i = 0; i < table->column_count; i++) {
        table->columns[out++] = old[i];
        if (old[i].type == COLUMN_COUNTER)
            table->columns[out++] = (struct column){.name = old[i].name, .type = COLUMN_RATE};
    }
    table->column_count = columns;
}

static size_t count_counters(const struct table *table)
{
    size_t count = 0;
    for (size_t i = 0; i < table->column_count; i++)
        count += table->columns[i].type == COLUMN_COUNTER;
    return count;
}

static void add_rates(struct parsed_reply *answer, struct table *table, const struct table *old,
                      uint64_t elapsed_us)
{
    struct wider wider = {.rates = count_counters(table)};
    struct columns columns = {.age = -1};
    size_t at = 0, rows = table->row_count ? table->row_count : 1;

    wider.columns = table->column_count + wider.rates;
    if (wider.rates == 0 || wider.columns > CONTROL_COLUMNS_MAX)
        return;
    wider.cells = calloc(rows * wider.columns, sizeof(*wider.cells));
    wider.texts = arena_take(&answer->added, rows * wider.rates * sizeof(*wider.texts));
    if (!wider.cells || !wider.texts) {
        free(wider.cells);
        return;
    }
    if (old)
        columns = match_columns(table, old);
    for (size_t row = 0; row < table->row_count; row++) {
        long old_row = old ? find_row(table, row, old, &at, &columns, elapsed_us) : -1;
        widen_row(&wider, table, row, old, old_row, &columns, elapsed_us);
    }
    free(table->cells);
    table->cells = wider.cells;
    widen_columns(table, wider.columns);
}

void rates_add(struct parsed_reply *answer, const struct parsed_reply *previous,
               uint64_t elapsed_us)
{
    for (size_t i = 0; i < answer->table_count; i++) {
        struct table *table = &answer->tables[i];
        add_rates(answer, table, find_table(previous, table->name), elapsed_us);
    }
}
