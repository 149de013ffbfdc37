/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Payloads, which a separate reader decodes: each field, both families, missing facts, and random
 * messages. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/rand.h"
#include "tap/dnstap_message.h"
#include "unit/tap/dnstap_decode.h"

static uint8_t bytes[70000], text[70000];
static struct field outer[FIELDS_MAX], inner[FIELDS_MAX];
static struct addr asker, asked;
static struct tap_message seen;
static struct dnstap_message message;

static int set_up(void **state)
{
    (void)state;
    assert_int_equal(addr_parse(&asker, "192.0.2.7@40000", 0), ERR_OK);
    assert_int_equal(addr_parse(&asked, "198.51.100.1@53", 0), ERR_OK);
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (uint8_t)(i * 7);
    seen = (struct tap_message){
        .transport = TRANSPORT_UDP,
        .asker = &asker,
        .asked = &asked,
        .asked_at = 5000007,
        .answered_at = 7000009,
        .bytes = span_of(text, 40),
    };
    message = (struct dnstap_message){
        .type = DNSTAP_CLIENT_RESPONSE, .wall_offset_us = 1767225600000000, .seen = &seen};
    return 0;
}

/* Checks that the written length equals the computed one. */
static void put(void)
{
    memset(bytes, 0xee, sizeof(bytes));
    size_t len = dnstap_message_put(NULL, &message);
    assert_int_equal(dnstap_message_put(bytes, &message), len);
    assert_int_equal(bytes[len], 0xee);
    decode_fields(span_of(bytes, len), outer);
    expect_number(&outer[15], 0, 1); /* the field holds a Message */
    assert_true(outer[14].is_there);
    decode_fields(outer[14].bytes, inner);
    expect_number(&inner[1], 0, message.type);
}

static void test_an_answer_has_both_times_both_ends_and_its_message(void **state)
{
    (void)state;
    put();
    assert_false(outer[1].is_there || outer[2].is_there);
    expect_number(&inner[2], 0, 1);
    expect_number(&inner[3], 0, 1);
    expect_bytes(&inner[4], "\xc0\0\2\7", 4);
    expect_bytes(&inner[5], "\xc6\x33\x64\1", 4);
    expect_number(&inner[6], 0, 40000);
    expect_number(&inner[7], 0, 53);
    expect_number(&inner[8], 0, 1767225605);
    expect_number(&inner[9], 5, 7000);
    expect_number(&inner[12], 0, 1767225607);
    expect_number(&inner[13], 5, 9000);
    expect_bytes(&inner[14], text, 40);
    assert_false(inner[10].is_there);
}

static void test_a_query_has_one_time_and_its_message(void **state)
{
    (void)state;
    message.type = DNSTAP_FORWARDER_QUERY;
    put();
    expect_number(&inner[8], 0, 1767225605);
    expect_bytes(&inner[10], text, 40);
    assert_false(inner[12].is_there || inner[13].is_there || inner[14].is_there);
}

static void test_families_and_transports_are_distinguished(void **state)
{
    (void)state;
    assert_int_equal(addr_parse(&asker, "2001:db8::7@1", 0), ERR_OK);
    assert_int_equal(addr_parse(&asked, "2001:db8::1@853", 0), ERR_OK);
    seen.transport = TRANSPORT_TLS;
    put();
    expect_number(&inner[2], 0, 2);
    expect_number(&inner[3], 0, 3);
    expect_bytes(&inner[4], asker.in6.sin6_addr.s6_addr, 16);
    expect_bytes(&inner[5], asked.in6.sin6_addr.s6_addr, 16);
    expect_number(&inner[6], 0, 1);
    seen.transport = TRANSPORT_TCP;
    put();
    expect_number(&inner[3], 0, 2);
}

static void test_an_unknown_address_is_left_out(void **state)
{
    (void)state;
    asker.sa.sa_family = 0;
    put();
    assert_false(inner[4].is_there || inner[6].is_there);
    assert_true(inner[5].is_there && inner[7].is_there);
}

static void test_the_view_of_the_client_is_the_extra_text(void **state)
{
    (void)state;
    put();
    assert_false(outer[3].is_there);
    seen.view = "lab";
    put();
    expect_bytes(&outer[3], "lab", 3);
}

static void test_identity_and_version_are_included(void **state)
{
    (void)state;
    message.identity = span_of("ns7", 3);
    message.version = span_of("nailup", 6);
    put();
    expect_bytes(&outer[1], "ns7", 3);
    expect_bytes(&outer[2], "nailup", 6);
}

static void test_no_clock_makes_a_time_before_1970(void **state)
{
    (void)state;
    message.wall_offset_us = INT64_MIN / 2;
    put();
    expect_number(&inner[8], 0, 0);
    expect_number(&inner[9], 5, 0);
}

static void test_messages_of_any_length_come_back_unchanged(void **state)
{
    (void)state;
    rand_seed_for_tests(11);
    for (unsigned i = 0; i < 3000; i++) {
        size_t len = rand_below(i % 3 ? 300 : 65536);
        seen.bytes = span_of(text, len);
        seen.asked_at = rand_u64() >> (i % 64);
        seen.asked_at %= UINT64_C(1) << 60;
        message.wall_offset_us = 0;
        message.type = (enum dnstap_type)(3 + rand_below(6));
        addr_set_port(&asker, rand_u16());
        put();
        expect_bytes(&inner[message.type % 2 ? 10 : 14], text, len);
        expect_number(&inner[8], 0, seen.asked_at / 1000000);
        expect_number(&inner[9], 5, seen.asked_at % 1000000 * 1000);
        expect_number(&inner[6], 0, addr_port(&asker));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_an_answer_has_both_times_both_ends_and_its_message, set_up),
        cmocka_unit_test_setup(test_a_query_has_one_time_and_its_message, set_up),
        cmocka_unit_test_setup(test_families_and_transports_are_distinguished, set_up),
        cmocka_unit_test_setup(test_an_unknown_address_is_left_out, set_up),
        cmocka_unit_test_setup(test_the_view_of_the_client_is_the_extra_text, set_up),
        cmocka_unit_test_setup(test_identity_and_version_are_included, set_up),
        cmocka_unit_test_setup(test_no_clock_makes_a_time_before_1970, set_up),
        cmocka_unit_test_setup(test_messages_of_any_length_come_back_unchanged, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
