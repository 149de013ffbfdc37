/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Compares rows as --print-config prints them: equal text means equal values.
 */
#include "config/changes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "config/config_print.h"

/* ---- values as text ---- */

/* The number of items in a list with one line for each; 0 for a list in one line. */
static size_t changes_count_lines(struct span text)
{
    size_t lines = 0;
    for (size_t i = 1; i < text.len; i++)
        lines += text.data[i] == '\n';
    return text.data[0] == '\n' ? lines : 0;
}

/* Cuts the line to fit, and marks the cut with dots. */
static void tell_line(const char *line, size_t len, char out[CHANGES_TEXT_MAX])
{
    enum { WHOLE_MAX = CHANGES_TEXT_MAX - 1 };
    if (len <= WHOLE_MAX)
        snprintf(out, CHANGES_TEXT_MAX, "%.*s", (int)len, line);
    else
        snprintf(out, CHANGES_TEXT_MAX, "%.*s...", WHOLE_MAX - 3, line);
}

static void changes_tell(const struct option *option, struct span text, char out[CHANGES_TEXT_MAX])
{
    size_t lines = changes_count_lines(text);
    if (lines > 1) {
        snprintf(out, CHANGES_TEXT_MAX, "%zu %s", lines, option->unit);
        return;
    }
    while (text.len && (text.data[0] == ' ' || text.data[0] == '\n'))
        text = span_of(text.data + 1, text.len - 1);
    while (text.len && text.data[text.len - 1] == '\n')
        text.len--;
    tell_line((const char *)text.data, text.len, out);
}

/* ---- differences ---- */

static bool changes_is_same(struct span a, struct span b)
{
    return a.len == b.len && memcmp(a.data, b.data, a.len) == 0;
}

static enum err compare_row(struct changes *changes, const struct option *option,
                            const struct config *const configs[2], struct buf texts[2])
{
    for (int i = 0; i < 2; i++) {
        buf_clear(&texts[i]);
        enum err err = config_print_value(configs[i], option, &texts[i]);
        if (err)
            return err;
    }
    struct span before = buf_span(&texts[0]), after = buf_span(&texts[1]);
    if (changes_is_same(before, after))
        return ERR_OK;
    struct change *change = &changes->list[changes->count++];
    change->path = option->path;
    change->needs_restart = option->apply == APPLY_RESTART;
    changes_tell(option, before, change->before);
    changes_tell(option, after, change->after);
    return ERR_OK;
}

static enum err changes_compare(struct changes *changes, const struct config *const configs[2])
{
    struct buf texts[2];
    size_t count;
    enum err err = ERR_OK;
    const struct option *rows = options_all(&count);
    for (int i = 0; i < 2; i++)
        buf_init(&texts[i], (size_t)4 * CONFIG_FILE_MAX);
    for (size_t i = 0; i < count && !err; i++)
        if (!option_is_of_item(&rows[i]))
            err = compare_row(changes, &rows[i], configs, texts);
    for (int i = 0; i < 2; i++)
        buf_deinit(&texts[i]);
    return err;
}

struct changes *changes_find(const struct config *running, const struct config *fresh)
{
    const struct config *const configs[2] = {running, fresh};
    struct changes *changes = calloc(1, sizeof(*changes));
    if (!changes || !changes_compare(changes, configs))
        return changes;
    free(changes);
    return NULL;
}

/* ---- holding back ---- */

/* Whether the field is a string in the configuration's arena. */
static bool is_string(enum kind kind)
{
    static const bool strings[] = {
#define SCALAR(name, type, takes)                                                                  \
    [KIND_##name] = __builtin_types_compatible_p(__typeof__(type), char *),
#define LIST(name, type, takes) [KIND_##name] = false,
#include "config/kinds.def"
    };
    return strings[kind];
}

/* The size of a field that holds its whole value; 0 for a list in the arena. */
static size_t whole_size(enum kind kind)
{
    static const size_t sizes[] = {
#define SCALAR(name, type, takes) [KIND_##name] = sizeof(type),
#define LIST(name, type, takes)                                                                    \
    [KIND_##name] = __builtin_types_compatible_p(type, uint32_t) ? sizeof(uint32_t) : 0,
#include "config/kinds.def"
    };
    return sizes[kind];
}

static enum err hold_back(const struct option *option, const struct config *running,
                          struct config *fresh)
{
    /* The running configuration is only read: the cast avoids a second look-up for const. */
    const void *from = option_field(option, option_owner_of(option, (struct config *)running));
    void *to = option_field(option, option_owner_of(option, fresh));
    size_t size = whole_size(option->kind);
    MUST(size > 0);
    if (!is_string(option->kind)) {
        memcpy(to, from, size);
        return ERR_OK;
    }
    const char *text = *(char *const *)from;
    char *copy = text ? arena_copy(&fresh->arena, text, strlen(text) + 1) : NULL;
    if (text && !copy)
        return ERR_NO_MEMORY;
    *(char **)to = copy;
    return ERR_OK;
}

enum err changes_hold_back(const struct config *running, struct config *fresh)
{
    size_t count;
    enum err err = ERR_OK;
    const struct option *rows = options_all(&count);
    for (size_t i = 0; i < count && !err; i++)
        if (rows[i].apply == APPLY_RESTART && !option_is_of_item(&rows[i]))
            err = hold_back(&rows[i], running, fresh);
    return err;
}
