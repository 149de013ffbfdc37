/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/validate/zones.h"

/* Judges one message, and records the steps that lead to the verdict. */

#define WWW QUESTION("www.example.", A)
#define ADDRESS "www.example. 300 IN A 192.0.2.1"
#define GOOD_SIG SIG("www.example.", "A", "example.")

static enum security judge_address(const char *record, const char *sig)
{
    return zones_judge(WWW, ANSWER_POSITIVE, "example.",
                       (struct sections){.answer = {record, sig}});
}

#define ASSERT_BOGUS(security, code)                                                               \
    do {                                                                                           \
        assert_int_equal(security, SECURITY_BOGUS);                                                \
        assert_int_equal(zones.verdict.ede, code);                                                 \
        assert_string_not_equal(zones.verdict.fault, "");                                          \
    } while (0)

/* ---- keys ---- */

static void test_a_signed_answer_is_secure(void **state)
{
    (void)state;
    zones_secure("example.");
    assert_int_equal(judge_address(ADDRESS, GOOD_SIG), SECURITY_SECURE);
    assert_string_equal(zones.words, "known example., ds example., keys example., right example.");
    assert_int_equal(zones.verdict.ede, EDE_NONE);
    assert_int_equal(zones.verdict.zone_len, 9);
}

static void test_known_keys_need_no_other_step(void **state)
{
    (void)state;
    zones_secure("example.");
    zones.known[2].is_cached = true;
    assert_int_equal(judge_address(ADDRESS, GOOD_SIG), SECURITY_SECURE);
    assert_string_equal(zones.words, "known example., right example.");
}

/* Judges the address. The anchor is gone when a step of this kind is answered, as after a reload.
 */
static enum security judge_without_anchor_at(enum validation_step_kind kind, bool has_sig)
{
    struct validation_event event = {.kind = VALIDATION_STARTED, .ede = EDE_NONE};
    struct validation_step step;
    struct answer answer;
    struct question question = WWW;
    uint8_t bytes[1024];
    struct anchors *later = anchors_new();
    assert_int_equal(anchors_add(later, NAME("island."), RRTYPE_DS,
                                 zones_rdata(zones_ds("island.", 13, 2), bytes)),
                     ERR_OK);
    assert_int_equal(anchors_add_negative(later, NAME("www.example.")), ERR_OK);
    zones_ask(&question, ANSWER_POSITIVE, "example.",
              (struct sections){.answer = {ADDRESS, has_sig ? GOOD_SIG : NULL}});
    zones.words[0] = 0;
    validation_begin(&zones.validation, ++zones.serial);
    do {
        validation_next(&zones.validation, &zones.view, &event, &step);
        if (step.kind == VALIDATION_VERDICT)
            break;
        if (step.kind == kind && !step.only_known)
            zones.view.anchors = later;
        event = step.kind == VALIDATION_VERIFY ? zones_verify(&step) : zones_event(&step, &answer);
    } while (true);
    anchors_free(later);
    assert_int_equal(step.verdict.insecure_labels, 2); /* the zone of the name is not insecure */
    return step.verdict.security;
}

static void test_a_name_that_loses_its_anchor_meanwhile_is_insecure(void **state)
{
    (void)state;
    zones_secure("example.");
    assert_int_equal(judge_without_anchor_at(VALIDATION_KEYS, true), SECURITY_INSECURE);
    assert_string_equal(zones.words, "known example., ds example., keys example.");
    assert_int_equal(judge_without_anchor_at(VALIDATION_DS, true), SECURITY_INSECURE);
    assert_int_equal(judge_without_anchor_at(VALIDATION_DS, false), SECURITY_INSECURE);
}

/* The space holds the message that was read last. */
static void test_nothing_counts_as_verified_after_another_message_was_read(void **state)
{
    (void)state;
    struct rr sig;
    zones_secure("example.");
    assert_int_equal(judge_address(ADDRESS, GOOD_SIG), SECURITY_SECURE);
    struct validation former = zones.validation;
    const struct rrsets *sets = validation_sets(&former, &zones.space);
    assert_ptr_equal(sets, &zones.space.sets);
    sig = sets->record[sets->set[0].first_sig];
    assert_true(validation_is_verified_sig(&former, sets, &sig));
    assert_int_equal(judge_address(ADDRESS, GOOD_SIG), SECURITY_SECURE);
    sets = validation_sets(&former, &zones.space);
    assert_null(sets);
    assert_false(validation_is_verified_sig(&former, sets, &sig));
    assert_false(validation_has_verified(&former, sets, &sig));
}

static void test_one_look_at_the_keys_serves_all_sets_of_a_zone(void **state)
{
    (void)state;
    zones_secure("example.");
    assert_int_equal(
        zones_judge(QUESTION("www.example.", ANY), ANSWER_POSITIVE, "example.",
                    (struct sections){.answer = {ADDRESS, GOOD_SIG, "www.example. 300 IN TXT x",
                                                 SIG("www.example.", "TXT", "example.")}}),
        SECURITY_SECURE);
    assert_string_equal(
        zones.words, "known example., ds example., keys example., right example., right example.");
}

static void test_the_keys_of_an_anchor_need_no_ds(void **state)
{
    (void)state;
    assert_int_equal(zones_judge(QUESTION("example.", DS), ANSWER_POSITIVE, ".",
                                 (struct sections){
                                     .answer = {zones_ds("example.", 13, 2),
                                                SIG("example.", "DS", ".", .original_ttl = 3600)}}),
                     SECURITY_SECURE);
    assert_string_equal(zones.words, "known ., keys ., right .");
}

static void test_a_dnskey_set_needs_a_key_with_a_ds(void **state)
{
    (void)state;
    struct sections sections = {
        .answer = {zones_dnskey("example.", 257, 13),
                   SIG("example.", "DNSKEY", "example.", .original_ttl = 3600)}};
    zones_secure("example.");
    assert_int_equal(
        zones_judge(QUESTION("example.", DNSKEY), ANSWER_POSITIVE, "example.", sections),
        SECURITY_SECURE);
    assert_string_equal(zones.words, "ds example., right example.");
}

static void test_a_dnskey_set_without_a_key_of_the_ds_is_bogus(void **state)
{
    (void)state;
    zones_add("example.", RRTYPE_DS, SECURITY_SECURE, ANSWER_POSITIVE,
              (struct sections){.answer = {zones_ds_at("example.", "other.", 13, 2)}});
    ASSERT_BOGUS(zones_judge(QUESTION("example.", DNSKEY), ANSWER_POSITIVE, "example.",
                             (struct sections){.answer = {zones_dnskey("example.", 257, 13),
                                                          SIG("example.", "DNSKEY", "example.",
                                                              .original_ttl = 3600)}}),
                 EDE_DNSKEY_MISSING);
    assert_int_equal(zones.verifications, 0);
}

static void test_the_dnskey_set_of_the_root_needs_the_anchor(void **state)
{
    (void)state;
    struct sections sections = {
        .answer = {zones_dnskey(".", 257, 13), SIG(".", "DNSKEY", ".", .original_ttl = 3600)}};
    assert_int_equal(zones_judge(QUESTION(".", DNSKEY), ANSWER_POSITIVE, ".", sections),
                     SECURITY_SECURE);
    assert_string_equal(zones.words, "right .");
    uint8_t bytes[1024];
    unsigned tag = zones_read_key("forged.", 257, 13, bytes).tag;
    sections.answer[0] = zones_print(". 3600 IN DNSKEY 257 3 13 %s", zones_key("forged.", 257));
    sections.answer[1] = SIG(".", "DNSKEY", ".", .original_ttl = 3600, .tag = tag);
    ASSERT_BOGUS(zones_judge(QUESTION(".", DNSKEY), ANSWER_POSITIVE, ".", sections),
                 EDE_DNSKEY_MISSING);
    assert_int_equal(zones.verifications, 0);
}

static void test_a_revoked_key_signs_nothing(void **state)
{
    (void)state;
    uint8_t bytes[1024];
    struct dnskey key = zones_read_key("example.", 257 | DNSKEY_REVOKE, 13, bytes);
    zones_add("example.", RRTYPE_DNSKEY, SECURITY_SECURE, ANSWER_POSITIVE,
              (struct sections){.answer = {zones_dnskey("example.", 257 | DNSKEY_REVOKE, 13)}});
    zones_add("example.", RRTYPE_DS, SECURITY_SECURE, ANSWER_POSITIVE,
              (struct sections){.answer = {zones_ds("example.", 13, 2)}});
    ASSERT_BOGUS(judge_address(ADDRESS, SIG("www.example.", "A", "example.", .tag = key.tag)),
                 EDE_DNSKEY_MISSING);
    assert_int_equal(zones.verifications, 0);
}

static void test_a_key_without_the_zone_bit_signs_nothing(void **state)
{
    (void)state;
    uint8_t bytes[1024];
    struct dnskey key = zones_read_key("example.", 1, 13, bytes);
    zones_add("example.", RRTYPE_DNSKEY, SECURITY_SECURE, ANSWER_POSITIVE,
              (struct sections){.answer = {zones_dnskey("example.", 1, 13)}});
    zones.known[zones.count - 1].is_cached = true;
    ASSERT_BOGUS(judge_address(ADDRESS, SIG("www.example.", "A", "example.", .tag = key.tag)),
                 EDE_NO_ZONE_KEY_BIT);
}

static void test_keys_that_cannot_be_fetched_make_the_answer_bogus(void **state)
{
    (void)state;
    zones_fail("example.", RRTYPE_DS, EDE_NO_REACHABLE_AUTHORITY);
    assert_int_equal(judge_address(ADDRESS, GOOD_SIG), SECURITY_BOGUS);
    assert_true(zones.verdict.is_unreachable);
    zones_secure("example.");
    zones_fail("example.", RRTYPE_DNSKEY, EDE_SIGNATURE_EXPIRED);
    ASSERT_BOGUS(judge_address(ADDRESS, GOOD_SIG), EDE_SIGNATURE_EXPIRED);
    assert_false(zones.verdict.is_unreachable);
}

