/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/dns/sample.h"

#include "base/check.h"
#include "dns/rrtype.h"
#include "validate/rrsig.h"

enum { HOUR = 3600, DAY = 24 * HOUR, NOW = 1790000000 };

/* Returns a signature of example.com over A records, valid for 30 days around now. */
static struct rrsig sample_sig(void)
{
    static const uint8_t signer[] = "\x07"
                                    "example\x03"
                                    "com";
    return (struct rrsig){.covered = RRTYPE_A,
                          .labels = 3,
                          .inception = NOW - 15 * DAY,
                          .expiration = NOW + 15 * DAY,
                          .signer = {.wire = signer, .len = sizeof(signer)}};
}

static enum rrsig_fault check_at(const struct rrsig *sig, uint32_t now_s)
{
    struct rrsig_clock clock = {.now_s = now_s};
    return rrsig_check(sig, NAME("www.example.com"), RRTYPE_A, &clock);
}

#define CHECK(sig, owner, type)                                                                    \
    rrsig_check(sig, NAME(owner), type, &(struct rrsig_clock){.now_s = NOW})

/* ---- reading ---- */

#define FIXED "\x00\x01\x0d\x02\x00\x00\x0e\x10\x00\x00\x00\x02\x00\x00\x00\x01\x12\x34"

static void test_fields_are_read(void **state)
{
    (void)state;
    struct rrsig sig;
    assert_true(rrsig_read(&sig, BYTES(FIXED "\x07"
                                             "eXample\x03"
                                             "com\x00signed")));
    assert_int_equal(sig.covered, RRTYPE_A);
    assert_int_equal(sig.algorithm, 13);
    assert_int_equal(sig.labels, 2);
    assert_int_equal(sig.original_ttl, 3600);
    assert_int_equal(sig.expiration, 2);
    assert_int_equal(sig.inception, 1);
    assert_int_equal(sig.tag, 0x1234);
    assert_true(name_equal(sig.signer, NAME("example.com")));
    assert_true(span_equal(sig.signature, BYTES("signed")));
}

static void test_truncated_rdata_is_malformed(void **state)
{
    (void)state;
    struct rrsig sig;
    struct span whole = BYTES(FIXED "\x07"
                                    "example\x03"
                                    "com\x00s");
    assert_true(rrsig_read(&sig, whole));
    for (size_t len = 0; len < whole.len; len++)
        assert_false(rrsig_read(&sig, span_of(whole.data, len)));
}

static void test_a_compressed_signer_is_malformed(void **state)
{
    (void)state;
    struct rrsig sig;
    assert_false(rrsig_read(&sig, BYTES(FIXED "\xc0\x0csigned")));
    assert_false(rrsig_read(&sig, BYTES(FIXED "\x01"
                                              "a\xc0\x0csigned")));
}

/* ---- relation and labels ---- */

static void test_the_signer_is_at_or_above_the_owner(void **state)
{
    (void)state;
    struct rrsig sig = sample_sig();
    assert_int_equal(CHECK(&sig, "www.EXAMPLE.com", RRTYPE_A), RRSIG_USABLE);
    assert_int_equal(CHECK(&sig, "www.example.org", RRTYPE_A), RRSIG_UNRELATED);
    assert_int_equal(CHECK(&sig, "www.badexample.com", RRTYPE_A), RRSIG_UNRELATED);
    assert_int_equal(CHECK(&sig, "com", RRTYPE_A), RRSIG_UNRELATED);
    sig.labels = 2;
    assert_int_equal(CHECK(&sig, "example.com", RRTYPE_A), RRSIG_USABLE);
}

static void test_a_ds_is_signed_by_the_zone_above(void **state)
{
    (void)state;
    struct rrsig sig = sample_sig();
    sig.covered = RRTYPE_DS;
    assert_int_equal(CHECK(&sig, "www.example.com", RRTYPE_DS), RRSIG_USABLE);
    sig.labels = 2;
    assert_int_equal(CHECK(&sig, "example.com", RRTYPE_DS), RRSIG_UNRELATED);
}

