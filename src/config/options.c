/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The table of options.def and look-ups in it. A row whose kind does not fit its field does not
 * compile.
 */
#include "config/options.h"

#include <string.h>

#include "base/check.h"

#define FIELD_TYPE(struct_tag, field) __typeof__(((struct struct_tag *)0)->field)

/* The C type of each kind, for comparison with the fields. */
#define SCALAR(name, type, takes) typedef __typeof__(type) type_of_##name;
#define LIST(name, type, takes) typedef __typeof__(type) type_of_##name;
#include "config/kinds.def"

#define OPTION(struct_tag, path, kind, field, ...)                                                 \
    _Static_assert(__builtin_types_compatible_p(type_of_##kind, FIELD_TYPE(struct_tag, field)),    \
                   path " has a field of another type than its kind");
#include "nailup/options.def"

static const struct option rows[] = {
#define OPTION(struct_tag, path_text, kind_name, field, default_value, min_text, max_text,         \
               unit_text, apply_name, sentence_text)                                               \
    {.path = (path_text),                                                                          \
     .owner = OWNER_##struct_tag,                                                                  \
     .kind = KIND_##kind_name,                                                                     \
     .offset = offsetof(struct struct_tag, field),                                                 \
     .default_text = (default_value),                                                              \
     .min = (min_text),                                                                            \
     .max = (max_text),                                                                            \
     .unit = (unit_text),                                                                          \
     .apply = APPLY_##apply_name,                                                                  \
     .sentence = (sentence_text)},
#include "nailup/options.def"
};

_Static_assert(ARRAY_LEN(rows) <= CONFIG_OPTIONS_MAX, "struct config counts its rows");

static const char layered_section[] = "upstream.";

const struct option *options_all(size_t *count)
{
    *count = ARRAY_LEN(rows);
    return rows;
}

const struct option *options_find(const char *path)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (strcmp(rows[i].path, path) == 0)
            return &rows[i];
    return NULL;
}

const struct option *options_find_field(enum option_owner owner, size_t offset)
{
    size_t i = 0;
    while (rows[i].owner != owner || rows[i].offset != offset)
        MUST(++i < ARRAY_LEN(rows));
    return &rows[i];
}

static bool is_below(const char *path, const char *section, size_t len)
{
    return strncmp(path, section, len) == 0 && path[len] == '.';
}

bool options_is_section(const char *path)
{
    size_t len = strlen(path);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (is_below(rows[i].path, path, len))
            return true;
    return false;
}

size_t option_index(const struct option *option)
{
    return (size_t)(option - rows);
}

bool option_is_of_item(const struct option *option)
{
    return option->owner >= OWNER_config_entry;
}

bool option_is_layered(const struct option *option)
{
    return option->owner == OWNER_upstream_options &&
           strncmp(option->path, layered_section, sizeof(layered_section) - 1) == 0;
}

bool option_in_layer(const struct option *option, const struct config_layer *layer)
{
    size_t index = option_index(option);
    return layer->set[index / 64] >> index % 64 & 1;
}

void option_mark_layer(const struct option *option, struct config_layer *layer)
{
    size_t index = option_index(option);
    layer->set[index / 64] |= (uint64_t)1 << index % 64;
}

void *option_owner_of(const struct option *option, struct config *config)
{
    switch (option->owner) {
    case OWNER_server_options:
        return &config->server;
    case OWNER_cache_options:
        return &config->cache;
    case OWNER_route_options:
        return &config->route;
    case OWNER_recursion_options:
        return &config->route.recursion;
    case OWNER_validation_options:
        return &config->route.validation;
    case OWNER_upstream_options:
        return &config->upstream;
    default:
        MUST(option->owner == OWNER_config);
        return config;
    }
}

void options_overlay(const struct config_layer *layer, struct upstream_options *out)
{
    for (size_t word = 0; word < ARRAY_LEN(layer->set); word++) {
        for (uint64_t set = layer->set[word]; set; set &= set - 1) {
            const struct option *row = &rows[word * 64 + (size_t)__builtin_ctzll(set)];
            memcpy((char *)out + row->offset, (const char *)&layer->values + row->offset,
                   kind_size(row->kind));
        }
    }
}
