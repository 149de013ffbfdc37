/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Invariant: hashes are compared as bytes; the case of the owner's letters plays no part. */
#include "validate/nsec3.h"

#include <string.h>

#include "validate/type_bitmap.h"

enum { ALGORITHM_SHA1 = 1, FLAG_OPT_OUT = 1, OWNER_LABEL_LEN = 32 };

/* Returns the five bits of a base32hex digit (RFC 4648 section 7), or -1. */
static int nsec3_digit_value(uint8_t digit)
{
    digit = name_fold_byte(digit);
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    return digit >= 'a' && digit <= 'v' ? digit - 'a' + 10 : -1;
}

/* Decodes 32 digits, which are exactly 160 bits. */
static bool owner_decode(uint8_t out[VERIFY_NSEC3_HASH], const uint8_t *label)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < OWNER_LABEL_LEN; i++) {
        int value = nsec3_digit_value(label[i]);
        if (value < 0)
            return false;
        bits = bits << 5 | (unsigned)value;
        if (i % 8 == 7) /* eight digits are five bytes */
            for (unsigned byte = 0; byte < 5; byte++)
                *out++ = (uint8_t)(bits >> (32 - 8 * byte));
    }
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
