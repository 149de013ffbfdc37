/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Queries to unproven servers: which query gives way, and how many a zone with a bad score may
 * send. */
#include "unit/recurse/sample.h"

#include "base/units.h"
#include "recurse/unproven.h"

#define NOW (100 * US_PER_S)

enum { MANY = UNPROVEN_MAX + 10, SHARE = UNPROVEN_MAX / UNPROVEN_SHARE };

static struct unproven table;
static struct unproven_query asks[MANY];

static int set_up(void **state)
{
    (void)state;
    unproven_init(&table, 100000, 7);
    for (unsigned i = 0; i < MANY; i++)
        unproven_query_init(&asks[i]);
    return 0;
}

static struct unproven_key key_of(const char *referrer, unsigned number, uint64_t client)
{
    char zone[64];
    uint8_t wire[NAME_WIRE_MAX];
    struct name name;
    snprintf(zone, sizeof(zone), "r%u.%s", number, referrer);
    assert_int_equal(name_parse(&name, wire, zone, strlen(zone)), ERR_OK);
    return unproven_key(&table, NAME(referrer), name, client);
}

/* Adds a query as a task does, and removes the query that must give way to it. Returns the number
 * of the removed query, or -1. */
static int add(unsigned number, const char *referrer, uint64_t client)
{
    struct unproven_key key = key_of(referrer, number, client);
    struct unproven_query *older = unproven_find_yielding(&table, &key, NOW);
    if (older)
        unproven_remove(&table, older);
    unproven_add(&table, &asks[number], &key);
    return older ? (int)(older - asks) : -1;
}

/* Checks that counts and lists agree, and that no bound is exceeded. */
static void check_table(void)
{
    assert_in_range(table.count, 0, table.most);
    for (unsigned by = 0; by < UNPROVEN_BY_COUNT; by++) {
        uint32_t sum = 0;
        for (unsigned i = 0; i < UNPROVEN_PLACES; i++) {
            uint32_t length = 0;
            LIST_EACH(node, &table.places[by][i].asks)
            length++;
            assert_int_equal(length, table.places[by][i].count);
            assert_in_range(length, 0, table.most / UNPROVEN_SHARE);
            sum += length;
        }
        assert_int_equal(sum, table.count);
    }
}

static void test_a_zone_that_names_unproven_servers_has_its_share(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SHARE; i++)
        assert_int_equal(add(i, "evil.com", i), -1);
    for (unsigned i = SHARE; i < SHARE + 5; i++)
        /* the oldest query of the same zone */
        assert_int_equal(add(i, "evil.com", i), (int)(i - SHARE));
    assert_int_equal(add(MANY - 1, "com", 1), -1);
    check_table();
}

static void test_a_client_has_its_share(void **state)
{
    (void)state;
    char referrer[32];
    for (unsigned i = 0; i < SHARE; i++) {
        snprintf(referrer, sizeof(referrer), "z%u.com", i);
        assert_int_equal(add(i, referrer, 1), -1);
    }
    assert_int_equal(add(SHARE, "other.com", 1), 0);
    assert_int_equal(add(SHARE + 1, "other.com", 2), -1);
    check_table();
}

/* Two zones fill the table. A new zone displaces the oldest query of the larger one. */
static void test_the_largest_zone_gives_way_when_the_table_is_full(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SHARE - 1; i++)
        add(i, "evil.com", i);
    for (unsigned i = SHARE - 1; i < UNPROVEN_MAX; i++)
        assert_int_equal(add(i, "worse.com", i), i == UNPROVEN_MAX - 1 ? (int)SHARE - 1 : -1);
    assert_int_equal(add(MANY - 2, "uk", 1), -1);
    assert_int_equal(table.count, UNPROVEN_MAX);
    /* worse.com has one query more than evil.com */
    assert_int_equal(add(MANY - 1, "com", 1), SHARE);
    check_table();
}

/* An attacker makes up thousands of referrers below one domain, with one query each. */
static void test_a_domain_that_makes_up_referrers_has_its_share(void **state)
{
    (void)state;
    char referrer[48];
    for (unsigned i = 0; i < UNPROVEN_MAX; i++) {
        snprintf(referrer, sizeof(referrer), "m%u.evil.com", i);
        assert_int_equal(add(i, referrer, i), i < SHARE ? -1 : (int)(i - SHARE));
    }
    assert_int_equal(add(MANY - 1, "com", 1), -1);
    check_table();
}

