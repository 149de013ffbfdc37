/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* How zones wait in line for a visit. */
#include "unit/transfer/xfr_primary.h"

#include "transfer/xfr_gate.h"

enum { ZONES = 1024 }; /* as many zones as a configuration may have */

struct zone {
    struct xfr_place place;
    struct hall *hall;
    unsigned order; /* its place in the order of admission; 0: not admitted */
};

struct hall {
    struct loop *loop;
    struct xfr_gate gate;
    struct zone zones[ZONES];
    unsigned admitted;
};

static void on_admitted(struct xfr_place *place)
{
    struct zone *zone = CONTAINER_OF(place, struct zone, place);
    assert_int_equal(place->state, XFR_PLACE_INSIDE);
    zone->order = ++zone->hall->admitted;
}

static struct hall *hall_open(unsigned max_visits)
{
    struct hall *hall = calloc(1, sizeof(*hall));
    hall->loop = loop_new();
    xfr_gate_init(&hall->gate, hall->loop, max_visits);
    for (size_t i = 0; i < ZONES; i++) {
        hall->zones[i].hall = hall;
        xfr_place_init(&hall->zones[i].place, &hall->gate, on_admitted);
    }
    return hall;
}

static void hall_close(struct hall *hall)
{
    for (size_t i = 0; i < ZONES; i++)
        xfr_place_leave(&hall->zones[i].place);
    assert_int_equal(hall->gate.visits, 0);
    xfr_gate_deinit(&hall->gate);
    loop_free(hall->loop);
    free(hall);
}

/* Joins the line for the primary with this number. */
static void join(struct hall *hall, size_t zone, unsigned primary, bool is_urgent)
{
    char text[32];
    snprintf(text, sizeof(text), "192.0.%u.%u@53", primary / 256, primary % 256);
    struct addr addr = fake_addr(text);
    xfr_place_join(&hall->zones[zone].place, &addr, is_urgent);
}

static void test_visits_to_many_primaries_have_a_bound(void **state)
{
    (void)state;
    struct hall *hall = hall_open(XFR_GATE_VISITS_MAX);
    for (size_t i = 0; i < ZONES; i++)
        join(hall, i, (unsigned)i, false);
    assert_int_equal(hall->admitted, 0); /* no zone is admitted inside the call */
    fake_loop_settle(hall->loop);
    assert_int_equal(hall->admitted, XFR_GATE_VISITS_MAX);
    for (size_t i = 0; i < ZONES; i++) {
        assert_int_equal(hall->zones[i].order, i + 1); /* in the order in which they joined */
        xfr_place_leave(&hall->zones[i].place);
        fake_loop_settle(hall->loop);
        assert_true(hall->gate.visits <= XFR_GATE_VISITS_MAX);
    }
    assert_int_equal(hall->admitted, ZONES);
    hall_close(hall);
}

static void test_a_process_with_few_files_has_a_lower_bound(void **state)
{
    (void)state;
    struct hall *hall = hall_open(1);
    for (size_t i = 0; i < 10; i++)
        join(hall, i, (unsigned)i, false);
    for (size_t i = 0; i < 10; i++) {
        fake_loop_settle(hall->loop);
        assert_int_equal(hall->admitted, i + 1);
        xfr_place_leave(&hall->zones[i].place);
    }
    hall_close(hall);
}

static void test_visits_to_one_address_have_a_bound(void **state)
{
    (void)state;
    struct hall *hall = hall_open(XFR_GATE_VISITS_MAX);
    struct addr other_port = fake_addr("192.0.0.1@5353");
    for (size_t i = 0; i < 100; i++)
        join(hall, i, 1, false);
    xfr_place_join(&hall->zones[100].place, &other_port, true);
    join(hall, 101, 2, false);
    fake_loop_settle(hall->loop);
    assert_int_equal(hall->admitted, XFR_GATE_PRIMARY_VISITS_MAX + 1);
    assert_true(hall->zones[101].order > 0); /* this zone does not wait for the others */
    assert_int_equal(hall->zones[100].order, 1);
    hall_close(hall);
}

static void test_urgent_places_go_first(void **state)
{
    (void)state;
    struct hall *hall = hall_open(XFR_GATE_VISITS_MAX);
    for (size_t i = 0; i < 50; i++)
        join(hall, i, 1, false);
    fake_loop_settle(hall->loop);
    join(hall, 50, 1, true);
    join(hall, 20, 1, true); /* the zone already waits, and becomes urgent */
    join(hall, 50, 1, true); /* the zone keeps its place */
    xfr_place_leave(&hall->zones[0].place);
    xfr_place_leave(&hall->zones[1].place);
    fake_loop_settle(hall->loop);
    assert_int_equal(hall->zones[50].order, XFR_GATE_PRIMARY_VISITS_MAX + 1);
    assert_int_equal(hall->zones[20].order, XFR_GATE_PRIMARY_VISITS_MAX + 2);
    hall_close(hall);
}

/* A flood of NOTIFYs makes many places urgent. */
static void test_urgent_places_do_not_hold_up_the_others(void **state)
{
    (void)state;
    struct hall *hall = hall_open(XFR_GATE_VISITS_MAX);
    join(hall, 0, 9, false);
    for (size_t i = 1; i < 500; i++)
        join(hall, i, (unsigned)i + 9, true);
    fake_loop_settle(hall->loop);
    assert_int_equal(hall->zones[0].order, XFR_GATE_URGENT_ROW_MAX + 1);
    assert_int_equal(hall->admitted, XFR_GATE_VISITS_MAX);
    hall_close(hall);
}

static void test_a_place_that_left_the_line_is_not_admitted(void **state)
{
    (void)state;
    struct hall *hall = hall_open(XFR_GATE_VISITS_MAX);
    join(hall, 0, 1, false);
    join(hall, 1, 1, false);
    xfr_place_leave(&hall->zones[0].place);
    xfr_place_leave(&hall->zones[0].place);
    fake_loop_settle(hall->loop);
    assert_int_equal(hall->zones[0].order, 0);
    assert_int_equal(hall->zones[1].order, 1);
    join(hall, 0, 1, false);
    fake_loop_settle(hall->loop);
    assert_int_equal(hall->zones[0].order, 2);
    hall_close(hall);
}

static void test_a_place_that_waits_takes_another_address(void **state)
{
    (void)state;
    struct hall *hall = hall_open(XFR_GATE_VISITS_MAX);
    for (size_t i = 0; i < 10; i++)
        join(hall, i, 1, false);
    fake_loop_settle(hall->loop);
    join(hall, 9, 2, false);
    fake_loop_settle(hall->loop);
    assert_int_equal(hall->zones[9].order, XFR_GATE_PRIMARY_VISITS_MAX + 1);
    hall_close(hall);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_visits_to_many_primaries_have_a_bound),
        cmocka_unit_test(test_a_process_with_few_files_has_a_lower_bound),
        cmocka_unit_test(test_visits_to_one_address_have_a_bound),
        cmocka_unit_test(test_urgent_places_go_first),
        cmocka_unit_test(test_urgent_places_do_not_hold_up_the_others),
        cmocka_unit_test(test_a_place_that_left_the_line_is_not_admitted),
        cmocka_unit_test(test_a_place_that_waits_takes_another_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
