/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_VALIDATE_DENIAL_SAMPLE_H
#define NAILUP_TESTS_VALIDATE_DENIAL_SAMPLE_H

/* NSEC and NSEC3 records made from text, for several tests of validate. */

#include "unit/dns/sample.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "dns/rrtype.h"
#include "validate/denial.h"
#include "validate/verify.h"

enum { SAMPLE_RDATA_MAX = 1024, SAMPLE_BITMAP_MAX = 256 * 34 };

/* Sets the bits of types such as "A NS TYPE1234" in out. Returns the length of the bitmap. */
static inline size_t sample_bitmap(uint8_t out[SAMPLE_BITMAP_MAX], const char *types)
{
    static uint8_t windows[256][32];
    char words[512];
    size_t len = 0;
    memset(windows, 0, sizeof(windows));
    assert_true(strlen(types) < sizeof(words));
    strcpy(words, types);
    for (char *rest, *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        uint16_t type;
        assert_int_equal(rrtype_parse(&type, word), ERR_OK);
        windows[type >> 8][(type & 0xff) / 8] |= (uint8_t)(0x80 >> (type & 7));
    }
    for (unsigned window = 0; window < 256; window++) {
        uint8_t count = 32;
        while (count && !windows[window][count - 1])
            count--;
        if (!count)
            continue;
        out[len++] = (uint8_t)window;
        out[len++] = count;
        memcpy(out + len, windows[window], count);
        len += count;
    }
    return len;
}

/* The verified records of a message, with their bytes. */
struct sample {
    struct denial denial;
    unsigned units;
    const char *salt; /* in hexadecimal */
    uint16_t iterations;
    uint8_t zone[NAME_WIRE_MAX];
    struct {
        uint8_t owner[NAME_WIRE_MAX];
        uint8_t rdata[SAMPLE_RDATA_MAX];
    } at[DENIAL_RECORDS_MAX];
};

/* Begins a message without records. units_left borrows from the sample. */
static inline void sample_begin(struct sample *sample, const char *zone)
{
    memset(sample, 0, sizeof(*sample));
    sample->units = 1000;
    sample->salt = "";
    sample->denial.zone = sample_name(sample->zone, zone);
    sample->denial.units_left = &sample->units;
}

static inline struct denial_record *sample_add(struct sample *sample, uint16_t type,
                                               const char *owner)
{
    size_t i = sample->denial.count++;
    assert_true(i < DENIAL_RECORDS_MAX);
    struct denial_record *record = &sample->denial.at[i];
    record->type = type;
    record->owner = sample_name(sample->at[i].owner, owner);
    record->rdata = span_of(sample->at[i].rdata, 0);
    return record;
}

static inline uint8_t *sample_rdata(struct sample *sample)
{
    return sample->at[sample->denial.count - 1].rdata;
}

/* Adds "owner NSEC next types". */
static inline void sample_nsec(struct sample *sample, const char *owner, const char *next,
                               const char *types)
{
    uint8_t bitmap[SAMPLE_BITMAP_MAX], wire[NAME_WIRE_MAX];
    struct denial_record *record = sample_add(sample, RRTYPE_NSEC, owner);
    struct name name = sample_name(wire, next);
    size_t len = sample_bitmap(bitmap, types);
    assert_true(name.len + len <= SAMPLE_RDATA_MAX);
    memcpy(sample_rdata(sample), name.wire, name.len);
    memcpy(sample_rdata(sample) + name.len, bitmap, len);
    record->rdata.len = name.len + len;
}

static inline size_t sample_hex(uint8_t *out, const char *hex)
{
    size_t len = strlen(hex) / 2;
    for (size_t i = 0; i < len; i++)
        out[i] = (uint8_t)strtoul((char[]){hex[2 * i], hex[2 * i + 1], 0}, NULL, 16);
    return len;
}

/* Returns base32hex in lower case, for whole groups of five bytes. */
static inline const char *sample_base32(char out[33], const uint8_t hash[VERIFY_NSEC3_HASH])
{
    for (unsigned bit = 0; bit < 160; bit += 5) {
        unsigned pair = (unsigned)hash[bit / 8] << 8 | (bit < 152 ? hash[bit / 8 + 1] : 0);
        out[bit / 5] = "0123456789abcdefghijklmnopqrstuv"[pair >> (11 - bit % 8) & 31];
    }
    out[32] = 0;
    return out;
}

