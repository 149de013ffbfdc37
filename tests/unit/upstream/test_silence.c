/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "upstream/silence.h"

enum { STALL = 5000, PROBE = 2000 };

static uint64_t due(const struct silence *silence)
{
    return silence_due_at(silence, STALL, PROBE);
}

static void test_silence_counts_from_the_oldest_query_since_the_last_byte(void **state)
{
    (void)state;
    struct silence silence = {0};
    assert_true(due(&silence) == UINT64_MAX);
    silence_sent(&silence, 100);
    silence_sent(&silence, 4000); /* newer queries do not move the deadline */
    assert_int_equal(due(&silence), 100 + STALL);
    silence_heard(&silence, 4500);
    assert_true(due(&silence) == UINT64_MAX);
    silence_sent(&silence, 4600);
    assert_int_equal(due(&silence), 4600 + STALL);
}

static void test_silence_a_suspect_connection_dies_with_an_unanswered_probe(void **state)
{
    (void)state;
    struct silence silence = {0};
    silence_sent(&silence, 100);
    silence_suspect(&silence);
    assert_true(silence_wants_probe(&silence));
    /* the connection never dies without a further query */
    assert_true(due(&silence) == UINT64_MAX);
    silence_sent(&silence, 9000);
    assert_false(silence_wants_probe(&silence));
    assert_int_equal(due(&silence), 9000 + PROBE);
    silence_sent(&silence, 9500);
    assert_int_equal(due(&silence), 9000 + PROBE);
}

/* A suspect connection may come into doubt as well. Its probe counts in any case. */
static void test_silence_doubt_after_suspicion_changes_nothing(void **state)
{
    (void)state;
    struct silence silence = {0};
    silence_sent(&silence, 100);
    silence_suspect(&silence);
    silence_sent(&silence, 9000); /* sends the probe */
    silence_doubt(&silence);
    assert_true(silence_is_suspect(&silence));
    assert_false(silence_wants_probe(&silence));
    assert_int_equal(due(&silence), 9000 + PROBE);
}

static void test_silence_any_byte_clears_every_doubt(void **state)
{
    (void)state;
    struct silence silence = {0};
    silence_sent(&silence, 100);
    silence_doubt(&silence);
    silence_suspect(&silence);
    silence_sent(&silence, 200);
    silence_heard(&silence, 300);
    assert_false(silence_is_in_doubt(&silence));
    assert_false(silence_is_suspect(&silence));
    assert_false(silence_wants_probe(&silence));
    assert_int_equal(silence.heard_at, 300);
    assert_true(due(&silence) == UINT64_MAX);
}

static void test_silence_doubt_alone_never_kills(void **state)
{
    (void)state;
    struct silence silence = {0};
    silence_sent(&silence, 100);
    silence_doubt(&silence);
    silence_sent(&silence, 600); /* sends the probe */
    assert_int_equal(due(&silence), 100 + STALL);
    silence_doubt(&silence); /* a second doubt needs no second probe */
    assert_false(silence_wants_probe(&silence));
}

static void test_silence_a_query_before_the_doubt_is_no_probe(void **state)
{
    (void)state;
    struct silence silence = {0};
    silence_sent(&silence, 100);
    silence_doubt(&silence);
    silence_sent(&silence, 600);
    silence_suspect(&silence);
    assert_true(silence_wants_probe(&silence));
    assert_true(due(&silence) == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_silence_counts_from_the_oldest_query_since_the_last_byte),
        cmocka_unit_test(test_silence_a_suspect_connection_dies_with_an_unanswered_probe),
        cmocka_unit_test(test_silence_doubt_after_suspicion_changes_nothing),
        cmocka_unit_test(test_silence_any_byte_clears_every_doubt),
        cmocka_unit_test(test_silence_doubt_alone_never_kills),
        cmocka_unit_test(test_silence_a_query_before_the_doubt_is_no_probe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
