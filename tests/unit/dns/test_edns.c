/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/dns/sample.h"

#include "dns/build.h"
#include "dns/edns.h"

#define EDNS(literal) ((struct edns){.present = true, .options = BYTES(literal)})

static void test_options_are_iterated_to_the_end(void **state)
{
    (void)state;
    struct span rest = BYTES("\0\3\0\2id\0\x0c\0\0");
    struct edns_option option;
    assert_true(edns_option_next(&rest, &option));
    assert_int_equal(option.code, EDNS_NSID);
    assert_true(span_equal(option.data, BYTES("id")));
    assert_true(edns_option_next(&rest, &option));
    assert_int_equal(option.code, EDNS_PADDING);
    assert_int_equal(option.data.len, 0);
    assert_false(edns_option_next(&rest, &option));
    assert_int_equal(rest.len, 0);
}

static void test_option_that_does_not_fit_leaves_the_rest(void **state)
{
    (void)state;
    struct span rest = BYTES("\0\3\0\3id");
    struct edns_option option;
    assert_false(edns_option_next(&rest, &option));
    assert_int_equal(rest.len, 6);
    assert_false(edns_options_check(rest));
    assert_true(edns_options_check(span_of("", 0)));
}

static void test_first_option_of_a_code_is_found(void **state)
{
    (void)state;
    struct edns edns = EDNS("\0\3\0\1a\0\3\0\1b");
    struct span data;
    assert_int_equal(edns_find(&edns, EDNS_NSID, &data), EDNS_FOUND);
    assert_true(span_equal(data, BYTES("a")));
    assert_int_equal(edns_find(&edns, EDNS_COOKIE, &data), EDNS_ABSENT);
    struct edns none = {0};
    assert_int_equal(edns_find(&none, EDNS_NSID, &data), EDNS_ABSENT);
}

static void test_only_cookie_lengths_of_the_rfc_are_accepted(void **state)
{
    (void)state;
    for (uint8_t len = 0; len < 60; len++) {
        uint8_t options[64] = {0, EDNS_COOKIE, 0, len};
        struct edns edns = {.present = true, .options = span_of(options, 4u + len)};
        struct edns_cookie cookie;
        bool is_allowed = len == 8 || (len >= 16 && len <= 40);
        assert_int_equal(edns_find_cookie(&edns, &cookie), is_allowed ? EDNS_FOUND : EDNS_BAD);
        if (is_allowed) {
            assert_int_equal(cookie.client.len, 8);
            assert_int_equal(cookie.server.len, len - 8);
        }
    }
    struct edns none = {0};
    struct edns_cookie cookie;
    assert_int_equal(edns_find_cookie(&none, &cookie), EDNS_ABSENT);
}

static void test_keepalive_is_empty_or_two_bytes(void **state)
{
    (void)state;
    struct edns_keepalive keepalive;
    struct edns edns = EDNS("\0\x0b\0\0");
    assert_int_equal(edns_find_keepalive(&edns, &keepalive), EDNS_FOUND);
    assert_false(keepalive.has_timeout);
    edns = EDNS("\0\x0b\0\2\1\2");
    assert_int_equal(edns_find_keepalive(&edns, &keepalive), EDNS_FOUND);
    assert_true(keepalive.has_timeout);
    assert_int_equal(keepalive.timeout_100ms, 0x102);
    edns = EDNS("\0\x0b\0\1\1");
    assert_int_equal(edns_find_keepalive(&edns, &keepalive), EDNS_BAD);
    edns = EDNS("\0\x0b\0\3\1\2\3");
    assert_int_equal(edns_find_keepalive(&edns, &keepalive), EDNS_BAD);
    edns = EDNS("");
    assert_int_equal(edns_find_keepalive(&edns, &keepalive), EDNS_ABSENT);
}

static void test_extended_error_has_a_code_and_text(void **state)
{
    (void)state;
    struct edns_ede ede;
    struct edns edns = EDNS("\0\x0f\0\4\0\x0fno");
    assert_int_equal(edns_find_ede(&edns, &ede), EDNS_FOUND);
    assert_int_equal(ede.code, EDE_BLOCKED);
    assert_true(span_equal(ede.text, BYTES("no")));
    edns = EDNS("\0\x0f\0\1\0");
    assert_int_equal(edns_find_ede(&edns, &ede), EDNS_BAD);
    assert_string_equal(edns_ede_name(EDE_STALE_ANSWER), "Stale Answer");
    assert_string_equal(edns_ede_name(EDE_SYNTHESIZED), "Synthesized");
    assert_string_equal(edns_ede_name(30), "");
    assert_string_equal(edns_ede_name(65535), "");
}

