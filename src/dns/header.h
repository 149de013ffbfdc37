/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DNS_HEADER_H
#define NAILUP_DNS_HEADER_H

/*
 * The twelve bytes every message starts with (RFC 1035 section 4.1.1, RFC 4035 for AD and CD), read
 * and written in place. Every function takes a pointer to at least HEADER_LEN bytes.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"

enum { HEADER_LEN = 12 };

/* Bits of the 16-bit flags word, as header_flags() gives it. */
enum {
    HEADER_QR = 0x8000,
    HEADER_AA = 0x0400,
    HEADER_TC = 0x0200,
    HEADER_RD = 0x0100,
    HEADER_RA = 0x0080,
    HEADER_Z = 0x0040,
    HEADER_AD = 0x0020,
    HEADER_CD = 0x0010,
    HEADER_OPCODE_MASK = 0x7800,
    HEADER_RCODE_MASK = 0x000f,
};

/* The order of the four counts and of the sections in the message. */
enum section {
    SECTION_QUESTION,
    SECTION_ANSWER,
    SECTION_AUTHORITY,
    SECTION_ADDITIONAL,
    SECTION_COUNT,
};

static inline uint16_t header_id(const uint8_t *bytes)
{
    return get_u16(bytes);
}

static inline void header_set_id(uint8_t *bytes, uint16_t id)
{
    put_u16(bytes, id);
}

static inline uint16_t header_flags(const uint8_t *bytes)
{
    return get_u16(bytes + 2);
}

static inline void header_set_flags(uint8_t *bytes, uint16_t flags)
{
    put_u16(bytes + 2, flags);
}

static inline bool header_has(const uint8_t *bytes, uint16_t bits)
{
    return (header_flags(bytes) & bits) == bits;
}

/* Sets or clears the given bits and leaves the others. */
static inline void header_put(uint8_t *bytes, uint16_t bits, bool on)
{
    uint16_t flags = header_flags(bytes);
    header_set_flags(bytes, (uint16_t)(on ? flags | bits : flags & ~bits));
}

static inline uint8_t header_opcode(const uint8_t *bytes)
{
    return (bytes[2] >> 3) & 0x0f;
}

static inline void header_set_opcode(uint8_t *bytes, uint8_t opcode)
{
    bytes[2] = (uint8_t)((bytes[2] & ~0x78) | (opcode & 0x0f) << 3);
}

/* Returns the low four bits. The OPT record has the upper eight of an extended rcode. */
static inline uint8_t header_rcode(const uint8_t *bytes)
{
    return bytes[3] & HEADER_RCODE_MASK;
}

static inline void header_set_rcode(uint8_t *bytes, uint8_t rcode)
{
    bytes[3] = (uint8_t)((bytes[3] & ~HEADER_RCODE_MASK) | (rcode & HEADER_RCODE_MASK));
}

static inline uint16_t header_count(const uint8_t *bytes, enum section section)
{
    return get_u16(bytes + 4 + 2 * section);
}

static inline void header_set_count(uint8_t *bytes, enum section section, uint16_t count)
{
    put_u16(bytes + 4 + 2 * section, count);
}

#endif
