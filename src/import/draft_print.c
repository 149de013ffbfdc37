/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Prints a draft: values in the order of options.def, then notes in the order of the foreign file.
 * Each item, and each part of a zone, is on its own line, so that an error line of the loader leads
 * back to it.
 */
#include "import/draft.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/options.h"

enum { SECTION_MAX = 64, COLUMNS_MAX = 96 };

struct printer {
    struct draft *draft;
    struct buf *out;
    struct draft_lines *lines;
    enum err err;
    size_t line;               /* the number of complete lines */
    char section[SECTION_MAX]; /* the open headings: "server.rate-limit." */
};

static void put_bytes(struct printer *printer, const char *text)
{
    if (!printer->err)
        printer->err = buf_append(printer->out, text, strlen(text));
}

/* Ends a line and records its item. */
static void end_line(struct printer *printer, struct draft_item *item, const char *key)
{
    struct draft_lines *lines = printer->lines;
    put_bytes(printer, "\n");
    if (lines && printer->line < lines->max) {
        lines->items[printer->line] = item;
        lines->keys[printer->line] = key;
        lines->count = printer->line + 1;
    }
    printer->line++;
}

static void put_indent(struct printer *printer, int depth)
{
    while (depth-- > 0)
        put_bytes(printer, "  ");
}

/* ---- comments ---- */

/* Wraps text to lines of a comment. */
static void put_comment(struct printer *printer, const char *before, const char *text)
{
    while (*text) {
        size_t len = strlen(text), room = COLUMNS_MAX - strlen(before);
        if (len > room) {
            for (len = room; len > 0 && text[len] != ' '; len--)
                ;
            if (len == 0)
                len = strcspn(text, " ");
        }
        char piece[8 * COLUMNS_MAX];
        snprintf(piece, sizeof(piece), "%s%.*s", before, (int)len, text);
        put_bytes(printer, piece);
        end_line(printer, NULL, NULL);
        text += len;
        text += strspn(text, " ");
    }
}

static int compare_notes(const void *a, const void *b)
{
    const struct draft_note *first = *(struct draft_note *const *)a;
    const struct draft_note *second = *(struct draft_note *const *)b;
    return (first->origin->order > second->origin->order) -
           (first->origin->order < second->origin->order);
}

/* Adjacent lines with the same reason share it. */
static void put_note(struct printer *printer, const struct draft_note *note,
                     const struct draft_note *next)
{
    put_bytes(printer, "# ");
    put_bytes(printer, note->origin->file);
    char number[32];
    snprintf(number, sizeof(number), ":%u: ", note->origin->line);
    put_bytes(printer, number);
    put_bytes(printer, note->origin->text);
    end_line(printer, NULL, NULL);
    if (!next || strcmp(next->sentence, note->sentence) != 0)
        put_comment(printer, "#     ", note->sentence);
}

static void put_rest(struct printer *printer)
{
    const struct draft *draft = printer->draft;
    char text[256];
    if (draft->notes_left_out) {
        snprintf(text, sizeof(text), "%zu further lines without a counterpart are not shown.",
                 draft->notes_left_out);
        put_comment(printer, "# ", text);
    }
    if (!draft->local_left_out)
        return;
    put_bytes(printer, "# ");
    put_bytes(printer, draft->first_left_out->file);
    snprintf(text, sizeof(text), ":%u: this and %zu further lines of local data are LEFT OUT.",
             draft->first_left_out->line, draft->local_left_out - 1);
    put_bytes(printer, text);
    end_line(printer, NULL, NULL);
    put_comment(
        printer, "#     ",
        "Put that many names into a file: one name on each line for block-lists, or lines as "
        "in hosts(5) for hosts-file.");
}

/* Writes a line about that if there are no notes. */
static void put_notes(struct printer *printer)
{
    struct draft *draft = printer->draft;
    size_t count = 0;
    struct draft_note **all = calloc(draft->note_count + 1, sizeof(struct draft_note *));
    if (!all) {
        printer->err = ERR_NO_MEMORY;
        return;
    }
    for (struct draft_note *note = draft->notes; note; note = note->next)
        all[draft->note_count - ++count] = note; /* the newest is first in the list */
    qsort(all, count, sizeof(struct draft_note *), compare_notes);
    end_line(printer, NULL, NULL);
    put_comment(printer, "# ",
                count ? "Lines without a counterpart, or with one that differs slightly:"
                      : "Every line has a counterpart above.");
    for (size_t i = 0; i < count; i++)
        put_note(printer, all[i], i + 1 < count ? all[i + 1] : NULL);
    free(all);
    put_rest(printer);
}

