/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The count of looks that saw a hole (spread.h). */

#include "upstream/spread.h"

#include "base/check.h"

_Static_assert(SPREAD_LOOKS == 8 * sizeof(((struct spread *)0)->history), "a bit per look");

void spread_note(struct spread *spread, bool saw_hole, uint64_t now)
{
    /* After a pause the old losses say nothing about the path. */
    if (now - spread->looked_at >= SPREAD_LOOKS * SPREAD_LOOK_US)
        spread->history = 0;
    spread->looked_at = now;
    spread->history = (uint16_t)(spread->history << 1 | saw_hole);
    if (__builtin_popcount(spread->history) >= SPREAD_HOLES)
        spread->lossy_until_at = now + SPREAD_KEEP_US;
}

uint32_t spread_width(const struct spread *spread, uint32_t in_flight, uint64_t now)
{
    uint32_t width = in_flight / SPREAD_IN_FLIGHT;
    return spread_is_lossy(spread, now) && width > 1 ? width : 0;
}
