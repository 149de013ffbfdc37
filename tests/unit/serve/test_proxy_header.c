/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Headers of the PROXY protocol: whole, cut and wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "serve/proxy_header.h"
#include "unit/serve/proxied.h"

static uint8_t bytes[PROXY_HEADER_MAX + 100];
static size_t len;
static struct proxy_header header;

static void make(uint8_t command, uint8_t family, const char *client, const char *frontend,
                 size_t fields)
{
    len = proxied_header(bytes, command, family, client, frontend, fields);
}

static enum proxy_verdict read_len(size_t of)
{
    memset(&header, 0xee, sizeof(header));
    return proxy_header_read(&header, span_of(bytes, of));
}

static void expect_addr(const struct addr *got, const char *text)
{
    char formatted[ADDR_TEXT_MAX];
    assert_string_equal(addr_format(got, formatted), text);
}

static void test_an_ipv4_client_is_read(void **state)
{
    (void)state;
    make(0x21, 0x12, "192.0.2.7@4711", "198.51.100.1@53", 0);
    assert_int_equal(read_len(len), PROXY_WHOLE);
    assert_int_equal(header.len, 28);
    assert_false(header.is_local);
    expect_addr(&header.client, "192.0.2.7@4711");
    expect_addr(&header.frontend, "198.51.100.1@53");
}

static void test_an_ipv6_client_is_read(void **state)
{
    (void)state;
    make(0x21, 0x21, "2001:db8::7@4711", "2001:db8::1@853", 0);
    assert_int_equal(read_len(len), PROXY_WHOLE);
    assert_int_equal(header.len, 52);
    expect_addr(&header.client, "2001:db8::7@4711");
    expect_addr(&header.frontend, "2001:db8::1@853");
}

/* Otherwise a mapped address would match no IPv4 prefix of the access list. */
static void test_a_mapped_client_is_ipv4(void **state)
{
    (void)state;
    struct in6_addr mapped = {.s6_addr = {[10] = 0xff, [11] = 0xff, 192, 0, 2, 9}};
    make(0x21, 0x22, "2001:db8::7@4711", "2001:db8::1@53", 0);
    memcpy(bytes + 16, &mapped, 16);
    assert_int_equal(read_len(len), PROXY_WHOLE);
    expect_addr(&header.client, "192.0.2.9@4711");
}

static void test_a_local_header_has_no_client(void **state)
{
    (void)state;
    make(0x20, 0x00, NULL, NULL, 0);
    assert_int_equal(read_len(len), PROXY_WHOLE);
    assert_true(header.is_local);
    assert_int_equal(header.len, 16);
    assert_int_equal(addr_family(&header.client), AF_UNSPEC);
    /* the addresses of such a header have no meaning */
    make(0x20, 0x11, "192.0.2.7@1", "192.0.2.8@2", 0);
    assert_int_equal(read_len(len), PROXY_WHOLE);
    assert_true(header.is_local);
    assert_int_equal(addr_family(&header.client), AF_UNSPEC);
}

static void test_further_fields_are_skipped(void **state)
{
    (void)state;
    make(0x21, 0x12, "192.0.2.7@4711", "198.51.100.1@53", 200);
    assert_int_equal(read_len(len + 50), PROXY_WHOLE);
    assert_int_equal(header.len, 228);
    expect_addr(&header.client, "192.0.2.7@4711");
}

static void test_every_beginning_is_partial(void **state)
{
    (void)state;
    make(0x21, 0x21, "2001:db8::7@4711", "2001:db8::1@853", 7);
    for (size_t i = 0; i < len; i++)
        assert_int_equal(read_len(i), PROXY_PARTIAL);
    assert_int_equal(read_len(len), PROXY_WHOLE);
}

