/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Invariant: a length that the file claims is checked before a byte behind it is read. An unknown
 * link type does not make a pcapng file faulty, because a capture on all interfaces contains such
 * types, too.
 */

#include "pcap_reader.h"

#include "base/check.h"

enum {
    FILE_HEADER_BYTES = 24,
    PACKET_HEADER_BYTES = 16,
    BLOCK_HEADER_BYTES = 8, /* type and length; the length is repeated at the end */
    BLOCK_BYTES_MIN = BLOCK_HEADER_BYTES + 4,
};

/* The blocks that have packets, or facts that packets need. */
enum block {
    BLOCK_SECTION = 0x0a0d0d0a, /* a palindrome: the same number in both byte orders */
    BLOCK_INTERFACE = 1,
    BLOCK_OLD_PACKET = 2,
    BLOCK_SIMPLE_PACKET = 3, /* has a packet of the first interface */
    BLOCK_PACKET = 6,
};

#define SECTION_ORDER 0x1a2b3c4du

/* Options of an interface. */
enum { OPTION_END = 0, OPTION_RESOLUTION = 9, OPTION_OFFSET = 14 };

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

static uint64_t pcap_u64(const struct pcap *pcap, const uint8_t *bytes)
{
    uint64_t value = (uint64_t)get_u32(bytes) << 32 | get_u32(bytes + 4);
    return pcap->is_swapped ? __builtin_bswap64(value) : value;
}

static bool pcap_fill(struct pcap *pcap, uint8_t *out, size_t len)
{
    return fread(out, 1, len, pcap->in) == len;
}

/* ---- times ---- */

enum {
    RESOLUTION_BINARY = 0x80,
    RESOLUTION_MICROSECONDS = 6,
    RESOLUTION_NANOSECONDS = 9,
    RESOLUTION_MAX = 19, /* 64 bits hold 10^19, but no greater power of ten */
    FRACTION_BITS = 30,  /* 2^-30 s is enough for nanoseconds */
};

#define NS_PER_S 1000000000ull

static bool pcap_knows_resolution(uint8_t resolution)
{
    return resolution & RESOLUTION_BINARY ? (resolution & 0x7f) < 64 : resolution <= RESOLUTION_MAX;
}

static uint64_t pcap_binary_ns(uint64_t units, unsigned bits)
{
    uint64_t seconds = units >> bits, fraction = units - (seconds << bits);
    if (bits > FRACTION_BITS) {
        fraction >>= bits - FRACTION_BITS;
        bits = FRACTION_BITS;
    }
    return seconds * NS_PER_S + (fraction * NS_PER_S >> bits);
}

/* A senseless time wraps and is not checked, because only the schedule depends on it. */
static uint64_t pcap_ns(const struct pcap_interface *interface, uint64_t units)
{
    uint64_t ns = units;
    if (interface->resolution & RESOLUTION_BINARY)
        ns = pcap_binary_ns(units, interface->resolution & 0x7f);
    for (unsigned i = interface->resolution; i < RESOLUTION_NANOSECONDS; i++)
        ns *= 10;
    for (unsigned i = interface->resolution; i > RESOLUTION_NANOSECONDS && i <= RESOLUTION_MAX; i--)
        ns /= 10;
    return ns + interface->offset_s * NS_PER_S;
}

/* ---- pcap ---- */

static enum pcap_fault plain_begin(struct pcap *pcap, bool is_swapped, uint8_t resolution)
{
    uint8_t head[FILE_HEADER_BYTES - 4];
    pcap->is_swapped = is_swapped;
    pcap->interfaces[0].resolution = resolution;
    if (!pcap_fill(pcap, head, sizeof(head)))
        return PCAP_NO_PCAP;
    /* the upper bits have the length of the checksum */
    uint32_t link = pcap_u32(pcap, head + 16) & 0xffff;
    if (!pcap_knows_link(link))
        return PCAP_LINK;
    pcap->interfaces[0].link = (enum pcap_link)link;
    pcap->interface_count = 1;
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
    uint64_t fraction = pcap_u32(pcap, head + 4);
    bool is_nano = pcap->interfaces[0].resolution == RESOLUTION_NANOSECONDS;
    *packet = (struct pcap_packet){
        .bytes = span_of(pcap->room, len),
        .link = pcap->interfaces[0].link,
        .at_ns = pcap_u32(pcap, head) * NS_PER_S + fraction * (is_nano ? 1 : 1000),
    };
    return PCAP_FINE;
}

/* ---- pcapng ---- */

/* Reads the rest of a block, whose head has these bytes. The first `got` bytes of the body are in
 * the room already. *body excludes the second length. */
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
    pcap->interface_count = 0;
    if (pcap_u32(pcap, pcap->room) != SECTION_ORDER)
        return PCAP_BLOCK;
    return block_body(pcap, length, 4, body);
}

