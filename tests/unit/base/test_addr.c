/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Addresses as text and back, mapped addresses, and invalid text. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <net/if.h>
#include <string.h>

#include "base/addr.h"
#include "base/check.h"

static struct addr parsed(const char *text)
{
    struct addr addr;
    assert_int_equal(addr_parse(&addr, text, 53), ERR_OK);
    return addr;
}

static void assert_round_trip(const char *text, const char *formatted)
{
    char out[ADDR_TEXT_MAX];
    struct addr addr = parsed(text);
    assert_string_equal(addr_format(&addr, out), formatted);
}

static void test_addresses_parse_and_format(void **state)
{
    (void)state;
    assert_round_trip("127.0.0.1", "127.0.0.1@53");
    assert_round_trip("127.0.0.1@5300", "127.0.0.1@5300");
    assert_round_trip("::1@53", "::1@53");
    assert_round_trip("::", "::@53");
    assert_round_trip("2001:DB8:0:0::1@853", "2001:db8::1@853");
    assert_round_trip("0.0.0.0@0", "0.0.0.0@0");
    assert_round_trip("255.255.255.255@65535", "255.255.255.255@65535");
}

static void test_a_link_local_address_keeps_its_scope(void **state)
{
    (void)state;
    char out[ADDR_TEXT_MAX];
    struct addr addr = parsed("fe80::1%lo");
    assert_int_equal(addr.in6.sin6_scope_id, if_nametoindex("lo"));
    assert_string_equal(addr_format(&addr, out), "fe80::1%lo@53");
    assert_string_equal(addr_format_ip(&addr, out), "fe80::1%lo");
    addr = parsed("fe80::1%4000000@53"); /* the kernel need not know an interface with this index */
    assert_string_equal(addr_format(&addr, out), "fe80::1%4000000@53");
    struct addr other = parsed("fe80::1%lo@53");
    assert_false(addr_equal_ip(&addr, &other));
}

static void test_an_address_without_its_zone_is_recognised(void **state)
{
    (void)state;
    struct addr lacking = parsed("fe80::1"), scoped = parsed("fe80::1%lo");
    struct addr global = parsed("2001:db8::1"), v4 = parsed("169.254.0.1");
    assert_true(addr_lacks_zone(&lacking));
    assert_false(addr_lacks_zone(&scoped));
    assert_false(addr_lacks_zone(&global));
    assert_false(addr_lacks_zone(&v4));
}

static void test_the_hint_describes_the_fault_of_a_zone(void **state)
{
    (void)state;
    static const char gone[] =
        "; this machine has no such interface now: take one that `ip link` lists";
    assert_string_equal(addr_zone_hint("fe80::1%nosuch@53"), gone);
    assert_string_equal(addr_zone_hint("fe80::1%"), gone);
    assert_string_equal(addr_zone_hint("fe80::1%lo:1"), gone);
    assert_string_equal(addr_zone_hint("fe80::1%a-name-that-is-too-long"), gone);
    assert_string_equal(addr_zone_hint("2001:db8::1%lo"),
                        "; only link-local addresses have an interface after a %");
    assert_string_equal(addr_zone_hint("fe80::1%77@99999"), "");
    assert_string_equal(addr_zone_hint("fe80::1%lo@99999"),
                        ""); /* the fault is in the port, not in the zone */
    assert_string_equal(addr_zone_hint("fe80::%lo/64"),
                        "; only a single address has an interface after a %");
    assert_string_equal(addr_zone_hint("fe80::1"), "");
    assert_string_equal(addr_zone_hint("50%"), "");
    assert_string_equal(addr_zone_hint(""), "");
}

static void test_mapped_addresses_become_ipv4(void **state)
{
    (void)state;
    struct addr v4 = parsed("192.0.2.1@53"), mapped = parsed("::ffff:192.0.2.1@53"), taken;
    assert_int_equal(addr_family(&mapped), AF_INET);
    assert_true(addr_equal(&v4, &mapped));
    assert_true(addr_hash(&v4, 1) == addr_hash(&mapped, 1));
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(53)};
    assert_int_equal(inet_pton(AF_INET6, "::ffff:192.0.2.1", &in6.sin6_addr), 1);
    assert_int_equal(addr_from_sockaddr(&taken, (struct sockaddr *)&in6), ERR_OK);
    assert_true(addr_equal(&v4, &taken));
}