static void test_a_signature_of_another_type_is_unrelated(void **state)
{
    (void)state;
    struct rrsig sig = sample_sig();
    assert_int_equal(CHECK(&sig, "www.example.com", RRTYPE_AAAA), RRSIG_UNRELATED);
}

static void test_a_wildcard_above_the_zone_is_refused(void **state)
{
    (void)state;
    struct rrsig sig = sample_sig();
    for (int labels = 0; labels < 256; labels++) {
        sig.labels = (uint8_t)labels;
        assert_int_equal(CHECK(&sig, "a.b.example.com", RRTYPE_A),
                         labels >= 2 && labels <= 4 ? RRSIG_USABLE : RRSIG_LABELS);
    }
}

static void test_the_root_signs_with_no_labels(void **state)
{
    (void)state;
    struct rrsig sig = sample_sig();
    sig.signer = name_root();
    sig.covered = RRTYPE_SOA;
    sig.labels = 0;
    assert_int_equal(CHECK(&sig, ".", RRTYPE_SOA), RRSIG_USABLE);
    sig.labels = 1;
    assert_int_equal(CHECK(&sig, ".", RRTYPE_SOA), RRSIG_LABELS);
}

static void test_an_asterisk_is_no_label_of_the_owner(void **state)
{
    (void)state;
    struct rrsig sig = sample_sig();
    sig.labels = 2;
    assert_int_equal(CHECK(&sig, "*.example.com", RRTYPE_A), RRSIG_USABLE);
    sig.labels = 3;
    assert_int_equal(CHECK(&sig, "*.example.com", RRTYPE_A), RRSIG_LABELS);
    assert_int_equal(CHECK(&sig, "a.*.example.com", RRTYPE_A), RRSIG_USABLE);
}

static void test_an_owner_that_is_the_wildcard_is_not_expanded(void **state)
{
    (void)state;
    struct rrsig sig = sample_sig();
    sig.labels = 2;
    assert_true(rrsig_is_expanded(&sig, NAME("www.example.com")));
    assert_true(rrsig_is_expanded(&sig, NAME("*.www.example.com")));
    assert_false(rrsig_is_expanded(&sig, NAME("*.example.com")));
    assert_false(rrsig_is_expanded(&sig, NAME("example.com")));
}

/* ---- dates ---- */

static void test_dates_have_a_skew_of_a_tenth_of_the_life(void **state)
{
    (void)state;
    static const struct {
        uint32_t life_s, skew_s;
    } rows[] = {
        {0, HOUR},          {HOUR, HOUR},    {10 * HOUR, HOUR}, {DAY, 8640},
        {5 * DAY, DAY / 2}, {10 * DAY, DAY}, {30 * DAY, DAY},   {0x7fffffff - DAY, DAY},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rrsig sig = sample_sig();
        sig.inception = NOW;
        sig.expiration = NOW + rows[i].life_s;
        assert_int_equal(check_at(&sig, sig.expiration + rows[i].skew_s), RRSIG_USABLE);
        assert_int_equal(check_at(&sig, sig.inception - rows[i].skew_s), RRSIG_USABLE);
        if (rows[i].life_s == 0x7fffffff - DAY)
            continue; /* RFC 1982 does not order the next second */
        assert_int_equal(check_at(&sig, sig.expiration + rows[i].skew_s + 1), RRSIG_EXPIRED);
        assert_int_equal(check_at(&sig, sig.inception - rows[i].skew_s - 1), RRSIG_NOT_YET_VALID);
    }
}

static void test_dates_are_serial_numbers(void **state)
{
    (void)state;
    struct rrsig sig = sample_sig();
    sig.inception = 0xffffff00; /* after the wrap in 2106 */
    sig.expiration = 30 * DAY;
    assert_int_equal(check_at(&sig, 0xffffff80), RRSIG_USABLE);
    assert_int_equal(check_at(&sig, 0), RRSIG_USABLE);
    assert_int_equal(check_at(&sig, 29 * DAY), RRSIG_USABLE);
    assert_int_equal(check_at(&sig, 32 * DAY), RRSIG_EXPIRED);
    assert_int_equal(check_at(&sig, 0xffff0000), RRSIG_USABLE);
    assert_int_equal(check_at(&sig, 0xfff00000), RRSIG_NOT_YET_VALID);
}

