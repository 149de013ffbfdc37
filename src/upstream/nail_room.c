/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Whose places are taken. Invariant: those that are idle are in the order of use. */
#include "upstream/nail_room.h"

#include "upstream/pool_retire.h"
#include "upstream/pool_tend.h"
#include "upstream/upstream.h"

static bool is_unused(const struct pool *pool)
{
    return pool->must_earn && pool->places > 0 && !pool->tending &&
           pool_now(pool) - pool->rate.turn_at >= NAIL_UNUSED_US;
}

static bool take_from(struct list *idle)
{
    LIST_EACH(node, idle)
    {
        struct pool *pool = &LIST_ITEM(node, struct upstream, idle)->pool;
        if (!is_unused(pool))
            continue;
        pool_forfeit(pool);
        pool_wind_down(pool);
        return true;
    }
    return false;
}

bool nail_room_make(struct upstream_env *env)
{
    return take_from(&env->met_silent) || take_from(&env->met_idle);
}