static void test_an_unchecked_answer_about_keys_is_not_believed(void **state)
{
    (void)state;
    zones_secure("example.");
    for (size_t i = 1; i < zones.count; i++)
        zones.known[i].security = SECURITY_UNCHECKED;
    assert_int_equal(judge_address(ADDRESS, GOOD_SIG), SECURITY_BOGUS);
    assert_int_equal(zones.verifications, 0);
}

/* ---- signatures ---- */

static void test_a_wrong_signature_is_bogus(void **state)
{
    (void)state;
    zones_secure("example.");
    ASSERT_BOGUS(judge_address(ADDRESS, SIG("www.example.", "A", "example.", .is_wrong = true)),
                 EDE_DNSSEC_BOGUS);
    assert_int_equal(zones.verifications, 1);
}

static void test_one_right_signature_suffices(void **state)
{
    (void)state;
    zones_secure("example.");
    assert_int_equal(
        zones_judge(WWW, ANSWER_POSITIVE, "example.",
                    (struct sections){
                        .answer = {ADDRESS, SIG("www.example.", "A", "example.", .is_wrong = true),
                                   GOOD_SIG}}),
        SECURITY_SECURE);
    assert_int_equal(zones.verifications, 2);
    const struct rrsets *sets = validation_sets(&zones.validation, &zones.space);
    uint16_t wrong = sets->set[0].first_sig, right = sets->next[wrong];
    assert_false(validation_is_verified_sig(&zones.validation, sets, &sets->record[wrong]));
    assert_true(validation_is_verified_sig(&zones.validation, sets, &sets->record[right]));
}

static void test_two_wrong_signatures_of_a_set_end_it(void **state)
{
    (void)state;
    zones_secure("example.");
    const char *wrong = SIG("www.example.", "A", "example.", .is_wrong = true);
    const char *worse =
        SIG("www.example.", "A", "example.", .is_wrong = true, .until = "20270601000000");
    ASSERT_BOGUS(zones_judge(WWW, ANSWER_POSITIVE, "example.",
                             (struct sections){.answer = {ADDRESS, wrong, worse, GOOD_SIG}}),
                 EDE_DNSSEC_BOGUS);
    assert_int_equal(zones.verifications, VALIDATION_SET_FAILURES_MAX);
}

/* Four aliases have a wrong signature each, which precedes the right one. */
static void test_four_wrong_signatures_of_a_message_end_it(void **state)
{
    (void)state;
    static const char *const owners[] = {"www.example.", "a.example.", "b.example.", "c.example.",
                                         "d.example."};
    struct sections sections = {.answer = {NULL}};
    zones_secure("example.");
    for (unsigned i = 0; i + 1 < ARRAY_LEN(owners); i++) {
        sections.answer[3 * i] = zones_print("%s 300 IN CNAME %s", owners[i], owners[i + 1]);
        sections.answer[3 * i + 1] = SIG(owners[i], "CNAME", "example.", .is_wrong = true);
        sections.answer[3 * i + 2] = SIG(owners[i], "CNAME", "example.", .until = "20270601000000");
    }
    zones_ask(&WWW, ANSWER_POSITIVE, "example.", sections);
    zones.view.end = NAME("d.example");
    zones.view.leads_out = true;
    zones.failures_left = 100;
    assert_int_equal(zones_run(), SECURITY_BOGUS);
    assert_int_equal(zones.verifications - zones.right, VALIDATION_FAILURES_MAX);
    assert_int_equal(zones.right, VALIDATION_FAILURES_MAX - 1);
    assert_false(zones.verdict.is_spent); /* another question would fail in the same way */
}

/* Earlier messages of the question had wrong signatures. This message itself need not be bogus. */
static void test_the_wrong_signatures_of_a_question_have_a_bound(void **state)
{
    (void)state;
    zones_secure("example.");
    const char *wrong = SIG("www.example.", "A", "example.", .is_wrong = true);
    zones_ask(&WWW, ANSWER_POSITIVE, "example.",
              (struct sections){.answer = {ADDRESS, wrong, GOOD_SIG}});
    zones.failures_left = 1;
    assert_int_equal(zones_run(), SECURITY_BOGUS);
    assert_true(zones.verdict.is_spent);
    assert_int_equal(zones.verifications, 1);
    assert_int_equal(zones.failures_left, 0);
    assert_int_equal(zones_judge(WWW, ANSWER_POSITIVE, "example.",
                                 (struct sections){.answer = {ADDRESS, wrong, GOOD_SIG}}),
                     SECURITY_SECURE);
}

static void test_eight_signatures_of_a_set_count(void **state)
{
    (void)state;
    struct sections sections = {.answer = {ADDRESS}};
    zones_secure("example.");
    for (unsigned i = 1; i <= VALIDATION_SIGS_MAX; i++)
        sections.answer[i] = SIG("www.example.", "A", "example.", .tag = i);
    sections.answer[VALIDATION_SIGS_MAX] = GOOD_SIG;
    assert_int_equal(zones_judge(WWW, ANSWER_POSITIVE, "example.", sections), SECURITY_SECURE);
    sections.answer[VALIDATION_SIGS_MAX] = SIG("www.example.", "A", "example.", .tag = 9);
    sections.answer[VALIDATION_SIGS_MAX + 1] = GOOD_SIG;
    ASSERT_BOGUS(zones_judge(WWW, ANSWER_POSITIVE, "example.", sections), EDE_DNSKEY_MISSING);
    assert_int_equal(zones.verifications, 0);
}

/* Returns an unusable key with the tag of the zone's key. Zeros at its end do not change the tag.
 */
static const char *padded_key(const char *zone, unsigned zeros)
{
    uint8_t bytes[1024];
    struct dnskey key = zones_read_key(zone, 257, ALGORITHM_ECDSA_P256, bytes);
    char hex[2 * 128 + 1];
    for (size_t i = 0; i < key.rdata.len + zeros; i++)
        snprintf(hex + 2 * i, 3, "%02x", i < key.rdata.len ? key.rdata.data[i] : 0);
    return zones_print("%s 3600 IN TYPE48 \\# %zu %s", zone, key.rdata.len + zeros, hex);
}

/* An unreadable key counts, too (CVE-2025-8677). */
static void test_two_keys_of_one_tag_count(void **state)
{
    (void)state;
    zones_secure("example.");
    zones_add("example.", RRTYPE_DNSKEY, SECURITY_SECURE, ANSWER_POSITIVE,
              (struct sections){.answer = {padded_key("example.", 2),
                                           zones_dnskey("example.", 257, ALGORITHM_ECDSA_P256)}});
    assert_int_equal(judge_address(ADDRESS, GOOD_SIG), SECURITY_SECURE);
    zones_add("example.", RRTYPE_DNSKEY, SECURITY_SECURE, ANSWER_POSITIVE,
              (struct sections){.answer = {padded_key("example.", 2), padded_key("example.", 4),
                                           zones_dnskey("example.", 257, ALGORITHM_ECDSA_P256)}});
    ASSERT_BOGUS(judge_address(ADDRESS, GOOD_SIG), EDE_DNSKEY_MISSING);
    assert_int_equal(zones.verifications, 0);
}

static void test_only_records_of_the_zone_are_its_keys(void **state)
{
    (void)state;
    zones_secure("example.");
    const char *key = zones_key("example.", 257);
    const char *below = zones_print("www.example. 3600 IN DNSKEY 257 3 13 %s", key);
    const char *other_class = zones_print("example. 3600 CH DNSKEY 257 3 13 %s", key);
    zones_add("example.", RRTYPE_DNSKEY, SECURITY_SECURE, ANSWER_POSITIVE,
              (struct sections){.answer = {below, padded_key("example.", 2)}});
    ASSERT_BOGUS(judge_address(ADDRESS, GOOD_SIG), EDE_DNSKEY_MISSING);
    zones_add("example.", RRTYPE_DNSKEY, SECURITY_SECURE, ANSWER_POSITIVE,
              (struct sections){.answer = {other_class, padded_key("example.", 2)}});
    ASSERT_BOGUS(judge_address(ADDRESS, GOOD_SIG), EDE_DNSKEY_MISSING);
    zones_add("example.", RRTYPE_DNSKEY, SECURITY_SECURE, ANSWER_POSITIVE,
              (struct sections){.authority = {zones_dnskey("example.", 257, 13)}});
    assert_int_equal(judge_address(ADDRESS, GOOD_SIG), SECURITY_BOGUS);
    assert_int_equal(zones.verifications, 0);
}

static void test_the_keys_of_a_zone_have_a_bound(void **state)
{
    (void)state;
    static char others[VALIDATION_KEYS_MAX - 1][256];
    struct sections sections = {.answer = {NULL}};
    const char *good = zones_dnskey("example.", 257, ALGORITHM_ECDSA_P256);
    zones_secure("example.");
    for (unsigned i = 0; i < ARRAY_LEN(others); i++) {
        snprintf(others[i], sizeof(others[i]), "example. 3600 IN TYPE48 \\# 68 0100030d%0128x", i);
        sections.answer[i] = others[i];
    }
    sections.answer[VALIDATION_KEYS_MAX - 1] = good;
    zones_add("example.", RRTYPE_DNSKEY, SECURITY_SECURE, ANSWER_POSITIVE, sections);
    assert_int_equal(judge_address(ADDRESS, GOOD_SIG), SECURITY_SECURE);
    sections.answer[VALIDATION_KEYS_MAX - 1] = padded_key("example.", 2);
    sections.answer[VALIDATION_KEYS_MAX] = good;
    zones_add("example.", RRTYPE_DNSKEY, SECURITY_SECURE, ANSWER_POSITIVE, sections);
    ASSERT_BOGUS(judge_address(ADDRESS, GOOD_SIG), EDE_DNSKEY_MISSING);
    assert_int_equal(zones.verifications, 0);
}

