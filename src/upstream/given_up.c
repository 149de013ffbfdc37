/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* When servers are given up. For how long, and what ends it, is upstream.c's. */

#include "upstream/given_up.h"

#include "upstream/upstream.h"

bool given_up_are_all(struct upstream *const *group, size_t count)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        if (upstream_is_given_up(group[i]))
            any = true;
        else if (!upstream_lacks_route(group[i]))
            return false;
    }
    return any;
}

void given_up_note(struct upstream *const *group, size_t count, const uint8_t *tried,
                   unsigned queries)
{
    if (queries < GIVEN_UP_QUERIES)
        return;
    for (size_t i = 0; i < count; i++)
        if (tried[i])
            upstream_give_up(group[i]);
}
