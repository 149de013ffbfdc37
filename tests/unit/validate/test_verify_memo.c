/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "validate/verify.h"
#include "validate/verify_memo.h"

static struct verify_memo *memo;

static struct verify_job job_of(const char *key, const char *data, const char *signature)
{
    return (struct verify_job){.algorithm = 13,
                               .key = span_of(key, strlen(key)),
                               .data = span_of(data, strlen(data)),
                               .signature = span_of(signature, strlen(signature))};
}

static bool knows(const struct verify_job *job)
{
    struct verify_mark mark = verify_memo_mark(memo, job);
    return verify_memo_knows(memo, &mark);
}

static void add(const struct verify_job *job)
{
    struct verify_mark mark = verify_memo_mark(memo, job);
    verify_memo_add(memo, &mark);
}

static void test_a_signature_is_known_after_it_was_added(void **state)
{
    (void)state;
    struct verify_job job = job_of("key", "signed bytes", "signature");
    assert_false(knows(&job));
    add(&job);
    assert_true(knows(&job));
    add(&job);
    assert_true(knows(&job));
}

static void test_each_part_counts(void **state)
{
    (void)state;
    struct verify_job job = job_of("key", "signed bytes", "signature");
    add(&job);
    const struct verify_job others[] = {
        job_of("kez", "signed bytes", "signature"),
        job_of("key", "signed bytez", "signature"),
        job_of("key", "signed bytes", "signaturf"),
        job_of("key", "signed bytes", "Signature"), /* its last bytes choose the same places */
        job_of("key", "signed bytess", "ignature"), /* one byte has moved to the other part */
        job_of("keys", "igned bytes", "signature"),
        job_of("", "signed bytes", "signature"),
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_false(knows(&others[i]));
    job.algorithm = 15;
    assert_false(knows(&job));
}

/* The memo keeps the hash of the last key, whatever its length. */
static void test_a_key_counts_after_itself_and_after_others(void **state)
{
    (void)state;
    static uint8_t key[2][1000] = {{1}, {2}};
    struct verify_job usual = job_of("key", "other bytes", "usual");
    for (size_t len = 1; len <= sizeof(key[0]); len++) {
        struct verify_job job = job_of("", "signed bytes", "signature"), other = job;
        job.key = span_of(key[0], len);
        other.key = span_of(key[1], len);
        add(&job);
        assert_true(knows(&job));
        assert_false(knows(&other));
        assert_true(knows(&job));
        job.algorithm = 15;
        assert_false(knows(&job));
        job.algorithm = 13;
        job.key.len--;
        assert_int_equal(knows(&job), len > 1); /* it was added in the turn before */
        add(&usual);
        assert_true(knows(&usual));
        assert_false(knows(&other));
    }
}

/* There are twice as many signatures as places. Many are forgotten, but never the last one. */
static void test_the_places_are_bounded(void **state)
{
    (void)state;
    unsigned known = 0;
    enum { COUNT = 2 * VERIFY_MEMO_PLACES };
    for (unsigned i = 0; i < COUNT; i++) {
        struct verify_job job = job_of("key", "data", "signature");
        job.signature = span_of(&i, sizeof(i));
        add(&job);
        assert_true(knows(&job));
    }
    for (unsigned i = 0; i < COUNT; i++) {
        struct verify_job job = job_of("key", "data", "signature");
        job.signature = span_of(&i, sizeof(i));
        known += knows(&job);
    }
    assert_in_range(known, VERIFY_MEMO_PLACES / 2, VERIFY_MEMO_PLACES);
}

/* The last bytes of a signature choose its places, and a zone may choose these bytes. */
static void test_equal_ends_of_signatures_share_few_places(void **state)
{
    (void)state;
    struct verify_job job = job_of("key", "data", "");
    char signature[] = "0 equal end";
    unsigned known = 0;
    for (signature[0] = 'a'; signature[0] <= 'z'; signature[0]++) {
        job.signature = span_of(signature, strlen(signature));
        add(&job);
        assert_true(knows(&job));
    }
    for (signature[0] = 'a'; signature[0] <= 'z'; signature[0]++) {
        job.signature = span_of(signature, strlen(signature));
        known += knows(&job);
    }
    assert_int_equal(known, VERIFY_MEMO_WAYS);
}

static int begin(void **state)
{
    (void)state;
    memo = verify_memo_new();
    return memo ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    verify_memo_free(memo);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_signature_is_known_after_it_was_added, begin, end),
        cmocka_unit_test_setup_teardown(test_each_part_counts, begin, end),
        cmocka_unit_test_setup_teardown(test_a_key_counts_after_itself_and_after_others, begin,
                                        end),
        cmocka_unit_test_setup_teardown(test_the_places_are_bounded, begin, end),
        cmocka_unit_test_setup_teardown(test_equal_ends_of_signatures_share_few_places, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