static void test_the_ds_records_of_a_zone_have_a_bound(void **state)
{
    (void)state;
    struct sections sections = {.answer = {NULL}};
    const char *good = zones_ds("example.", ALGORITHM_ECDSA_P256, DIGEST_SHA256);
    struct sections keyset = {.answer = {zones_dnskey("example.", 257, ALGORITHM_ECDSA_P256),
                                         SIG("example.", "DNSKEY", "example.")}};
    struct question question = {NAME("example"), RRTYPE_DNSKEY, RRCLASS_IN};
    zones_secure("example.");
    for (unsigned i = 0; i < VALIDATION_DS_MAX; i++)
        sections.answer[i] = zones_print("example. 3600 IN DS %u 13 2 %064x", 1000 + i, 1 + i);
    sections.answer[VALIDATION_DS_MAX - 1] = good;
    zones_add("example.", RRTYPE_DS, SECURITY_SECURE, ANSWER_POSITIVE, sections);
    assert_int_equal(zones_judge(question, ANSWER_POSITIVE, "example.", keyset), SECURITY_SECURE);
    sections.answer[VALIDATION_DS_MAX - 1] =
        "example. 3600 IN DS 999 13 2 "
        "0000000000000000000000000000000000000000000000000000000000000abc";
    sections.answer[VALIDATION_DS_MAX] = good;
    zones_add("example.", RRTYPE_DS, SECURITY_SECURE, ANSWER_POSITIVE, sections);
    assert_int_equal(zones_judge(question, ANSWER_POSITIVE, "example.", keyset), SECURITY_BOGUS);
    assert_int_equal(zones.verifications, 0);
}

static void test_dates_have_their_own_errors(void **state)
{
    (void)state;
    zones_secure("example.");
    ASSERT_BOGUS(
        judge_address(ADDRESS, SIG("www.example.", "A", "example.", .until = "20260301000000")),
        EDE_SIGNATURE_EXPIRED);
    assert_true(zones.verdict.since_s != 0);
    assert_string_equal(zones.words, "ds example.");
    ASSERT_BOGUS(
        judge_address(ADDRESS, SIG("www.example.", "A", "example.", .from = "20270901000000")),
        EDE_SIGNATURE_NOT_YET_VALID);
    ASSERT_BOGUS(judge_address(ADDRESS, SIG("www.example.", "A", "example.",
                                            .from = "20280101000000", .until = "20270101000000")),
                 EDE_SIGNATURE_EXPIRED_BEFORE_VALID);
    assert_int_equal(zones.verifications, 0);
}

static void test_no_signature_is_too_young_while_the_clock_is_behind(void **state)
{
    (void)state;
    zones_secure("example.");
    zones_ask(&WWW, ANSWER_POSITIVE, "example.",
              (struct sections){
                  .answer = {ADDRESS, SIG("www.example.", "A", "example.", .from = "20280101000000",
                                          .until = "20290101000000")}});
    zones.view.clock.is_behind = true;
    assert_int_equal(zones_run(), SECURITY_SECURE);
}

static void test_a_signer_beside_or_above_the_anchor_does_not_count(void **state)
{
    (void)state;
    zones_secure("example.");
    zones_secure("other.");
    ASSERT_BOGUS(judge_address(ADDRESS, SIG("www.example.", "A", "other.")),
                 EDE_DNSSEC_INDETERMINATE);
    zones_no_cut("www.example.", "example.");
    ASSERT_BOGUS(judge_address(ADDRESS, SIG("www.example.", "A", "other.")), EDE_DNSSEC_BOGUS);
    assert_null(strstr(zones.words, "other."));
}

static void test_too_many_labels_do_not_count(void **state)
{
    (void)state;
    zones_secure("example.");
    ASSERT_BOGUS(judge_address(ADDRESS, SIG("www.example.", "A", "example.", .labels = 3)),
                 EDE_DNSSEC_BOGUS);
    assert_int_equal(zones.verifications, 0);
}

static void test_a_signer_that_is_no_zone_is_bogus(void **state)
{
    (void)state;
    zones_secure("example.");
    zones_no_cut("www.example.", "example.");
    ASSERT_BOGUS(judge_address(ADDRESS, SIG("www.example.", "A", "www.example.")),
                 EDE_DNSSEC_BOGUS);
}

static void test_the_signature_bounds_the_life(void **state)
{
    (void)state;
    zones_secure("example.");
    assert_int_equal(
        judge_address(ADDRESS, SIG("www.example.", "A", "example.", .original_ttl = 200)),
        SECURITY_SECURE);
    assert_int_equal(zones.verdict.ttl_max_s, 200);
    assert_int_equal(
        judge_address(ADDRESS, SIG("www.example.", "A", "example.", .until = "20270115080100")),
        SECURITY_SECURE);
    assert_int_equal(zones.verdict.ttl_max_s, 60);
}

/* The signature that expires first counts, also after the year 2106. */
static void test_the_verdict_says_when_the_first_signature_ends(void **state)
{
    (void)state;
    zones_secure("example.");
    assert_int_equal(
        judge_address(ADDRESS, SIG("www.example.", "A", "example.", .until = "20270115080100")),
        SECURITY_SECURE);
    assert_int_equal(zones.verdict.signed_until_s, zones.view.clock.now_s + 60);
    assert_int_equal(judge_address(ADDRESS, GOOD_SIG), SECURITY_SECURE);
    assert_true(rrsig_is_earlier(zones.view.clock.now_s + 60, zones.verdict.signed_until_s));
    assert_true(rrsig_is_earlier(UINT32_MAX, 5));
    assert_false(rrsig_is_earlier(5, UINT32_MAX));
    assert_false(rrsig_is_earlier(5, 5));
}

static void test_a_postponed_verification_is_offered_again(void **state)
{
    (void)state;
    zones_secure("example.");
    zones.puts_off = 1;
    assert_int_equal(judge_address(ADDRESS, GOOD_SIG), SECURITY_SECURE);
    assert_string_equal(zones.words,
                        "known example., ds example., keys example., later example., known "
                        "example., ds example., keys example., right example.");
    assert_int_equal(zones.units, VALIDATION_UNITS_MAX - algorithm_cost(13, 64));
}

/* The space is lost, but the first signature is not tried again. */
static void test_the_second_signature_may_be_postponed(void **state)
{
    (void)state;
    zones_secure("example.");
    zones.known[zones.count - 2].is_cached = true; /* the keys of the zone */
    struct sections sections = {
        .answer = {ADDRESS, SIG("www.example.", "A", "example.", .is_wrong = true), GOOD_SIG}};
    zones_ask(&WWW, ANSWER_POSITIVE, "example.", sections);
    zones.puts_off = zones.puts_off_after = 1;
    assert_int_equal(zones_run(), SECURITY_SECURE);
    assert_string_equal(zones.words, "known example., wrong example., later example., "
                                     "known example., right example.");
}

/* On a busy worker, many other validations may take the turns. */
static void test_a_beginning_may_be_postponed(void **state)
{
    (void)state;
    zones_secure("example.");
    zones.known[zones.count - 2].is_cached = true; /* the keys of the zone */
    struct sections sections = {.answer = {ADDRESS, SIG("www.example.", "A", "example.")}};
    zones_ask(&WWW, ANSWER_POSITIVE, "example.", sections);
    struct validation_event event = {.kind = VALIDATION_RESUMED, .ede = EDE_NONE};
    struct validation_step step;
    validation_begin(&zones.validation, ++zones.serial);
    validation_next(&zones.validation, &zones.view, &event, &step);
    assert_int_equal(step.kind, VALIDATION_KEYS);
    assert_true(step.only_known);
    assert_int_equal(zones.units, VALIDATION_UNITS_MAX);
}

static void test_a_verification_postponed_often_costs_no_more(void **state)
{
    (void)state;
    zones_secure("example.");
    zones.known[2].is_cached = true;
    zones.puts_off = 2 * VALIDATION_STEPS_MAX;
    assert_int_equal(judge_address(ADDRESS, GOOD_SIG), SECURITY_SECURE);
    assert_int_equal(zones.puts_off, 0);
    assert_int_equal(zones.units, VALIDATION_UNITS_MAX - algorithm_cost(13, 64));
}

static void test_the_budget_ends_the_work(void **state)
{
    (void)state;
    zones_secure("example.");
    zones_ask(&WWW, ANSWER_POSITIVE, "example.", (struct sections){.answer = {ADDRESS, GOOD_SIG}});
    zones.units = algorithm_cost(13, 64) - 1;
    assert_int_equal(zones_run(), SECURITY_BOGUS);
    assert_true(zones.verdict.is_spent);
    assert_int_equal(zones.verifications, 0);
}

/* Otherwise keys would be remembered as bogus because of what another zone has cost. */
static void test_the_budget_ends_before_the_digest_of_a_key(void **state)
{
    (void)state;
    struct question question = {NAME("example"), RRTYPE_DNSKEY, RRCLASS_IN};
    struct sections keyset = {.answer = {zones_dnskey("example.", 257, ALGORITHM_ECDSA_P256),
                                         SIG("example.", "DNSKEY", "example.")}};
    zones_secure("example.");
    zones_ask(&question, ANSWER_POSITIVE, "example.", keyset);
    zones.units = 0;
    assert_int_equal(zones_run(), SECURITY_BOGUS);
    assert_true(zones.verdict.is_spent);
}

/* ---- insecure zones ---- */

static void test_an_unsigned_answer_below_an_insecure_cut_is_insecure(void **state)
{
    (void)state;
    zones_insecure("example.", ".");
    assert_int_equal(judge_address(ADDRESS, NULL), SECURITY_INSECURE);
    assert_string_equal(zones.words, "ds example.");
}

