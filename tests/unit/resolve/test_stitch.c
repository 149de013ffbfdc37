/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/resolve/sample.h"

#include "resolve/alias.h"
#include "resolve/stitch.h"

static struct compose_space head_space, tail_space, space;
static struct answer out;

/* Makes an answer with these records, as scrub() does at the instant 0. */
static struct answer made(struct compose_space *to, const char *name, uint16_t flags,
                          enum answer_kind kind, struct sections sections)
{
    static struct response_text text;
    struct question question = {NAME(name), RRTYPE_A, RRCLASS_IN};
    const struct message *message = response_make(&text, 0, &question, &sections);
    struct compose compose;
    struct copy copy;
    struct answer answer;
    compose_begin(&compose, to, &question, flags);
    copy_init(&copy, &compose.build, message);
    for (enum section section = SECTION_ANSWER; section < SECTION_COUNT; section++) {
        build_section(&compose.build, section);
        struct rr_iter iter = message_rrs(message, section);
        for (struct rr rr; message_rr_next(&iter, &rr);)
            compose_copy(&compose, &copy, &rr, rr.ttl);
    }
    assert_true(compose_end(&compose, &answer));
    answer.kind = kind;
    return answer;
}

static struct answer alias(uint16_t flags)
{
    return made(&head_space, "www.example", flags, ANSWER_POSITIVE,
                (struct sections){.answer = {"www.example. 300 IN CNAME b.com."}});
}

static struct answer address(uint16_t flags)
{
    return made(&tail_space, "b.com", flags, ANSWER_POSITIVE,
                (struct sections){.answer = {"b.com. 100 IN A 192.0.2.1"}});
}

static bool joined(struct answer head, struct answer tail, uint64_t now_s)
{
    return stitch(&out, &space, &QUESTION("www.example", A), &head, &tail, now_s * 1000000);
}

/* RFC 4035 section 3.2.3: AD covers all parts. */
static void test_the_whole_is_as_secure_as_its_lesser_part(void **state)
{
    (void)state;
    enum { NO = SECURITY_UNCHECKED, INSECURE = SECURITY_INSECURE, SECURE = SECURITY_SECURE };
    static const uint8_t rows[][3] = {
        {SECURE, SECURE, SECURE},
        {SECURE, INSECURE, INSECURE},
        {INSECURE, SECURE, INSECURE},
        {SECURE, NO, INSECURE},
        {NO, SECURE, NO},
        {NO, NO, NO},
    };
    for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
        struct answer head = alias(0), tail = address(0);
        head.security = rows[i][0];
        tail.security = rows[i][1];
        head.ede_count = 1;
        head.ede[0] = 27;
        assert_true(joined(head, tail, 0));
        assert_int_equal(out.security, rows[i][2]);
        assert_int_equal(out.ede_count, rows[i][0] == INSECURE);
    }
}

static void test_the_first_end_of_both_parts_counts(void **state)
{
    (void)state;
    struct answer head = alias(0), tail = address(0);
    head.security = tail.security = SECURITY_SECURE;
    head.signatures = (struct answer_signed){.until_s = 2000, .signer_labels = 1};
    tail.signatures = (struct answer_signed){.until_s = 1000, .signer_labels = 2};
    assert_true(joined(head, tail, 0));
    assert_int_equal(out.signatures.until_s, 1000);
    assert_int_equal(out.signatures.signer_labels, 1);
    tail.signatures.until_s = 3000;
    assert_true(joined(head, tail, 0));
    assert_int_equal(out.signatures.until_s, 2000);
    tail.security = SECURITY_INSECURE;
    assert_true(joined(head, tail, 0));
    assert_int_equal(out.signatures.until_s, 0);
    tail.security = SECURITY_SECURE;
    tail.signatures.until_s = 0; /* the time is unknown */
    assert_true(joined(head, tail, 0));
    assert_int_equal(out.signatures.until_s, 0);
}

static void test_the_target_follows_the_alias(void **state)
{
    (void)state;
    assert_true(joined(alias(0), address(0), 0));
    assert_string_equal(answer_show(&out), "an www.example. 300 CNAME b.com.\n"
                                           "an b.com. 100 A 192.0.2.1\n");
    assert_int_equal(out.kind, ANSWER_POSITIVE);
    assert_int_equal(out.ttl_s, 100);
}

