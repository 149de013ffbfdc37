/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Invariant: a length that the file claims is checked before a byte behind it is read. An interface
 * with an unknown link type is no error of a pcapng file, because a capture on all interfaces has
 * such ones beside the others.
 */

#include "pcap_reader.h"

#include "base/check.h"

enum {
    FILE_HEADER_BYTES = 24,
    PACKET_HEADER_BYTES = 16,
    BLOCK_HEADER_BYTES = 8, /* type and length; the length comes again at the end */
    BLOCK_BYTES_MIN = BLOCK_HEADER_BYTES + 4,
};

/* Blocks with packets or with what packets need. */
enum block {
    BLOCK_SECTION = 0x0a0d0d0a, /* the same in both byte orders */
    BLOCK_INTERFACE = 1,
    BLOCK_OLD_PACKET = 2,
    BLOCK_SIMPLE_PACKET = 3, /* of the first interface */
    BLOCK_PACKET = 6,
};

#define SECTION_ORDER 0x1a2b3c4du

static bool pcap_knows_link(uint32_t link)
{
    return link == LINK_NULL || link == LINK_ETHERNET || link == LINK_RAW_OPENBSD ||
           link == LINK_RAW || link == LINK_LOOP || link == LINK_COOKED || link == LINK_COOKED_2;
}

static uint32_t pcap_u32(const struct pcap *pcap, const uint8_t *bytes)
{
    uint32_t value = get_u32(bytes);
    return pcap->is_swapped ? __builtin_bswap32(value) : value;
}

static uint32_t pcap_u16(const struct pcap *pcap, const uint8_t *bytes)
{
    uint16_t value = get_u16(bytes);
    return pcap->is_swapped ? __builtin_bswap16(value) : value;
}

static bool pcap_fill(struct pcap *pcap, uint8_t *out, size_t len)
{
    return fread(out, 1, len, pcap->in) == len;
}

/* ---- pcap ---- */

static enum pcap_fault plain_begin(struct pcap *pcap)
{
    uint8_t head[FILE_HEADER_BYTES - 4];
    if (!pcap_fill(pcap, head, sizeof(head)))
        return PCAP_NO_PCAP;
    uint32_t link = pcap_u32(pcap, head + 16) & 0xffff; /* above it: the length of the checksum */
    if (!pcap_knows_link(link))
        return PCAP_LINK;
    pcap->links[0] = (enum pcap_link)link;
    pcap->link_count = 1;
    return PCAP_FINE;
}

static enum pcap_fault plain_next(struct pcap *pcap, struct pcap_packet *packet, bool *is_end)
{
    uint8_t head[PACKET_HEADER_BYTES];
    size_t got = fread(head, 1, sizeof(head), pcap->in);
    *is_end = got == 0 && feof(pcap->in);
    if (*is_end)
        return PCAP_FINE;
    if (got != sizeof(head))
        return PCAP_CUT;
    size_t len = pcap_u32(pcap, head + 8);
    if (len > PCAP_PACKET_MAX)
        return PCAP_PACKET;
    if (!pcap_fill(pcap, pcap->room, len))
        return PCAP_CUT;
    *packet = (struct pcap_packet){span_of(pcap->room, len), pcap->links[0]};
    return PCAP_FINE;
}

/* ---- pcapng ---- */

/* Reads the rest of a block whose head has these bytes, and of its body the first got ones, which
 * are in the room already. *body is without the second length. */
static enum pcap_fault block_body(struct pcap *pcap, const uint8_t *length, size_t got,
                                  struct span *body)
{
    size_t len = pcap_u32(pcap, length);
    if (len < BLOCK_BYTES_MIN + got || len > PCAP_BLOCK_MAX || len % 4 != 0)
        return PCAP_BLOCK;
    size_t rest = len - BLOCK_HEADER_BYTES;
    if (!pcap_fill(pcap, pcap->room + got, rest - got))
        return PCAP_CUT;
    *body = span_of(pcap->room, rest - 4);
    return pcap_u32(pcap, pcap->room + rest - 4) == len ? PCAP_FINE : PCAP_BLOCK;
}

/* A section has its own byte order, which is known before its length, and its own interfaces. */
static enum pcap_fault block_section(struct pcap *pcap, const uint8_t *length, struct span *body)
{
    if (!pcap_fill(pcap, pcap->room, 4))
        return PCAP_CUT;
    pcap->is_swapped = get_u32(pcap->room) != SECTION_ORDER;
    pcap->link_count = 0;
    if (pcap_u32(pcap, pcap->room) != SECTION_ORDER)
        return PCAP_BLOCK;
    return block_body(pcap, length, 4, body);
}