static void test_an_unsigned_answer_of_a_secure_zone_is_bogus(void **state)
{
    (void)state;
    zones_secure("example.");
    zones_no_cut("www.example.", "example.");
    ASSERT_BOGUS(judge_address(ADDRESS, NULL), EDE_RRSIGS_MISSING);
    assert_string_equal(zones.words, "ds example., ds www.example.");
}

static void test_a_forwarder_is_asked_label_by_label(void **state)
{
    (void)state;
    zones_secure("example.");
    zones_no_cut("b.example.", "example.");
    zones_insecure("a.b.example.", "example.");
    zones_ask(&QUESTION("x.y.a.b.example.", A), ANSWER_POSITIVE, ".",
              (struct sections){.answer = {"x.y.a.b.example. 300 IN A 192.0.2.1"}});
    zones.view.zone_is_cut = false;
    assert_int_equal(zones_run(), SECURITY_INSECURE);
    assert_string_equal(zones.words, "ds example., ds b.example., ds a.b.example.");
}

static void test_a_cut_behind_a_secure_zone_is_found(void **state)
{
    (void)state;
    zones_secure("example.");
    zones_insecure("www.example.", "example.");
    assert_int_equal(judge_address(ADDRESS, NULL), SECURITY_INSECURE);
    assert_string_equal(zones.words, "ds example., ds www.example.");
}

static void test_an_insecure_zone_may_have_signatures(void **state)
{
    (void)state;
    zones_insecure("example.", ".");
    assert_int_equal(judge_address(ADDRESS, SIG("www.example.", "A", "example.", .is_wrong = true)),
                     SECURITY_INSECURE);
    assert_int_equal(zones.verifications, 0);
}

static void test_unsupported_algorithms_make_a_zone_insecure(void **state)
{
    (void)state;
    zones_add("example.", RRTYPE_DS, SECURITY_SECURE, ANSWER_POSITIVE,
              (struct sections){.answer = {zones_ds("example.", 253, 2)}});
    assert_int_equal(judge_address(ADDRESS, NULL), SECURITY_INSECURE);
    assert_int_equal(zones.verdict.ede, EDE_UNSUPPORTED_DNSKEY_ALGORITHM);
}

/* The operator demands validation with this key, so nothing passes without it. A question about DS
 * records below the zone is unnecessary. */
static void test_an_anchor_that_cannot_be_used_makes_its_zone_bogus(void **state)
{
    (void)state;
    uint8_t wire[NAME_WIRE_MAX], bytes[1024];
    struct name zone = sample_name(wire, "example.");
    assert_int_equal(
        anchors_add(zones.anchors, zone, RRTYPE_DS, zones_rdata(zones_ds("example.", 3, 2), bytes)),
        ERR_OK);
    ASSERT_BOGUS(judge_address(ADDRESS, NULL), EDE_UNSUPPORTED_DNSKEY_ALGORITHM);
    assert_string_equal(zones.words, "");
    struct sections keys = {
        .answer = {zones_dnskey("example.", 257, 3), SIG("example.", "DNSKEY", "example.")}};
    ASSERT_BOGUS(zones_judge(QUESTION("example.", DNSKEY), ANSWER_POSITIVE, "example.", keys),
                 EDE_UNSUPPORTED_DNSKEY_ALGORITHM);
    assert_int_equal(anchors_add(zones.anchors, zone, RRTYPE_DS,
                                 zones_rdata(zones_ds("example.", 13, 2), bytes)),
                     ERR_OK);
    zones_secure("example.");
    /* a single usable anchor is enough */
    assert_int_equal(judge_address(ADDRESS, GOOD_SIG), SECURITY_SECURE);
}

static void test_unsupported_digests_make_a_zone_insecure(void **state)
{
    (void)state;
    zones_add("example.", RRTYPE_DS, SECURITY_SECURE, ANSWER_POSITIVE,
              (struct sections){.answer = {zones_ds("example.", 13, 3)}});
    assert_int_equal(judge_address(ADDRESS, GOOD_SIG), SECURITY_INSECURE);
    assert_int_equal(zones.verdict.ede, EDE_UNSUPPORTED_DS_DIGEST);
}

static void test_sha1_counts_only_where_the_operator_says_so(void **state)
{
    (void)state;
    zones_add("example.", RRTYPE_DS, SECURITY_SECURE, ANSWER_POSITIVE,
              (struct sections){.answer = {zones_ds("example.", 5, 2)}});
    assert_int_equal(judge_address(ADDRESS, NULL), SECURITY_INSECURE);
    zones_no_cut("www.example.", "example.");
    zones.view.allow_sha1 = true;
    assert_int_equal(zones_run(), SECURITY_BOGUS);
}

static void test_a_ds_that_fits_no_key_is_not_made_good_by_an_unsupported_one(void **state)
{
    (void)state;
    zones_add("example.", RRTYPE_DS, SECURITY_SECURE, ANSWER_POSITIVE,
              (struct sections){.answer = {zones_ds("example.", 253, 2),
                                           zones_ds_at("example.", "other.", 13, 2)}});
    ASSERT_BOGUS(zones_judge(QUESTION("example.", DNSKEY), ANSWER_POSITIVE, "example.",
                             (struct sections){.answer = {zones_dnskey("example.", 257, 13),
                                                          SIG("example.", "DNSKEY", "example.",
                                                              .original_ttl = 3600)}}),
                 EDE_DNSKEY_MISSING);
}

static void test_names_below_no_anchor_are_insecure(void **state)
{
    (void)state;
    uint8_t bytes[1024];
    anchors_free(zones.anchors);
    zones.anchors = anchors_new();
    assert_int_equal(anchors_add(zones.anchors, NAME("island."), RRTYPE_DS,
                                 zones_rdata(zones_ds("island.", 13, 2), bytes)),
                     ERR_OK);
    assert_int_equal(judge_address(ADDRESS, NULL), SECURITY_INSECURE);
    assert_string_equal(zones.words, "");
}

static void test_a_negative_anchor_hides_bad_signatures(void **state)
{
    (void)state;
    zones_secure("example.");
    assert_int_equal(anchors_add_negative(zones.anchors, NAME("example.")), ERR_OK);
    assert_int_equal(judge_address(ADDRESS, SIG("www.example.", "A", "example.", .is_wrong = true)),
                     SECURITY_INSECURE);
    assert_string_equal(zones.words, "");
}

static void test_a_name_that_is_denied_does_not_become_insecure(void **state)
{
    (void)state;
    zones_no_name("example.");
    ASSERT_BOGUS(judge_address(ADDRESS, NULL), EDE_RRSIGS_MISSING);
}

static void test_a_configured_zone_that_its_parent_denies_is_private(void **state)
{
    (void)state;
    zones_no_name("example.");
    zones_ask(&WWW, ANSWER_POSITIVE, "example.", (struct sections){.answer = {ADDRESS}});
    zones.view.zone_is_configured = true;
    assert_int_equal(zones_run(), SECURITY_INSECURE);
    assert_true(zones.verdict.is_private);
}

static void test_a_private_zone_may_be_signed(void **state)
{
    (void)state;
    zones_no_name("example.");
    zones_ask(&WWW, ANSWER_POSITIVE, "example.", (struct sections){.answer = {ADDRESS, GOOD_SIG}});
    zones.view.zone_is_configured = true;
    assert_int_equal(zones_run(), SECURITY_INSECURE);
    assert_true(zones.verdict.is_private);
}

static void test_a_configured_zone_with_a_ds_is_judged(void **state)
{
    (void)state;
    zones_secure("example.");
    zones_no_cut("www.example.", "example.");
    zones_ask(&WWW, ANSWER_POSITIVE, "example.", (struct sections){.answer = {ADDRESS}});
    zones.view.zone_is_configured = true;
    ASSERT_BOGUS(zones_run(), EDE_RRSIGS_MISSING);
}

static void test_a_configured_zone_answers_while_proofs_cannot_be_reached(void **state)
{
    (void)state;
    zones_fail("example.", RRTYPE_DS, EDE_NO_REACHABLE_AUTHORITY);
    zones_ask(&WWW, ANSWER_POSITIVE, "example.", (struct sections){.answer = {ADDRESS}});
    zones.view.zone_is_configured = true;
    assert_int_equal(zones_run(), SECURITY_INSECURE);
}

static void test_an_alias_at_the_name_is_no_cut(void **state)
{
    (void)state;
    zones_secure("example.");
    zones_add("www.example.", RRTYPE_DS, SECURITY_SECURE, ANSWER_POSITIVE,
              (struct sections){.answer = {"www.example. 300 IN CNAME insecure.",
                                           SIG("www.example.", "CNAME", "example.")}});
    ASSERT_BOGUS(judge_address(ADDRESS, NULL), EDE_RRSIGS_MISSING);
}

/* Such an alias is stored as secure only with a proof that the name itself does not exist. */
static void test_an_alias_from_a_wildcard_or_a_dname_is_no_cut(void **state)
{
    (void)state;
    zones_secure("example.");
    zones_add("www.example.", RRTYPE_DS, SECURITY_SECURE, ANSWER_POSITIVE,
              (struct sections){.answer = {"www.example. 300 IN CNAME insecure.",
                                           SIG("www.example.", "CNAME", "example.", .labels = 1)}});
    ASSERT_BOGUS(judge_address(ADDRESS, NULL), EDE_RRSIGS_MISSING);
    zones_add("www.example.", RRTYPE_DS, SECURITY_SECURE, ANSWER_POSITIVE,
              (struct sections){.answer = {"www.example. 300 IN CNAME www.other."}});
    ASSERT_BOGUS(judge_address(ADDRESS, NULL), EDE_RRSIGS_MISSING);
}

