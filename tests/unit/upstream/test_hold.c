/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Decides what happens to an idle connection. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "upstream/hold.h"

#define MS US_PER_MS
#define S US_PER_S

static struct hold_facts nailed(uint64_t idle_us, uint64_t limit_us)
{
    return (struct hold_facts){.idle_us = idle_us,
                               .limit_us = limit_us,
                               .own_us = 60 * S,
                               .dial_us = MS,
                               .is_kept = true,
                               .may_hold = true};
}

static void expect(const struct hold_facts *facts, enum hold_step step, uint64_t again_us)
{
    struct hold_decision decision = hold_decide(facts);
    assert_int_equal(decision.step, step);
    assert_int_equal(decision.again_us, again_us);
}

static void test_hold_is_before_the_limit_with_a_margin(void **state)
{
    (void)state;
    assert_int_equal(hold_after_us(2 * S, MS), 1500 * MS);
    assert_int_equal(hold_after_us(10 * S, MS), 7500 * MS);
    assert_int_equal(hold_after_us(120 * S, MS), 115 * S);
    /* a distant server needs an earlier query */
    assert_int_equal(hold_after_us(2 * S, 400 * MS), 1200 * MS);
    assert_int_equal(hold_after_us(2 * S, 4 * S), S);
    assert_int_equal(hold_after_us(HOLD_SHORTEST_US - 1, MS), 0);
}

static void test_hold_sends_a_query_at_the_right_time(void **state)
{
    (void)state;
    struct hold_facts facts = nailed(S, 2 * S);
    expect(&facts, HOLD_WAIT, 1500 * MS);
    facts.idle_us = 1500 * MS;
    expect(&facts, HOLD_QUERY, 0);
    facts.is_ending = true;
    expect(&facts, HOLD_WAIT, 0);
}

static void test_hold_without_a_limit_does_nothing(void **state)
{
    (void)state;
    struct hold_facts facts = nailed(7200 * S, 0);
    expect(&facts, HOLD_WAIT, 0);
}

/* A hold query would follow another query within a second, would cost more than a dial, or would
 * get no answer. */
static void test_hold_replaces_a_connection_that_may_not_carry_a_query(void **state)
{
    (void)state;
    struct hold_facts facts = nailed(900 * MS, 1200 * MS);
    expect(&facts, HOLD_REPLACE, 0);
    facts = nailed(8 * S, 10 * S);
    facts.by_replacement = true;
    expect(&facts, HOLD_REPLACE, 0);
}

static void test_hold_ignores_a_limit_that_is_too_short(void **state)
{
    (void)state;
    struct hold_facts facts = nailed(400 * MS, HOLD_SHORTEST_US - MS);
    expect(&facts, HOLD_WAIT, 0);
}

static void test_hold_closes_connections_that_need_not_stay(void **state)
{
    (void)state;
    struct hold_facts facts = nailed(59 * S, 0);
    facts.is_kept = false;
    expect(&facts, HOLD_WAIT, 60 * S);
    facts.idle_us = 60 * S;
    expect(&facts, HOLD_CLOSE, 0);
    facts = nailed(8 * S, 10 * S); /* the peer was seen to close at this age */
    facts.is_kept = false;
    expect(&facts, HOLD_WAIT, 60 * S);
    facts.announced_us = 10 * S;
    expect(&facts, HOLD_WAIT, 9 * S);
    facts.idle_us = 9 * S;
    expect(&facts, HOLD_CLOSE, 0);
    facts.is_kept = true;
    facts.may_hold = false;
    expect(&facts, HOLD_CLOSE, 0);
    facts.limit_us = facts.announced_us = 0; /* if the peer has no limit, closing saves nothing */
    expect(&facts, HOLD_WAIT, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hold_is_before_the_limit_with_a_margin),
        cmocka_unit_test(test_hold_sends_a_query_at_the_right_time),
        cmocka_unit_test(test_hold_without_a_limit_does_nothing),
        cmocka_unit_test(test_hold_replaces_a_connection_that_may_not_carry_a_query),
        cmocka_unit_test(test_hold_ignores_a_limit_that_is_too_short),
        cmocka_unit_test(test_hold_closes_connections_that_need_not_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
