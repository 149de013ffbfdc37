/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>

#include "daemon/host_answer.h"
#include "support/fake_peer.h"
#include "unit/daemon/host_message.h"

static struct host_answer result;

static void read_message(uint16_t type, unsigned rcode, const struct host_record *records)
{
    uint8_t query[512], bytes[4096];
    struct message message;
    size_t len = fake_query_build(query, 1, "dns.example", type, 0);
    len = host_message(bytes, span_of(query, len), rcode, records);
    assert_int_equal(message_parse(&message, span_of(bytes, len)), MESSAGE_OK);
    host_answer_read(&result, &message, &message.question);
}

#define READ(type, ...) read_message(type, 0, (const struct host_record[]){__VA_ARGS__, {0}})

static void expect_addrs(const char *expected)
{
    char all[1024] = "", text[ADDR_TEXT_MAX];
    assert_int_equal(result.kind, HOST_FOUND);
    for (size_t i = 0; i < result.count; i++)
        sprintf(all + strlen(all), "%s%s", i ? " " : "", addr_format_ip(&result.addrs[i], text));
    assert_string_equal(all, expected);
}

static void test_addresses_come_sorted_with_the_shortest_ttl(void **state)
{
    (void)state;
    READ(RRTYPE_A, {"dns.example", RRTYPE_A, 300, "192.0.2.9"},
         {"DNS.example", RRTYPE_A, 60, "192.0.2.1"}, {"dns.example", RRTYPE_A, 90, "192.0.2.9"});
    expect_addrs("192.0.2.1 192.0.2.9");
    assert_int_equal(result.ttl_s, 60);
    READ(RRTYPE_AAAA, {"dns.example", RRTYPE_AAAA, 300, "2001:db8::1"});
    expect_addrs("2001:db8::1");
}

static void test_aliases_are_followed_within_the_answer(void **state)
{
    (void)state;
    READ(RRTYPE_A, {"steer.example", RRTYPE_CNAME, 30, "a.other"},
         {"dns.example", RRTYPE_CNAME, 300, "steer.example"},
         {"a.other", RRTYPE_A, 60, "192.0.2.1"});
    expect_addrs("192.0.2.1");
    assert_int_equal(result.ttl_s, 30);
}

static void test_records_of_other_names_and_types_do_not_count(void **state)
{
    (void)state;
    READ(RRTYPE_A, {"evil.example", RRTYPE_A, 300, "192.0.2.66"},
         {"dns.example", RRTYPE_AAAA, 300, "2001:db8::1"},
         {"dns.example", RRTYPE_A, 300, "192.0.2.1"});
    expect_addrs("192.0.2.1");
    READ(RRTYPE_A, {"evil.example", RRTYPE_A, 300, "192.0.2.66"});
    assert_int_equal(result.kind, HOST_NONE);
}

static void test_denials_are_no_failures(void **state)
{
    (void)state;
    read_message(RRTYPE_A, 0, NULL);
    assert_int_equal(result.kind, HOST_NONE);
    read_message(RRTYPE_A, 3, NULL);
    assert_int_equal(result.kind, HOST_NONE);
    READ(RRTYPE_A, {"dns.example", RRTYPE_CNAME, 300, "nothing.example"});
    assert_int_equal(result.kind, HOST_NONE);
}

static void test_failures_and_loops_say_nothing(void **state)
{
    (void)state;
    read_message(RRTYPE_A, 2, NULL);
    assert_int_equal(result.kind, HOST_FAILED);
    read_message(RRTYPE_A, 5, NULL);
    assert_int_equal(result.kind, HOST_FAILED);
    READ(RRTYPE_A, {"dns.example", RRTYPE_CNAME, 300, "b.example"},
         {"b.example", RRTYPE_CNAME, 300, "dns.example"});
    assert_int_equal(result.kind, HOST_FAILED);
    assert_int_equal(result.count, 0);
}

static void test_the_lowest_addresses_count_if_there_are_too_many(void **state)
{
    struct host_record records[41] = {{0}};
    char texts[40][32];
    (void)state;
    for (int i = 0; i < 40; i++) {
        sprintf(texts[i], "192.0.2.%d", 240 - i * 3);
        records[i] = (struct host_record){"dns.example", RRTYPE_A, 300, texts[i]};
    }
    read_message(RRTYPE_A, 0, records);
    assert_int_equal(result.count, HOST_ANSWER_MAX);
    expect_addrs("192.0.2.123 192.0.2.126 192.0.2.129 192.0.2.132 192.0.2.135 192.0.2.138 "
                 "192.0.2.141 192.0.2.144");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses_come_sorted_with_the_shortest_ttl),
        cmocka_unit_test(test_aliases_are_followed_within_the_answer),
        cmocka_unit_test(test_records_of_other_names_and_types_do_not_count),
        cmocka_unit_test(test_denials_are_no_failures),
        cmocka_unit_test(test_failures_and_loops_say_nothing),
        cmocka_unit_test(test_the_lowest_addresses_count_if_there_are_too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
