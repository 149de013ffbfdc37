/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The rule of single_use.h. The pool acts on it. */

#include "upstream/single_use.h"

enum single_use_news single_use_answered_two(struct single_use *single)
{
    bool was_known = single->is_known;
    *single = (struct single_use){.has_answered_two = true};
    return was_known ? SINGLE_USE_WITHDRAWN : SINGLE_USE_NO_NEWS;
}

/* Whether the peer had received a query, and closed without an answer to it. */
static bool is_strike(const struct single_use_end *end)
{
    return end->why == CONN_END_PEER_BUSY && end->answers == 1 && end->requests > 1 &&
           end->is_acknowledged;
}

enum single_use_news single_use_note(struct single_use *single, const struct single_use_end *end,
                                     uint64_t now)
{
    if (end->answers > 1)
        return single_use_answered_two(single);
    if (single->has_answered_two || !is_strike(end))
        return SINGLE_USE_NO_NEWS;
    if (now - single->struck_at > SINGLE_USE_RETEST_US && !single->is_known)
        single->strikes = 0; /* two strikes far apart are two accidents */
    single->strikes++;
    single->struck_at = now;
    single->retest_at = now + SINGLE_USE_RETEST_US;
    if (single->is_known || single->strikes < SINGLE_USE_STRIKES)
        return SINGLE_USE_NO_NEWS;
    single->is_known = true;
    return SINGLE_USE_CONCLUDED;
}

bool single_use_take_retest(struct single_use *single, uint64_t now)
{
    if (!single->is_known || now < single->retest_at)
        return false;
    single->retest_at = now + SINGLE_USE_TRIAL_US;
    return true;
}
