/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Collects values, items and notes. Invariant: all text of items is printable ASCII, so the output
 * is valid YAML, whatever was read.
 */
#include "import/draft.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The bytes of an item and of a note beyond their text: indentation, keys, line ends. */
enum { LINE_BYTES = 28, NOTE_BYTES = 64 };

void draft_init(struct draft *draft)
{
    *draft = (struct draft){0};
    arena_init(&draft->arena, DRAFT_ARENA_BYTES);
    draft->last = &draft->first;
}

void draft_deinit(struct draft *draft)
{
    arena_deinit(&draft->arena);
}

static void draft_fail(struct draft *draft, enum err err)
{
    if (!draft->err)
        draft->err = err;
}

static void *draft_take(struct draft *draft, size_t size)
{
    void *data = arena_take(&draft->arena, size);
    if (data)
        memset(data, 0, size);
    else
        draft_fail(draft, ERR_NO_MEMORY);
    return data;
}

/* ---- text ---- */

const char *draft_format(struct draft *draft, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = len < 0 ? NULL : draft_take(draft, (size_t)len + 1);
    if (text)
        vsnprintf(text, (size_t)len + 1, format, again);
    va_end(again);
    return text ? text : "";
}

const char *draft_shown(struct draft *draft, struct span text)
{
    size_t len = text.len < DRAFT_TEXT_MAX ? text.len : DRAFT_TEXT_MAX;
    char out[DRAFT_TEXT_MAX + 1];
    for (size_t i = 0; i < len; i++)
        out[i] = text.data[i] < ' ' || text.data[i] > '~' ? '?' : (char)text.data[i];
    out[len] = '\0';
    return draft_format(draft, "%s%s", out, text.len > len ? "..." : "");
}

static bool draft_is_plain(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    static const char others[] = "./_@#+-%~";
    if (!*text || strchr("@#+-%~", *text))
        return false;
    for (; *text; text++)
        if (!strchr(letters, *text) && !strchr(others, *text))
            return false;
    return true;
}

const char *draft_word(struct draft *draft, const char *text)
{
    size_t special = 0, len = strlen(text);
    for (size_t i = 0; i < len; i++) {
        if (text[i] < ' ' || text[i] > '~')
            return NULL;
        special += text[i] == '"' || text[i] == '\\';
    }
    if (draft_is_plain(text))
        return draft_format(draft, "%s", text);
    char *quoted = draft_take(draft, len + special + 3), *at = quoted;
    if (!quoted)
        return "";
    *at++ = '"';
    for (; *text; *at++ = *text++)
        if (*text == '"' || *text == '\\')
            *at++ = '\\';
    *at = '"';
    return quoted;
}

/* ---- what the output accounts for ---- */

void draft_account(const struct draft_origin *origin)
{
    if (origin->is_accounted)
        *origin->is_accounted = true;
}

void draft_account_rest(struct draft *draft, const char *sentence)
{
    for (const struct draft_origin *at = draft->origins; at; at = at->next)
        if (!*at->is_accounted)
            draft_note(draft, at, sentence);
}

/* ---- items ---- */

static struct draft_item *new_item(struct draft *draft, const char *path, const char *text,
                                   const struct draft_origin *origin)
{
    if (draft->err)
        return NULL;
    if (draft->item_bytes + strlen(text) + LINE_BYTES > DRAFT_ITEM_BYTES) {
        draft_fail(draft, ERR_LIMIT);
        return NULL;
    }
    draft->item_bytes += strlen(text) + LINE_BYTES;
    struct draft_item *item = draft_take(draft, sizeof(*item));
    if (!item)
        return NULL;
    item->path = path;
    item->text = text;
    item->origin = origin;
    draft_account(origin);
    return item;
}

struct draft_item *draft_add(struct draft *draft, const char *path, const char *text,
                             const struct draft_origin *origin)
{
    struct draft_item *item = new_item(draft, path, text, origin);
    if (item) {
        *draft->last = item;
        draft->last = &item->next;
    }
    return item;
}

/* Only local data may be incomplete: a part of anything else would be worse than nothing. */
void draft_add_local(struct draft *draft, const char *path, const char *text,
                     const struct draft_origin *origin)
{
    size_t bytes = strlen(text) + LINE_BYTES;
    if (draft->local_bytes + bytes > DRAFT_LOCAL_BYTES) {
        if (draft->local_left_out++ == 0)
            draft->first_left_out = origin;
        draft_account(origin);
        return;
    }
    draft->local_bytes += bytes;
    draft_add(draft, path, text, origin);
}