/* With opt-out, the name may be an unsigned delegation. */
static void test_an_insecure_alias_is_no_proof_against_a_cut(void **state)
{
    (void)state;
    zones_secure("example.");
    zones_add("www.example.", RRTYPE_DS, SECURITY_INSECURE, ANSWER_POSITIVE,
              (struct sections){.answer = {"www.example. 300 IN CNAME insecure.",
                                           SIG("www.example.", "CNAME", "example.", .labels = 1)}});
    assert_int_equal(judge_address(ADDRESS, NULL), SECURITY_INSECURE);
}

/* ---- aliases ---- */

#define ALIAS "www.example. 300 IN CNAME host.other."
#define HOST "host.other. 300 IN A 192.0.2.7"

static enum security judge_alias(const char *end, struct sections sections)
{
    static uint8_t wire[NAME_WIRE_MAX];
    zones_ask(&WWW, ANSWER_POSITIVE, ".", sections);
    zones.view.zone_is_cut = false;
    zones.view.end = sample_name(wire, end);
    return zones_run();
}

static void test_each_set_of_a_chain_has_its_own_signer(void **state)
{
    (void)state;
    zones_secure("example.");
    zones_secure("other.");
    assert_int_equal(
        judge_alias("host.other.",
                    (struct sections){.answer = {ALIAS, SIG("www.example.", "CNAME", "example."),
                                                 HOST, SIG("host.other.", "A", "other.")}}),
        SECURITY_SECURE);
    assert_int_equal(zones.right, 2);
}

static void test_an_insecure_link_makes_the_chain_insecure(void **state)
{
    (void)state;
    zones_secure("example.");
    zones_insecure("other.", ".");
    assert_int_equal(
        judge_alias(
            "host.other.",
            (struct sections){.answer = {ALIAS, SIG("www.example.", "CNAME", "example."), HOST}}),
        SECURITY_INSECURE);
}

/* The walk at the end of the chain has no step, and the last step was about the signer. */
static void test_a_denied_alias_target_says_nothing_about_the_zone_of_the_alias(void **state)
{
    (void)state;
    uint8_t wire[NAME_WIRE_MAX];
    zones_secure("example.");
    assert_int_equal(anchors_add_negative(zones.anchors, NAME("a.example.")), ERR_OK);
    zones_ask(&WWW, ANSWER_NXDOMAIN, "example.",
              (struct sections){.answer = {"www.example. 300 IN CNAME b.a.example.",
                                           SIG("www.example.", "CNAME", "example.")}});
    zones.view.end = sample_name(wire, "b.a.example.");
    assert_int_equal(zones_run(), SECURITY_INSECURE);
    assert_int_equal(zones.verdict.insecure_labels, VERDICT_NO_LABELS);
}

/* An expanded alias is right only if no closer name exists, wherever the alias leads. */
static void test_an_insecure_link_excuses_no_expanded_alias(void **state)
{
    (void)state;
    const char *expanded = SIG("www.example.", "CNAME", "example.", .labels = 1);
    zones_secure("example.");
    zones_insecure("other.", ".");
    ASSERT_BOGUS(judge_alias("host.other.", (struct sections){.answer = {ALIAS, expanded, HOST}}),
                 EDE_NSEC_MISSING);
    zones_ask(&WWW, ANSWER_POSITIVE, "example.",
              (struct sections){.answer = {ALIAS, expanded},
                                .authority = {"host.other. 300 IN NSEC z.other. A RRSIG NSEC",
                                              SIG("host.other.", "NSEC", "other.")}});
    uint8_t wire[NAME_WIRE_MAX];
    zones.view.end = sample_name(wire, "host.other.");
    zones.view.leads_out = true;
    ASSERT_BOGUS(zones_run(), EDE_NSEC_MISSING);
}

static void test_a_bogus_link_makes_the_chain_bogus(void **state)
{
    (void)state;
    zones_insecure("example.", ".");
    zones_secure("other.");
    assert_int_equal(
        judge_alias("host.other.", (struct sections){.answer = {ALIAS, HOST,
                                                                SIG("host.other.", "A", "other.",
                                                                    .is_wrong = true)}}),
        SECURITY_BOGUS);
}

static void test_records_after_an_alias_that_leads_out_do_not_count(void **state)
{
    (void)state;
    zones_secure("example.");
    zones_secure("other.");
    zones_ask(&WWW, ANSWER_POSITIVE, "example.",
              (struct sections){.answer = {ALIAS, SIG("www.example.", "CNAME", "example."), HOST}});
    uint8_t wire[NAME_WIRE_MAX];
    zones.view.end = sample_name(wire, "host.other.");
    zones.view.leads_out = true;
    assert_int_equal(zones_run(), SECURITY_SECURE);
    assert_null(strstr(zones.words, "other."));
}

static void test_a_chain_that_ends_elsewhere_is_bogus(void **state)
{
    (void)state;
    zones_secure("example.");
    assert_int_equal(
        judge_alias("third.",
                    (struct sections){.answer = {ALIAS, SIG("www.example.", "CNAME", "example.")}}),
        SECURITY_BOGUS);
}

#define DNAME_RECORD "example. 300 IN DNAME other."
#define MADE "www.example. 300 IN CNAME www.other."

static void test_a_dname_vouches_for_its_cname(void **state)
{
    (void)state;
    zones_secure("example.");
    zones_secure("other.");
    struct sections sections = {.answer = {DNAME_RECORD, SIG("example.", "DNAME", "example."), MADE,
                                           "www.other. 300 IN A 192.0.2.7",
                                           SIG("www.other.", "A", "other.")}};
    assert_int_equal(judge_alias("www.other.", sections), SECURITY_SECURE);
    sections.answer[2] = "www.example. 300 IN CNAME evil.other.";
    sections.answer[3] = "evil.other. 300 IN A 192.0.2.7";
    sections.answer[4] = SIG("evil.other.", "A", "other.");
    assert_int_equal(judge_alias("evil.other.", sections), SECURITY_BOGUS);
    sections.answer[0] = "example. 300 IN DNAME evil.";
    sections.answer[1] = SIG("example.", "DNAME", "example.", .is_wrong = true);
    assert_int_equal(judge_alias("www.evil.", sections), SECURITY_BOGUS);
}

static void test_a_cname_that_was_asked_for_may_follow_from_a_dname(void **state)
{
    (void)state;
    const struct question questions[] = {QUESTION("www.example.", CNAME),
                                         QUESTION("www.example.", ANY)};
    zones_secure("example.");
    for (size_t i = 0; i < ARRAY_LEN(questions); i++) {
        struct question asked = questions[i];
        struct sections sections = {
            .answer = {DNAME_RECORD, SIG("example.", "DNAME", "example."), MADE}};
        assert_int_equal(zones_judge(asked, ANSWER_POSITIVE, "example.", sections),
                         SECURITY_SECURE);
        sections.answer[2] = "www.example. 300 IN CNAME evil.other.";
        ASSERT_BOGUS(zones_judge(asked, ANSWER_POSITIVE, "example.", sections), EDE_DNSSEC_BOGUS);
        sections.answer[2] = MADE;
        sections.answer[1] = SIG("example.", "DNAME", "example.", .is_wrong = true);
        ASSERT_BOGUS(zones_judge(asked, ANSWER_POSITIVE, "example.", sections), EDE_DNSSEC_BOGUS);
    }
}

/* ---- negative answers ---- */

#define SOA "example. 300 IN SOA ns.example. host.example. 1 2 3 4 300"
#define SOA_SIG SIG("example.", "SOA", "example.")

static enum security judge_absence(enum answer_kind kind, struct sections sections)
{
    return zones_judge(WWW, kind, "example.", sections);
}

static void test_a_proven_nodata_is_secure(void **state)
{
    (void)state;
    zones_secure("example.");
    assert_int_equal(
        judge_absence(ANSWER_NODATA,
                      (struct sections){.authority = {SOA, SOA_SIG,
                                                      "www.example. 300 IN NSEC z.example. TXT "
                                                      "RRSIG NSEC",
                                                      SIG("www.example.", "NSEC", "example.")}}),
        SECURITY_SECURE);
    assert_int_equal(zones.right, 2);
}

static void test_a_nodata_with_the_type_in_the_bitmap_is_bogus(void **state)
{
    (void)state;
    zones_secure("example.");
    ASSERT_BOGUS(
        judge_absence(ANSWER_NODATA,
                      (struct sections){.authority = {SOA, SOA_SIG,
                                                      "www.example. 300 IN NSEC z.example. A "
                                                      "RRSIG NSEC",
                                                      SIG("www.example.", "NSEC", "example.")}}),
        EDE_NSEC_MISSING);
}

/* The rcode is unsigned, but the proof is signed. */
static void test_an_nxdomain_with_the_proof_of_nodata_is_nodata(void **state)
{
    (void)state;
    zones_secure("example.");
    struct sections sections = {.authority = {SOA, SOA_SIG,
                                              "a.example. 300 IN NSEC a.www.example. A RRSIG NSEC",
                                              SIG("a.example.", "NSEC", "example.")}};
    assert_int_equal(judge_absence(ANSWER_NXDOMAIN, sections), SECURITY_SECURE);
    assert_true(zones.verdict.is_nodata); /* the name is an empty non-terminal */
    assert_int_equal(judge_absence(ANSWER_NODATA, sections), SECURITY_SECURE);
    assert_false(zones.verdict.is_nodata);
    sections.authority[2] = "www.example. 300 IN NSEC z.example. TXT RRSIG NSEC";
    sections.authority[3] = SIG("www.example.", "NSEC", "example.");
    assert_int_equal(judge_absence(ANSWER_NXDOMAIN, sections), SECURITY_SECURE);
    assert_true(zones.verdict.is_nodata);
    sections.authority[2] = "www.example. 300 IN NSEC z.example. A RRSIG NSEC";
    ASSERT_BOGUS(judge_absence(ANSWER_NXDOMAIN, sections), EDE_NSEC_MISSING);
    sections.authority[2] = "example. 300 IN NSEC z.example. NS SOA RRSIG NSEC DNSKEY";
    sections.authority[3] = SIG("example.", "NSEC", "example.");
    assert_int_equal(judge_absence(ANSWER_NXDOMAIN, sections), SECURITY_SECURE);
    assert_false(zones.verdict.is_nodata);
    /* the reverse does not hold */
    ASSERT_BOGUS(judge_absence(ANSWER_NODATA, sections), EDE_NSEC_MISSING);
}

