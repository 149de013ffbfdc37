/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "upstream/segment.h"

static void test_segment_is_small_for_a_while_after_a_stall(void **state)
{
    (void)state;
    struct segment segment = {0};
    uint64_t now = 5 * US_PER_S;
    assert_int_equal(segment_bytes(&segment, now), TCP_SEGMENT_BYTES);
    assert_true(segment_stalled(&segment, now));
    assert_int_equal(segment_bytes(&segment, now), SEGMENT_SMALL_BYTES);
    assert_false(segment_stalled(&segment, now + US_PER_S));
    assert_int_equal(segment_bytes(&segment, now + SEGMENT_FORGET_US), SEGMENT_SMALL_BYTES);
    assert_int_equal(segment_bytes(&segment, now + US_PER_S + SEGMENT_FORGET_US),
                     TCP_SEGMENT_BYTES);
    assert_true(segment_stalled(&segment, now + US_PER_S + SEGMENT_FORGET_US));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_segment_is_small_for_a_while_after_a_stall),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
