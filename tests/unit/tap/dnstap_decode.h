/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_UNIT_TAP_DNSTAP_DECODE_H
#define NAILUP_TESTS_UNIT_TAP_DNSTAP_DECODE_H

/* A strict reader of dnstap payloads: it accepts every field once, and only in a form that other
 * readers accept. Include cmocka first. */

#include <string.h>

#include "base/span.h"

struct field {
    bool is_there;
    unsigned wire_type;
    uint64_t number;
    struct span bytes;
};

enum { FIELDS_MAX = 32 };

static inline uint64_t decode_varint(struct span *from)
{
    uint64_t number = 0;
    uint8_t byte = 0;
    for (unsigned shift = 0;; shift += 7) {
        assert_in_range(shift, 0, 63);
        assert_true(span_take_u8(from, &byte));
        number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            break;
    }
    assert_true(byte != 0 || number == 0); /* the shortest form */
    return number;
}

static inline void decode_fields(struct span from, struct field fields[FIELDS_MAX])
{
    memset(fields, 0, FIELDS_MAX * sizeof(*fields));
    while (from.len > 0) {
        uint64_t key = decode_varint(&from);
        assert_in_range(key >> 3, 1, FIELDS_MAX - 1);
        struct field *field = &fields[key >> 3];
        assert_false(field->is_there);
        field->is_there = true;
        field->wire_type = key & 7;
        if (field->wire_type == 0) {
            field->number = decode_varint(&from);
        } else if (field->wire_type == 2) {
            assert_true(span_take(&from, (size_t)decode_varint(&from), &field->bytes));
        } else {
            assert_int_equal(field->wire_type, 5);
            assert_true(span_take(&from, 4, &field->bytes));
            for (unsigned i = 0; i < 4; i++)
                field->number |= (uint64_t)field->bytes.data[i] << 8 * i;
        }
    }
}

static inline void expect_bytes(const struct field *field, const void *bytes, size_t len)
{
    assert_true(field->is_there);
    assert_int_equal(field->wire_type, 2);
    assert_int_equal(field->bytes.len, len);
    if (len > 0)
        assert_memory_equal(field->bytes.data, bytes, len);
}

static inline void expect_number(const struct field *field, unsigned wire_type, uint64_t number)
{
    assert_true(field->is_there);
    assert_int_equal(field->wire_type, wire_type);
    assert_int_equal(field->number, number);
}

#endif
