/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_OPTIONS_H
#define NAILUP_CONFIG_OPTIONS_H

/* The rows of include/nailup/options.def as a table. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config.h"
#include "config/kind.h"

/* The structs that rows fill. */
enum option_owner {
    OWNER_config,
    OWNER_server_options,
    OWNER_cache_options,
    OWNER_route_options,
    OWNER_recursion_options,
    OWNER_validation_options,
    OWNER_upstream_options,
    OWNER_config_entry,
    OWNER_config_zone,
    OWNER_config_auth_zone,
    OWNER_config_tsig_key,
    OWNER_config_local_zone,
    OWNER_config_block_list,
    OWNER_config_rpz_zone,
    OWNER_config_view,
    OWNER_COUNT
};

enum option_apply { APPLY_RELOAD, APPLY_RESTART };

struct option {
    const char *path;
    enum option_owner owner;
    enum kind kind;
    size_t offset;            /* the field's offset in its struct */
    const char *default_text; /* NULL: the key must be given */
    const char *min, *max;    /* "": no bound */
    const char *unit;
    enum option_apply apply;
    const char *sentence;
};

/* All rows, in the order of options.def. */
const struct option *options_all(size_t *count);

/* The row with this path, or NULL. */
const struct option *options_find(const char *path);

/* The row that fills this field, which must exist. */
const struct option *options_find_field(enum option_owner owner, size_t offset);

/* Whether the path names a section: some row's path starts with it and a dot. */
bool options_is_section(const char *path);

/* The row's index in the table. */
size_t option_index(const struct option *option);

/* Whether the row belongs to the items of a list, each of which has its own struct. */
bool option_is_of_item(const struct option *option);

/* Whether the row is also allowed in entries and zones. */
bool option_is_layered(const struct option *option);

/* Tests and sets whether the layer gives the row. */
bool option_in_layer(const struct option *option, const struct config_layer *layer);
void option_mark_layer(const struct option *option, struct config_layer *layer);

/* The field of the row's value in owner, a struct of the row's kind. */
static inline void *option_field(const struct option *option, void *owner)
{
    return (char *)owner + option->offset;
}

/* The struct that holds the row in a configuration. Not for rows of items. */
void *option_owner_of(const struct option *option, struct config *config);

/* Overwrites the fields of out that the layer gives. */
void options_overlay(const struct config_layer *layer, struct upstream_options *out);

#endif
