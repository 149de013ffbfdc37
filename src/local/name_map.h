/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_LOCAL_NAME_MAP_H
#define NAILUP_LOCAL_NAME_MAP_H

/*
 * Names with a number each, by the million: found exactly, or as the longest suffix of a name.
 * Eight bytes of table for each slot, at most half of them in use, and the names one behind the
 * other. Filled by one thread, then read by any number of them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "dns/name.h"

enum {
    NAME_MAP_NAMES_MAX = 32 * 1024 * 1024,
    NAME_MAP_BYTES_MAX = 1024 * 1024 * 1024, /* of the names, with four bytes for each number */
};

struct name_map;

/* Empty; NULL out of memory. The seed of its hashes is random, as strangers choose what is looked
 * up. */
struct name_map *name_map_new(void);
void name_map_free(struct name_map *map);

/* The name's number, added as `initial` when the name was not there; *number is valid until the
 * next name is added. The name is in lower case. ERR_LIMIT: a bound above; ERR_NO_MEMORY. */
MUST_USE enum err name_map_put(struct name_map *map, struct name name, uint32_t initial,
                               uint32_t **number);

/* Gives back what was taken for names to come; more may be added nevertheless. */
void name_map_trim(struct name_map *map);

/* False: the name is not there, nor any that it is below. A look at the last label, so that most
 * names cost next to nothing; true may be wrong. */
bool name_map_may_have(const struct name_map *map, struct name name);

/* NULL: the name is not there. The name is in lower case. */
const uint32_t *name_map_find(const struct name_map *map, struct name name);

/* The number of the longest name there that `name` equals or is below, and that one's length in
 * *len (it is the end of name); NULL: none. A name none of whose last labels occurs costs one hash.
 */
const uint32_t *name_map_find_suffix(const struct name_map *map, struct name name, uint8_t *len);

/* No room for a name of any length. */
bool name_map_is_full(const struct name_map *map);

size_t name_map_count(const struct name_map *map);

/* Bytes in use. */
size_t name_map_bytes(const struct name_map *map);

/* Calls for each name in the order in which they were added. */
void name_map_each(struct name_map *map,
                   void (*visit)(void *context, struct name name, uint32_t *number), void *context);

#endif
