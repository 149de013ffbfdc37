/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_PLACE_H
#define NAILUP_CONFIG_PLACE_H

/*
 * Positions of errors that only show when everything is loaded: in a section, an entry or a zone,
 * perhaps at one of its keys. A position is looked up in the tree when there is an error, so that
 * loaded values need no position for each key.
 */

#include <stdbool.h>
#include <stddef.h>

#include "config/loader.h"

struct place {
    const char *key;                 /* "upstream", "forward-zones" */
    bool is_item;                    /* an item of the list key; else the other fields are unused */
    struct config_position position; /* the item's position */
    size_t index;                    /* the item's index among the valid ones */
};

/* Whether the place gives this key. Walks the list, so call it for errors only. */
bool place_has(const struct loader *loader, const struct place *place, const char *key);

/* Adds an error about a key of the place, at the key's position if it is given. key NULL: about the
 * place itself. */
void place_error(struct loader *loader, const struct place *place, const char *key,
                 const char *format, ...) PRINTF_LIKE(4, 5);

/* Adds an error about the n-th upstream of a zone, at the upstream's position. */
void place_upstream_error(struct loader *loader, const struct place *place,
                          struct config_position position, size_t index, const char *format, ...)
    PRINTF_LIKE(5, 6);

#endif