/* ---- values ---- */

/* Prints the headings of a path that are not open yet. Returns the depth of its key. */
static int open_sections(struct printer *printer, const char *path)
{
    int depth = 0;
    size_t start = 0;
    for (const char *dot = strchr(path, '.'); dot; dot = strchr(dot + 1, '.'), depth++) {
        size_t end = (size_t)(dot - path) + 1;
        bool is_open = strncmp(printer->section, path, end) == 0;
        if (!is_open) {
            char heading[SECTION_MAX];
            snprintf(heading, sizeof(heading), "%.*s:", (int)(end - start - 1), path + start);
            if (depth == 0)
                end_line(printer, NULL, NULL);
            put_indent(printer, depth);
            put_bytes(printer, heading);
            end_line(printer, NULL, NULL);
        }
        start = end;
    }
    if (start == 0)
        end_line(printer, NULL, NULL);
    snprintf(printer->section, sizeof(printer->section), "%.*s", (int)start, path);
    return depth;
}

static void put_key(struct printer *printer, int depth, const char *path)
{
    const char *key = strrchr(path, '.');
    put_indent(printer, depth);
    put_bytes(printer, key ? key + 1 : path);
    put_bytes(printer, ":");
}

static void put_single(struct printer *printer, const struct option *row)
{
    for (struct draft_item *item = printer->draft->singles; item; item = item->next) {
        if (item->is_dropped || strcmp(item->path, row->path) != 0)
            continue;
        put_key(printer, open_sections(printer, row->path), row->path);
        put_bytes(printer, " ");
        put_bytes(printer, item->text);
        end_line(printer, item, NULL);
        return;
    }
}

static void put_parts(struct printer *printer, struct draft_item *zone)
{
    bool has_upstream = false;
    for (struct draft_item *item = zone->upstreams; item; item = item->next) {
        if (item->is_dropped)
            continue;
        if (!has_upstream) {
            put_bytes(printer, "    upstreams:");
            end_line(printer, zone, NULL);
        }
        has_upstream = true;
        put_bytes(printer, "      - ");
        put_bytes(printer, item->text);
        end_line(printer, item, NULL);
    }
    for (struct draft_item *item = zone->keys; item; item = item->next) {
        if (item->is_dropped)
            continue;
        put_bytes(printer, "    ");
        put_bytes(printer, item->text);
        end_line(printer, item, NULL);
    }
}

static bool is_item_of(const struct draft_item *item, const struct option *row)
{
    return !item->is_dropped && strcmp(item->path, row->path) == 0;
}

static void put_none(struct printer *printer, const struct option *row)
{
    for (struct draft_item *item = printer->draft->first; item; item = item->next) {
        if (!item->is_none || !is_item_of(item, row))
            continue;
        put_key(printer, open_sections(printer, row->path), row->path);
        put_bytes(printer, " []");
        end_line(printer, item, NULL);
        return;
    }
}

static void put_draft_list(struct printer *printer, const struct option *row)
{
    int depth = -1;
    for (struct draft_item *item = printer->draft->first; item; item = item->next) {
        if (item->is_none || !is_item_of(item, row))
            continue;
        if (depth < 0) {
            depth = open_sections(printer, row->path);
            put_key(printer, depth, row->path);
            end_line(printer, NULL, row->path);
        }
        put_indent(printer, depth + 1);
        put_bytes(printer, "- ");
        put_bytes(printer, item->text);
        end_line(printer, item, NULL);
        put_parts(printer, item);
    }
    if (depth < 0)
        put_none(printer, row);
}

enum err draft_print(struct draft *draft, const char *head, struct draft_lines *lines,
                     struct buf *out)
{
    struct printer printer = {.draft = draft, .out = out, .lines = lines};
    size_t count;
    const struct option *rows = options_all(&count);
    put_comment(&printer, "# ", head);
    for (size_t i = 0; i < count; i++) {
        if (kind_is_list(rows[i].kind))
            put_draft_list(&printer, &rows[i]);
        else
            put_single(&printer, &rows[i]);
    }
    put_notes(&printer);
    return draft->err ? draft->err : printer.err;
}
