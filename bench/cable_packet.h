/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_CABLE_PACKET_H
#define NAILUP_BENCH_CABLE_PACKET_H

/* The far end of the cable: turns a packet round, or finds that it is foreign. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The two ends, in network byte order. */
struct cable_ends {
    uint32_t here, there;
};

/* Turns an IPv4 packet (RFC 791) from here to there into one from there to here: its addresses
 * change places. So do the addresses of the packet that an ICMP error quotes (RFC 792), or its
 * sender would not recognise the error. Checksums stay valid, because they are sums. Returns
 * false and leaves the packet alone if it is IPv6, broken, short or anything else. */
bool cable_packet_turn(const struct cable_ends *ends, uint8_t *packet, size_t len);

#endif
