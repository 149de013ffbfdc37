/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/validate/zone_text.h"

#include <openssl/err.h>
#include <pthread.h>

#include "base/check.h"
#include "unit/validate/vectors.h"
#include "validate/algorithm.h"
#include "validate/verify.h"

static struct verifier *verifier;

/* A vector in binary form. It owns its bytes. */
struct sample_job {
    struct zone_text zone;
    struct zone_text_bytes key_bytes;
    uint8_t data[1024], key[512], signature[512];
    struct verify_job job;
};

static struct sample_job samples[ARRAY_LEN(vectors)];

static struct span own(uint8_t *to, struct span from)
{
    memcpy(to, from.data, from.len);
    return span_of(to, from.len);
}

static void sample_read(struct sample_job *sample, const struct vector *vector)
{
    struct dnskey key = zone_text_key(&sample->key_bytes, vector->key);
    ZONE_TEXT(&sample->zone, vector->record, vector->sig);
    const struct rrset *set = &sample->zone.sets.set[0];
    struct rrsig sig = zone_text_sig(&sample->zone, set);
    struct rrsig_clock clock = {.now_s = vector->now_s};
    assert_int_equal(rrsig_check(&sig, rrsets_owner(&sample->zone.sets, set), set->type, &clock),
                     vector->is_beyond_owner ? RRSIG_LABELS : RRSIG_USABLE);
    size_t len = canonical_write(sample->data, sizeof(sample->data), &sample->zone.sets, set, &sig);
    sample->job = (struct verify_job){.algorithm = sig.algorithm,
                                      .key = own(sample->key, key.key),
                                      .data = span_of(sample->data, len),
                                      .signature = own(sample->signature, sig.signature)};
    assert_int_equal(key.tag, sig.tag);
}

static int setup(void **state)
{
    (void)state;
    verifier = verifier_new();
    for (size_t i = 0; i < ARRAY_LEN(vectors); i++)
        sample_read(&samples[i], &vectors[i]);
    return verifier ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    verifier_free(verifier);
    return 0;
}

/* Runs the job, and checks that OpenSSL leaves no error in its queue. */
static bool run(const struct verify_job *job)
{
    bool is_right = verify_run(verifier, job);
    assert_int_equal(ERR_peek_error(), 0);
    return is_right;
}

static void test_signatures_of_the_rfcs_are_right(void **state)
{
    (void)state;
    for (int round = 0; round < 2; round++) /* in the second round the keys are known */
        for (size_t i = 0; i < ARRAY_LEN(samples); i++)
            if (!run(&samples[i].job))
                fail_msg("%s", vectors[i].name);
}

static void test_a_key_verifies_only_its_own_signatures(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(samples); i++)
        for (size_t k = 0; k < ARRAY_LEN(samples); k++) {
            struct verify_job job = samples[i].job;
            job.key = samples[k].job.key;
            job.algorithm = samples[k].job.algorithm;
            assert_int_equal(run(&job), span_equal(job.key, samples[i].job.key));
        }
}

static void test_one_changed_bit_is_wrong(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(samples); i++) {
        struct sample_job *sample = &samples[i];
        struct {
            uint8_t *bytes;
            size_t len;
        } parts[] = {{sample->data, sample->job.data.len},
                     {sample->signature, sample->job.signature.len},
                     {sample->key, sample->job.key.len}};
        for (size_t part = 0; part < ARRAY_LEN(parts); part++)
            for (size_t at = 0; at < parts[part].len; at += 1 + parts[part].len / 11) {
                uint8_t bit = (uint8_t)(1 << at % 8);
                parts[part].bytes[at] ^= bit;
                assert_false(run(&sample->job));
                parts[part].bytes[at] ^= bit;
            }
        assert_true(run(&sample->job));
    }
}

static void test_a_signature_of_another_length_is_wrong(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(samples); i++) {
        uint8_t longer[513] = {0};
        struct verify_job job = samples[i].job;
        struct span whole = job.signature;
        memcpy(longer, whole.data, whole.len);
        for (size_t len = 0; len <= whole.len + 1; len++) {
            job.signature = span_of(longer, len);
            assert_int_equal(run(&job), len == whole.len);
        }
        longer[0] = 0; /* a zero in front of the number */
        memcpy(longer + 1, whole.data, whole.len);
        job.signature = span_of(longer, whole.len + 1);
        assert_false(run(&job));
    }
}

