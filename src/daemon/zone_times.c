/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Each time is read separately: a reader may see one time of this visit and the other of the
 * previous visit. */
#include "daemon/zone_times.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/stats.h"

struct zone_times {
    atomic_uint refs;
    struct control_zone_times shown;
};

struct zone_times *zone_times_new(void)
{
    struct zone_times *times = calloc(1, sizeof(*times));

    if (times)
        atomic_init(&times->refs, 1);
    return times;
}

struct zone_times *zone_times_ref(struct zone_times *times)
{
    if (times)
        atomic_fetch_add(&times->refs, 1);
    return times;
}

void zone_times_unref(struct zone_times *times)
{
    if (times && atomic_fetch_sub(&times->refs, 1) == 1)
        free(times);
}

const struct control_zone_times *zone_times_look(const struct zone_times *times)
{
    return times ? &times->shown : NULL;
}

void zone_times_set(struct zone_times *times, uint64_t confirmed_at_s, uint64_t expires_at)
{
    stats_write(&times->shown.confirmed_at_s, confirmed_at_s);
    stats_write(&times->shown.expires_at, expires_at);
}
