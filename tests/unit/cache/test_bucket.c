/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The ways of a bucket: SIEVE step by step, and random steps compared with SIEVE on a plain list.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdbool.h>
#include <string.h>

#include "cache/bucket.h"

enum { LATER = 1000 };

static void test_matching_finds_exactly_the_equal_bytes(void **state)
{
    (void)state;
    struct bucket bucket = {0};
    for (unsigned i = 0; i < BUCKET_WAYS; i++)
        bucket_add(&bucket, (uint8_t)(i % 4 ? 7 : 6), i + 1, LATER);
    assert_int_equal(bucket_match(&bucket, 6), 0x1111);
    assert_int_equal(bucket_match(&bucket, 7), 0xeeee);
    assert_int_equal(bucket_match(&bucket, 8), 0);
    for (unsigned a = 0; a < 256; a++)
        for (unsigned b = 0; b < 256; b++)
            assert_int_equal(bucket_match_word(a * 0x0100010001000100u, (uint8_t)b),
                             (a == b ? 0xaa : 0) | (b == 0 ? 0x55 : 0));
}

static void test_the_oldest_entry_goes_when_none_is_marked(void **state)
{
    (void)state;
    struct bucket bucket = {0};
    for (unsigned i = 0; i < BUCKET_WAYS; i++)
        bucket_add(&bucket, (uint8_t)i, i + 1, LATER);
    for (unsigned i = 0; i < BUCKET_WAYS; i++) {
        unsigned way = bucket_victim(&bucket);
        assert_int_equal(bucket.refs[way], i + 1);
        bucket_remove(&bucket, way);
    }
    assert_int_equal(bucket_count(&bucket), 0);
}

static void test_marked_entries_stay_and_new_entries_go_first(void **state)
{
    (void)state;
    struct bucket bucket = {0};
    for (unsigned i = 0; i < BUCKET_WAYS; i++)
        bucket_add(&bucket, 0, i + 1, LATER);
    for (unsigned i = 0; i < BUCKET_WAYS / 2; i++)
        bucket_mark(&bucket, i);
    for (unsigned scan = 0; scan < 8; scan++) {
        unsigned way = bucket_victim(&bucket);
        assert_true(bucket.refs[way] > BUCKET_WAYS / 2);
        bucket_remove(&bucket, way);
        bucket_add(&bucket, 0, 100 + scan, LATER);
    }
    for (unsigned i = 0; i < BUCKET_WAYS / 2; i++)
        assert_int_equal(bucket.refs[i], i + 1);
}

static void test_a_victim_exists_when_all_are_marked(void **state)
{
    (void)state;
    struct bucket bucket = {0};
    for (unsigned i = 0; i < BUCKET_WAYS; i++) {
        bucket_add(&bucket, 0, i + 1, LATER);
        bucket_mark(&bucket, i);
    }
    assert_int_equal(bucket.refs[bucket_victim(&bucket)], 1);
}

static void test_a_marked_expired_entry_can_be_spared(void **state)
{
    (void)state;
    struct bucket bucket = {0};
    bucket_add(&bucket, 0, 1, 10);
    bucket_add(&bucket, 0, 2, 10);
    bucket_mark(&bucket, 0);
    assert_int_equal(bucket_expired(&bucket, 20, false), 0);
    assert_int_equal(bucket_expired(&bucket, 20, true), 1);
    bucket_mark(&bucket, 1);
    assert_int_equal(bucket_expired(&bucket, 20, true), -1);
    assert_int_equal(bucket.refs[bucket_victim(&bucket)], 1); /* SIEVE clears marks on its way */
    assert_int_equal(bucket_expired(&bucket, 20, true), 0);
}

static void test_only_one_claims_an_entry_and_a_new_entry_is_unclaimed(void **state)
{
    (void)state;
    struct bucket bucket = {0};
    bucket_add(&bucket, 0, 1, LATER);
    bucket_add(&bucket, 0, 2, LATER);
    assert_false(bucket_is_claimed(&bucket, 0));
    assert_true(bucket_claim(&bucket, 0));
    assert_false(bucket_claim(&bucket, 0));
    assert_false(bucket_is_claimed(&bucket, 1));
    bucket_replace(&bucket, 0, 3, LATER);
    assert_true(bucket_claim(&bucket, 0));
    bucket_remove(&bucket, 0);
    bucket_add(&bucket, 0, 4, LATER);
    assert_true(bucket_claim(&bucket, 0));
}

static void test_a_new_entry_does_not_inherit_the_mark_of_its_way(void **state)
{
    (void)state;
    struct bucket bucket = {0};
    bucket_add(&bucket, 0, 1, LATER);
    bucket_mark(&bucket, 0);
    bucket_remove(&bucket, 0);
    bucket_add(&bucket, 0, 2, LATER);
    assert_int_equal(bucket.visited, 0);
}

