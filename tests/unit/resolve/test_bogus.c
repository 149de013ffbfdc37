/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/recurse/sample.h"

#include "resolve/bogus.h"
#include "validate/validation.h"

enum { NOW_S = 2000000000 };

static const char *text_of(const char *fault, const char *zone, uint32_t since_s)
{
    static char text[ANSWER_TEXT_MAX];
    struct verdict verdict = {.fault = fault, .since_s = since_s};
    struct name name = NAME(zone);
    verdict.zone_len = name.len;
    memcpy(verdict.zone, name.wire, name.len);
    assert_ptr_equal(bogus_text(text, &verdict, NOW_S), text);
    assert_true(strlen(text) < sizeof(text));
    return text;
}

static void test_the_text_names_the_fault_and_the_zone(void **state)
{
    (void)state;
    assert_string_equal(text_of("a signature is missing", "example.org", 0),
                        "a signature is missing, zone example.org");
    assert_string_equal(text_of("a signature is wrong", ".", 0), "a signature is wrong, zone .");
}

static void test_a_zone_that_may_be_private_gets_the_remedy(void **state)
{
    (void)state;
    char text[ANSWER_TEXT_MAX];
    struct verdict verdict = {.fault = "a proof of absence is missing or wrong",
                              .may_be_private = true};
    struct name name = NAME("corp.example");
    verdict.zone_len = name.len;
    memcpy(verdict.zone, name.wire, name.len);
    assert_string_equal(bogus_text(text, &verdict, NOW_S),
                        "a proof of absence is missing or wrong, zone corp.example; a private zone "
                        "needs validate: no");
    struct name longer = NAME("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.bbbbbbbb.example");
    verdict.zone_len = longer.len;
    memcpy(verdict.zone, longer.wire, longer.len);
    assert_string_equal(bogus_text(text, &verdict, NOW_S),
                        "a proof of absence is missing or wrong, zone bbbbbbbb.example; a private "
                        "zone needs validate: no");
}

static void test_the_text_has_no_random_case(void **state)
{
    (void)state;
    assert_string_equal(text_of("a signature is missing", "eXamPle.oRg", 0),
                        "a signature is missing, zone example.org");
}

static void test_the_text_says_how_long_ago_a_signature_expired(void **state)
{
    (void)state;
    static const struct row {
        uint32_t age_s;
        const char *words;
    } rows[] = {{0, ""},
                {1, " 1 second ago"},
                {119, " 119 seconds ago"},
                {120, " 2 minutes ago"},
                {7199, " 119 minutes ago"},
                {7200, " 2 hours ago"},
                {3 * 86400 + 5, " 3 days ago"},
                {UINT32_MAX - 5, ""}}; /* the signature expires in the future */
    char expected[ANSWER_TEXT_MAX];
    for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
        snprintf(expected, sizeof(expected), "expired%s, zone a", rows[i].words);
        assert_string_equal(text_of("expired", "a", NOW_S - rows[i].age_s), expected);
    }
}

static void test_a_long_zone_loses_its_first_labels(void **state)
{
    (void)state;
    const char *text =
        text_of("a signature is missing",
                "one-label-of-thirty-bytes-00001.one-label-of-thirty-bytes-00002.example.org", 0);
    assert_string_equal(text,
                        "a signature is missing, zone one-label-of-thirty-bytes-00002.example.org");
    char label[64];
    memset(label, 'x', 63);
    label[63] = 0;
    text_of("the answer has too many records to be validated", label, NOW_S - 9999 * 86400u);
}

static void test_a_bogus_answer_is_remembered_longer_each_time(void **state)
{
    (void)state;
    struct answer before = {.kind = ANSWER_FAILURE, .security = SECURITY_BOGUS, .stored_at = 0};
    static const uint32_t lives[] = {5, 10, 20, 40, 60, 60};
    assert_int_equal(bogus_ttl(NULL, 0), lives[0]);
    for (unsigned i = 0; i + 1 < ARRAY_LEN(lives); i++) {
        before.ttl_s = lives[i];
        assert_int_equal(bogus_ttl(&before, (uint64_t)lives[i] * 1000000), lives[i + 1]);
    }
    /* the failure before was long ago */
    assert_int_equal(bogus_ttl(&before, UINT64_C(120) * 1000000), 5);
    before.security = SECURITY_UNCHECKED;
    assert_int_equal(bogus_ttl(&before, 0), 5);
    before.kind = ANSWER_POSITIVE;
    before.security = SECURITY_BOGUS;
    assert_int_equal(bogus_ttl(&before, 0), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_text_names_the_fault_and_the_zone),
        cmocka_unit_test(test_a_zone_that_may_be_private_gets_the_remedy),
        cmocka_unit_test(test_the_text_has_no_random_case),
        cmocka_unit_test(test_the_text_says_how_long_ago_a_signature_expired),
        cmocka_unit_test(test_a_long_zone_loses_its_first_labels),
        cmocka_unit_test(test_a_bogus_answer_is_remembered_longer_each_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
