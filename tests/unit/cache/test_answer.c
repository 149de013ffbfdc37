/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "unit/cache/made_answers.h"

static struct made made;
static uint8_t out[CACHE_ANSWER_MAX];

static int set_up(void **state)
{
    (void)state;
    make_question(&made, 1);
    make_answer(&made, 3, 0, 1, 50 * SECOND);
    return 0;
}

static uint32_t ttl_shown_at(uint64_t now_us, unsigned record)
{
    answer_copy(&made.answer, made.answer.message.len, now_us, out);
    return get_u32(out + made.offsets[record]);
}

static void test_a_copy_is_aged_by_whole_seconds(void **state)
{
    (void)state;
    assert_int_equal(ttl_shown_at(50 * SECOND, 0), 300);
    assert_int_equal(ttl_shown_at(51 * SECOND - 1, 0), 300);
    assert_int_equal(ttl_shown_at(51 * SECOND, 2), 299);
    assert_int_equal(ttl_shown_at(349 * SECOND, 1), 1);
}

static void test_only_ttls_change_and_only_in_the_copy(void **state)
{
    (void)state;
    static struct made before;
    before = made;
    answer_copy(&made.answer, made.answer.message.len, 60 * SECOND, out);
    assert_memory_equal(made.message, before.message, made.answer.message.len);
    for (unsigned i = 0; i < 3; i++)
        put_u32(out + made.offsets[i], 300);
    assert_memory_equal(out, made.message, made.answer.message.len);
}

/* Bytes behind len are not copied, and their TTLs are not aged. */
static void test_a_partial_copy_ends_at_its_length(void **state)
{
    (void)state;
    size_t len = made.offsets[1] - 4; /* ends just before the TTL of the second record */
    memset(out, 0xee, made.answer.message.len);
    answer_copy(&made.answer, len, 60 * SECOND, out);
    assert_int_equal(get_u32(out + made.offsets[0]), 290);
    for (size_t i = len; i < made.answer.message.len; i++)
        assert_int_equal(out[i], 0xee);
}

static void test_no_ttl_falls_below_one_however_old_the_answer(void **state)
{
    (void)state;
    assert_int_equal(ttl_shown_at(350 * SECOND, 0), 1);
    assert_int_equal(ttl_shown_at(UINT64_MAX, 0), 1);
}

static void test_a_clock_slightly_behind_does_not_age_an_answer(void **state)
{
    (void)state;
    assert_int_equal(ttl_shown_at(49 * SECOND, 0), 300);
    assert_true(answer_is_live(&made.answer, 0));
}

static void test_an_answer_lives_exactly_its_seconds(void **state)
{
    (void)state;
    assert_true(answer_is_live(&made.answer, (50 + MADE_TTL) * (uint64_t)SECOND - 1));
    assert_false(answer_is_live(&made.answer, (50 + MADE_TTL) * (uint64_t)SECOND));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_copy_is_aged_by_whole_seconds),
        cmocka_unit_test(test_only_ttls_change_and_only_in_the_copy),
        cmocka_unit_test(test_a_partial_copy_ends_at_its_length),
        cmocka_unit_test(test_no_ttl_falls_below_one_however_old_the_answer),
        cmocka_unit_test(test_a_clock_slightly_behind_does_not_age_an_answer),
        cmocka_unit_test(test_an_answer_lives_exactly_its_seconds),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
