/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* One timer. Each piece moves it, within the bounds of network_gather.h; only the limit on reports
 * may delay it further. */

#include "daemon/network_gather.h"

#include "base/check.h"
#include "loop/loop.h"

static void network_gather_on_due(struct timer *timer)
{
    struct network_gather *gather = CONTAINER_OF(timer, struct network_gather, due);
    enum network_change change = gather->pending;

    gather->pending = 0;
    gather->full_at = MAX(gather->full_at, loop_now(gather->loop)) + NETWORK_EVERY_US;
    gather->on_changed(gather->context, change);
}

void network_gather_init(struct network_gather *gather, struct loop *loop,
                         void (*on_changed)(void *context, enum network_change change),
                         void *context)
{
    *gather = (struct network_gather){.loop = loop, .on_changed = on_changed, .context = context};
    timer_init(&gather->due, network_gather_on_due);
}

void network_gather_deinit(struct network_gather *gather)
{
    timer_stop(&gather->due);
}

void network_gather_note(struct network_gather *gather, enum network_change change)
{
    const uint64_t ahead = (NETWORK_BURST - 1) * NETWORK_EVERY_US;
    uint64_t now = loop_now(gather->loop);

    if (!gather->pending)
        gather->first_at = now;
    gather->pending = MAX(gather->pending, change);
    uint64_t at = MIN(now + NETWORK_QUIET_US, gather->first_at + NETWORK_GATHER_US);
    if (gather->full_at > ahead)
        at = MAX(at, gather->full_at - ahead);
    timer_start(gather->loop, &gather->due, at);
}
