/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Sorted by their keys, the rows of one thing are neighbours. */

#include "ctl/workers.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "ctl/answer.h"

enum { SUM_TEXT_MAX = CONTROL_CELL_MAX + 32, NUMBER_TEXT_MAX = 24 };

/* ---- one worker ---- */

static bool has_columns(const struct table *table)
{
    return answer_column(table, "worker") >= 0 && answer_column(table, "upstream") >= 0;
}

void workers_pick(struct parsed_reply *answer, const char *worker)
{
    for (size_t i = 0; i < answer->table_count; i++) {
        struct table *table = &answer->tables[i];
        int column = answer_column(table, "worker");
        size_t kept = 0, bytes = table->column_count * sizeof(*table->cells);
        for (size_t row = 0; column >= 0 && row < table->row_count; row++)
            if (strcmp(answer_cell(table, row, (size_t)column), worker) == 0)
                memmove(table->cells + kept++ * table->column_count,
                        table->cells + row * table->column_count, bytes);
        if (column >= 0)
            table->row_count = kept;
    }
}

/* ---- sums ---- */

/* The rows of one thing, by index; they end at count. */
struct group {
    const size_t *rows;
    size_t count;
};

static bool is_key(const struct column *column)
{
    static const char *const names[] = {"upstream", "transport", "state"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(column->name, names[i]) == 0)
            return true;
    return false;
}

static int compare_things(const struct table *table, size_t a, size_t b)
{
    for (size_t i = 0; i < table->column_count; i++) {
        int order = is_key(&table->columns[i])
                        ? strcmp(answer_cell(table, a, i), answer_cell(table, b, i))
                        : 0;
        if (order)
            return order;
    }
    return 0;
}

static int compare_rows_of_workers(const void *one, const void *other, void *table)
{
    size_t a = *(const size_t *)one, b = *(const size_t *)other;
    int order = compare_things(table, a, b);
    return order ? order : (a > b) - (a < b);
}

static bool ends_in(const char *name, const char *end)
{
    size_t len = strlen(name), end_len = strlen(end);
    return len >= end_len && strcmp(name + len - end_len, end) == 0;
}

/* How the numbers of a column become one. */
enum fold { FOLD_SUM, FOLD_MAX, FOLD_MEAN };

static enum fold fold_of(const struct column *column)
{
    if (ends_in(column->name, "rtt"))
        return FOLD_MEAN;
    bool is_limit = column->type == COLUMN_DURATION || strcmp(column->name, "max_requests") == 0;
    return is_limit ? FOLD_MAX : FOLD_SUM;
}

/* An unknown value counts for nothing; unknown if all are. */
static void fold_numbers(const struct table *table, const struct group *group, size_t column,
                         char out[SUM_TEXT_MAX])
{
    uint64_t sum = 0, most = 0, known = 0;
    for (size_t i = 0; i < group->count; i++) {
        const char *cell = answer_cell(table, group->rows[i], column);
        uint64_t number = strtoull(cell, NULL, 10);
        known += *cell != '\0';
        sum += number;
        most = MAX(most, number);
    }
    enum fold fold = fold_of(&table->columns[column]);
    uint64_t value = fold == FOLD_SUM   ? sum
                     : fold == FOLD_MAX ? most
                                        : sum / MAX(known, UINT64_C(1));
    if (known > 0)
        snprintf(out, NUMBER_TEXT_MAX, "%" PRIu64, value);
}

static void fold_flags(const struct table *table, const struct group *group, size_t column,
                       char out[SUM_TEXT_MAX])
{
    size_t yes = 0, known = 0;
    for (size_t i = 0; i < group->count; i++) {
        const char *cell = answer_cell(table, group->rows[i], column);
        known += *cell != '\0';
        yes += strcmp(cell, "yes") == 0;
    }
    bool needs_all = strcmp(table->columns[column].name, "authenticated") == 0;
    if (known > 0)
        snprintf(out, SUM_TEXT_MAX, "%s", (needs_all ? yes == known : yes > 0) ? "yes" : "no");
}

/* A text that says that nothing is wrong. */
static bool is_good_text(const char *text)
{
    return *text == '\0' || strcmp(text, "good") == 0;
}