void draft_refuse(struct draft *draft, const char *zone, const struct draft_origin *origin)
{
    if (strcmp(zone, ".") != 0)
        draft_add(draft, "local-zones", draft_format(draft, "{name: %s, action: refuse}", zone),
                  origin);
}

/* The link to the value, or the end of the list. */
static struct draft_item **find_single(struct draft *draft, const char *path)
{
    struct draft_item **link = &draft->singles;
    while (*link && ((*link)->is_dropped || strcmp((*link)->path, path) != 0))
        link = &(*link)->next;
    return link;
}

/* Replaced values leave the list, so that a file that repeats an option a million times costs no
 * more than its length. */
void draft_set(struct draft *draft, const char *path, const char *text,
               const struct draft_origin *origin)
{
    struct draft_item **link = find_single(draft, path), *before = *link;
    draft_account(origin);
    if (before && strcmp(before->text, text) == 0)
        return;
    if (before) {
        *link = before->next;
        draft->item_bytes -= strlen(before->text) + LINE_BYTES;
        draft_drop(draft, before,
                   draft_format(draft, "Replaced by another value in line %u of %s.", origin->line,
                                origin->file));
    }
    struct draft_item *item = new_item(draft, path, text, origin);
    if (item) {
        item->next = draft->singles;
        draft->singles = item;
    }
}

const char *draft_get(struct draft *draft, const char *path)
{
    const struct draft_item *item = *find_single(draft, path);
    return item ? item->text : NULL;
}

/* ---- zones ---- */

void draft_add_none(struct draft *draft, const char *path, const struct draft_origin *origin)
{
    struct draft_item *item = draft_add(draft, path, "", origin);
    if (item)
        item->is_none = true;
}

struct draft_item *draft_add_zone(struct draft *draft, const char *path, const char *name,
                                  const struct draft_origin *origin)
{
    const char *word = draft_word(draft, name);
    struct draft_item *zone = NULL;
    if (word)
        zone = draft_add(draft, path, draft_format(draft, "name: %s", word), origin);
    if (zone)
        zone->zone = word;
    return zone;
}

static void draft_append(struct draft_item **list, struct draft_item *item)
{
    while (*list)
        list = &(*list)->next;
    *list = item;
}

void draft_add_upstream(struct draft *draft, struct draft_item *zone, const char *address,
                        const struct draft_origin *origin)
{
    struct draft_item *item = new_item(draft, zone->path, address, origin);
    if (!item)
        return;
    item->parent = zone;
    draft_append(&zone->upstreams, item);
}

void draft_add_key(struct draft *draft, struct draft_item *zone, const char *line,
                   const struct draft_origin *origin)
{
    struct draft_item *item = new_item(draft, zone->path, line, origin);
    if (!item)
        return;
    item->parent = zone;
    draft_append(&zone->keys, item);
}

/* ---- notes ---- */

void draft_note(struct draft *draft, const struct draft_origin *origin, const char *sentence)
{
    draft_account(origin);
    size_t bytes = strlen(origin->file) + strlen(origin->text) + strlen(sentence) + NOTE_BYTES;
    if (draft->note_bytes + bytes > DRAFT_NOTE_BYTES) {
        draft->notes_left_out++;
        return;
    }
    struct draft_note *note = draft_take(draft, sizeof(*note));
    if (!note)
        return;
    *note = (struct draft_note){draft->notes, origin, sentence};
    draft->notes = note;
    draft->note_bytes += bytes;
    draft->note_count++;
}

/* The lines of a zone go with it. */
static void drop_parts(struct draft *draft, struct draft_item *parts)
{
    for (; parts; parts = parts->next)
        if (!parts->is_dropped)
            draft_note(draft, parts->origin, "Not imported, because its zone is not.");
}

void draft_drop(struct draft *draft, struct draft_item *item, const char *reason)
{
    if (item->is_dropped)
        return;
    item->is_dropped = true;
    if (item->is_none)
        return; /* its line has another item or a note */
    draft_note(draft, item->origin, reason);
    drop_parts(draft, item->upstreams);
    drop_parts(draft, item->keys);
}
