/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_CABLE_PACKET_H
#define NAILUP_BENCH_CABLE_PACKET_H

/* What happens to a packet at the far end of the cable: it is turned round, or it is foreign. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The two ends, in network byte order. */
struct cable_ends {
    uint32_t here, there;
};

/* Turns an IPv4 packet (RFC 791) from here to there into one from there to here: its addresses
 * change places, and those of the packet that an ICMP error quotes (RFC 792), or nobody would take
 * the error for his. No checksum changes by it, being a sum. False, and the packet is as it was:
 * anything else, IPv6, broken or short ones. */
bool cable_packet_turn(const struct cable_ends *ends, uint8_t *packet, size_t len);

#endif