static void test_a_negative_answer_without_proof_is_bogus(void **state)
{
    (void)state;
    zones_secure("example.");
    zones_no_cut("www.example.", "example.");
    ASSERT_BOGUS(judge_absence(ANSWER_NXDOMAIN, (struct sections){.authority = {SOA, SOA_SIG}}),
                 EDE_NSEC_MISSING);
    ASSERT_BOGUS(judge_absence(ANSWER_NODATA, (struct sections){0}), EDE_NSEC_MISSING);
}

static void test_an_unsigned_proof_proves_nothing(void **state)
{
    (void)state;
    zones_secure("example.");
    zones_no_cut("www.example.", "example.");
    ASSERT_BOGUS(
        judge_absence(ANSWER_NODATA, (struct sections){.authority = {SOA, SOA_SIG,
                                                                     "www.example. 300 IN NSEC "
                                                                     "z.example. TXT RRSIG NSEC"}}),
        EDE_NSEC_MISSING);
}

static void test_a_wrongly_signed_proof_proves_nothing(void **state)
{
    (void)state;
    zones_secure("example.");
    zones_no_cut("www.example.", "example.");
    assert_int_equal(
        judge_absence(ANSWER_NODATA,
                      (struct sections){.authority = {SOA, SOA_SIG,
                                                      "www.example. 300 IN NSEC z.example. TXT "
                                                      "RRSIG NSEC",
                                                      SIG("www.example.", "NSEC", "example.",
                                                          .is_wrong = true)}}),
        SECURITY_BOGUS);
}

static void test_an_insecure_negative_answer_needs_no_proof(void **state)
{
    (void)state;
    zones_insecure("example.", ".");
    assert_int_equal(judge_absence(ANSWER_NXDOMAIN, (struct sections){.authority = {SOA}}),
                     SECURITY_INSECURE);
    assert_int_equal(judge_absence(ANSWER_NODATA, (struct sections){0}), SECURITY_INSECURE);
}

static void test_a_proven_nxdomain_is_secure(void **state)
{
    (void)state;
    zones_secure("example.");
    assert_int_equal(
        judge_absence(
            ANSWER_NXDOMAIN,
            (struct sections){.authority = {SOA, SOA_SIG,
                                            "a.example. 300 IN NSEC z.example. A RRSIG NSEC",
                                            SIG("a.example.", "NSEC", "example."),
                                            "example. 300 IN NSEC a.example. SOA RRSIG NSEC",
                                            SIG("example.", "NSEC", "example.")}}),
        SECURITY_SECURE);
    assert_int_equal(zones.right, 3);
}

static void test_a_soa_that_is_not_signed_is_bogus(void **state)
{
    (void)state;
    zones_secure("example.");
    assert_int_equal(
        judge_absence(ANSWER_NODATA,
                      (struct sections){.authority = {SOA,
                                                      "www.example. 300 IN NSEC z.example. TXT "
                                                      "RRSIG NSEC",
                                                      SIG("www.example.", "NSEC", "example.")}}),
        SECURITY_BOGUS);
}

/* ---- wildcards ---- */

#define WILD_SIG SIG("www.example.", "A", "example.", .labels = 1)

static void test_an_expansion_needs_the_next_closer_name(void **state)
{
    (void)state;
    zones_secure("example.");
    struct sections sections = {.answer = {ADDRESS, WILD_SIG},
                                .authority = {"a.example. 300 IN NSEC z.example. A RRSIG NSEC",
                                              SIG("a.example.", "NSEC", "example.")}};
    assert_int_equal(zones_judge(WWW, ANSWER_POSITIVE, "example.", sections), SECURITY_SECURE);
    sections.authority[0] = "x.example. 300 IN NSEC z.example. A RRSIG NSEC";
    sections.authority[1] = SIG("x.example.", "NSEC", "example.");
    ASSERT_BOGUS(zones_judge(WWW, ANSWER_POSITIVE, "example.", sections), EDE_NSEC_MISSING);
    sections.authority[0] = NULL;
    ASSERT_BOGUS(zones_judge(WWW, ANSWER_POSITIVE, "example.", sections), EDE_NSEC_MISSING);
}

static void test_proofs_of_positive_answers_are_not_verified(void **state)
{
    (void)state;
    zones_secure("example.");
    assert_int_equal(
        zones_judge(WWW, ANSWER_POSITIVE, "example.",
                    (struct sections){.answer = {ADDRESS, GOOD_SIG},
                                      .authority = {"a.example. 300 IN NSEC z.example. A",
                                                    SIG("a.example.", "NSEC", "example.")}}),
        SECURITY_SECURE);
    assert_int_equal(zones.verifications, 1);
}

static void test_dnskey_and_ds_are_never_expanded(void **state)
{
    (void)state;
    zones_secure("example.");
    assert_int_equal(zones_judge(QUESTION("sub.example.", DS), ANSWER_POSITIVE, "example.",
                                 (struct sections){.answer = {zones_ds("sub.example.", 13, 2),
                                                              SIG("sub.example.", "DS", "example.",
                                                                  .labels = 1)}}),
                     SECURITY_BOGUS);
    assert_int_equal(zones.verifications, 0);
}

/* ---- zones that are known to be insecure ---- */

/* Judges an unsigned answer from the servers of this zone. */
static enum security judge_unsigned(const char *name, const char *asked_zone)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct question question = {.name = sample_name(wire, name), .type = RRTYPE_A, .cls = 1};
    zones_ask(&question, ANSWER_POSITIVE, asked_zone,
              (struct sections){.answer = {zones_print("%s 300 IN A 192.0.2.1", name)}});
    zones.view.is_at_qname = true;
    zones.view.zone_is_cut = asked_zone[0] != '.';
    return zones_run();
}

static void test_one_look_ends_where_the_zone_is_known_to_be_insecure(void **state)
{
    (void)state;
    zones_known_insecure("example.")->ede = EDE_NONE;
    zones.space.owner = 4711;
    assert_int_equal(judge_unsigned("www.example.", "example."), SECURITY_INSECURE);
    assert_string_equal(zones.words, "known example.");
    assert_int_equal(zones.space.owner, 4711); /* the message has not been read */
    assert_int_equal(zones.units, VALIDATION_UNITS_MAX);
}

static void test_a_look_that_finds_nothing_changes_nothing(void **state)
{
    (void)state;
    zones_insecure("example.", ".");
    assert_int_equal(judge_unsigned("www.example.", "example."), SECURITY_INSECURE);
    assert_string_equal(zones.words, "known example., ds example.");
    zones_secure("example.");
    zones.known[zones.count - 1].is_cached = true;
    zones_no_cut("www.example.", "example.");
    ASSERT_BOGUS(judge_unsigned("www.example.", "example."), EDE_RRSIGS_MISSING);
    assert_string_equal(zones.words, "known example., ds example., ds www.example.");
}

static void test_an_unknown_zone_below_a_known_insecure_one_is_not_asked_about(void **state)
{
    (void)state;
    zones_secure("example.");
    zones.known[zones.count - 1].is_cached = true;
    zones_known_insecure("b.example.");
    assert_int_equal(judge_unsigned("x.a.b.example.", "a.b.example."), SECURITY_INSECURE);
    assert_string_equal(zones.words, "known a.b.example., known example., known b.example.");
}

/* The servers of an insecure zone need not know DS records. */
static void test_a_zone_without_ds_answer_is_insecure_below_an_insecure_one(void **state)
{
    (void)state;
    zones_secure("example.");
    zones_insecure("b.example.", "example.");
    assert_int_equal(judge_unsigned("x.a.b.example.", "a.b.example."), SECURITY_INSECURE);
    assert_string_equal(zones.words, "known a.b.example., known example., ds a.b.example., "
                                     "ds example., ds b.example.");
    assert_int_equal(
        zones_judge(QUESTION("x.a.b.example.", A), ANSWER_POSITIVE, "a.b.example.",
                    (struct sections){.answer = {"x.a.b.example. 300 IN A 192.0.2.1",
                                                 SIG("x.a.b.example.", "A", "a.b.example.")}}),
        SECURITY_INSECURE);
}

/* The walk ends at the zone whose DS records cannot be fetched: no proof makes it insecure. */
static void test_a_zone_without_ds_answer_is_bogus_below_a_secure_one(void **state)
{
    (void)state;
    zones_secure("example.");
    zones_no_cut("b.example.", "example.");
    assert_int_equal(judge_unsigned("x.a.b.example.", "a.b.example."), SECURITY_BOGUS);
    assert_true(zones.verdict.is_unreachable);
    assert_string_equal(zones.words, "known a.b.example., known example., ds a.b.example., "
                                     "ds example., ds b.example.");
}

/* Only the mark of a stored answer saves its proof from being read. A secure proof is read in full.
 */
static void test_only_an_insecure_answer_without_records_is_a_mark(void **state)
{
    (void)state;
    zones_insecure("example.", ".");
    zones.known[zones.count - 1].is_cached = true;
    assert_int_equal(judge_unsigned("www.example.", "example."), SECURITY_INSECURE);
    assert_string_equal(zones.words, "known example., ds example.");
    const char *alias = "example. 300 IN CNAME other.";
    zones_add("example.", RRTYPE_DS, SECURITY_SECURE, ANSWER_POSITIVE,
              (struct sections){.answer = {alias, SIG("example.", "CNAME", ".")}})
        ->is_cached = true;
    zones_no_cut("www.example.", ".");
    ASSERT_BOGUS(judge_unsigned("www.example.", "example."), EDE_RRSIGS_MISSING);
}

