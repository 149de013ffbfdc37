/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Budgets log lines about failures (trouble.h). pool.c decides what a failure is. */
#include "upstream/trouble.h"

#include "base/check.h"

static bool trouble_take_line(struct trouble_lines *lines, uint64_t now)
{
    if (lines->paid_at > now + (TROUBLE_LINES_MAX - 1) * US_PER_S)
        return false;
    lines->paid_at = MAX(lines->paid_at, now) + US_PER_S;
    return true;
}

bool trouble_fail(struct trouble *trouble, struct trouble_lines *lines, unsigned reason,
                  uint64_t now, uint32_t *untold)
{
    uint64_t bit = UINT64_C(1) << reason % 64;
    bool is_recent = trouble->is_told && now < trouble->told_at + TROUBLE_AGAIN_US;
    bool is_known = is_recent && trouble->told_reasons & bit;
    if (is_known || !trouble_take_line(lines, now)) {
        trouble->untold++;
        return false;
    }
    *untold = trouble->untold;
    *trouble = (struct trouble){
        .is_told = true,
        .told_at = is_recent ? trouble->told_at : now,
        .told_reasons = is_recent ? trouble->told_reasons | bit : bit,
    };
    return true;
}

bool trouble_end(struct trouble *trouble)
{
    bool was_told = trouble->is_told;
    *trouble = (struct trouble){0};
    return was_told;
}
