/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Parses lines into tables. print_text.c and print_json.c print them.
 *
 * Invariant: every row has as many cells as its table has columns.
 */

#include "ctl/answer.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

enum { TABLES_MAX = 16, CELLS_MAX = CONTROL_COLUMNS_MAX + 1 };

struct line {
    size_t count;
    char *cells[CELLS_MAX];
};

static bool answer_split(char *text, struct line *line)
{
    line->count = 0;
    for (char *cell = text; cell;) {
        char *tab = strchr(cell, '\t');
        if (tab)
            *tab = '\0';
        if (line->count == CELLS_MAX)
            return false;
        line->cells[line->count++] = cell;
        cell = tab ? tab + 1 : NULL;
    }
    return true;
}

static bool answer_parse_column(struct column *out, char *cell)
{
    static const char *const types[] = {
#define CONTROL_TYPE(name, text) text,
        CONTROL_TYPES(CONTROL_TYPE)
#undef CONTROL_TYPE
    };
    char *colon = strchr(cell, ':');

    if (!colon || colon == cell || colon - cell >= CONTROL_NAME_MAX)
        return false;
    *colon = '\0';
    out->name = cell;
    out->type = COLUMN_TEXT; /* also for types of a newer daemon */
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        if (strcmp(colon + 1, types[i]) == 0)
            out->type = (enum column_type)i;
    }
    return true;
}

static bool answer_add_table(struct parsed_reply *answer, const struct line *line, bool is_record)
{
    if (line->count != 2 || answer->table_count == TABLES_MAX || !*line->cells[1])
        return false;
    answer->tables[answer->table_count++] =
        (struct table){.name = line->cells[1], .is_record = is_record};
    return true;
}

static bool answer_add_columns(struct table *table, const struct line *line)
{
    if (table->column_count > 0 || line->count < 2)
        return false;
    for (size_t i = 1; i < line->count; i++) {
        if (!answer_parse_column(&table->columns[i - 1], line->cells[i]))
            return false;
    }
    table->column_count = line->count - 1;
    return true;
}

static bool answer_add_row(struct table *table, const struct line *line)
{
    size_t columns = table->column_count;

    if (columns == 0 || line->count != columns + 1 || (table->is_record && table->row_count > 0))
        return false;
    if (table->row_count == table->row_room) {
        size_t room = table->row_room ? table->row_room * 2 : 8;
        const char **cells = realloc(table->cells, room * columns * sizeof(*cells));
        if (!cells)
            return false;
        table->cells = cells;
        table->row_room = room;
    }
    for (size_t i = 0; i < columns; i++)
        table->cells[table->row_count * columns + i] = line->cells[i + 1];
    table->row_count++;
    return true;
}

/* Adds a line between the first and the last one. */
static bool answer_add_line(struct parsed_reply *answer, const struct line *line)
{
    const char *what = line->cells[0];
    struct table *table = answer->table_count ? &answer->tables[answer->table_count - 1] : NULL;

    if (strcmp(what, "table") == 0 || strcmp(what, "record") == 0)
        return answer_add_table(answer, line, *what == 'r');
    if (!table)
        return false;
    if (strcmp(what, "columns") == 0)
        return answer_add_columns(table, line);
    if (strcmp(what, "row") == 0)
        return answer_add_row(table, line);
    if (strcmp(what, "cut") == 0 && line->count == 2) {
        table->cut = line->cells[1];
        return true;
    }
    return false;
}

static bool answer_begin(struct parsed_reply *answer, const struct line *line)
{
    if (strcmp(line->cells[0], "refused") == 0 && line->count == 2)
        answer->refused = line->cells[1];
    return answer->refused || (strcmp(line->cells[0], "ok") == 0 && line->count == 1);
}

/* Returns true if the last line is "end", with nothing after it. */
static bool answer_parse_lines(struct parsed_reply *answer, size_t len)
{
    char *text = answer->text;
    bool begun = false;

    while (len > 0) {
        char *newline = memchr(text, '\n', len);
        struct line line;
        if (!newline)
            return false;
        *newline = '\0';
        len -= (size_t)(newline - text) + 1;
        if (begun && strcmp(text, "end") == 0)
            return len == 0;
        if (!answer_split(text, &line) ||
            !(begun ? answer_add_line(answer, &line) : answer_begin(answer, &line)))
            return false;
        begun = true;
        text = newline + 1;
    }
    return false;
}

enum err answer_parse(struct parsed_reply *out, char *text, size_t len)
{
    *out = (struct parsed_reply){.text = text};
    arena_init(&out->added, ANSWER_ADDED_MAX);
    out->tables = calloc(TABLES_MAX, sizeof(*out->tables));
    if (!out->tables) {
        answer_deinit(out);
        return ERR_NO_MEMORY;
    }
    text[len] = '\0';
    if (strlen(text) == len && answer_parse_lines(out, len))
        return ERR_OK;
    answer_deinit(out);
    return ERR_BAD_MESSAGE;
}

int answer_column(const struct table *table, const char *name)
{
    for (size_t i = 0; i < table->column_count; i++)
        if (strcmp(table->columns[i].name, name) == 0)
            return (int)i;
    return -1;
}

void answer_deinit(struct parsed_reply *answer)
{
    for (size_t i = 0; i < answer->table_count; i++)
        free(answer->tables[i].cells);
    arena_deinit(&answer->added);
    free(answer->tables);
    free(answer->text);
    *answer = (struct parsed_reply){0};
}
