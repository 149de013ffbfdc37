/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* A cursor never leaves its bytes. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/span.h"

static const uint8_t bytes[] = {0x01, 0x02, 0x03, 0x04, 0xff, 0xfe, 0xfd};

static void test_reading_takes_from_the_front_in_network_order(void **state)
{
    (void)state;
    struct span span = span_of(bytes, sizeof(bytes));
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    assert_true(span_take_u8(&span, &u8));
    assert_int_equal(u8, 1);
    assert_true(span_take_u16(&span, &u16));
    assert_int_equal(u16, 0x0203);
    assert_true(span_take_u32(&span, &u32));
    assert_int_equal(u32, 0x04fffefd);
    assert_int_equal(span.len, 0);
}

static void test_a_read_that_does_not_fit_changes_nothing(void **state)
{
    (void)state;
    for (size_t len = 0; len < 4; len++) {
        struct span span = span_of(bytes, len), part = span_of(NULL, 0);
        uint16_t u16 = 7;
        uint32_t u32 = 7;
        assert_false(span_take_u32(&span, &u32));
        assert_false(span_take(&span, SIZE_MAX, &part));
        if (len < 2)
            assert_false(span_take_u16(&span, &u16));
        assert_ptr_equal(span.data, bytes);
        assert_int_equal(span.len, len);
        assert_int_equal(u16, 7);
        assert_int_equal(u32, 7);
        assert_null(part.data);
    }
}

static void test_values_are_read_as_they_were_written(void **state)
{
    (void)state;
    uint8_t room[4];
    put_u16(room, 0xbeef);
    assert_int_equal(get_u16(room), 0xbeef);
    put_u32(room, 0xdeadbeef);
    assert_int_equal(get_u32(room), 0xdeadbeef);
    assert_int_equal(room[0], 0xde);
}

static void test_equal_spans_have_equal_bytes(void **state)
{
    (void)state;
    assert_true(span_equal(span_of("ab", 2), span_of("ab", 2)));
    assert_false(span_equal(span_of("ab", 2), span_of("ac", 2)));
    assert_false(span_equal(span_of("ab", 2), span_of("ab", 1)));
    assert_true(span_equal(span_of(NULL, 0), span_of("ab", 0)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reading_takes_from_the_front_in_network_order),
        cmocka_unit_test(test_a_read_that_does_not_fit_changes_nothing),
        cmocka_unit_test(test_values_are_read_as_they_were_written),
        cmocka_unit_test(test_equal_spans_have_equal_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