static void fold_texts(const struct table *table, const struct group *group, size_t column,
                       char out[SUM_TEXT_MAX])
{
    const char *first = answer_cell(table, group->rows[0], column), *shown = first;
    size_t same = 0;
    for (size_t i = 0; i < group->count && is_good_text(shown); i++) {
        const char *cell = answer_cell(table, group->rows[i], column);
        if (!is_good_text(cell) || (*cell && !*shown))
            shown = cell;
    }
    for (size_t i = 0; i < group->count; i++)
        same += strcmp(answer_cell(table, group->rows[i], column), shown) == 0;
    if (same == group->count)
        snprintf(out, SUM_TEXT_MAX, "%.*s", CONTROL_CELL_MAX, shown);
    else
        snprintf(out, SUM_TEXT_MAX, "%.*s (%zu of %zu)", CONTROL_CELL_MAX, shown, same,
                 group->count);
}

/* The number of rows, or of different workers. */
static void fold_workers(const struct table *table, const struct group *group, size_t column,
                         char out[SUM_TEXT_MAX])
{
    size_t count = group->count;
    if (strcmp(table->name, "connections") != 0)
        for (size_t i = 0; i < group->count; i++)
            for (size_t j = 0; j < i; j++)
                if (strcmp(answer_cell(table, group->rows[i], column),
                           answer_cell(table, group->rows[j], column)) == 0) {
                    count--;
                    break;
                }
    snprintf(out, SUM_TEXT_MAX, "%zu", count);
}

static void fold_column(const struct table *table, const struct group *group, size_t column,
                        char out[SUM_TEXT_MAX])
{
    const struct column *at = &table->columns[column];
    out[0] = '\0';
    if (strcmp(at->name, "worker") == 0)
        fold_workers(table, group, column, out);
    else if (at->type == COLUMN_TEXT)
        fold_texts(table, group, column, out);
    else if (at->type == COLUMN_FLAG)
        fold_flags(table, group, column, out);
    else
        fold_numbers(table, group, column, out);
}

/* The sum of a group. Sums have the order of the first rows of their groups. */
struct sum {
    size_t first;
    const char **cells;
};

static int compare_sums(const void *one, const void *other)
{
    const struct sum *a = one, *b = other;
    return (a->first > b->first) - (a->first < b->first);
}

/* False: out of memory. */
static bool sum_group(struct parsed_reply *answer, const struct table *table,
                      const struct group *group, struct sum *out)
{
    out->first = group->rows[0];
    out->cells = arena_take(&answer->added, table->column_count * sizeof(*out->cells));
    for (size_t i = 0; out->cells && i < table->column_count; i++) {
        char text[SUM_TEXT_MAX];
        fold_column(table, group, i, text);
        out->cells[i] = arena_copy(&answer->added, text, strlen(text) + 1);
        if (!out->cells[i])
            return false;
    }
    return out->cells;
}

/* Makes the sums. Returns their number; 0: out of memory. */
static size_t make_sums(struct parsed_reply *answer, const struct table *table, const size_t *rows,
                        struct sum *sums)
{
    size_t count = 0, end;
    for (size_t row = 0; row < table->row_count; row = end) {
        for (end = row + 1;
             end < table->row_count && compare_things(table, rows[row], rows[end]) == 0;)
            end++;
        struct group group = {.rows = rows + row, .count = end - row};
        if (!sum_group(answer, table, &group, &sums[count++]))
            return 0;
    }
    qsort(sums, count, sizeof(*sums), compare_sums);
    return count;
}

static void use_sums(struct table *table, const struct sum *sums, size_t count)
{
    size_t width = table->column_count;
    for (size_t i = 0; i < count; i++)
        memcpy(table->cells + i * width, sums[i].cells, width * sizeof(*table->cells));
    table->row_count = count;
    table->columns[answer_column(table, "worker")] =
        (struct column){.name = strcmp(table->name, "connections") == 0 ? "connections" : "workers",
                        .type = COLUMN_COUNT};
}

static void sum_table(struct parsed_reply *answer, struct table *table)
{
    size_t count = 0, room = MAX(table->row_count, 1);
    size_t *rows = calloc(room, sizeof(*rows));
    struct sum *sums = calloc(room, sizeof(*sums));
    for (size_t i = 0; rows && i < table->row_count; i++)
        rows[i] = i;
    if (rows)
        qsort_r(rows, table->row_count, sizeof(*rows), compare_rows_of_workers, table);
    if (rows && sums)
        count = make_sums(answer, table, rows, sums);
    if (count > 0)
        use_sums(table, sums, count);
    free(rows);
    free(sums);
}

void workers_sum(struct parsed_reply *answer)
{
    for (size_t i = 0; i < answer->table_count; i++)
        if (has_columns(&answer->tables[i]))
            sum_table(answer, &answer->tables[i]);
}