static void test_the_oldest_gives_way_where_no_zone_has_much(void **state)
{
    (void)state;
    char referrer[48];
    for (unsigned i = 0; i < UNPROVEN_MAX; i++) {
        snprintf(referrer, sizeof(referrer), "m%u.z%u.com", i, i);
        assert_int_equal(add(i, referrer, i), -1);
    }
    assert_int_equal(add(MANY - 1, "com", 1), 0);
    check_table();
}

static void test_a_small_worker_has_room_for_some(void **state)
{
    (void)state;
    unproven_set_max(&table, 3);
    assert_int_equal(table.most, UNPROVEN_MIN);
    unproven_set_max(&table, 1000);
    assert_int_equal(table.most, 500);
}

static void test_a_second_removal_changes_nothing(void **state)
{
    (void)state;
    add(0, "com", 1);
    unproven_remove(&table, &asks[0]);
    unproven_remove(&table, &asks[0]);
    assert_int_equal(table.count, 0);
    check_table();
}

static void be_silent(const char *referrer, unsigned times, uint64_t now)
{
    struct unproven_key key = key_of(referrer, 0, 1);
    for (unsigned i = 0; i < times; i++)
        unproven_note_silence(&table, &key, now);
}

static enum unproven_tries tries(const char *referrer, uint64_t now)
{
    struct unproven_key key = key_of(referrer, 0, 1);
    return unproven_tries(&table, &key, now);
}

static void crowd(const char *referrer)
{
    for (unsigned i = 0; i < UNPROVEN_MAX / UNPROVEN_PRESSURE; i++)
        add(i, referrer, i);
}

static void test_silence_leaves_fewer_queries(void **state)
{
    (void)state;
    crowd("evil.com");
    assert_int_equal(tries("evil.com", NOW), UNPROVEN_ALL_TRIES);
    be_silent("evil.com", UNPROVEN_SCORE_DOUBT, NOW);
    assert_int_equal(tries("evil.com", NOW), UNPROVEN_FEW_TRIES);
    be_silent("evil.com", UNPROVEN_SCORE_BAD - UNPROVEN_SCORE_DOUBT, NOW);
    assert_int_equal(tries("evil.com", NOW), UNPROVEN_ONE_TRY);
    assert_int_equal(tries("good.com", NOW), UNPROVEN_ALL_TRIES);
}

static void test_a_bad_zone_without_pressure_gets_a_few_queries(void **state)
{
    (void)state;
    be_silent("evil.com", UNPROVEN_SCORE_MAX, NOW);
    assert_int_equal(tries("evil.com", NOW), UNPROVEN_FEW_TRIES);
}

/* The zone used its whole share before its score became bad. */
static void test_a_bad_zone_gives_its_share_back(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SHARE; i++)
        add(i, "evil.com", i);
    be_silent("evil.com", UNPROVEN_SCORE_BAD, NOW);
    struct unproven_key key = key_of("evil.com", MANY, 1);
    unsigned gone = 0;
    for (struct unproven_query *older; (older = unproven_find_yielding(&table, &key, NOW)); gone++)
        unproven_remove(&table, older);
    assert_int_equal(SHARE - gone, UNPROVEN_MAX / UNPROVEN_SHARE_BAD - 1);
    /* the table is still under pressure */
    assert_int_equal(tries("evil.com", NOW), UNPROVEN_ONE_TRY);
    check_table();
}

static void test_under_pressure_a_sample_is_sent(void **state)
{
    (void)state;
    unsigned sent = 0;
    crowd("evil.com");
    be_silent("evil.com", UNPROVEN_SCORE_BAD, NOW);
    assert_int_equal(tries("evil.com", NOW), UNPROVEN_ONE_TRY);
    for (uint64_t random = 0; random < 100; random++)
        sent += unproven_is_in_sample(random);
    assert_int_equal(sent, 100 / UNPROVEN_SAMPLE);
}

/* A hundred hostile zones share the table, so each uses little of it. */
static void test_many_bad_zones_get_one_query_each_under_pressure(void **state)
{
    (void)state;
    char referrer[32];
    for (unsigned i = 0; i < UNPROVEN_MAX / UNPROVEN_PRESSURE_ALL; i++) {
        snprintf(referrer, sizeof(referrer), "evil%u.com", i % 100);
        add(i, referrer, i);
    }
    be_silent("evil7.com", UNPROVEN_SCORE_BAD, NOW);
    assert_int_equal(tries("evil7.com", NOW), UNPROVEN_ONE_TRY);
    unproven_remove(&table, &asks[0]);
    assert_int_equal(tries("evil7.com", NOW), UNPROVEN_FEW_TRIES);
}

