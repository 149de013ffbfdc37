/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/rand.h"
#include "recurse/lame.h"

#define NOW (5 * US_PER_S)

static uint8_t wires[4][NAME_WIRE_MAX];

static struct name name(unsigned place, const char *text)
{
    struct name name;
    assert_int_equal(name_parse(&name, wires[place], text, strlen(text)), ERR_OK);
    return name;
}

static struct addr ip(const char *text)
{
    struct addr addr;
    assert_int_equal(addr_parse(&addr, text, 53), ERR_OK);
    return addr;
}

static void test_a_server_is_lame_for_one_zone_only(void **state)
{
    (void)state;
    struct lame *lame = lame_new();
    struct addr bad = ip("192.0.2.1"), bad_elsewhere = ip("192.0.2.1@5353"), good = ip("192.0.2.2");
    lame_note(lame, name(0, "example"), &bad, NOW);
    assert_true(lame_is(lame, name(1, "EXAMPLE"), &bad, NOW));
    /* the address decides, not the upstream */
    assert_true(lame_is(lame, name(1, "example"), &bad_elsewhere, NOW));
    assert_false(lame_is(lame, name(1, "example"), &good, NOW));
    assert_false(lame_is(lame, name(1, "a.example"), &bad, NOW));
    assert_false(lame_is(lame, name(1, "."), &bad, NOW));
    lame_free(lame);
}

static void test_lameness_ends(void **state)
{
    (void)state;
    struct lame *lame = lame_new();
    struct addr bad = ip("2001:db8::1");
    lame_note(lame, name(0, "example"), &bad, NOW);
    assert_true(lame_is(lame, name(0, "example"), &bad, NOW + LAME_US - 1));
    assert_false(lame_is(lame, name(0, "example"), &bad, NOW + LAME_US));
    lame_note(lame, name(0, "example"), &bad, NOW);
    lame_forget(lame, name(1, "Example"), &bad);
    assert_false(lame_is(lame, name(0, "example"), &bad, NOW));
    lame_forget(lame, name(1, "example"), &bad);
    lame_free(lame);
    lame_free(NULL);
}

static void test_a_server_with_useless_answers_is_tried_now_and_then(void **state)
{
    (void)state;
    struct lame *lame = lame_new();
    struct addr bad = ip("192.0.2.1");
    assert_false(lame_try(lame, name(0, "example"), &bad, NOW));
    lame_note_useless(lame, name(0, "example"), &bad, NOW);
    assert_true(lame_is(lame, name(0, "example"), &bad, NOW));
    assert_false(lame_try(lame, name(0, "example"), &bad, NOW + LAME_TRY_US - 1));
    assert_true(lame_try(lame, name(0, "example"), &bad, NOW + LAME_TRY_US));
    assert_false(lame_try(lame, name(0, "example"), &bad, NOW + LAME_TRY_US));
    assert_true(lame_try(lame, name(0, "example"), &bad, NOW + 2 * LAME_TRY_US));
    lame_note(lame, name(0, "example"), &bad, NOW); /* it refuses */
    lame_note_useless(lame, name(0, "example"), &bad, NOW);
    assert_false(lame_try(lame, name(0, "example"), &bad, NOW + LAME_TRY_US));
    lame_note_useless(lame, name(0, "example"), &bad, NOW + LAME_US);
    assert_true(lame_try(lame, name(0, "example"), &bad, NOW + LAME_US + LAME_TRY_US));
    lame_free(lame);
}

static void test_clearing_forgets_everything(void **state)
{
    (void)state;
    struct lame *lame = lame_new();
    struct addr bad = ip("192.0.2.1");
    lame_note(lame, name(0, "example"), &bad, NOW);
    lame_clear(lame);
    assert_false(lame_is(lame, name(0, "example"), &bad, NOW));
    lame_note(lame, name(0, "example"), &bad, NOW);
    assert_true(lame_is(lame, name(0, "example"), &bad, NOW));
    lame_free(lame);
}

/* A million lame delegations leave the table at its size, and it holds the last one. */
static void test_a_flood_replaces_entries_and_needs_no_memory(void **state)
{
    (void)state;
    struct lame *lame = lame_new();
    struct addr bad = ip("192.0.2.1");
    char text[64];
    unsigned known = 0;
    for (unsigned i = 0; i < 20 * LAME_MAX; i++) {
        snprintf(text, sizeof(text), "z%u.example", i);
        lame_note(lame, name(0, text), &bad, NOW + i);
        assert_true(lame_is(lame, name(0, text), &bad, NOW + i));
    }
    for (unsigned i = 0; i < 20 * LAME_MAX; i++) {
        snprintf(text, sizeof(text), "z%u.example", i);
        known += lame_is(lame, name(0, text), &bad, NOW);
    }
    assert_in_range(known, LAME_MAX / 2, LAME_MAX);
    lame_free(lame);
}

int main(void)
{
    rand_seed_for_tests(4242);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_server_is_lame_for_one_zone_only),
        cmocka_unit_test(test_lameness_ends),
        cmocka_unit_test(test_a_server_with_useless_answers_is_tried_now_and_then),
        cmocka_unit_test(test_clearing_forgets_everything),
        cmocka_unit_test(test_a_flood_replaces_entries_and_needs_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
