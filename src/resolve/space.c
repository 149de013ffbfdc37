/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The life of spaces. resolver.c decides which spaces exist, and tasks.c holds references to
 * them. */
#include "resolve/space.h"

#include <stdlib.h>

#include "base/check.h"
#include "local/local_names.h"
#include "resolve/route.h"

void space_init(struct space *space, uint32_t number)
{
    *space = (struct space){.number = number, .refs = 1};
}

struct space *space_new(uint32_t number)
{
    struct space *space = malloc(sizeof(*space));
    if (space)
        space_init(space, number);
    return space;
}

void space_set_local(struct space *space, const struct local_names *local)
{
    space->local = local;
    space->blocks_aliases = local && local_names_block_aliases(local);
    space->local_changes++;
}

void space_retire(struct space *space)
{
    MUST(!space->is_retired);
    space->is_retired = true;
    space_set_local(space, NULL);
    routes_retire(space->routes);
    space_drop(space);
}

void space_drop(struct space *space)
{
    MUST(space->refs > 0);
    if (--space->refs > 0)
        return;
    routes_free(space->routes);
    free(space);
}