static void test_a_forwarder_is_looked_at_label_by_label(void **state)
{
    (void)state;
    zones_secure("example.");
    zones.known[zones.count - 1].is_cached = true;
    zones_known_insecure("b.example.");
    assert_int_equal(judge_unsigned("x.y.a.b.example.", "."), SECURITY_INSECURE);
    assert_string_equal(zones.words, "known example., known b.example.");
}

static void test_the_looks_are_bounded(void **state)
{
    (void)state;
    static const char *const names[] = {
        "i.",           "h.i.",           "g.h.i.",           "f.g.h.i.",          "e.f.g.h.i.",
        "d.e.f.g.h.i.", "c.d.e.f.g.h.i.", "b.c.d.e.f.g.h.i.", "a.b.c.d.e.f.g.h.i."};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        zones_no_cut(names[i], ".");
        zones.known[zones.count - 1].is_cached = true;
    }
    ASSERT_BOGUS(judge_unsigned("a.b.c.d.e.f.g.h.i.", "."), EDE_RRSIGS_MISSING);
    assert_non_null(strstr(zones.words, "known b.c.d.e.f.g.h.i., ds i."));
}

/* A server may add proofs of zones above the one that denies, and each of them is verified. */
static void test_a_stored_denial_is_that_of_its_deepest_zone(void **state)
{
    (void)state;
    zones_secure("example.");
    zones_add(
        "b.example.", RRTYPE_DS, SECURITY_SECURE, ANSWER_NODATA,
        (struct sections){.authority = {"example. 300 IN NSEC \\000.example. NS DS RRSIG NSEC",
                                        SIG("example.", "NSEC", "."),
                                        "b.example. 300 IN NSEC c.example. A RRSIG NSEC",
                                        SIG("b.example.", "NSEC", "example.")}});
    zones_insecure("a.b.example.", "example.");
    zones_ask(&QUESTION("x.a.b.example.", A), ANSWER_POSITIVE, ".",
              (struct sections){.answer = {"x.a.b.example. 300 IN A 192.0.2.1"}});
    zones.view.zone_is_cut = false;
    assert_int_equal(zones_run(), SECURITY_INSECURE);
}

static void test_iterations_above_an_anchor_make_no_stored_denial_insecure(void **state)
{
    (void)state;
    uint8_t bytes[1024], wire[NAME_WIRE_MAX];
    zones_secure("example.");
    assert_int_equal(anchors_add(zones.anchors, sample_name(wire, "example."), RRTYPE_DS,
                                 zones_rdata(zones_ds("example.", 13, 2), bytes)),
                     ERR_OK);
    zones_add(
        "b.example.", RRTYPE_DS, SECURITY_SECURE, ANSWER_NODATA,
        (struct sections){.authority = {"0p9mhaveqvm6t7vbl5lop2u3t2rp3tom. 300 IN NSEC3 1 0 "
                                        "60 - 2t7b4g4vsa5smi47k61mv5bv1a22bojr NS DS RRSIG",
                                        SIG("0p9mhaveqvm6t7vbl5lop2u3t2rp3tom.", "NSEC3", "."),
                                        "b.example. 300 IN NSEC c.example. A RRSIG NSEC",
                                        SIG("b.example.", "NSEC", "example.")}});
    zones_ask(&QUESTION("b.example.", A), ANSWER_POSITIVE, ".",
              (struct sections){.answer = {"b.example. 300 IN A 192.0.2.1"}});
    zones.view.zone_is_cut = false;
    ASSERT_BOGUS(zones_run(), EDE_RRSIGS_MISSING);
}

/* The DS records of a zone, or their absence, belong to the zone above. */
static void test_a_known_insecure_zone_says_nothing_about_its_own_ds(void **state)
{
    (void)state;
    zones_known_insecure("example.");
    zones_ask(&QUESTION("example.", DS), ANSWER_NODATA, "example.", (struct sections){0});
    zones.view.is_at_qname = true;
    ASSERT_BOGUS(zones_run(), EDE_NSEC_MISSING);
    zones_ask(&QUESTION("sub.example.", DS), ANSWER_NODATA, "example.", (struct sections){0});
    zones.view.is_at_qname = true;
    assert_int_equal(zones_run(), SECURITY_INSECURE);
    assert_string_equal(zones.words, "known example.");
}

/* An anchor below the insecure zone starts a secure island. */
static void test_a_look_never_passes_an_anchor(void **state)
{
    (void)state;
    uint8_t bytes[1024];
    uint8_t wire[NAME_WIRE_MAX];
    zones_known_insecure("example.");
    assert_int_equal(anchors_add(zones.anchors, sample_name(wire, "www.example."), RRTYPE_DS,
                                 zones_rdata(zones_ds("www.example.", 13, 2), bytes)),
                     ERR_OK);
    ASSERT_BOGUS(judge_unsigned("www.example.", "example."), EDE_RRSIGS_MISSING);
    ASSERT_BOGUS(judge_unsigned("www.example.", "."), EDE_RRSIGS_MISSING);
}

/* The alias's target may be in another zone, which is secure. */
static void test_a_chain_within_the_message_is_read(void **state)
{
    (void)state;
    zones_known_insecure("example.");
    zones_secure("other.");
    zones_no_cut("www.other.", "other.");
    uint8_t wire[NAME_WIRE_MAX];
    zones_ask(&WWW, ANSWER_POSITIVE, "example.",
              (struct sections){.answer = {"www.example. 300 IN CNAME www.other.",
                                           "www.other. 300 IN A 192.0.2.1"}});
    zones.view.end = sample_name(wire, "www.other.");
    ASSERT_BOGUS(zones_run(), EDE_RRSIGS_MISSING);
}

/* Another zone may have made the signature, so it is judged as usual. */
static void test_a_message_with_signatures_is_read(void **state)
{
    (void)state;
    zones_known_insecure("example.");
    zones_ask(&WWW, ANSWER_POSITIVE, "example.",
              (struct sections){.answer = {ADDRESS, SIG("www.example.", "A", "example.")}});
    zones.view.is_at_qname = true;
    assert_int_equal(zones_run(), SECURITY_INSECURE);
    assert_string_equal(zones.words, "known example., ds example.");
}

/* The stored answer gets a mark, so that its proof is read only once. */
static void test_a_proven_absence_of_ds_records_is_noted(void **state)
{
    (void)state;
    zones_secure("example.");
    const char *soa = "example. 300 IN SOA ns. host. 1 2 3 4 300",
               *soa_sig = SIG("example.", "SOA", "example."),
               *sig = SIG("sub.example.", "NSEC", "example.");
    const struct {
        const char *bitmap;
        uint16_t type;
        bool is_noted;
    } rows[] = {{"NS RRSIG NSEC", RRTYPE_DS, true},
                {"A RRSIG NSEC", RRTYPE_DS, false}, /* the name is not a cut */
                {"A RRSIG NSEC", RRTYPE_AAAA, false}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint8_t wire[NAME_WIRE_MAX];
        struct question question = {
            .name = sample_name(wire, "sub.example."), .type = rows[i].type, .cls = 1};
        const char *nsec = zones_print("sub.example. 300 IN NSEC z.example. %s", rows[i].bitmap);
        assert_int_equal(zones_judge(question, ANSWER_NODATA, "example.",
                                     (struct sections){.authority = {soa, soa_sig, nsec, sig}}),
                         SECURITY_SECURE);
        assert_int_equal(zones.verdict.proves_insecure, rows[i].is_noted);
    }
}

/* ---- bounds ---- */

static void test_a_large_answer_of_an_insecure_zone_is_insecure(void **state)
{
    (void)state;
    static char texts[RRSETS_MAX + 1][64];
    zones_insecure("example.", ".");
    response_begin(&zones.sent, 0, &WWW);
    zones_ask(&WWW, ANSWER_POSITIVE, "example.", (struct sections){0});
    for (unsigned i = 0; i <= RRSETS_MAX; i++) {
        snprintf(texts[i], sizeof(texts[i]), "n%u.example. 300 IN A 192.0.2.1", i);
        response_add(&zones.sent, SECTION_ANSWER, texts[i]);
    }
    response_parse(&zones.sent);
    assert_int_equal(zones_run(), SECURITY_INSECURE);
    zones_secure("example.");
    zones_no_cut("www.example.", "example.");
    assert_int_equal(zones_run(), SECURITY_BOGUS);
}

static void test_signatures_asked_for_are_not_secure(void **state)
{
    (void)state;
    zones_secure("example.");
    assert_int_equal(zones_judge(QUESTION("www.example.", RRSIG), ANSWER_POSITIVE, "example.",
                                 (struct sections){.answer = {GOOD_SIG}}),
                     SECURITY_INSECURE);
}

