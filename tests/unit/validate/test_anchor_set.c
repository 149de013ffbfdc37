/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Which keys have signed a fetched set. The test decides which verification is right. */
#include "unit/validate/zone_text.h"

#include <stdio.h>

#include "validate/anchor_set.h"

static struct zone_text zone;
/* right_one: the number of the right verification; 0: none is right */
static unsigned verifications, right_one;

bool verify_run(struct verifier *verifier, const struct verify_job *job)
{
    assert_null(verifier);
    assert_int_equal(job->algorithm, 15);
    return ++verifications == right_one;
}

#define KEY_BYTES "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
#define KEY "example. 3600 IN DNSKEY 257 3 15 " KEY_BYTES "="
#define OTHER_KEY "example. 3600 IN DNSKEY 256 3 15 " KEY_BYTES "="

static uint16_t tag_of(const char *line)
{
    return DNSKEY_TEXT(line).tag;
}

static void add_signatures(unsigned count, uint16_t tag)
{
    char line[256];
    for (unsigned i = 0; i < count; i++) {
        snprintf(line, sizeof(line),
                 "example. 3600 IN RRSIG DNSKEY 15 1 %u 20380101000000 20200101000000 %u example. "
                 "AAAA",
                 3600 - i, tag);
        zone_text_add(&zone, SECTION_ANSWER, line);
    }
}

/* Reads the set of KEY and OTHER_KEY with this many signatures of each. */
static bool read_set(struct anchor_seen *seen, unsigned first, unsigned second)
{
    const struct rrsig_clock clock = {.now_s = 1700000000};
    verifications = 0;
    zone_text_start(&zone);
    zone_text_add(&zone, SECTION_ANSWER, KEY);
    zone_text_add(&zone, SECTION_ANSWER, OTHER_KEY);
    add_signatures(first, tag_of(KEY));
    add_signatures(second, tag_of(OTHER_KEY));
    return anchor_set_read(seen, raw_span(&zone.raw), NAME("example"), &clock, NULL);
}

static void test_a_key_has_signed_if_its_signature_is_right(void **state)
{
    (void)state;
    struct anchor_seen seen;
    right_one = 2;
    assert_true(read_set(&seen, 1, 1));
    assert_int_equal(seen.count, 2);
    assert_false(seen.key[0].has_signed);
    assert_true(seen.key[1].has_signed);
    assert_int_equal(seen.original_ttl_s, 3600);
}

static void test_the_verifications_of_a_set_are_bounded(void **state)
{
    (void)state;
    struct anchor_seen seen;
    right_one = ANCHOR_SET_VERIFICATIONS_MAX;
    assert_true(read_set(&seen, 2 * ANCHOR_SET_VERIFICATIONS_MAX, 1));
    assert_int_equal(verifications, ANCHOR_SET_VERIFICATIONS_MAX);
    assert_true(seen.key[0].has_signed);
    right_one = ANCHOR_SET_VERIFICATIONS_MAX + 1;
    assert_true(read_set(&seen, ANCHOR_SET_VERIFICATIONS_MAX, 1));
    assert_int_equal(verifications, ANCHOR_SET_VERIFICATIONS_MAX);
    assert_false(seen.key[0].has_signed);
    assert_false(seen.key[1].has_signed);
}

static void test_a_set_of_too_many_keys_is_not_read(void **state)
{
    (void)state;
    struct anchor_seen seen;
    const struct rrsig_clock clock = {.now_s = 1700000000};
    char line[256];
    for (unsigned count = ANCHOR_SEEN_MAX; count <= ANCHOR_SEEN_MAX + 1; count++) {
        zone_text_start(&zone);
        for (unsigned i = 0; i < count; i++) {
            snprintf(line, sizeof(line), "example. 3600 IN DNSKEY %u 3 15 " KEY_BYTES "=", i);
            zone_text_add(&zone, SECTION_ANSWER, line);
        }
        assert_int_equal(anchor_set_read(&seen, raw_span(&zone.raw), NAME("example"), &clock, NULL),
                         count == ANCHOR_SEEN_MAX);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_key_has_signed_if_its_signature_is_right),
        cmocka_unit_test(test_the_verifications_of_a_set_are_bounded),
        cmocka_unit_test(test_a_set_of_too_many_keys_is_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