static void test_an_end_before_the_beginning_is_a_fault(void **state)
{
    (void)state;
    struct rrsig sig = sample_sig();
    sig.inception = NOW;
    sig.expiration = NOW - 1;
    assert_int_equal(check_at(&sig, NOW), RRSIG_ENDS_BEFORE_IT_BEGINS);
    sig.expiration = NOW + 0x80000000u; /* RFC 1982 defines no order for these two */
    assert_int_equal(check_at(&sig, NOW), RRSIG_ENDS_BEFORE_IT_BEGINS);
    sig.expiration = NOW;
    assert_int_equal(check_at(&sig, NOW), RRSIG_USABLE);
}

static void test_no_instant_is_valid_twice_in_2_32_seconds(void **state)
{
    (void)state;
    struct rrsig sig = sample_sig();
    unsigned usable = 0;
    for (uint64_t step = 0; step < 1u << 20; step++)
        usable += check_at(&sig, (uint32_t)(step << 12)) == RRSIG_USABLE;
    unsigned expected = (30 + 2) * DAY >> 12;
    assert_in_range(usable, expected - 1, expected + 1);
}

static void test_no_signature_is_too_young_for_a_clock_that_is_behind(void **state)
{
    (void)state;
    struct rrsig_clock clock = {.now_s = 5, .is_behind = true};
    struct rrsig sig = sample_sig();
    assert_int_equal(rrsig_check(&sig, NAME("www.example.com"), RRTYPE_A, &clock), RRSIG_USABLE);
    assert_int_equal(rrsig_seconds_left(&sig, &clock), sig.expiration - 5);
    clock.now_s = sig.expiration + 2 * DAY; /* the true time is even later */
    assert_int_equal(rrsig_check(&sig, NAME("www.example.com"), RRTYPE_A, &clock), RRSIG_EXPIRED);
    clock.now_s = 5;
    sig.labels = 4;
    assert_int_equal(rrsig_check(&sig, NAME("www.example.com"), RRTYPE_A, &clock), RRSIG_LABELS);
}

static void test_the_time_left_ends_at_the_expiration(void **state)
{
    (void)state;
    struct rrsig sig = sample_sig();
    struct rrsig_clock clock = {.now_s = NOW};
    assert_int_equal(rrsig_seconds_left(&sig, &clock), 15 * DAY);
    clock.now_s = sig.expiration;
    assert_int_equal(rrsig_seconds_left(&sig, &clock), 0);
    /* within the skew the signature is usable, but no time is left */
    clock.now_s = sig.expiration + HOUR;
    assert_int_equal(check_at(&sig, clock.now_s), RRSIG_USABLE);
    assert_int_equal(rrsig_seconds_left(&sig, &clock), 0);
    sig.expiration = 10;
    clock.now_s = 0xfffffff0;
    assert_int_equal(rrsig_seconds_left(&sig, &clock), 26);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields_are_read),
        cmocka_unit_test(test_truncated_rdata_is_malformed),
        cmocka_unit_test(test_a_compressed_signer_is_malformed),
        cmocka_unit_test(test_the_signer_is_at_or_above_the_owner),
        cmocka_unit_test(test_a_ds_is_signed_by_the_zone_above),
        cmocka_unit_test(test_a_signature_of_another_type_is_unrelated),
        cmocka_unit_test(test_a_wildcard_above_the_zone_is_refused),
        cmocka_unit_test(test_the_root_signs_with_no_labels),
        cmocka_unit_test(test_an_asterisk_is_no_label_of_the_owner),
        cmocka_unit_test(test_an_owner_that_is_the_wildcard_is_not_expanded),
        cmocka_unit_test(test_dates_have_a_skew_of_a_tenth_of_the_life),
        cmocka_unit_test(test_dates_are_serial_numbers),
        cmocka_unit_test(test_an_end_before_the_beginning_is_a_fault),
        cmocka_unit_test(test_no_instant_is_valid_twice_in_2_32_seconds),
        cmocka_unit_test(test_no_signature_is_too_young_for_a_clock_that_is_behind),
        cmocka_unit_test(test_the_time_left_ends_at_the_expiration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