static void test_the_steps_are_bounded(void **state)
{
    (void)state;
    char name[256] = "", record[300];
    for (unsigned i = 0; i < 60; i++) {
        memmove(name + 2, name, strlen(name) + 1);
        memcpy(name, "a.", 2);
    }
    snprintf(record, sizeof(record), "%s 300 IN A 192.0.2.1", name);
    for (unsigned i = 0; i < ZONES_MAX - 3; i++)
        zones_no_cut(name + 2 * (59 - i), ".");
    zones_ask(&QUESTION(name, A), ANSWER_POSITIVE, ".", (struct sections){.answer = {record}});
    zones.view.zone_is_cut = false;
    assert_int_equal(zones_run(), SECURITY_BOGUS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_a_signed_answer_is_secure, zones_setup),
        cmocka_unit_test_setup(test_known_keys_need_no_other_step, zones_setup),
        cmocka_unit_test_setup(test_a_name_that_loses_its_anchor_meanwhile_is_insecure,
                               zones_setup),
        cmocka_unit_test_setup(test_nothing_counts_as_verified_after_another_message_was_read,
                               zones_setup),
        cmocka_unit_test_setup(test_one_look_at_the_keys_serves_all_sets_of_a_zone, zones_setup),
        cmocka_unit_test_setup(test_the_keys_of_an_anchor_need_no_ds, zones_setup),
        cmocka_unit_test_setup(test_a_dnskey_set_needs_a_key_with_a_ds, zones_setup),
        cmocka_unit_test_setup(test_a_dnskey_set_without_a_key_of_the_ds_is_bogus, zones_setup),
        cmocka_unit_test_setup(test_the_dnskey_set_of_the_root_needs_the_anchor, zones_setup),
        cmocka_unit_test_setup(test_a_revoked_key_signs_nothing, zones_setup),
        cmocka_unit_test_setup(test_a_key_without_the_zone_bit_signs_nothing, zones_setup),
        cmocka_unit_test_setup(test_keys_that_cannot_be_fetched_make_the_answer_bogus, zones_setup),
        cmocka_unit_test_setup(test_an_unchecked_answer_about_keys_is_not_believed, zones_setup),
        cmocka_unit_test_setup(test_a_wrong_signature_is_bogus, zones_setup),
        cmocka_unit_test_setup(test_one_right_signature_suffices, zones_setup),
        cmocka_unit_test_setup(test_two_wrong_signatures_of_a_set_end_it, zones_setup),
        cmocka_unit_test_setup(test_four_wrong_signatures_of_a_message_end_it, zones_setup),
        cmocka_unit_test_setup(test_the_wrong_signatures_of_a_question_have_a_bound, zones_setup),
        cmocka_unit_test_setup(test_eight_signatures_of_a_set_count, zones_setup),
        cmocka_unit_test_setup(test_two_keys_of_one_tag_count, zones_setup),
        cmocka_unit_test_setup(test_only_records_of_the_zone_are_its_keys, zones_setup),
        cmocka_unit_test_setup(test_the_keys_of_a_zone_have_a_bound, zones_setup),
        cmocka_unit_test_setup(test_the_ds_records_of_a_zone_have_a_bound, zones_setup),
        cmocka_unit_test_setup(test_dates_have_their_own_errors, zones_setup),
        cmocka_unit_test_setup(test_no_signature_is_too_young_while_the_clock_is_behind,
                               zones_setup),
        cmocka_unit_test_setup(test_a_signer_beside_or_above_the_anchor_does_not_count,
                               zones_setup),
        cmocka_unit_test_setup(test_too_many_labels_do_not_count, zones_setup),
        cmocka_unit_test_setup(test_a_signer_that_is_no_zone_is_bogus, zones_setup),
        cmocka_unit_test_setup(test_the_signature_bounds_the_life, zones_setup),
        cmocka_unit_test_setup(test_the_verdict_says_when_the_first_signature_ends, zones_setup),
        cmocka_unit_test_setup(test_a_postponed_verification_is_offered_again, zones_setup),
        cmocka_unit_test_setup(test_the_second_signature_may_be_postponed, zones_setup),
        cmocka_unit_test_setup(test_a_beginning_may_be_postponed, zones_setup),
        cmocka_unit_test_setup(test_a_verification_postponed_often_costs_no_more, zones_setup),
        cmocka_unit_test_setup(test_the_budget_ends_the_work, zones_setup),
        cmocka_unit_test_setup(test_the_budget_ends_before_the_digest_of_a_key, zones_setup),
        cmocka_unit_test_setup(test_an_unsigned_answer_below_an_insecure_cut_is_insecure,
                               zones_setup),
        cmocka_unit_test_setup(test_an_unsigned_answer_of_a_secure_zone_is_bogus, zones_setup),
        cmocka_unit_test_setup(test_a_forwarder_is_asked_label_by_label, zones_setup),
        cmocka_unit_test_setup(test_a_cut_behind_a_secure_zone_is_found, zones_setup),
        cmocka_unit_test_setup(test_an_insecure_zone_may_have_signatures, zones_setup),
        cmocka_unit_test_setup(test_unsupported_algorithms_make_a_zone_insecure, zones_setup),
        cmocka_unit_test_setup(test_an_anchor_that_cannot_be_used_makes_its_zone_bogus,
                               zones_setup),
        cmocka_unit_test_setup(test_unsupported_digests_make_a_zone_insecure, zones_setup),
        cmocka_unit_test_setup(test_sha1_counts_only_where_the_operator_says_so, zones_setup),
        cmocka_unit_test_setup(test_a_ds_that_fits_no_key_is_not_made_good_by_an_unsupported_one,
                               zones_setup),
        cmocka_unit_test_setup(test_names_below_no_anchor_are_insecure, zones_setup),
        cmocka_unit_test_setup(test_a_negative_anchor_hides_bad_signatures, zones_setup),
        cmocka_unit_test_setup(test_a_name_that_is_denied_does_not_become_insecure, zones_setup),
        cmocka_unit_test_setup(test_a_configured_zone_that_its_parent_denies_is_private,
                               zones_setup),
        cmocka_unit_test_setup(test_a_private_zone_may_be_signed, zones_setup),
        cmocka_unit_test_setup(test_a_configured_zone_with_a_ds_is_judged, zones_setup),
        cmocka_unit_test_setup(test_a_configured_zone_answers_while_proofs_cannot_be_reached,
                               zones_setup),
        cmocka_unit_test_setup(test_an_alias_at_the_name_is_no_cut, zones_setup),
        cmocka_unit_test_setup(test_an_alias_from_a_wildcard_or_a_dname_is_no_cut, zones_setup),
        cmocka_unit_test_setup(test_an_insecure_alias_is_no_proof_against_a_cut, zones_setup),
        cmocka_unit_test_setup(test_each_set_of_a_chain_has_its_own_signer, zones_setup),
        cmocka_unit_test_setup(test_an_insecure_link_makes_the_chain_insecure, zones_setup),
        cmocka_unit_test_setup(test_a_denied_alias_target_says_nothing_about_the_zone_of_the_alias,
                               zones_setup),
        cmocka_unit_test_setup(test_an_insecure_link_excuses_no_expanded_alias, zones_setup),
        cmocka_unit_test_setup(test_a_bogus_link_makes_the_chain_bogus, zones_setup),
        cmocka_unit_test_setup(test_records_after_an_alias_that_leads_out_do_not_count,
                               zones_setup),
        cmocka_unit_test_setup(test_a_chain_that_ends_elsewhere_is_bogus, zones_setup),
        cmocka_unit_test_setup(test_a_dname_vouches_for_its_cname, zones_setup),
        cmocka_unit_test_setup(test_a_cname_that_was_asked_for_may_follow_from_a_dname,
                               zones_setup),
        cmocka_unit_test_setup(test_a_proven_nodata_is_secure, zones_setup),
        cmocka_unit_test_setup(test_a_nodata_with_the_type_in_the_bitmap_is_bogus, zones_setup),
        cmocka_unit_test_setup(test_an_nxdomain_with_the_proof_of_nodata_is_nodata, zones_setup),
        cmocka_unit_test_setup(test_a_negative_answer_without_proof_is_bogus, zones_setup),
        cmocka_unit_test_setup(test_an_unsigned_proof_proves_nothing, zones_setup),
        cmocka_unit_test_setup(test_a_wrongly_signed_proof_proves_nothing, zones_setup),
        cmocka_unit_test_setup(test_an_insecure_negative_answer_needs_no_proof, zones_setup),
        cmocka_unit_test_setup(test_a_proven_nxdomain_is_secure, zones_setup),
        cmocka_unit_test_setup(test_a_soa_that_is_not_signed_is_bogus, zones_setup),
        cmocka_unit_test_setup(test_an_expansion_needs_the_next_closer_name, zones_setup),
        cmocka_unit_test_setup(test_proofs_of_positive_answers_are_not_verified, zones_setup),
        cmocka_unit_test_setup(test_dnskey_and_ds_are_never_expanded, zones_setup),
        cmocka_unit_test_setup(test_one_look_ends_where_the_zone_is_known_to_be_insecure,
                               zones_setup),
        cmocka_unit_test_setup(test_a_look_that_finds_nothing_changes_nothing, zones_setup),
        cmocka_unit_test_setup(test_an_unknown_zone_below_a_known_insecure_one_is_not_asked_about,
                               zones_setup),
        cmocka_unit_test_setup(test_a_zone_without_ds_answer_is_insecure_below_an_insecure_one,
                               zones_setup),
        cmocka_unit_test_setup(test_a_zone_without_ds_answer_is_bogus_below_a_secure_one,
                               zones_setup),
        cmocka_unit_test_setup(test_only_an_insecure_answer_without_records_is_a_mark, zones_setup),
        cmocka_unit_test_setup(test_a_forwarder_is_looked_at_label_by_label, zones_setup),
        cmocka_unit_test_setup(test_the_looks_are_bounded, zones_setup),
        cmocka_unit_test_setup(test_a_stored_denial_is_that_of_its_deepest_zone, zones_setup),
        cmocka_unit_test_setup(test_iterations_above_an_anchor_make_no_stored_denial_insecure,
                               zones_setup),
        cmocka_unit_test_setup(test_a_known_insecure_zone_says_nothing_about_its_own_ds,
                               zones_setup),
        cmocka_unit_test_setup(test_a_look_never_passes_an_anchor, zones_setup),
        cmocka_unit_test_setup(test_a_chain_within_the_message_is_read, zones_setup),
        cmocka_unit_test_setup(test_a_message_with_signatures_is_read, zones_setup),
        cmocka_unit_test_setup(test_a_proven_absence_of_ds_records_is_noted, zones_setup),
        cmocka_unit_test_setup(test_a_large_answer_of_an_insecure_zone_is_insecure, zones_setup),
        cmocka_unit_test_setup(test_signatures_asked_for_are_not_secure, zones_setup),
        cmocka_unit_test_setup(test_the_steps_are_bounded, zones_setup),
    };
    return cmocka_run_group_tests(tests, NULL, zones_teardown);
}
