/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Collects errors and prints them sorted. The finder of an error words it. Invariant: the first
 * CONFIG_ERRORS_MAX errors are kept and the rest counted, so a hostile file costs bounded memory.
 */
#include "config/problems.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

enum { TEXT_MAX = 768, LINE_BYTES_MAX = TEXT_MAX + 1024 };

void problems_init(struct problems *problems)
{
    memset(problems, 0, sizeof(*problems));
}

void problems_deinit(struct problems *problems)
{
    for (size_t i = 0; i < problems->kept; i++)
        free(problems->list[i].text);
    for (size_t i = 0; i < problems->file_count; i++)
        free(problems->files[i]);
    problems_init(problems);
}

void problems_no_memory(struct problems *problems)
{
    problems->no_memory = true;
}

uint16_t problems_add_file(struct problems *problems, const char *name)
{
    if (problems->file_count == PROBLEM_FILES_MAX)
        return 0;
    char *copy = strdup(name);
    if (!copy) {
        problems_no_memory(problems);
        return 0;
    }
    problems->files[problems->file_count++] = copy;
    return (uint16_t)problems->file_count;
}

const char *problems_file(const struct problems *problems, struct config_position position,
                          const char *file_name)
{
    MUST(position.file <= problems->file_count);
    return position.file ? problems->files[position.file - 1] : file_name;
}

void problems_add(struct problems *problems, struct config_position position, const char *path,
                  const char *format, ...)
{
    unsigned order = (unsigned)problems->count++;
    if (problems_is_full(problems))
        return;
    char text[TEXT_MAX];
    int len = snprintf(text, sizeof(text), "%s%.200s: ", problems->scope, path);
    va_list args;
    va_start(args, format);
    vsnprintf(text + len, sizeof(text) - (size_t)len, format, args);
    va_end(args);
    char *copy = strdup(text);
    if (!copy) {
        problems_no_memory(problems);
        return;
    }
    problems->list[problems->kept++] =
        (struct problem){.position = position, .order = order, .text = copy};
}

static int compare_problems(const void *left, const void *right)
{
    const struct problem *a = left, *b = right;
    if (a->position.file != b->position.file)
        return a->position.file < b->position.file ? -1 : 1;
    if (a->position.line != b->position.line)
        return a->position.line < b->position.line ? -1 : 1;
    if (a->position.column != b->position.column)
        return a->position.column < b->position.column ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

static void append_line(struct buf *out, const char *line)
{
    /* Lines that do not fit are dropped: the first errors matter most. */
    if (buf_append(out, line, strlen(line)))
        return;
}

void problems_print_one(const char *file_name, struct buf *out, const char *sentence)
{
    char line[LINE_BYTES_MAX];
    snprintf(line, sizeof(line), "%.900s:1:1: error: file: %.200s\n", file_name, sentence);
    append_line(out, line);
}

void problems_print(struct problems *problems, const char *file_name, struct buf *out)
{
    char line[LINE_BYTES_MAX];
    qsort(problems->list, problems->kept, sizeof(*problems->list), compare_problems);
    for (size_t i = 0; i < problems->kept; i++) {
        const struct problem *problem = &problems->list[i];
        snprintf(line, sizeof(line), "%.900s:%u:%u: error: %s\n",
                 problems_file(problems, problem->position, file_name), problem->position.line,
                 problem->position.column, problem->text);
        append_line(out, line);
    }
    if (problems->no_memory) {
        problems_print_one(file_name, out, "out of memory");
    } else if (problems->count > problems->kept) {
        snprintf(line, sizeof(line), "%zu more errors are not shown",
                 problems->count - problems->kept);
        problems_print_one(file_name, out, line);
    }
}

const char *problem_quote(const char *text, size_t len, char out[PROBLEM_QUOTE_MAX])
{
    enum { ROOM = PROBLEM_QUOTE_MAX - sizeof("...") };
    size_t shown = MIN(len, (size_t)ROOM);
    for (size_t i = 0; i < shown; i++)
        out[i] = (text[i] >= ' ' && text[i] <= '~') ? text[i] : '?';
    strcpy(out + shown, len > shown ? "..." : "");
    return out;
}