static void test_other_bytes_are_no_header(void **state)
{
    (void)state;
    make(0x21, 0x12, "192.0.2.7@4711", "198.51.100.1@53", 0);
    for (size_t i = 0; i < PROXY_HEADER_SIGNATURE; i++) {
        bytes[i] ^= 1;
        assert_int_equal(read_len(i + 1), PROXY_ABSENT);
        assert_int_equal(read_len(len), PROXY_ABSENT);
        assert_false(proxy_header_has_signature(span_of(bytes, len)));
        bytes[i] ^= 1;
    }
    assert_true(proxy_header_has_signature(span_of(bytes, len)));
    memcpy(bytes, "PROXY TCP4 192.0.2.7 192.0.2.8 1 2\r\n", 36); /* a header of version 1 */
    assert_int_equal(read_len(36), PROXY_ABSENT);
}

static void test_wrong_versions_and_commands_are_malformed(void **state)
{
    (void)state;
    for (unsigned command = 0; command < 256; command++) {
        make((uint8_t)command, 0x12, "192.0.2.7@4711", "198.51.100.1@53", 0);
        bool is_known = command == 0x20 || command == 0x21;
        assert_int_equal(read_len(len), is_known ? PROXY_WHOLE : PROXY_MALFORMED);
        assert_int_equal(read_len(16), is_known ? PROXY_PARTIAL : PROXY_MALFORMED);
    }
}

/* The access list could not judge a client without an address. */
static void test_other_families_are_malformed(void **state)
{
    (void)state;
    for (unsigned family = 0; family < 256; family++) {
        make(0x21, (uint8_t)family, "2001:db8::7@4711", "2001:db8::1@853", 216);
        bool is_known = family == 0x11 || family == 0x12 || family == 0x21 || family == 0x22;
        assert_int_equal(read_len(len), is_known ? PROXY_WHOLE : PROXY_MALFORMED);
    }
}

static void test_short_addresses_are_malformed(void **state)
{
    (void)state;
    static const struct {
        uint8_t family;
        size_t needs;
    } kinds[] = {{0x11, 12}, {0x12, 12}, {0x21, 36}, {0x22, 36}};
    for (size_t i = 0; i < 4; i++) {
        for (size_t rest = 0; rest <= kinds[i].needs; rest++) {
            make(0x21, kinds[i].family, "2001:db8::7@4711", "2001:db8::1@853", 0);
            put_u16(bytes + 14, (uint16_t)rest);
            bool is_whole = rest == kinds[i].needs;
            assert_int_equal(read_len(16 + rest), is_whole ? PROXY_WHOLE : PROXY_MALFORMED);
        }
    }
}

static void test_the_longest_header_has_a_bound(void **state)
{
    (void)state;
    make(0x21, 0x12, "192.0.2.7@4711", "198.51.100.1@53", PROXY_HEADER_MAX - 28);
    assert_int_equal(len, PROXY_HEADER_MAX);
    assert_int_equal(read_len(len - 1), PROXY_PARTIAL);
    assert_int_equal(read_len(len), PROXY_WHOLE);
    put_u16(bytes + 14, PROXY_HEADER_MAX - 16 + 1);
    assert_int_equal(read_len(16), PROXY_MALFORMED); /* refused at once, before the rest arrives */
    put_u16(bytes + 14, 65535);
    assert_int_equal(read_len(len), PROXY_MALFORMED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_ipv4_client_is_read),
        cmocka_unit_test(test_an_ipv6_client_is_read),
        cmocka_unit_test(test_a_mapped_client_is_ipv4),
        cmocka_unit_test(test_a_local_header_has_no_client),
        cmocka_unit_test(test_further_fields_are_skipped),
        cmocka_unit_test(test_every_beginning_is_partial),
        cmocka_unit_test(test_other_bytes_are_no_header),
        cmocka_unit_test(test_wrong_versions_and_commands_are_malformed),
        cmocka_unit_test(test_other_families_are_malformed),
        cmocka_unit_test(test_short_addresses_are_malformed),
        cmocka_unit_test(test_the_longest_header_has_a_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
