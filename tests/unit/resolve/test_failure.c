/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "dns/edns.h"
#include "dns/header.h"
#include "resolve/failure.h"

static char space[ANSWER_TEXT_MAX];

static const char *told(struct exchange_failure exchange, uint16_t ede, const char *zone)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct name name;
    struct failure failure = failure_of_exchange(&exchange, ede);
    assert_int_equal(name_parse(&name, wire, zone, strlen(zone)), ERR_OK);
    return failure_tell(&failure, name, space);
}

static void test_the_text_names_the_zone_and_the_reason(void **state)
{
    (void)state;
    assert_string_equal(told((struct exchange_failure){.any_network = true,
                                                       .error = ERR_REFUSED,
                                                       .loss = "they are silent"},
                             EDE_NONE, "corp.example"),
                        "no server of the zone corp.example. answers: connection refused");
    assert_string_equal(
        told((struct exchange_failure){.any_network = true, .loss = "they are silent"}, EDE_NONE,
             "."),
        "no server of the zone . answers: they are silent");
    assert_string_equal(told((struct exchange_failure){.any_network = true}, EDE_NONE, "a"),
                        "no server of the zone a. answers");
}

static void test_useless_answers_differ_from_silence(void **state)
{
    (void)state;
    assert_string_equal(
        told((struct exchange_failure){.any_answer = true, .rcode = RCODE_REFUSED}, EDE_NONE, "a"),
        "the servers of the zone a. refuse to answer");
    assert_string_equal(
        told((struct exchange_failure){.any_answer = true, .rcode = RCODE_SERVFAIL}, EDE_NONE, "a"),
        "no server of the zone a. gave a useful answer");
}

static void test_a_better_reason_keeps_its_place(void **state)
{
    (void)state;
    assert_null(told((struct exchange_failure){.any_answer = true}, EDE_DNSSEC_BOGUS, "a"));
    assert_null(told((struct exchange_failure){.full = true}, EDE_NONE, "a"));
    struct failure failure = failure_servfail();
    assert_null(failure_tell(&failure, name_root(), space));
}

static void test_a_long_name_is_cut(void **state)
{
    char zone[256] = "";
    (void)state;
    for (int i = 0; i < 25; i++)
        strcat(zone, "abcdefghi.");
    const char *text = told(
        (struct exchange_failure){.any_network = true, .loss = "this machine has no route to them"},
        EDE_NONE, zone);
    assert_true(strlen(text) < ANSWER_TEXT_MAX - 1);
    assert_non_null(strstr(text, "... answers: this machine has no route to them"));
}

/* Returns a failure as a task tells it to its waiters. */
static struct answer failed_answer(uint8_t *wire)
{
    memset(wire, 0, HEADER_LEN);
    wire[3] = RCODE_SERVFAIL;
    return (struct answer){.kind = ANSWER_FAILURE,
                           .message = span_of(wire, HEADER_LEN),
                           .ttl_s = 5,
                           .ede_count = 2,
                           .ede = {EDE_DNSSEC_BOGUS, EDE_NETWORK_ERROR},
                           .security = SECURITY_BOGUS,
                           .error = ERR_NO_ZONE,
                           .text = "the reason"};
}

static void test_the_failure_of_a_subtask_keeps_its_reasons(void **state)
{
    (void)state;
    uint8_t wire[HEADER_LEN];
    struct answer answer = failed_answer(wire);
    struct failure failure = failure_of_answer(&answer, answer.stored_at);
    assert_int_equal(failure.rcode, RCODE_SERVFAIL);
    assert_int_equal(failure.ede_count, 2);
    assert_int_equal(failure.ede[0], EDE_DNSSEC_BOGUS);
    assert_int_equal(failure.ede[1], EDE_NETWORK_ERROR);
    assert_int_equal(failure.error, ERR_NO_ZONE);
    assert_string_equal(failure.text, "the reason");
    assert_true(failure.is_bogus);
    assert_true(failure.cache);
}

static void test_a_failure_ends_with_its_cause(void **state)
{
    (void)state;
    uint8_t wire[HEADER_LEN];
    struct answer answer = failed_answer(wire);
    answer.stored_at = 7000000;
    answer.ttl_s = 5;
    assert_int_equal(failure_of_answer(&answer, 7000000).ttl_max_s, 5);
    assert_int_equal(failure_of_answer(&answer, 10999999).ttl_max_s, 2);
    assert_int_equal(failure_of_answer(&answer, 11999999).ttl_max_s, 1);
    assert_int_equal(failure_of_answer(&answer, 12000000).ttl_max_s, 1); /* RFC 9520: at least */
    assert_int_equal(failure_of_answer(&answer, 6999999).ttl_max_s, 5);  /* another loop's clock */
}

static void test_a_failure_that_is_not_kept_stays_so(void **state)
{
    (void)state;
    uint8_t wire[HEADER_LEN];
    struct answer answer = failed_answer(wire);
    answer.ttl_s = 0;
    answer.security = SECURITY_UNCHECKED;
    struct failure failure = failure_of_answer(&answer, answer.stored_at);
    assert_false(failure.cache);
    assert_false(failure.is_bogus);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_text_names_the_zone_and_the_reason),
        cmocka_unit_test(test_useless_answers_differ_from_silence),
        cmocka_unit_test(test_a_better_reason_keeps_its_place),
        cmocka_unit_test(test_a_long_name_is_cut),
        cmocka_unit_test(test_the_failure_of_a_subtask_keeps_its_reasons),
        cmocka_unit_test(test_a_failure_ends_with_its_cause),
        cmocka_unit_test(test_a_failure_that_is_not_kept_stays_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
