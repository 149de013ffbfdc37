/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "config/host_text.h"

static void expect(const char *text, const char *name, unsigned port, const char *auth_name)
{
    struct host_text host;
    assert_true(host_text_parse(&host, text));
    assert_string_equal(host.name, name);
    assert_int_equal(host.port, port);
    assert_string_equal(host.auth_name, auth_name);
}

static void test_a_server_has_a_name_and_may_have_a_port_and_a_name_for_tls(void **state)
{
    (void)state;
    expect("dns.quad9.net", "dns.quad9.net", 0, "");
    expect("DNS.Quad9.NET.", "dns.quad9.net", 0, "");
    expect("dns.quad9.net@853", "dns.quad9.net", 853, "");
    expect("dns.quad9.net#Other.Example", "dns.quad9.net", 0, "other.example");
    expect("dns.quad9.net@65535#a", "dns.quad9.net", 65535, "a");
    expect("ns1.", "ns1", 0, "");
    expect("ns1.@5353", "ns1", 5353, "");
    expect("1.1.1.1x", "1.1.1.1x", 0, "");
}

static void test_addresses_and_words_are_no_names(void **state)
{
    static const char *const texts[] = {"",
                                        ".",
                                        "192.0.2.1",
                                        "192.0.2.300",
                                        "1.2.3",
                                        "2001:db8::1",
                                        "fe80::1%eth0",
                                        "router",
                                        "no",
                                        "12.",
                                        "dns..example",
                                        ".example.com",
                                        "dns.example@",
                                        "dns.example@0",
                                        "dns.example@65536",
                                        "dns.example@-1",
                                        "dns.example@+5",
                                        "dns.example@ 5",
                                        "dns.example@53x",
                                        "dns.example#",
                                        "dns.example#192.0.2.1",
                                        "dns.example#a b",
                                        "dns .example",
                                        "dns.example:53",
                                        "dns.example@5@6",
                                        "d\xc3\xbcn.example"};
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        struct host_text host;
        if (host_text_parse(&host, texts[i]))
            fail_msg("'%s' is read as a name", texts[i]);
    }
}

static void test_long_texts_are_refused(void **state)
{
    char text[1024], *at = text;
    struct host_text host;
    (void)state;
    for (int i = 0; i < 100; i++)
        at += sprintf(at, "abc.");
    strcpy(at, "example");
    assert_false(host_text_parse(&host, text));
    memset(text, 'a', sizeof(text) - 1);
    memcpy(text, "a.b#", 4);
    text[sizeof(text) - 1] = '\0';
    assert_false(host_text_parse(&host, text));
}

static void test_a_name_of_one_label_is_printed_with_its_dot(void **state)
{
    (void)state;
    assert_string_equal(host_text_dot("ns1"), ".");
    assert_string_equal(host_text_dot("ns1.example"), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_server_has_a_name_and_may_have_a_port_and_a_name_for_tls),
        cmocka_unit_test(test_addresses_and_words_are_no_names),
        cmocka_unit_test(test_long_texts_are_refused),
        cmocka_unit_test(test_a_name_of_one_label_is_printed_with_its_dot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