static void test_small_sizes_count_as_512(void **state)
{
    (void)state;
    struct edns edns = {0};
    assert_int_equal(edns_udp_size(&edns), 512);
    edns.udp_size = 511;
    assert_int_equal(edns_udp_size(&edns), 512);
    edns.udp_size = 1232;
    assert_int_equal(edns_udp_size(&edns), 1232);
}

/* ---- writing ---- */

static uint8_t out[1024];

static void start(struct build *build, size_t size)
{
    build_init(build, out, size);
    build_header(build, 1, 0);
    build_opt_begin(build, 1232, 0, 0, false);
}

static struct message finish(struct build *build)
{
    build_opt_end(build);
    size_t len = build_finish(build);
    assert_int_not_equal(len, 0);
    return sample_parse(span_of(out, len));
}

static void test_written_options_are_read_back(void **state)
{
    (void)state;
    struct build build;
    start(&build, sizeof(out));
    edns_add_cookie(&build, (const uint8_t *)"client!!", BYTES("server-cookie"));
    edns_add_keepalive_answer(&build, 300);
    edns_add_ede(&build, EDE_NETWORK_ERROR, "timed out");
    struct message message = finish(&build);
    struct edns_cookie cookie;
    struct edns_keepalive keepalive;
    struct edns_ede ede;
    assert_int_equal(edns_find_cookie(&message.edns, &cookie), EDNS_FOUND);
    assert_true(span_equal(cookie.client, BYTES("client!!")));
    assert_true(span_equal(cookie.server, BYTES("server-cookie")));
    assert_int_equal(edns_find_keepalive(&message.edns, &keepalive), EDNS_FOUND);
    assert_int_equal(keepalive.timeout_100ms, 300);
    assert_int_equal(edns_find_ede(&message.edns, &ede), EDNS_FOUND);
    assert_int_equal(ede.code, EDE_NETWORK_ERROR);
    assert_true(span_equal(ede.text, BYTES("timed out")));
}

static void test_query_options_are_read_back(void **state)
{
    (void)state;
    struct build build;
    start(&build, sizeof(out));
    edns_add_cookie(&build, (const uint8_t *)"client!!", span_of(NULL, 0));
    edns_add_keepalive_query(&build);
    struct message message = finish(&build);
    struct edns_cookie cookie;
    struct edns_keepalive keepalive;
    assert_int_equal(edns_find_cookie(&message.edns, &cookie), EDNS_FOUND);
    assert_int_equal(cookie.server.len, 0);
    assert_int_equal(edns_find_keepalive(&message.edns, &keepalive), EDNS_FOUND);
    assert_false(keepalive.has_timeout);
}

static void test_extended_error_text_is_truncated_at_its_limit(void **state)
{
    (void)state;
    char text[400] = {0};
    memset(text, 'x', 399);
    struct build build;
    start(&build, sizeof(out));
    edns_add_ede(&build, EDE_OTHER, text);
    struct message message = finish(&build);
    struct edns_ede ede;
    assert_int_equal(edns_find_ede(&message.edns, &ede), EDNS_FOUND);
    assert_int_equal(ede.text.len, 255);
}

static void test_padding_fills_the_last_block(void **state)
{
    (void)state;
    for (size_t text_len = 0; text_len < 200; text_len++) {
        char text[201] = {0};
        memset(text, 'x', text_len);
        struct build build;
        start(&build, sizeof(out));
        edns_add_ede(&build, EDE_OTHER, text);
        edns_add_padding(&build, EDNS_PADDING_QUERY);
        assert_int_equal(finish(&build).bytes.len % EDNS_PADDING_QUERY, 0);
    }
}

static void test_padding_never_overflows(void **state)
{
    (void)state;
    for (size_t size = 23; size < 130; size++) {
        struct build build;
        start(&build, size);
        edns_add_padding(&build, EDNS_PADDING_QUERY);
        assert_int_equal(finish(&build).bytes.len, size < 27 ? 23 : size > 128 ? 128 : size);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options_are_iterated_to_the_end),
        cmocka_unit_test(test_option_that_does_not_fit_leaves_the_rest),
        cmocka_unit_test(test_first_option_of_a_code_is_found),
        cmocka_unit_test(test_only_cookie_lengths_of_the_rfc_are_accepted),
        cmocka_unit_test(test_keepalive_is_empty_or_two_bytes),
        cmocka_unit_test(test_extended_error_has_a_code_and_text),
        cmocka_unit_test(test_small_sizes_count_as_512),
        cmocka_unit_test(test_written_options_are_read_back),
        cmocka_unit_test(test_query_options_are_read_back),
        cmocka_unit_test(test_extended_error_text_is_truncated_at_its_limit),
        cmocka_unit_test(test_padding_fills_the_last_block),
        cmocka_unit_test(test_padding_never_overflows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