/* Reads an interface's options: the resolution and the offset of its times. */
static enum pcap_fault interface_options(const struct pcap *pcap, struct span options,
                                         struct pcap_interface *interface)
{
    struct span head, value, padding;
    while (span_take(&options, 4, &head)) {
        uint32_t code = pcap_u16(pcap, head.data), len = pcap_u16(pcap, head.data + 2);
        if (code == OPTION_END)
            break;
        if (!span_take(&options, len, &value) || !span_take(&options, -len % 4, &padding))
            return PCAP_BLOCK;
        if (code == OPTION_RESOLUTION && len == 1)
            interface->resolution = value.data[0];
        if (code == OPTION_OFFSET && len == 8)
            interface->offset_s = pcap_u64(pcap, value.data);
    }
    return pcap_knows_resolution(interface->resolution) ? PCAP_FINE : PCAP_BLOCK;
}

static enum pcap_fault block_add_interface(struct pcap *pcap, struct span body)
{
    if (body.len < 8)
        return PCAP_BLOCK;
    if (pcap->interface_count == PCAP_INTERFACES_MAX)
        return PCAP_INTERFACES;
    uint32_t link = pcap_u16(pcap, body.data);
    bool is_known = pcap_knows_link(link);
    pcap->has_unknown_link |= !is_known;
    struct pcap_interface *interface = &pcap->interfaces[pcap->interface_count++];
    *interface = (struct pcap_interface){.link = is_known ? (enum pcap_link)link : LINK_UNKNOWN,
                                         .resolution = RESOLUTION_MICROSECONDS};
    return interface_options(pcap, span_of(body.data + 8, body.len - 8), interface);
}

/* The places of the parts of a block with a packet. */
struct block_place {
    size_t head_bytes, len;
    uint32_t interface;
    bool has_time; /* two numbers follow the first one */
};

static struct block_place block_find(const struct pcap *pcap, uint32_t type, struct span body)
{
    const uint8_t *data = body.data;
    /* the length on the wire; the capture may lack the end of the packet */
    if (type == BLOCK_SIMPLE_PACKET)
        return (struct block_place){.head_bytes = 4,
                                    .len = MIN((size_t)pcap_u32(pcap, data), body.len - 4)};
    return (struct block_place){
        .head_bytes = 20,
        .len = pcap_u32(pcap, data + 12),
        .interface = type == BLOCK_PACKET ? pcap_u32(pcap, data) : pcap_u16(pcap, data),
        .has_time = true,
    };
}

static enum pcap_fault block_packet(const struct pcap *pcap, uint32_t type, struct span body,
                                    struct pcap_packet *packet)
{
    if (body.len < (type == BLOCK_SIMPLE_PACKET ? 4 : 20))
        return PCAP_BLOCK;
    struct block_place place = block_find(pcap, type, body);
    if (place.len > body.len - place.head_bytes || place.len > PCAP_PACKET_MAX ||
        place.interface >= pcap->interface_count)
        return PCAP_PACKET;
    const struct pcap_interface *interface = &pcap->interfaces[place.interface];
    uint64_t high = place.has_time ? pcap_u32(pcap, body.data + 4) : 0;
    uint64_t low = place.has_time ? pcap_u32(pcap, body.data + 8) : 0;
    *packet = (struct pcap_packet){
        .bytes = span_of(body.data + place.head_bytes, place.len),
        .link = interface->link,
        .at_ns = place.has_time ? pcap_ns(interface, high << 32 | low) : CAPTURE_NO_TIME,
    };
    return PCAP_FINE;
}

/* Reads a block. Returns whether it has a packet. */
static enum pcap_fault block_read(struct pcap *pcap, uint32_t type, struct span body,
                                  struct pcap_packet *packet, bool *is_packet)
{
    *is_packet = type == BLOCK_PACKET || type == BLOCK_OLD_PACKET || type == BLOCK_SIMPLE_PACKET;
    if (*is_packet)
        return block_packet(pcap, type, body, packet);
    return type == BLOCK_INTERFACE ? block_add_interface(pcap, body) : PCAP_FINE;
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
    case 0xd4c3b2a1:
        return plain_begin(pcap, true, RESOLUTION_MICROSECONDS);
    case 0x4d3cb2a1:
        return plain_begin(pcap, true, RESOLUTION_NANOSECONDS);
    case 0xa1b2c3d4:
        return plain_begin(pcap, false, RESOLUTION_MICROSECONDS);
    case 0xa1b23c4d:
        return plain_begin(pcap, false, RESOLUTION_NANOSECONDS);
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
