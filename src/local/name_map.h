/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_LOCAL_NAME_MAP_H
#define NAILUP_LOCAL_NAME_MAP_H

/*
 * A map from millions of names to numbers. A lookup finds a name exactly, or the longest suffix of
 * a name. The table has nine bytes per slot and is at most half full; the names are in one block.
 * One thread fills the map; then any number of threads read it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "dns/name.h"

enum {
    NAME_MAP_NAMES_MAX = 32 * 1024 * 1024,
    NAME_MAP_BYTES_MAX = 1024 * 1024 * 1024, /* names, with four bytes for each number */
};

struct name_map;

/* Returns an empty map, or NULL when out of memory. Its hash seed is random, because clients choose
 * the names that are looked up. */
struct name_map *name_map_new(void);
void name_map_free(struct name_map *map);

/* Finds the number of a name (lower case); adds the name with `initial` if it is missing. *number
 * is valid until the next name is added. ERR_LIMIT: a bound above is reached; ERR_NO_MEMORY. */
MUST_USE enum err name_map_put(struct name_map *map, struct name name, uint32_t initial,
                               uint32_t **number);

/* Frees memory reserved for more names. Names may still be added. */
void name_map_trim(struct name_map *map);

/* Returns false only if the map has no such name (lower case) and no name above it. It looks at the
 * last two labels only, so a name costs one short hash at most, or two if the map has names of one
 * label. True may be a false positive: one time in sixteen, or because the map has another name
 * with these labels. */
bool name_map_may_have(const struct name_map *map, struct name name);

/* Finds the number of a name (lower case), or NULL. */
const uint32_t *name_map_find(const struct name_map *map, struct name name);

/* Finds the number of the longest name at or above `name`, or NULL. That name is the last *len
 * bytes of name. A name whose last label does not occur costs one hash at most. */
const uint32_t *name_map_find_suffix(const struct name_map *map, struct name name, uint8_t *len);

/* Returns whether the map may be too full for a name of maximum length. */
bool name_map_is_full(const struct name_map *map);

size_t name_map_count(const struct name_map *map);

/* Returns the bytes in use. */
size_t name_map_bytes(const struct name_map *map);

/* Visits each name in the order in which they were added. */
void name_map_each(struct name_map *map,
                   void (*visit)(void *context, struct name name, uint32_t *number), void *context);

#endif
