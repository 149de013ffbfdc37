/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Invariant: hashes are compared as bytes; the case of the owner's letters plays no part. */
#include "validate/nsec3.h"

#include <string.h>

#include "validate/type_bitmap.h"

enum { ALGORITHM_SHA1 = 1, FLAG_OPT_OUT = 1, OWNER_LABEL_LEN = 32 };

/* The five bits of each base32hex digit (RFC 4648 section 7) plus one; 0: no digit. A denial has up
 * to three owners of 32 digits, so a table pays. */
static const uint8_t digit_values[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9,  ['9'] = 10, ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
    ['G'] = 17, ['H'] = 18, ['I'] = 19, ['J'] = 20, ['K'] = 21, ['L'] = 22, ['M'] = 23, ['N'] = 24,
    ['O'] = 25, ['P'] = 26, ['Q'] = 27, ['R'] = 28, ['S'] = 29, ['T'] = 30, ['U'] = 31, ['V'] = 32,
    ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['g'] = 17, ['h'] = 18,
    ['i'] = 19, ['j'] = 20, ['k'] = 21, ['l'] = 22, ['m'] = 23, ['n'] = 24, ['o'] = 25, ['p'] = 26,
    ['q'] = 27, ['r'] = 28, ['s'] = 29, ['t'] = 30, ['u'] = 31, ['v'] = 32,
};

/* Decodes eight digits into five bytes. */
static bool digits_decode(uint8_t out[5], const uint8_t digits[8])
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < 8; i++) {
        unsigned value = digit_values[digits[i]];
        if (!value)
            return false;
        bits = bits << 5 | (value - 1);
    }
    out[0] = (uint8_t)(bits >> 32);
    put_u32(out + 1, (uint32_t)bits);
    return true;
}

/* Decodes 32 digits, which are exactly 160 bits. */
static bool owner_decode(uint8_t out[VERIFY_NSEC3_HASH], const uint8_t *label)
{
    for (unsigned i = 0; i < OWNER_LABEL_LEN / 8; i++)
        if (!digits_decode(out + (size_t)5 * i, label + (size_t)8 * i))
            return false;
    return true;
}

static bool owner_read(struct nsec3 *out, struct name zone, struct name owner)
{
    return owner.wire[0] == OWNER_LABEL_LEN && name_equal(name_parent(owner), zone) &&
           owner_decode(out->owner, owner.wire + 1);
}

bool nsec3_read(struct nsec3 *out, struct name zone, struct name owner, struct span rdata)
{
    uint8_t algorithm, flags, len;
    struct span next;
    if (!span_take_u8(&rdata, &algorithm) || !span_take_u8(&rdata, &flags) ||
        !span_take_u16(&rdata, &out->iterations) || !span_take_u8(&rdata, &len) ||
        !span_take(&rdata, len, &out->salt) || !span_take_u8(&rdata, &len) ||
        !span_take(&rdata, len, &next))
        return false;
    if (algorithm != ALGORITHM_SHA1 || flags & ~FLAG_OPT_OUT || next.len != VERIFY_NSEC3_HASH)
        return false;
    memcpy(out->next, next.data, VERIFY_NSEC3_HASH);
    out->has_opt_out = flags & FLAG_OPT_OUT;
    out->types = rdata;
    return type_bitmap_is_sound(rdata) && owner_read(out, zone, owner);
}

bool nsec3_write_owner(uint8_t wire[NAME_WIRE_MAX], const uint8_t hash[VERIFY_NSEC3_HASH],
                       struct name zone, struct name *owner)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuv";
    uint64_t bits = 0;
    unsigned count = 0;
    if (zone.len + 1u + OWNER_LABEL_LEN > NAME_WIRE_MAX)
        return false;
    wire[0] = OWNER_LABEL_LEN;
    for (unsigned i = 0; i < VERIFY_NSEC3_HASH; i++) {
        bits = bits << 8 | hash[i];
        if (i % 5 == 4) /* five bytes are eight digits */
            for (unsigned digit = 0; digit < 8; digit++)
                wire[++count] = (uint8_t)digits[bits >> (35 - 5 * digit) & 31];
    }
    memcpy(wire + 1 + OWNER_LABEL_LEN, zone.wire, zone.len);
    *owner = (struct name){.wire = wire, .len = (uint8_t)(zone.len + 1 + OWNER_LABEL_LEN)};
    return true;
}

bool nsec3_is_same_chain(const struct nsec3 *a, const struct nsec3 *b)
{
    return a->iterations == b->iterations && span_equal(a->salt, b->salt);
}

bool nsec3_is_owner(const struct nsec3 *nsec3, const uint8_t hash[VERIFY_NSEC3_HASH])
{
    return !memcmp(nsec3->owner, hash, VERIFY_NSEC3_HASH);
}

bool nsec3_spans(const struct nsec3 *nsec3, const uint8_t hash[VERIFY_NSEC3_HASH])
{
    bool is_after_owner = memcmp(hash, nsec3->owner, VERIFY_NSEC3_HASH) > 0;
    bool is_before_next = memcmp(hash, nsec3->next, VERIFY_NSEC3_HASH) < 0;
    if (memcmp(nsec3->owner, nsec3->next, VERIFY_NSEC3_HASH) < 0)
        return is_after_owner && is_before_next;
    return is_after_owner || is_before_next;
}
