/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The arithmetic of keepalive.h. The pool acts on it. */

#include "upstream/keepalive.h"

#include "base/check.h"

void keepalive_heard(struct keepalive *keepalive)
{
    keepalive->zeros = 0;
}

static uint64_t pause_after(uint32_t zeros)
{
    uint32_t doublings = MIN(zeros - KEEPALIVE_ZEROS, 10u);
    return MIN(KEEPALIVE_PAUSE_US << doublings, KEEPALIVE_PAUSE_MAX_US);
}

/* Several connections may get a zero for the same stop. A zero counts only if its connection became
 * ready after the previous zero. */
void keepalive_heard_zero(struct keepalive *keepalive, uint64_t ready_at, uint64_t now)
{
    bool is_fresh = now - ready_at < KEEPALIVE_FRESH_US;
    if (!is_fresh || now - keepalive->zero_at > KEEPALIVE_FORGET_US)
        keepalive->zeros = 0;
    if (!is_fresh || (keepalive->zeros > 0 && ready_at < keepalive->zero_at))
        return;
    keepalive->zeros++;
    keepalive->zero_at = now;
    if (keepalive->zeros >= KEEPALIVE_ZEROS)
        keepalive->left_alone_until_at = now + pause_after(keepalive->zeros);
}

void keepalive_lived(struct keepalive *keepalive, uint64_t ready_at, uint64_t now)
{
    if (now - ready_at >= KEEPALIVE_FRESH_US)
        keepalive->zeros = 0;
}
