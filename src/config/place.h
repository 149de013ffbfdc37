/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_PLACE_H
#define NAILUP_CONFIG_PLACE_H

/*
 * Where in the file something is wrong that only shows when all is loaded: in a section, an entry
 * or a zone, perhaps at one of its keys. Found in the tree when there is an error to report, so
 * that what is loaded need not remember the position of each key.
 */

#include <stdbool.h>
#include <stddef.h>

#include "config/loader.h"

struct place {
    const char *key; /* "upstream", "forward-zones" */
    bool is_item;    /* of the list that the key stands for; else all the rest is not used */
    struct config_position position; /* of the item */
    size_t index;                    /* of the item among those that were sound */
};

/* Whether the place gives this key. Walks the list: for when an error is found. */
bool place_has(const struct loader *loader, const struct place *place, const char *key);

/* Adds an error about a key there, at its position if the place gives it; NULL: about the place. */
void place_error(struct loader *loader, const struct place *place, const char *key,
                 const char *format, ...) PRINTF_LIKE(4, 5);

/* As place_error(): about the n-th upstream of a zone, at its own position. */
void place_upstream_error(struct loader *loader, const struct place *place,
                          struct config_position position, size_t index, const char *format, ...)
    PRINTF_LIKE(5, 6);

#endif