static void test_names_and_ports_are_parsed(void **state)
{
    (void)state;
    static const struct {
        const char *text, *formatted, *name;
        bool has_port;
    } rows[] = {
        {"9.9.9.9@853#dns.quad9.net", "9.9.9.9@853", "dns.quad9.net", true},
        {"9.9.9.9#dns.quad9.net.", "9.9.9.9@53", "dns.quad9.net", false},
        {"2620:fe::fe@853#x", "2620:fe::fe@853", "x", true},
        {"::1", "::1@53", "", false},
        {"::1@53", "::1@53", "", true},
        {"::1#_a-b.c_d", "::1@53", "_a-b.c_d", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct addr addr;
        bool has_port;
        char name[ADDR_NAME_MAX], out[ADDR_TEXT_MAX];
        assert_int_equal(addr_parse_named(&addr, &has_port, name, rows[i].text, 53), ERR_OK);
        assert_string_equal(addr_format(&addr, out), rows[i].formatted);
        assert_string_equal(name, rows[i].name);
        assert_int_equal(has_port, rows[i].has_port);
    }
}

static void test_text_that_is_no_address_is_not_valid(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        " ",
        "@",
        "@53",
        "#",
        "#name",
        "1.2.3",
        "1.2.3.4.5",
        "1.2.3.256",
        "01.2.3.4",
        "1.2.3.4 ",
        " 1.2.3.4",
        "1.2.3.4@",
        "1.2.3.4@65536",
        "1.2.3.4@-1",
        "1.2.3.4@+1",
        "1.2.3.4@053",
        "1.2.3.4@5 3",
        "1.2.3.4@53@53",
        "1.2.3.4@99999999999999999999",
        "1.2.3.4@4294967349",
        ":::",
        "::1::",
        "[::1]@53",
        "[::1]",
        "::1%lo",
        "2001:db8::1%lo",
        "fe80::1%",
        "fe80::1%0",
        "fe80::1%no-such-interface-here",
        "fe80::1%lo%lo",
        "1.2.3.4%lo",
        "fe80::1%99999999999",
        "12345::",
        "localhost",
        "1.2.3.4\n",
        "1.2.3.4/32",
        "::1/128",
        "0x7f000001",
        "1.2.3.4#",
        "1.2.3.4#.",
        "1.2.3.4#a..b",
        "1.2.3.4#.a",
        "1.2.3.4#a b",
        "1.2.3.4#a\n",
        "1.2.3.4#a#b",
        "1.2.3.4#\xc3\xa9",
        "1.2.3.4#a@53",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct addr addr;
        bool has_port;
        char name[ADDR_NAME_MAX];
        if (addr_parse_named(&addr, &has_port, name, texts[i], 53) != ERR_INVALID)
            fail_msg("taken as an address: '%s'", texts[i]);
        assert_int_equal(addr_parse(&addr, texts[i], 53), ERR_INVALID);
    }
}

static void test_only_addr_parse_named_takes_a_name(void **state)
{
    (void)state;
    struct addr addr;
    assert_int_equal(addr_parse(&addr, "9.9.9.9#dns.quad9.net", 53), ERR_INVALID);
}

