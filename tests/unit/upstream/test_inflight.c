/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "upstream/conn.h"
#include "upstream/inflight.h"

static void test_inflight_uses_each_id_once(void **state)
{
    (void)state;
    static uint8_t seen[INFLIGHT_IDS];
    struct inflight inflight;
    struct flight flight, *found;

    memset(seen, 0, sizeof(seen));
    inflight_init(&inflight);
    for (int i = 0; i < INFLIGHT_IDS; i++) {
        uint16_t id = inflight_next_id(&inflight);
        assert_int_equal(seen[id]++, 0);
        assert_int_equal(inflight_add(&inflight, &flight), ERR_OK);
        assert_int_equal(inflight_take(&inflight, id, &found), INFLIGHT_LIVE);
        assert_ptr_equal(found, &flight);
    }
    assert_int_equal(inflight_add(&inflight, &flight), ERR_LIMIT);
    assert_true(inflight.mask < 64);
    inflight_deinit(&inflight);
}

static void test_inflight_ids_differ_between_connections(void **state)
{
    (void)state;
    unsigned equal = 0, ascending = 0;
    for (int i = 0; i < 200; i++) {
        struct inflight a, b;
        struct flight flight;
        inflight_init(&a);
        inflight_init(&b);
        uint16_t first = inflight_next_id(&a);
        equal += first == inflight_next_id(&b);
        assert_int_equal(inflight_add(&a, &flight), ERR_OK);
        ascending += inflight_next_id(&a) == (uint16_t)(first + 1);
        inflight_deinit(&a);
        inflight_deinit(&b);
    }
    assert_true(equal < 4);
    assert_true(ascending < 4);
}

static void test_inflight_distinguishes_late_from_unknown(void **state)
{
    (void)state;
    struct inflight inflight;
    struct flight flight, *found;
    inflight_init(&inflight);
    uint16_t id = inflight_next_id(&inflight);
    assert_int_equal(inflight_take(&inflight, id, &found), INFLIGHT_UNKNOWN);
    assert_int_equal(inflight_add(&inflight, &flight), ERR_OK);
    inflight_give_up(&inflight, id);
    assert_int_equal(inflight.live, 0);
    assert_int_equal(inflight.owed, 1);
    assert_int_equal(inflight_take(&inflight, id, &found), INFLIGHT_LATE);
    assert_null(found);
    assert_int_equal(inflight_take(&inflight, id, &found), INFLIGHT_UNKNOWN);
    inflight_deinit(&inflight);
}

/* Thousands of queries are in flight. Answers come in another order, and some queries are given up.
 * Plain arrays show the expected result. */
static void test_inflight_finds_each_among_thousands(void **state)
{
    (void)state;
    enum { MANY = 5000 };
    static struct flight flights[MANY];
    static uint16_t ids[MANY];
    struct inflight inflight;
    struct flight *found;

    inflight_init(&inflight);
    for (int i = 0; i < MANY; i++) {
        ids[i] = inflight_next_id(&inflight);
        assert_int_equal(inflight_add(&inflight, &flights[i]), ERR_OK);
        if (i % 3 == 0)
            inflight_give_up(&inflight, ids[i]);
    }
    for (int step = 0; step < 7; step++) {
        for (int i = step; i < MANY; i += 7) {
            enum inflight_found expected = i % 3 == 0 ? INFLIGHT_LATE : INFLIGHT_LIVE;
            assert_int_equal(inflight_take(&inflight, ids[i], &found), expected);
            assert_ptr_equal(found, i % 3 == 0 ? NULL : &flights[i]);
        }
    }
    assert_int_equal(inflight.live + inflight.owed, 0);
    inflight_deinit(&inflight);
}

static void test_inflight_returns_every_query_at_the_end_of_a_connection(void **state)
{
    (void)state;
    struct inflight inflight;
    struct flight flights[100];
    unsigned taken = 0;

    inflight_init(&inflight);
    assert_null(inflight_take_any(&inflight));
    for (int i = 0; i < 100; i++) {
        uint16_t id = inflight_next_id(&inflight);
        assert_int_equal(inflight_add(&inflight, &flights[i]), ERR_OK);
        if (i >= 90)
            inflight_give_up(&inflight, id);
    }
    while (inflight_take_any(&inflight))
        taken++;
    assert_int_equal(taken, 90);
    inflight_deinit(&inflight);
}

enum { MIXED_FLIGHTS = 400, MIXED_ROUNDS = 200 };

/* Takes the queries of one connection in several calls. Answers and given-up queries come between
 * them. */
static void take_among_others(uint32_t random)
{
    static struct flight flights[MIXED_FLIGHTS];
    uint16_t ids[MIXED_FLIGHTS];
    bool is_live[MIXED_FLIGHTS];
    struct inflight inflight;
    struct flight *flight;
    unsigned live = MIXED_FLIGHTS;

    inflight_init(&inflight);
    for (unsigned i = 0; i < MIXED_FLIGHTS; i++) {
        ids[i] = inflight_next_id(&inflight);
        is_live[i] = true;
        assert_int_equal(inflight_add(&inflight, &flights[i]), ERR_OK);
    }
    while (live > 0) {
        random = random * 1664525 + 1013904223;
        unsigned which = (random >> 8) % MIXED_FLIGHTS;
        bool was_live = is_live[which];
        switch (random >> 30) {
        case 0:
            if (was_live)
                inflight_give_up(&inflight, ids[which]);
            break;
        case 1:
            flight = NULL;
            (void)inflight_take(&inflight, ids[which], &flight);
            assert_int_equal(flight != NULL, was_live);
            break;
        default:
            flight = inflight_take_any(&inflight);
            which = (unsigned)(flight - flights);
            was_live = is_live[which];
            assert_true(was_live);
        }
        is_live[which] = false;
        live -= was_live;
        assert_int_equal(inflight.live, live);
    }
    assert_null(inflight_take_any(&inflight));
    inflight_deinit(&inflight);
}

static void test_inflight_returns_every_query_whatever_comes_in_between(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < MIXED_ROUNDS; round++)
        take_among_others(round);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inflight_uses_each_id_once),
        cmocka_unit_test(test_inflight_ids_differ_between_connections),
        cmocka_unit_test(test_inflight_distinguishes_late_from_unknown),
        cmocka_unit_test(test_inflight_finds_each_among_thousands),
        cmocka_unit_test(test_inflight_returns_every_query_at_the_end_of_a_connection),
        cmocka_unit_test(test_inflight_returns_every_query_whatever_comes_in_between),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