static void test_both_parts_are_aged(void **state)
{
    (void)state;
    struct answer tail = address(0);
    tail.stored_at = 4000000;
    assert_true(joined(alias(0), tail, 10));
    assert_string_equal(answer_show(&out), "an www.example. 290 CNAME b.com.\n"
                                           "an b.com. 94 A 192.0.2.1\n");
    assert_int_equal(out.ttl_s, 94);
    assert_int_equal(out.stored_at, 10000000);
}

static void test_an_uncacheable_part_makes_the_whole_uncacheable(void **state)
{
    (void)state;
    struct answer head = alias(0), tail = address(0);
    head.ttl_s = 0;
    assert_true(joined(head, tail, 0));
    assert_int_equal(out.ttl_s, 0);
    head.ttl_s = 300;
    tail.ttl_s = 0;
    assert_true(joined(head, tail, 0));
    assert_int_equal(out.ttl_s, 0);
}

static void test_kind_and_rcode_come_from_the_tail(void **state)
{
    (void)state;
    struct answer tail = made(&tail_space, "b.com", RCODE_NXDOMAIN, ANSWER_NXDOMAIN,
                              (struct sections){.authority = {"com. 60 IN SOA a. b. 1 2 3 4 60"}});
    assert_true(joined(alias(0), tail, 0));
    assert_string_equal(answer_show(&out), "an www.example. 300 CNAME b.com.\n"
                                           "ns com. 60 SOA a.\n");
    assert_int_equal(out.kind, ANSWER_NXDOMAIN);
    assert_int_equal(header_rcode(out.message.data), RCODE_NXDOMAIN);
    assert_int_equal(out.ttl_s, 60);
}

static void test_ad_needs_both(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        assert_true(joined(alias(i & 1 ? HEADER_AD : 0), address(i & 2 ? HEADER_AD : 0), 0));
        assert_int_equal(header_has(out.message.data, HEADER_AD), i == 3);
    }
}

static void test_aliases_are_counted_over_both(void **state)
{
    (void)state;
    static char texts[ALIAS_HOPS_MAX][80];
    struct sections sections = {.answer = {NULL}};
    for (unsigned i = 0; i < ALIAS_HOPS_MAX; i++) {
        snprintf(texts[i], sizeof(texts[i]), "n%u.com. 300 IN CNAME n%u.com.", i, i + 1);
        sections.answer[i] = texts[i];
    }
    struct answer tail = made(&tail_space, "n0.com", 0, ANSWER_POSITIVE, sections);
    assert_false(joined(alias(0), tail, 0));
    sections.answer[ALIAS_HOPS_MAX - 1] = NULL;
    tail = made(&tail_space, "n0.com", 0, ANSWER_POSITIVE, sections);
    assert_true(joined(alias(0), tail, 0));
}

static void test_a_failure_is_a_header_and_the_question(void **state)
{
    (void)state;
    uint8_t bytes[COMPOSE_FAILURE_MAX];
    compose_failure(&out, bytes, &QUESTION("www.example", A), RCODE_SERVFAIL);
    assert_string_equal(answer_show(&out), "");
    assert_int_equal(header_rcode(out.message.data), RCODE_SERVFAIL);
    assert_int_equal(out.message.len, 12 + 13 + 4);
    assert_int_equal(out.kind, ANSWER_FAILURE);
    assert_int_equal(out.ttl_s, 0);
}

static void test_a_copy_is_independent(void **state)
{
    (void)state;
    struct answer tail = address(0);
    struct answer *copy = compose_dup(&tail);
    memset(&tail_space, 0xff, sizeof(tail_space));
    assert_string_equal(answer_show(copy), "an b.com. 100 A 192.0.2.1\n");
    free(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_whole_is_as_secure_as_its_lesser_part),
        cmocka_unit_test(test_the_first_end_of_both_parts_counts),
        cmocka_unit_test(test_the_target_follows_the_alias),
        cmocka_unit_test(test_both_parts_are_aged),
        cmocka_unit_test(test_an_uncacheable_part_makes_the_whole_uncacheable),
        cmocka_unit_test(test_kind_and_rcode_come_from_the_tail),
        cmocka_unit_test(test_ad_needs_both),
        cmocka_unit_test(test_aliases_are_counted_over_both),
        cmocka_unit_test(test_a_failure_is_a_header_and_the_question),
        cmocka_unit_test(test_a_copy_is_independent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
