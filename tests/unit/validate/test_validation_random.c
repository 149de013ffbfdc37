/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "unit/validate/play.h"

/* Random plays, for builds without libFuzzer. Each verdict must occur often enough, or else the
 * plays test nothing. */

enum { RANDOM_PLAYS = 60000, RANDOM_BYTES = 160 };

static uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void test_no_play_breaks_a_rule(void **state)
{
    unsigned count[4] = {0};
    uint64_t seed = 20261123;
    (void)state;
    for (unsigned i = 0; i < RANDOM_PLAYS; i++) {
        uint8_t bytes[RANDOM_BYTES];
        for (unsigned at = 0; at < sizeof(bytes); at++)
            bytes[at] = (uint8_t)(random_next(&seed) >> 32);
        count[play_run(bytes, sizeof(bytes))]++;
    }
    assert_int_equal(count[SECURITY_UNCHECKED], 0);
    assert_true(count[SECURITY_SECURE] > RANDOM_PLAYS / 100);
    assert_true(count[SECURITY_INSECURE] > RANDOM_PLAYS / 100);
    assert_true(count[SECURITY_BOGUS] > RANDOM_PLAYS / 100);
}

static int end_plays(void **state)
{
    (void)state;
    anchors_free(play_anchors);
    play_anchors = NULL;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_play_breaks_a_rule),
    };
    return cmocka_run_group_tests(tests, NULL, end_plays);
}