/* The zones of a top-level domain have many owners. A list of dead zones must not cost the others
 * their retransmissions. */
static void test_a_registry_keeps_a_few_queries(void **state)
{
    (void)state;
    crowd("com");
    be_silent("com", UNPROVEN_SCORE_MAX, NOW);
    assert_int_equal(tries("com", NOW), UNPROVEN_FEW_TRIES);
}

static void test_a_score_is_forgotten_in_time(void **state)
{
    (void)state;
    crowd("evil.com");
    be_silent("evil.com", 10 * UNPROVEN_SCORE_MAX, NOW);
    uint64_t at = NOW + (UNPROVEN_SCORE_MAX - UNPROVEN_SCORE_BAD) * US_PER_S;
    assert_int_equal(tries("evil.com", at), UNPROVEN_ONE_TRY);
    assert_int_equal(tries("evil.com", at + US_PER_S), UNPROVEN_FEW_TRIES);
    assert_int_equal(tries("evil.com", NOW + UNPROVEN_SCORE_MAX * US_PER_S), UNPROVEN_ALL_TRIES);
}

/* A score that changes often decays as fast as one that rests. */
static void test_fractions_of_a_second_add_up(void **state)
{
    (void)state;
    struct unproven_key key = key_of("evil.com", 0, 1);
    be_silent("evil.com", UNPROVEN_SCORE_DOUBT, NOW);
    /* one silence per 500 ms, and one forgotten per second */
    for (unsigned i = 1; i <= 4; i++)
        unproven_note_silence(&table, &key, NOW + i * US_PER_S / 2);
    assert_int_equal(table.scores[key.place[UNPROVEN_BY_REFERRER]].silent,
                     UNPROVEN_SCORE_DOUBT + 4 - 2);
}

static void test_unproven_servers_that_answer_lower_the_score(void **state)
{
    (void)state;
    struct unproven_key key = key_of("mixed.com", 0, 1);
    be_silent("mixed.com", UNPROVEN_SCORE_DOUBT, NOW);
    unproven_note_answer(&table, &key, NOW);
    assert_int_equal(tries("mixed.com", NOW), UNPROVEN_ALL_TRIES);
    for (unsigned i = 0; i < 20; i++)
        unproven_note_answer(&table, &key, NOW);
    be_silent("mixed.com", UNPROVEN_SCORE_DOUBT, NOW);
    assert_int_equal(tries("mixed.com", NOW), UNPROVEN_FEW_TRIES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_a_zone_that_names_unproven_servers_has_its_share, set_up),
        cmocka_unit_test_setup(test_a_client_has_its_share, set_up),
        cmocka_unit_test_setup(test_the_largest_zone_gives_way_when_the_table_is_full, set_up),
        cmocka_unit_test_setup(test_a_domain_that_makes_up_referrers_has_its_share, set_up),
        cmocka_unit_test_setup(test_the_oldest_gives_way_where_no_zone_has_much, set_up),
        cmocka_unit_test_setup(test_a_small_worker_has_room_for_some, set_up),
        cmocka_unit_test_setup(test_a_second_removal_changes_nothing, set_up),
        cmocka_unit_test_setup(test_silence_leaves_fewer_queries, set_up),
        cmocka_unit_test_setup(test_a_bad_zone_without_pressure_gets_a_few_queries, set_up),
        cmocka_unit_test_setup(test_a_bad_zone_gives_its_share_back, set_up),
        cmocka_unit_test_setup(test_under_pressure_a_sample_is_sent, set_up),
        cmocka_unit_test_setup(test_many_bad_zones_get_one_query_each_under_pressure, set_up),
        cmocka_unit_test_setup(test_a_registry_keeps_a_few_queries, set_up),
        cmocka_unit_test_setup(test_a_score_is_forgotten_in_time, set_up),
        cmocka_unit_test_setup(test_fractions_of_a_second_add_up, set_up),
        cmocka_unit_test_setup(test_unproven_servers_that_answer_lower_the_score, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
