/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_SEGMENT_H
#define NAILUP_UPSTREAM_SEGMENT_H

/*
 * How large may the segments of an upstream's connections be? If a path silently drops large
 * packets, an answer of several segments never arrives, and the stream waits for it in vain. The
 * segment size that we announce in a dial bounds the peer and us. Pure.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"
#include "net/tcp.h"

/* Packets of 576 bytes, which every IPv4 host must take (RFC 1122 section 3.3.2). */
enum { SEGMENT_SMALL_BYTES = 536 };
#define SEGMENT_FORGET_US (10 * 60 * US_PER_S)

struct segment { /* the facts about one upstream; zeroed: no stall */
    uint64_t small_until_at;
};

/* The segment size that the next dial announces: TCP_SEGMENT_BYTES, or less after a stall. */
uint32_t segment_bytes(const struct segment *segment, uint64_t now);

/* Notes that a connection is silent or a TLS handshake did not complete: dials announce the small
 * size for SEGMENT_FORGET_US. A wrong guess costs little, because answers are small. Returns true
 * if the size changed. */
bool segment_stalled(struct segment *segment, uint64_t now);

#endif
