/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Counts descriptors (file_count.h). Invariant: each taken descriptor is given back once. A lower
 * bound takes no descriptor away. */

#include "net/file_count.h"

#include <limits.h>

#include "base/check.h"

enum {
    DIAL_SHARE = 4
}; /* every fourth descriptor is only for dials: a burst over UDP ends no nailed connection */

void file_count_init(struct file_count *count)
{
    *count = (struct file_count){.max = UINT_MAX, .udp_max = FILE_UDP_MAX};
}

void file_count_limit(struct file_count *count, unsigned max)
{
    count->max = max;
    count->udp_max = MIN(MAX(1u, max - max / DIAL_SHARE), (unsigned)FILE_UDP_MAX);
}

bool file_count_take(struct file_count *count, enum file_use use)
{
    if (count->taken >= count->max)
        return false;
    if (use == FILE_UDP && count->udp_taken >= count->udp_max)
        return false;
    count->taken++;
    count->udp_taken += use == FILE_UDP;
    return true;
}

void file_count_give(struct file_count *count, enum file_use use)
{
    MUST(count->taken > 0);
    count->taken--;
    count->udp_taken -= use == FILE_UDP;
}
