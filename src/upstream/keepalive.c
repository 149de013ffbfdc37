/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The arithmetic of idle ends; the pool acts on it. */

#include "upstream/keepalive.h"

#include "base/check.h"

void keepalive_heard(struct keepalive *keepalive, uint16_t timeout_100ms, uint64_t now)
{
    keepalive->peer_idle_us = (uint64_t)timeout_100ms * 100 * 1000;
    if (timeout_100ms == 0)
        keepalive->banned_until_at = now + KEEPALIVE_BAN_US;
}

uint64_t keepalive_idle_end(struct keepalive *keepalive)
{
    uint32_t ends = keepalive->idle_ends++;
    if (ends == 0)
        return 0;
    return MIN(US_PER_S << MIN(ends - 1, 10u), KEEPALIVE_REDIAL_MAX_US);
}
