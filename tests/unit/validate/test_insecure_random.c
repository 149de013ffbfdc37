/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "unit/validate/forge.h"

/* Random forgers, for builds without libFuzzer. Each verdict must come often enough, or the plays
 * test nothing. NAILUP_FORGE_PLAYS and NAILUP_FORGE_SEED make longer and other runs. */

enum { FORGE_PLAYS = 20000, FORGE_BYTES = 64 };

static uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static uint64_t number_or(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

static void test_no_forger_makes_a_secure_name_insecure(void **state)
{
    unsigned count[2][4] = {{0}};
    uint64_t seed = number_or("NAILUP_FORGE_SEED", 20261128);
    uint64_t plays = number_or("NAILUP_FORGE_PLAYS", FORGE_PLAYS);
    (void)state;
    for (uint64_t i = 0; i < plays; i++) {
        uint8_t bytes[FORGE_BYTES];
        bool is_denial;
        for (unsigned at = 0; at < sizeof(bytes); at++)
            bytes[at] = (uint8_t)(random_next(&seed) >> 32);
        enum security security = forge_run(bytes, 4 + random_next(&seed) % 60, &is_denial);
        count[is_denial][security]++;
    }
    for (unsigned is_denial = 0; is_denial < 2; is_denial++) {
        print_message("denials %u: %u secure, %u insecure, %u bogus\n", is_denial,
                      count[is_denial][SECURITY_SECURE], count[is_denial][SECURITY_INSECURE],
                      count[is_denial][SECURITY_BOGUS]);
        assert_int_equal(count[is_denial][SECURITY_UNCHECKED], 0);
        assert_true(count[is_denial][SECURITY_SECURE] > plays / 100);
        assert_true(count[is_denial][SECURITY_INSECURE] > plays / 100);
        assert_true(count[is_denial][SECURITY_BOGUS] > plays / 100);
    }
}

static int end_plays(void **state)
{
    (void)state;
    forge_end();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_forger_makes_a_secure_name_insecure),
    };
    return cmocka_run_group_tests(tests, NULL, end_plays);
}
