/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Turns the lines of a file into messages, in one block of memory.
 */

#include "query_file.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_BYTES = 65536, FIRST_OFFSETS = 1024 };

void query_file_deinit(struct query_file *file)
{
    free(file->bytes);
    free(file->offsets);
    memset(file, 0, sizeof(*file));
}

struct span query_file_at(const struct query_file *file, size_t index)
{
    const uint8_t *p = file->bytes + file->offsets[index];
    return span_of(p + 2, get_u16(p));
}

static enum err make_room(struct query_file *file)
{
    if (file->cap - file->len < 2 + WIRE_QUERY_MAX) {
        size_t cap = file->cap ? file->cap * 2 : FIRST_BYTES;
        uint8_t *bytes = cap > UINT32_MAX ? NULL : realloc(file->bytes, cap);
        if (!bytes)
            return cap > UINT32_MAX ? ERR_LIMIT : ERR_NO_MEMORY;
        file->bytes = bytes;
        file->cap = cap;
    }
    if (file->count == file->offsets_cap) {
        size_t cap = file->offsets_cap ? file->offsets_cap * 2 : FIRST_OFFSETS;
        uint32_t *offsets = realloc(file->offsets, cap * sizeof(*offsets));
        if (!offsets)
            return ERR_NO_MEMORY;
        file->offsets = offsets;
        file->offsets_cap = cap;
    }
    return ERR_OK;
}

enum err query_file_add(struct query_file *file, const uint8_t *name, size_t name_len,
                        uint16_t type, const struct wire_style *style)
{
    enum err err = make_room(file);
    if (err)
        return err;
    uint8_t *p = file->bytes + file->len;
    size_t len = wire_build_query(p + 2, name, name_len, type, style);
    put_u16(p, (uint16_t)len);
    file->offsets[file->count++] = (uint32_t)file->len;
    file->len += 2 + len;
    return ERR_OK;
}

static enum err add_query(struct query_file *file, char *line, const struct wire_style *style)
{
    uint8_t name[WIRE_NAME_MAX];
    uint16_t type;
    char *rest = NULL;
    const char *name_text = strtok_r(line, " \t\r\n", &rest);
    const char *type_text = strtok_r(NULL, " \t\r\n", &rest);
    if (!name_text || name_text[0] == ';' || name_text[0] == '#')
        return ERR_OK;
    size_t name_len = wire_name_from_text(name, name_text);
    if (name_len == 0 || !type_text || !wire_type_from_text(type_text, &type))
        return ERR_INVALID;
    return query_file_add(file, name, name_len, type, style);
}

enum err query_file_load(struct query_file *file, FILE *in, const struct wire_style *style,
                         size_t *line)
{
    char *text = NULL;
    size_t cap = 0;
    enum err err = ERR_OK;
    memset(file, 0, sizeof(*file));
    *line = 0;
    while (!err && getline(&text, &cap, in) >= 0) {
        ++*line;
        err = add_query(file, text, style);
    }
    free(text);
    if (!err && file->count == 0)
        err = ERR_NOT_FOUND;
    if (err)
        query_file_deinit(file);
    return err;
}
