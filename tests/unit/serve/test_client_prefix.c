/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Which addresses count as one client. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <string.h>

#include "base/check.h"
#include "serve/client_prefix.h"

static struct addr parse(const char *text)
{
    struct addr addr;
    assert_int_equal(addr_parse(&addr, text, 5353), ERR_OK);
    return addr;
}

static void expect(uint16_t v4_bits, uint16_t v6_bits, const char *text, const char *prefix)
{
    struct addr addr = parse(text);
    struct client_masks masks = client_masks_of(v4_bits, v6_bits);
    struct addr got = client_prefix(&masks, &addr), wanted = parse(prefix);
    assert_int_equal(client_hash(&masks, &addr, 5), client_hash(&masks, &wanted, 5));
    assert_int_not_equal(client_hash(&masks, &addr, 5), client_hash(&masks, &addr, 6));
    addr_set_port(&wanted, 0);
    assert_memory_equal(&got, &wanted, sizeof(got));
}

static void test_bits_after_the_prefix_are_cleared(void **state)
{
    (void)state;
    expect(32, 56, "192.0.2.255", "192.0.2.255");
    expect(31, 56, "192.0.2.255", "192.0.2.254");
    expect(25, 56, "192.0.2.255", "192.0.2.128");
    expect(24, 56, "192.0.2.255", "192.0.2.0");
    expect(9, 56, "10.255.255.255", "10.128.0.0");
    expect(8, 56, "10.255.255.255", "10.0.0.0");
    expect(32, 128, "2001:db8::ffff", "2001:db8::ffff");
    expect(32, 127, "2001:db8::ffff", "2001:db8::fffe");
    expect(32, 64, "2001:db8:0:ffff:1::", "2001:db8:0:ffff::");
    expect(32, 60, "2001:db8:0:ffff:1::", "2001:db8:0:fff0::");
    expect(32, 56, "2001:db8:0:ffff::1", "2001:db8:0:ff00::");
    expect(32, 33, "2001:db8:ffff::", "2001:db8:8000::");
}

static void test_each_link_local_address_is_one_client(void **state)
{
    (void)state;
    struct addr a = parse("fe80::1"), b = parse("fe80::2");
    struct client_masks masks = client_masks_of(32, 56);
    struct addr first = client_prefix(&masks, &a), second = client_prefix(&masks, &b);
    assert_false(addr_equal_ip(&first, &second));
    assert_int_not_equal(client_hash(&masks, &a, 5), client_hash(&masks, &b, 5));
}

static void test_mapped_addresses_are_ipv4(void **state)
{
    (void)state;
    expect(24, 56, "::ffff:192.0.2.7", "192.0.2.0");
}

static void test_the_bits_of_a_prefix(void **state)
{
    (void)state;
    struct client_masks masks = client_masks_of(24, 56), all = client_masks_of(0, 128);
    struct addr v4 = parse("192.0.2.1"), v6 = parse("2001:db8::1"), link = v6;
    assert_int_equal(inet_pton(AF_INET6, "fe80::1", &link.in6.sin6_addr), 1);
    assert_int_equal(client_prefix_bits(&masks, &v4), 24);
    assert_int_equal(client_prefix_bits(&masks, &v6), 56);
    assert_int_equal(client_prefix_bits(&masks, &link), 128);
    assert_int_equal(client_prefix_bits(&all, &v4), 0);
    assert_int_equal(client_prefix_bits(&all, &v6), 128);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits_after_the_prefix_are_cleared),
        cmocka_unit_test(test_each_link_local_address_is_one_client),
        cmocka_unit_test(test_mapped_addresses_are_ipv4),
        cmocka_unit_test(test_the_bits_of_a_prefix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