static enum pcap_fault block_add_interface(struct pcap *pcap, struct span body)
{
    if (body.len < 8)
        return PCAP_BLOCK;
    if (pcap->link_count == PCAP_INTERFACES_MAX)
        return PCAP_INTERFACES;
    uint32_t link = pcap_u16(pcap, body.data);
    bool is_known = pcap_knows_link(link);
    pcap->has_unknown_link |= !is_known;
    pcap->links[pcap->link_count++] = is_known ? (enum pcap_link)link : LINK_UNKNOWN;
    return PCAP_FINE;
}

/* A packet of len bytes that follows head_bytes of the body. */
static enum pcap_fault block_packet(const struct pcap *pcap, struct span body, size_t head_bytes,
                                    size_t len, uint32_t interface, struct pcap_packet *packet)
{
    if (len > body.len - head_bytes || len > PCAP_PACKET_MAX || interface >= pcap->link_count)
        return PCAP_PACKET;
    *packet = (struct pcap_packet){span_of(body.data + head_bytes, len), pcap->links[interface]};
    return PCAP_FINE;
}

/* Reads a block with a packet, and says so. */
static enum pcap_fault block_read(struct pcap *pcap, uint32_t type, struct span body,
                                  struct pcap_packet *packet, bool *is_packet)
{
    const uint8_t *data = body.data;
    *is_packet = type == BLOCK_PACKET || type == BLOCK_OLD_PACKET || type == BLOCK_SIMPLE_PACKET;
    if (type == BLOCK_INTERFACE)
        return block_add_interface(pcap, body);
    if (!*is_packet)
        return PCAP_FINE;
    if (body.len < (type == BLOCK_SIMPLE_PACKET ? 4 : 20))
        return PCAP_BLOCK;
    if (type == BLOCK_SIMPLE_PACKET) /* it gives the length on the wire; the block may have less */
        return block_packet(pcap, body, 4, MIN((size_t)pcap_u32(pcap, data), body.len - 4), 0,
                            packet);
    return block_packet(pcap, body, 20, pcap_u32(pcap, data + 12),
                        type == BLOCK_PACKET ? pcap_u32(pcap, data) : pcap_u16(pcap, data), packet);
}

static enum pcap_fault block_next(struct pcap *pcap, struct pcap_packet *packet, bool *is_end)
{
    bool is_packet = false;
    while (!is_packet) {
        uint8_t head[BLOCK_HEADER_BYTES];
        struct span body = {0};
        size_t got = fread(head, 1, sizeof(head), pcap->in);
        *is_end = got == 0 && feof(pcap->in);
        if (*is_end)
            return PCAP_FINE;
        if (got != sizeof(head))
            return PCAP_CUT;
        uint32_t type = pcap_u32(pcap, head);
        enum pcap_fault fault = type == BLOCK_SECTION ? block_section(pcap, head + 4, &body)
                                                      : block_body(pcap, head + 4, 0, &body);
        if (!fault)
            fault = block_read(pcap, type, body, packet, &is_packet);
        if (fault)
            return fault;
    }
    return PCAP_FINE;
}

/* ---- both ---- */

enum pcap_fault pcap_begin(struct pcap *pcap)
{
    uint8_t magic[4], length[4];
    struct span body;
    if (!pcap_fill(pcap, magic, sizeof(magic)))
        return PCAP_NO_PCAP;
    switch (get_u32(magic)) {
    case 0xd4c3b2a1: /* times in microseconds, or in nanoseconds */
    case 0x4d3cb2a1:
        pcap->is_swapped = true;
        return plain_begin(pcap);
    case 0xa1b2c3d4:
    case 0xa1b23c4d:
        return plain_begin(pcap);
    case BLOCK_SECTION:
        pcap->is_blocks = true;
        return pcap_fill(pcap, length, sizeof(length)) ? block_section(pcap, length, &body)
                                                       : PCAP_CUT;
    default:
        return PCAP_NO_PCAP;
    }
}

enum pcap_fault pcap_next(struct pcap *pcap, struct pcap_packet *packet, bool *is_end)
{
    return pcap->is_blocks ? block_next(pcap, packet, is_end) : plain_next(pcap, packet, is_end);
}
