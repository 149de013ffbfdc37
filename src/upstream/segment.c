/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The segment size to announce (segment.h). */

#include "upstream/segment.h"

uint32_t segment_bytes(const struct segment *segment, uint64_t now)
{
    return now < segment->small_until_at ? SEGMENT_SMALL_BYTES : TCP_SEGMENT_BYTES;
}

bool segment_stalled(struct segment *segment, uint64_t now)
{
    bool is_new = now >= segment->small_until_at;
    segment->small_until_at = now + SEGMENT_FORGET_US;
    return is_new;
}