static void test_hostile_keys_are_wrong(void **state)
{
    (void)state;
    static uint8_t bytes[65535];
    static const uint8_t algorithms[] = {0, 1, 3, 5, 6, 7, 8, 10, 12, 13, 14, 15, 16, 253, 255};
    static const uint8_t fills[] = {0x00, 0x01, 0x03, 0x7f, 0xff};
    static const size_t lens[] = {0, 1, 2, 3, 4, 32, 57, 64, 65, 96, 97, 132, 260, 516, 65535};
    for (size_t f = 0; f < ARRAY_LEN(fills); f++) {
        memset(bytes, fills[f], sizeof(bytes));
        for (size_t a = 0; a < ARRAY_LEN(algorithms); a++)
            for (size_t l = 0; l < ARRAY_LEN(lens); l++)
                for (size_t s = 0; s < ARRAY_LEN(lens); s += 3) {
                    struct verify_job job = {.algorithm = algorithms[a],
                                             .key = span_of(bytes, lens[l]),
                                             .data = BYTES("data"),
                                             .signature = span_of(bytes, lens[s])};
                    assert_false(run(&job));
                }
    }
}

static void test_ecdsa_numbers_of_zero_and_of_the_order_are_wrong(void **state)
{
    (void)state;
    for (size_t i = 2; i < 4; i++) {
        struct verify_job job = samples[i].job;
        uint8_t signature[96];
        size_t half = job.signature.len / 2;
        for (unsigned which = 0; which < 3; which++)
            for (unsigned fill = 0; fill < 2; fill++) {
                memcpy(signature, job.signature.data, job.signature.len);
                if (which != 1)
                    memset(signature, fill ? 0xff : 0, half);
                if (which != 0)
                    memset(signature + half, fill ? 0xff : 0, half);
                job.signature = span_of(signature, 2 * half);
                assert_false(run(&job));
                job.signature = samples[i].job.signature;
            }
    }
}

static void test_the_cost_counts_the_data_too(void **state)
{
    (void)state;
    struct verify_job job = samples[2].job;
    assert_int_equal(verify_cost(&job), algorithm_cost(13, 64));
    job.data.len = 64 * 1024;
    assert_int_equal(verify_cost(&job), algorithm_cost(13, 64) + 16);
}

static void test_a_long_message_is_hashed_whole(void **state)
{
    (void)state;
    static uint8_t data[CANONICAL_MAX];
    for (size_t i = 0; i < ARRAY_LEN(samples); i++) {
        struct verify_job job = samples[i].job;
        job.data = span_of(data, sizeof(data));
        assert_false(run(&job));
    }
}

static void *verify_in_a_thread(void *result)
{
    struct verifier *mine = verifier_new();
    bool *is_right = result;
    *is_right = mine;
    for (int round = 0; mine && round < 20; round++)
        for (size_t i = 0; i < ARRAY_LEN(samples); i++)
            *is_right &= verify_run(mine, &samples[i].job);
    verifier_free(mine);
    return NULL;
}

static void test_threads_verify_at_once(void **state)
{
    (void)state;
    pthread_t thread[4];
    bool is_right[4];
    for (size_t i = 0; i < ARRAY_LEN(thread); i++)
        assert_int_equal(pthread_create(&thread[i], NULL, verify_in_a_thread, &is_right[i]), 0);
    for (size_t i = 0; i < ARRAY_LEN(thread); i++) {
        pthread_join(thread[i], NULL);
        assert_true(is_right[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signatures_of_the_rfcs_are_right),
        cmocka_unit_test(test_a_key_verifies_only_its_own_signatures),
        cmocka_unit_test(test_one_changed_bit_is_wrong),
        cmocka_unit_test(test_a_signature_of_another_length_is_wrong),
        cmocka_unit_test(test_hostile_keys_are_wrong),
        cmocka_unit_test(test_ecdsa_numbers_of_zero_and_of_the_order_are_wrong),
        cmocka_unit_test(test_the_cost_counts_the_data_too),
        cmocka_unit_test(test_a_long_message_is_hashed_whole),
        cmocka_unit_test(test_threads_verify_at_once),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
