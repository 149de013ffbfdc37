/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Makes a draft load: prints it, loads the output, and removes what the loader reports, until there
 * are no errors. A removed zone is refused from then on, so that its queries do not go to the
 * servers of a larger zone. The root cannot be refused and gets a server that does not answer, so
 * that recursion does not resolve what was to be forwarded.
 */
#include "import/draft.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"

/* The file name for the loader; its errors are lines FILE:LINE:COLUMN: error: PATH: SENTENCE. */
static const char draft_name[] = "draft";

enum { LINES_MAX = 65536, REASON_MAX = 300 };

/* ---- zones ---- */

static bool has_upstream(const struct draft_item *zone)
{
    for (const struct draft_item *item = zone->upstreams; item; item = item->next)
        if (!item->is_dropped)
            return true;
    return false;
}

static void add_placeholder(struct draft *draft)
{
    static const struct draft_origin none = {.file = "-", .text = ""};
    struct draft_item *zone = draft_add_zone(draft, "forward-zones", ".", &none);
    draft->has_placeholder = true;
    if (zone)
        draft_add_upstream(draft, zone, "192.0.2.53 # REPLACE THIS with the servers to ask", &none);
}

static void drop_zone(struct draft *draft, struct draft_item *zone, const char *reason)
{
    draft_drop(draft, zone, reason);
    if (strcmp(zone->zone, ".") == 0)
        add_placeholder(draft);
    else
        draft_refuse(draft, zone->zone, zone->origin);
}

static void check_draft_zones(struct draft *draft)
{
    for (struct draft_item *item = draft->first; item && !draft->err; item = item->next)
        if (!item->is_dropped && item->zone && !has_upstream(item))
            drop_zone(draft, item, "The zone has no usable server.");
}

/* ---- errors of the loader ---- */

static void drop_list(struct draft *draft, const char *path, const char *reason)
{
    for (struct draft_item *item = draft->first; item; item = item->next)
        if (!item->is_dropped && !item->zone && strcmp(item->path, path) == 0)
            draft_drop(draft, item, reason);
}

/* The text after ": error: " as a sentence; its path names the key. */
static const char *reason_of(struct draft *draft, const char *line, size_t len)
{
    static const char mark[] = " error: ";
    char text[REASON_MAX];
    snprintf(text, sizeof(text), "%.*s", (int)(len < sizeof(text) ? len : sizeof(text) - 1), line);
    const char *start = strstr(text, mark);
    return draft_format(draft, "Not imported: %s.", start ? start + strlen(mark) : text);
}

/* Removes the item of an error line. False if no item belongs to the line. */
static bool take_out_line(struct draft *draft, const struct draft_lines *lines, const char *text,
                          size_t len)
{
    char *end;
    size_t skip = strlen(draft_name) + 1;
    unsigned long line = len > skip ? strtoul(text + skip, &end, 10) : 0;
    if (line == 0 || line > lines->count)
        return false;
    const char *reason = reason_of(draft, text, len);
    struct draft_item *item = lines->items[line - 1];
    if (item && item->parent && strncmp(item->text, "transport:", strlen("transport:")) == 0)
        item = item->parent; /* without it, the zone would use plain text */
    if (item && strcmp(item->path, "upstream.transport") == 0)
        return false; /* the same, for all zones */
    if (item && item->zone)
        drop_zone(draft, item, reason);
    else if (item)
        draft_drop(draft, item, reason);
    else if (lines->keys[line - 1])
        drop_list(draft, lines->keys[line - 1], reason);
    else
        return false;
    return true;
}

/* Acts on each error. False if it could act on none. */
static bool take_out_all(struct draft *draft, const struct draft_lines *lines, struct span errors)
{
    bool is_acted = false;
    const char *at = (const char *)errors.data, *end = at + errors.len;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t len = newline ? (size_t)(newline - at) : (size_t)(end - at);
        is_acted |= take_out_line(draft, lines, at, len);
        at += len + 1;
    }
    return is_acted;
}

/* ---- rounds ---- */

/* ERR_INVALID: something was removed, so load again. */
static enum err try_to_load(struct draft *draft, bool with_files, struct draft_lines *lines,
                            struct buf *text, struct buf *errors)
{
    struct config *config;
    buf_clear(text);
    buf_clear(errors);
    enum err err = draft_print(draft, "Draft", lines, text);
    if (err)
        return err;
    struct span span = buf_span(text);
    err = with_files ? config_parse_with_files(draft_name, (const char *)span.data, span.len,
                                               &config, errors)
                     : config_parse(draft_name, (const char *)span.data, span.len, &config, errors);
    config_free(config);
    if (err == ERR_INVALID && !take_out_all(draft, lines, buf_span(errors)))
        return ERR_IO;
    return err;
}

static enum err run_rounds(struct draft *draft, bool with_files, struct draft_lines *lines,
                           struct buf *text, struct buf *errors)
{
    enum err err = ERR_INVALID;
    for (int round = 0; round < DRAFT_ROUNDS_MAX && err == ERR_INVALID; round++) {
        check_draft_zones(draft);
        err = draft->err ? draft->err : try_to_load(draft, with_files, lines, text, errors);
    }
    return err == ERR_INVALID ? ERR_LIMIT : err;
}

enum err draft_check(struct draft *draft, bool with_files)
{
    struct buf text, errors;
    struct draft_lines lines = {.max = LINES_MAX};
    lines.items = calloc(LINES_MAX, sizeof(struct draft_item *));
    lines.keys = calloc(LINES_MAX, sizeof(char *));
    buf_init(&text, DRAFT_PRINT_BYTES);
    buf_init(&errors, CONFIG_ERRORS_BYTES);
    enum err err = lines.items && lines.keys ? run_rounds(draft, with_files, &lines, &text, &errors)
                                             : ERR_NO_MEMORY;
    buf_deinit(&errors);
    buf_deinit(&text);
    free(lines.items);
    free(lines.keys);
    return err;
}
