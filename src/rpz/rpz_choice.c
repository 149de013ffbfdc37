/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "rpz/rpz_choice.h"

#include "base/check.h"
#include "rpz/rpz_policy.h"

uint64_t rpz_choice_mark(struct name name)
{
    return name_hash(name, 0);
}

void rpz_choices_add(struct rpz_choices *choices, const struct rpz_zone_options *item)
{
    MUST(choices->count < RPZ_ZONES_MAX);
    if (item->is_default)
        choices->usual |= UINT32_C(1) << choices->count;
    else
        choices->differ = true;
    choices->marks[choices->count++] = item->mark;
}

static bool find_mark(const struct rpz_choices *choices, uint64_t mark, uint32_t *bit)
{
    for (size_t i = 0; i < choices->count; i++) {
        *bit = UINT32_C(1) << i;
        if (choices->marks[i] == mark)
            return true;
    }
    return false;
}

bool rpz_choices_find(const struct rpz_choices *choices, struct name name, uint32_t *bit)
{
    return find_mark(choices, rpz_choice_mark(name), bit);
}

/* For a moment during a reload, the policy and the choices come from different configurations, and
 * a zone may have no item. Such a zone applies as usual, or to no client if views have to choose
 * it. */
static uint32_t choice_bits(const struct rpz_choices *choices,
                            const struct rpz_zone_options *options, bool *has_item)
{
    uint32_t bit;
    *has_item = find_mark(choices, options->mark, &bit);
    if (*has_item)
        return bit;
    return options->is_default ? choices->usual : 0;
}

void rpz_choice_map_make(struct rpz_choice_map *map, const struct rpz_choices *choices,
                         const struct rpz_policy *policy)
{
    map->count = policy ? rpz_policy_count(policy) : 0;
    map->differ = choices->differ;
    for (size_t i = 0; i < map->count; i++) {
        const struct rpz_zone_options *options = rpz_policy_zone_options(rpz_policy_at(policy, i));
        bool has_item;
        map->bits[i] = choice_bits(choices, options, &has_item);
        map->differ |= !has_item && !options->is_default;
    }
}
