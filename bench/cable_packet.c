/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Reads only as much of IPv4 as the turn needs. Any program on the machine may send packets here,
 * so the length is checked before a field is read.
 */

#include "cable_packet.h"

#include <string.h>

#include "base/span.h"

enum {
    HEADER_MIN = 20,
    AT_TOTAL_LENGTH = 2,
    AT_FRAGMENT = 6,
    AT_PROTOCOL = 9,
    AT_SOURCE = 12,
    AT_DESTINATION = 16,
    FRAGMENT_OFFSET = 0x1FFF,
    PROTOCOL_ICMP = 1,
    ICMP_HEADER = 8,
    ICMP_UNREACHABLE = 3,
    ICMP_QUENCH = 4,
    ICMP_TIME_EXCEEDED = 11,
    ICMP_PARAMETER = 12,
};

/* Returns the length of the header, or 0 if the bytes are not the IPv4 header of a packet of at
 * most len bytes. */
static size_t header_length(const uint8_t *packet, size_t len)
{
    if (len < HEADER_MIN || packet[0] >> 4 != 4)
        return 0;
    size_t header = (size_t)(packet[0] & 15) * 4;
    return header >= HEADER_MIN && header <= len ? header : 0;
}

static bool is_between(const uint8_t *packet, uint32_t from, uint32_t to)
{
    return memcmp(packet + AT_SOURCE, &from, 4) == 0 &&
           memcmp(packet + AT_DESTINATION, &to, 4) == 0;
}

static void swap_addresses(uint8_t *packet)
{
    uint8_t source[4];
    memcpy(source, packet + AT_SOURCE, 4);
    memcpy(packet + AT_SOURCE, packet + AT_DESTINATION, 4);
    memcpy(packet + AT_DESTINATION, source, 4);
}

static bool quotes_a_packet(uint8_t icmp_type)
{
    return icmp_type == ICMP_UNREACHABLE || icmp_type == ICMP_QUENCH ||
           icmp_type == ICMP_TIME_EXCEEDED || icmp_type == ICMP_PARAMETER;
}

/* An error quotes a packet that came from there. The sender of that packet saw it go from here to
 * there. */
static void turn_quoted(const struct cable_ends *ends, uint8_t *packet, size_t header, size_t len)
{
    bool is_first = (get_u16(packet + AT_FRAGMENT) & FRAGMENT_OFFSET) == 0;
    if (packet[AT_PROTOCOL] != PROTOCOL_ICMP || !is_first || len < header + ICMP_HEADER ||
        !quotes_a_packet(packet[header]))
        return;
    uint8_t *quoted = packet + header + ICMP_HEADER;
    if (header_length(quoted, len - header - ICMP_HEADER) &&
        is_between(quoted, ends->there, ends->here))
        swap_addresses(quoted);
}

bool cable_packet_turn(const struct cable_ends *ends, uint8_t *packet, size_t len)
{
    size_t header = header_length(packet, len);
    if (header == 0 || get_u16(packet + AT_TOTAL_LENGTH) != len ||
        !is_between(packet, ends->here, ends->there))
        return false;
    swap_addresses(packet);
    turn_quoted(ends, packet, header, len);
    return true;
}
