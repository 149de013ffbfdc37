/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RPZ_RPZ_CHOICE_H
#define NAILUP_RPZ_RPZ_CHOICE_H

/*
 * The response policy zones that a view chooses. A reload gives a worker its views and its policy
 * at different times, so a choice names zones by marks, and not by places in the policy.
 * rpz_choice_map translates it once both are known. Pure.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dns/name.h"
#include "rpz/rpz_options.h"

struct rpz_policy;

/* The items of `rpz` that views choose from. A choice is a mask: bit i is the item marks[i]. */
struct rpz_choices {
    uint64_t marks[RPZ_ZONES_MAX];
    size_t count;
    uint32_t usual; /* the choice of clients whose view chooses none */
    bool differ;    /* the zones of some clients differ */
};

/* The mark of an item of `rpz` by its name, in lower case. */
uint64_t rpz_choice_mark(struct name name);

/* Adds an item, which must have room (MUST). */
void rpz_choices_add(struct rpz_choices *choices, const struct rpz_zone_options *item);

/* Finds the item with this name, in lower case, and sets *bit. False if no item has it. */
bool rpz_choices_find(const struct rpz_choices *choices, struct name name, uint32_t *bit);

/* A policy in the terms of choices: the choices that have each zone. */
struct rpz_choice_map {
    uint32_t bits[RPZ_ZONES_MAX];
    size_t count;
    bool differ;
};

/* NULL: no policy. */
void rpz_choice_map_make(struct rpz_choice_map *map, const struct rpz_choices *choices,
                         const struct rpz_policy *policy);

/* Returns the zones of the policy that do not apply, as rpz_policy.h wants them. Where no choices
 * differ, all zones apply. */
static inline uint32_t rpz_choice_except(const struct rpz_choice_map *map, uint32_t choice)
{
    uint32_t except = 0;
    for (size_t i = 0; map->differ && i < map->count; i++)
        except |= (uint32_t) !(map->bits[i] & choice) << i;
    return except;
}

#endif
