/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The counting of single_use.h; the pool sends no more than one query then. */

#include "upstream/single_use.h"

static bool lost_some(enum conn_end why)
{
    return why == CONN_END_OWED || why == CONN_END_STALLED || why == CONN_END_PEER_BUSY ||
           why == CONN_END_RESET;
}

bool single_use_note(struct single_use *single, uint32_t requests, uint32_t answers,
                     enum conn_end why, uint64_t now)
{
    if (answers > 1)
        single->strikes = 0;
    if (!lost_some(why) || answers != 1 || requests < 2)
        return false;
    if (++single->strikes < SINGLE_USE_STRIKES)
        return false;
    single->strikes = 0;
    single->until_at = now + SINGLE_USE_US;
    return true;
}