static void test_endless_text_is_not_valid(void **state)
{
    (void)state;
    char text[100000], name[ADDR_NAME_MAX];
    struct addr addr;
    bool has_port;
    memset(text, '1', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    assert_int_equal(addr_parse(&addr, text, 53), ERR_INVALID);
    memset(text, 'a', sizeof(text) - 1);
    for (size_t i = 10; i < sizeof(text) - 1; i += 11)
        text[i] = '.';
    memcpy(text, "::1#", 4);
    assert_int_equal(addr_parse_named(&addr, &has_port, name, text, 53), ERR_INVALID);
}

static void test_the_longest_name_and_label_fit(void **state)
{
    (void)state;
    char text[300] = "::1#", name[ADDR_NAME_MAX];
    struct addr addr;
    bool has_port;
    for (int i = 0; i < 253; i++)
        text[4 + i] = (i + 1) % 64 ? 'a' : '.';
    assert_int_equal(addr_parse_named(&addr, &has_port, name, text, 53), ERR_OK);
    assert_int_equal(strlen(name), 253);
    text[4 + 253] = 'a';
    assert_int_equal(addr_parse_named(&addr, &has_port, name, text, 53), ERR_INVALID);
    text[4 + 253] = '\0';
    text[4 + 63] = 'a'; /* a label of 64 letters */
    assert_int_equal(addr_parse_named(&addr, &has_port, name, text, 53), ERR_INVALID);
}

static void test_equality_and_hash_exist_with_and_without_the_port(void **state)
{
    (void)state;
    struct addr a = parsed("::1@53"), b = parsed("::1@54"), c = parsed("127.0.0.1@53");
    assert_false(addr_equal(&a, &b));
    assert_true(addr_equal_ip(&a, &b));
    assert_true(addr_hash(&a, 1) != addr_hash(&b, 1));
    assert_true(addr_hash(&a, 1) != addr_hash(&a, 2));
    assert_true(addr_hash_ip(&a, 1) == addr_hash_ip(&b, 1));
    assert_false(addr_equal_ip(&a, &c));
    addr_set_port(&b, 53);
    assert_true(addr_equal(&a, &b));
    addr_set_port(&c, 99);
    assert_int_equal(addr_port(&c), 99);
    assert_int_equal(addr_len(&a), sizeof(struct sockaddr_in6));
    assert_int_equal(addr_len(&c), sizeof(struct sockaddr_in));
}

static void test_any_is_all_zeros(void **state)
{
    (void)state;
    struct addr any4 = parsed("0.0.0.0"), any6 = parsed("::"), one = parsed("::1");
    assert_true(addr_is_any(&any4));
    assert_true(addr_is_any(&any6));
    assert_false(addr_is_any(&one));
}

static void test_loopback_addresses_are_recognised(void **state)
{
    (void)state;
    static const char *const loopback[] = {"127.0.0.1", "127.255.0.9", "::1"};
    static const char *const other[] = {"126.0.0.1", "128.0.0.1", "10.0.0.127",
                                        "::",        "::2",       "1::1"};
    for (size_t i = 0; i < ARRAY_LEN(loopback); i++) {
        struct addr addr = parsed(loopback[i]);
        assert_true(addr_is_loopback(&addr));
    }
    for (size_t i = 0; i < ARRAY_LEN(other); i++) {
        struct addr addr = parsed(other[i]);
        assert_false(addr_is_loopback(&addr));
    }
}

static void test_other_socket_families_are_not_valid(void **state)
{
    (void)state;
    struct addr addr;
    struct sockaddr sa = {.sa_family = AF_UNIX};
    assert_int_equal(addr_from_sockaddr(&addr, &sa), ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses_parse_and_format),
        cmocka_unit_test(test_a_link_local_address_keeps_its_scope),
        cmocka_unit_test(test_an_address_without_its_zone_is_recognised),
        cmocka_unit_test(test_the_hint_describes_the_fault_of_a_zone),
        cmocka_unit_test(test_mapped_addresses_become_ipv4),
        cmocka_unit_test(test_names_and_ports_are_parsed),
        cmocka_unit_test(test_text_that_is_no_address_is_not_valid),
        cmocka_unit_test(test_only_addr_parse_named_takes_a_name),
        cmocka_unit_test(test_endless_text_is_not_valid),
        cmocka_unit_test(test_the_longest_name_and_label_fit),
        cmocka_unit_test(test_equality_and_hash_exist_with_and_without_the_port),
        cmocka_unit_test(test_any_is_all_zeros),
        cmocka_unit_test(test_loopback_addresses_are_recognised),
        cmocka_unit_test(test_other_socket_families_are_not_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
