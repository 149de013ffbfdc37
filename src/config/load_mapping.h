/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_LOAD_MAPPING_H
#define NAILUP_CONFIG_LOAD_MAPPING_H

/* Mappings of the file: each key is a row of options.def. */

#include <stdbool.h>

#include "config/loader.h"

struct loader_place {
    const char *prefix;         /* "server.", "forward-zones[].", or "" at the top */
    void *owner;                /* the struct of the prefix's rows; NULL: the configuration */
    struct config_layer *layer; /* also takes the keys of "upstream."; NULL: none does */
};

/* Reads a mapping: the row of a key is the one with the path prefix + key. Reports unknown keys and
 * wrong types. */
void load_mapping(struct loader *loader, const struct yaml_tree_node *map,
                  const struct loader_place *place);

/* Reads an item of a list into place->owner: sets the defaults of the prefix's rows, reads the
 * mapping and checks that every row without a default is given. takes describes the item in the
 * error about a node that is not a mapping. False after an error. */
bool load_item(struct loader *loader, const struct yaml_tree_node *node,
               const struct loader_place *place, const char *takes);

#endif
