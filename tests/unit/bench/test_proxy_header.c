/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* The header has the layout of section 2.2 of HAProxy's proxy-protocol.txt. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "proxy_header.h"

static uint8_t header[PROXY_HEADER_MAX];

static size_t make(const char *client_text, const char *server_text, bool is_stream)
{
    struct addr client, server;
    assert_int_equal(addr_parse(&client, client_text, 0), ERR_OK);
    assert_int_equal(addr_parse(&server, server_text, 53), ERR_OK);
    return proxy_header_write(header, &client, &server, is_stream);
}

#define EXPECT(len, text)                                                                          \
    do {                                                                                           \
        assert_int_equal(len, sizeof(text) - 1);                                                   \
        assert_memory_equal(header, text, sizeof(text) - 1);                                       \
    } while (0)

static void test_addresses_of_one_family_are_in_the_header(void **state)
{
    (void)state;
    EXPECT(make("192.0.2.1@258", "127.0.0.1", false),
           "\r\n\r\n\0\r\nQUIT\n\x21\x12\0\xc\xc0\0\2\1\x7f\0\0\1\1\2\0\x35");
    EXPECT(make("2001:db8::1@258", "::1@853", true),
           "\r\n\r\n\0\r\nQUIT\n\x21\x21\0\x24\x20\1\xd\xb8\0\0\0\0\0\0\0\0\0\0\0\1"
           "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\1\2\3\x55");
}

static void test_a_server_of_the_other_family_is_unspecified(void **state)
{
    (void)state;
    EXPECT(make("192.0.2.1@258", "::1", true),
           "\r\n\r\n\0\r\nQUIT\n\x21\x11\0\xc\xc0\0\2\1\0\0\0\0\1\2\0\x35");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses_of_one_family_are_in_the_header),
        cmocka_unit_test(test_a_server_of_the_other_family_is_unspecified),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
