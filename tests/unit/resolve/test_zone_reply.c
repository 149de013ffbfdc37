/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The cost of answers from zones held here. Scenarios and system tests look at the answers. */
#include "unit/zone/zone_make.h"

#include <time.h>

#include "resolve/zone_reply.h"

enum { REPLIES = 20, ZONE_BYTES = 64 << 20 };

/* Makes a zone with a cut of so many servers. They have addresses. */
static struct zone_data *make_cut(unsigned servers)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct name origin = zone_make_name("n"), cut = name_copy(zone_make_name("sub.n"), wire);
    struct zone_builder *builder = zone_builder_new(origin, ZONE_BYTES);
    struct zone_data *data;
    static const uint8_t soa[22];
    assert_int_equal(zone_builder_add(builder, origin, RRTYPE_SOA, 1, span_of(soa, sizeof(soa))),
                     ERR_OK);
    for (unsigned i = 0; i < servers; i++) {
        char text[16];
        snprintf(text, sizeof(text), "s%u.n", i);
        struct name server = zone_make_name(text);
        assert_int_equal(
            zone_builder_add(builder, cut, RRTYPE_NS, 1, span_of(server.wire, server.len)), ERR_OK);
        assert_int_equal(zone_builder_add(builder, server, RRTYPE_A, 1, span_of("\12\0\0\1", 4)),
                         ERR_OK);
    }
    assert_int_equal(zone_builder_finish(&builder, &data), ERR_OK);
    return data;
}

/* Returns the CPU time of referrals to such a cut, which do not fit. */
static clock_t cost_of_referrals(unsigned servers)
{
    static struct compose_space space;
    struct zone_data *zone = make_cut(servers);
    struct question question = {zone_make_name("sub.n"), RRTYPE_A, 1};
    struct zone_reply_wish wish = {.refers = true};
    uint8_t wire[NAME_WIRE_MAX];
    struct name target;
    struct answer answer;
    clock_t begun = clock();
    for (unsigned i = 0; i < REPLIES; i++) {
        assert_int_equal(zone_reply(&answer, &space, zone, &question, &wish, 1, wire, &target),
                         ZONE_REPLY_WHOLE);
        assert_int_equal(answer.kind, ANSWER_FAILURE);
    }
    clock_t cost = clock() - begun;
    zone_data_unref(zone);
    return cost;
}

static void test_a_referral_costs_no_more_than_a_full_message(void **state)
{
    (void)state;
    assert_in_range(cost_of_referrals(60000), 0, 4 * cost_of_referrals(5000));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_referral_costs_no_more_than_a_full_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