static void test_a_replaced_entry_keeps_place_and_mark(void **state)
{
    (void)state;
    struct bucket bucket = {0};
    bucket_add(&bucket, 0, 1, LATER);
    bucket_add(&bucket, 0, 2, LATER);
    bucket_mark(&bucket, 0);
    bucket_replace(&bucket, 0, 3, LATER);
    assert_int_equal(bucket_ref(&bucket, 0), 3);
    assert_int_equal(bucket.refs[bucket_victim(&bucket)], 2);
}

static void test_expiry_is_right_across_the_wrap_of_ticks(void **state)
{
    (void)state;
    struct bucket bucket = {0};
    uint64_t now_us = (uint64_t)0xfffe * BUCKET_TICK_US;
    bucket_add(&bucket, 0, 1, bucket_end_tick(now_us, 3600));
    bucket_add(&bucket, 0, 2, bucket_end_tick(now_us, 8));
    assert_int_equal(bucket_expired(&bucket, bucket_tick(now_us), false), -1);
    assert_int_equal(bucket_expired(&bucket, bucket_tick(now_us + 7999999), false), -1);
    assert_int_equal(bucket_expired(&bucket, bucket_tick(now_us + 16 * 1000000), false), 1);
    assert_int_equal(bucket_expired(&bucket, bucket_tick(now_us + UINT64_C(3700) * 1000000), false),
                     0);
}

static void test_the_longest_ttl_does_not_expire_at_once(void **state)
{
    (void)state;
    struct bucket bucket = {0};
    bucket_add(&bucket, 0, 1, bucket_end_tick(0, UINT32_MAX));
    assert_int_equal(bucket_expired(&bucket, bucket_tick(UINT64_C(86400) * 1000000), false), -1);
}

/* SIEVE as the paper describes it: a list from old to new, and a hand. */
struct model {
    uint32_t refs[BUCKET_WAYS];
    bool marked[BUCKET_WAYS];
    unsigned count, hand;
};

static void model_remove(struct model *m, unsigned at)
{
    memmove(m->refs + at, m->refs + at + 1, (m->count - at - 1) * sizeof(m->refs[0]));
    memmove(m->marked + at, m->marked + at + 1, (m->count - at - 1) * sizeof(m->marked[0]));
    m->count--;
    if (at < m->hand)
        m->hand--;
    if (m->hand >= m->count)
        m->hand = 0;
}

static uint32_t model_evict(struct model *m)
{
    while (m->marked[m->hand]) {
        m->marked[m->hand] = false;
        m->hand = (m->hand + 1) % m->count;
    }
    uint32_t ref = m->refs[m->hand];
    model_remove(m, m->hand);
    return ref;
}

static unsigned way_of(const struct bucket *bucket, uint32_t ref)
{
    unsigned way = 0;
    while (bucket->refs[way] != ref)
        way++;
    return way;
}

static void check_same(const struct bucket *bucket, const struct model *m)
{
    assert_int_equal(bucket_count(bucket), m->count);
    for (unsigned i = 0; i < m->count; i++)
        assert_int_equal(bucket->refs[bucket->order >> 4 * i & 15], m->refs[i]);
}

static void test_a_bucket_evicts_like_sieve_on_a_list(void **state)
{
    (void)state;
    struct bucket bucket = {0};
    struct model m = {0};
    uint32_t random = 1, next_ref = 1;
    for (int step = 0; step < 100000; step++) {
        random = random * 1664525 + 1013904223;
        unsigned pick = random >> 8;
        unsigned kind = m.count ? random >> 29 : 0;
        if (kind < 4) {
            if (m.count == BUCKET_WAYS) {
                unsigned way = bucket_victim(&bucket);
                assert_int_equal(bucket.refs[way], model_evict(&m));
                bucket_remove(&bucket, way);
            }
            bucket_add(&bucket, (uint8_t)next_ref, next_ref, LATER);
            m.marked[m.count] = false;
            m.refs[m.count++] = next_ref++;
        } else if (kind < 7) {
            bucket_mark(&bucket, way_of(&bucket, m.refs[pick % m.count]));
            m.marked[pick % m.count] = true;
        } else {
            bucket_remove(&bucket, way_of(&bucket, m.refs[pick % m.count]));
            model_remove(&m, pick % m.count);
        }
        check_same(&bucket, &m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matching_finds_exactly_the_equal_bytes),
        cmocka_unit_test(test_the_oldest_entry_goes_when_none_is_marked),
        cmocka_unit_test(test_marked_entries_stay_and_new_entries_go_first),
        cmocka_unit_test(test_a_victim_exists_when_all_are_marked),
        cmocka_unit_test(test_a_marked_expired_entry_can_be_spared),
        cmocka_unit_test(test_only_one_claims_an_entry_and_a_new_entry_is_unclaimed),
        cmocka_unit_test(test_a_new_entry_does_not_inherit_the_mark_of_its_way),
        cmocka_unit_test(test_a_replaced_entry_keeps_place_and_mark),
        cmocka_unit_test(test_expiry_is_right_across_the_wrap_of_ticks),
        cmocka_unit_test(test_the_longest_ttl_does_not_expire_at_once),
        cmocka_unit_test(test_a_bucket_evicts_like_sieve_on_a_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
