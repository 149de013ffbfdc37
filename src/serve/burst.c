/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Counts the bytes of a burst (burst.h). request.c decides which answers are counted and truncates.
 * Invariant: a client gets at most BURST_BYTES of large answers in a window that it has begun.
 */
#include "serve/burst.h"

bool bursts_allow(struct bursts *bursts, uint64_t client, uint32_t waiting, size_t len,
                  size_t truncated_len, uint64_t now)
{
    struct burst *burst = &bursts->places[client % BURST_PLACES];
    bool is_current =
        burst->began_at != 0 && burst->client == client && now - burst->began_at < BURST_WINDOW_US;
    if (!is_current && waiting <= BURST_WAITING)
        return true;
    if (!is_current)
        *burst = (struct burst){.client = client, .began_at = now};
    if (burst->bytes + len > BURST_BYTES)
        return len <= BURST_SMALL * truncated_len;
    burst->bytes += len;
    return true;
}
