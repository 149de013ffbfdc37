/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Taps see the queries to upstreams and their replies, over each transport. */
#include "base/tap.h"
#include "unit/upstream/world.h"

struct seen {
    bool is_answer, wants_recursion;
    enum transport transport;
    struct addr asker, asked;
    uint64_t asked_at, answered_at;
    uint16_t id, flags;
    size_t len;
};

static struct seen seen[64];
static unsigned seen_count;

static void keep(const struct tap_message *message, bool wants_recursion, bool is_answer)
{
    assert_true(seen_count < ARRAY_LEN(seen));
    seen[seen_count++] = (struct seen){
        .is_answer = is_answer,
        .wants_recursion = wants_recursion,
        .transport = message->transport,
        .asker = *message->asker,
        .asked = *message->asked,
        .asked_at = message->asked_at,
        .answered_at = message->answered_at,
        .id = header_id(message->bytes.data),
        .flags = get_u16(message->bytes.data + 2),
        .len = message->bytes.len,
    };
}

static void on_sent(struct tap *tap, const struct tap_message *message, bool wants_recursion)
{
    (void)tap;
    keep(message, wants_recursion, false);
}

static void on_heard(struct tap *tap, const struct tap_message *message, bool wants_recursion)
{
    (void)tap;
    keep(message, wants_recursion, true);
}

static struct tap watching = {.on_sent = on_sent, .on_heard = on_heard};
static struct tap blind = {.next = &watching}; /* this tap has no callbacks */

static void watch(struct world *world)
{
    seen_count = 0;
    world_open(world);
    upstreams_set_taps(world->upstreams, &blind);
}

static void expect_pair(const struct seen *pair, enum transport transport, const char *addr)
{
    struct addr asked = fake_addr(addr);
    assert_false(pair[0].is_answer);
    assert_true(pair[1].is_answer);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(pair[i].transport, transport);
        assert_true(addr_equal(&pair[i].asked, &asked));
        assert_int_not_equal(addr_port(&pair[i].asker), 0);
        assert_true(pair[i].wants_recursion);
        assert_int_equal(pair[i].flags & HEADER_QR, i ? HEADER_QR : 0);
    }
    assert_true(addr_equal(&pair[0].asker, &pair[1].asker));
    assert_int_equal(pair[0].id, pair[1].id);
    assert_int_equal(pair[0].answered_at, 0);
    assert_int_equal(pair[0].asked_at, pair[1].asked_at);
}

static void test_taps_see_queries_over_udp(void **state)
{
    struct world world;
    struct asker asker;
    (void)state;
    watch(&world);
    world_peer(&world, "192.0.2.53@53", NULL, NULL);
    struct upstream *upstream = world_upstream(&world, "192.0.2.53@53", &upstream_options_default);
    ask_and_wait(&asker, &world, "www.example", upstream);
    assert_int_equal(seen_count, 2);
    expect_pair(seen, TRANSPORT_UDP, "192.0.2.53@53");
    assert_int_equal(seen[1].answered_at - seen[0].asked_at, 2 * MS);
    world_close(&world);
}

static void test_taps_see_queries_over_a_connection(void **state)
{
    struct world world;
    struct asker asker;
    (void)state;
    watch(&world);
    struct upstream_options options = world_no_fallback();
    options.max_requests = 2; /* the second answer ends the connection */
    world_peer(&world, "192.0.2.53@53", NULL, NULL);
    struct upstream *upstream = world_upstream(&world, "192.0.2.53@53", &options);
    ask_and_wait(&asker, &world, "a.example", upstream);
    ask_and_wait(&asker, &world, "b.example", upstream);
    assert_int_equal(seen_count, 4);
    expect_pair(seen, TRANSPORT_TCP, "192.0.2.53@53");
    expect_pair(seen + 2, TRANSPORT_TCP, "192.0.2.53@53");
    assert_true(addr_equal(&seen[0].asker, &seen[2].asker));
    world_close(&world);
}

static void forge(void *owner, const struct fake_ask *one, struct fake_answer *answer)
{
    (void)owner;
    fake_answer_a(answer, one->query, "192.0.2.66", 60);
    if (one->count == 0)
        answer->data[0] ^= 1; /* the answer gets another id */
}

static void test_taps_see_an_unanswered_and_a_forged_query(void **state)
{
    struct world world;
    struct asker asker;
    (void)state;
    watch(&world);
    world_peer(&world, "192.0.2.53@53", forge, NULL);
    struct upstream *upstream = world_upstream(&world, "192.0.2.53@53", &upstream_options_default);
    ask_and_wait(&asker, &world, "www.example", upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    assert_int_equal(seen_count, 3); /* the query, its retransmission, and the answer */
    assert_false(seen[0].is_answer);
    expect_pair(seen + 1, TRANSPORT_UDP, "192.0.2.53@53");
    world_close(&world);
}

static void test_taps_see_nothing_after_they_are_removed(void **state)
{
    struct world world;
    struct asker asker;
    (void)state;
    watch(&world);
    upstreams_set_taps(world.upstreams, NULL);
    world_peer(&world, "192.0.2.53@53", NULL, NULL);
    ask_and_wait(&asker, &world, "www.example",
                 world_upstream(&world, "192.0.2.53@53", &upstream_options_default));
    assert_int_equal(seen_count, 0);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_taps_see_queries_over_udp),
        cmocka_unit_test(test_taps_see_queries_over_a_connection),
        cmocka_unit_test(test_taps_see_an_unanswered_and_a_forged_query),
        cmocka_unit_test(test_taps_see_nothing_after_they_are_removed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