static inline void sample_unbase32(uint8_t hash[VERIFY_NSEC3_HASH], const char *text)
{
    memset(hash, 0, VERIFY_NSEC3_HASH);
    assert_int_equal(strlen(text), 32);
    for (unsigned bit = 0; bit < 160; bit++) {
        char digit = text[bit / 5];
        unsigned value = (unsigned)(digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10);
        assert_true(value < 32);
        if (value & 16 >> bit % 5)
            hash[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
    }
}

/* Adds an NSEC3 record: the label of its owner, its flags, its next hash in base32hex, its types.
 * Salt and iterations come from the sample. */
static inline void sample_nsec3(struct sample *sample, const char *label, uint8_t flags,
                                const char *next, const char *types)
{
    char owner[NAME_TEXT_MAX + 40], zone[NAME_TEXT_MAX];
    name_format(sample->denial.zone, zone);
    snprintf(owner, sizeof(owner), "%s.%s", label, strcmp(zone, ".") ? zone : "");
    struct denial_record *record = sample_add(sample, RRTYPE_NSEC3, owner);
    uint8_t bitmap[SAMPLE_BITMAP_MAX];
    uint8_t *start = sample_rdata(sample), *at = start;
    *at++ = 1;
    *at++ = flags;
    put_u16(at, sample->iterations);
    at += 2;
    *at = (uint8_t)sample_hex(at + 1, sample->salt);
    at += 1 + *at;
    *at++ = VERIFY_NSEC3_HASH;
    sample_unbase32(at, next);
    at += VERIFY_NSEC3_HASH;
    size_t len = sample_bitmap(bitmap, types);
    memcpy(at, bitmap, len);
    record->rdata.len = (size_t)(at - start) + len;
}

/* Returns the hash of the name under the sample's parameters, with a small number added. */
static inline const char *sample_hash(const struct sample *sample, const char *text, int add,
                                      char out[33])
{
    uint8_t wire[NAME_WIRE_MAX], salt[255], hash[VERIFY_NSEC3_HASH];
    struct name name = sample_name(wire, text);
    name_fold(name, wire);
    verify_nsec3_hash(hash, span_of(wire, name.len), span_of(salt, sample_hex(salt, sample->salt)),
                      sample->iterations);
    for (unsigned i = VERIFY_NSEC3_HASH; i-- > 0 && add;) {
        add += hash[i];
        hash[i] = (uint8_t)add;
        add = (add - hash[i]) / 256;
    }
    return sample_base32(out, hash);
}

/* Adds the NSEC3 record of the name. Its span contains almost no hash. */
static inline void sample_match(struct sample *sample, const char *name, const char *types)
{
    char owner[33], next[33];
    sample_nsec3(sample, sample_hash(sample, name, 0, owner), 0, sample_hash(sample, name, 1, next),
                 types);
}

/* Adds an NSEC3 record whose span contains the hash of the name. */
static inline void sample_cover(struct sample *sample, const char *name, uint8_t flags)
{
    char owner[33], next[33];
    sample_nsec3(sample, sample_hash(sample, name, -1, owner), flags,
                 sample_hash(sample, name, 1, next), "A RRSIG");
}

/* ---- expectations ---- */

#define ASSERT_NAME(sample, name, expected)                                                        \
    assert_int_equal(denial_of_name(&(sample)->denial, NAME(name)), expected)
#define ASSERT_TYPE(sample, name, type, expected)                                                  \
    assert_int_equal(denial_of_type(&(sample)->denial, NAME(name), RRTYPE_##type), expected)
#define ASSERT_NEXT_CLOSER(sample, name, labels, expected)                                         \
    assert_int_equal(denial_of_next_closer(&(sample)->denial, NAME(name), labels), expected)
#define ASSERT_DS(sample, name, expected)                                                          \
    assert_int_equal(denial_of_ds(&(sample)->denial, NAME(name)), expected)

#endif
