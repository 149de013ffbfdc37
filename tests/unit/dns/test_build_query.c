/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/dns/sample.h"

#include "dns/build.h"
#include "dns/rrtype.h"

static uint8_t out[BUILD_QUERY_MAX];

static void test_plain_query_is_header_and_question(void **state)
{
    (void)state;
    struct question question = {.name = NAME("wWw.example"), .type = RRTYPE_AAAA, .cls = 1};
    struct build_query_options options = {.id = 0x4711, .recursion_desired = true};
    size_t len = build_query(out, sizeof(out), &question, &options);
    assert_int_equal(len, 12 + 13 + 4);
    struct message message = sample_parse(span_of(out, len));
    assert_int_equal(message.id, 0x4711);
    assert_int_equal(message.flags, HEADER_RD);
    assert_true(question_equal_exact(&message.question, &question));
    assert_false(message.edns.present);
    assert_false(message.has_trailing);
}

static void test_query_with_everything_is_read_back(void **state)
{
    (void)state;
    struct question question = {.name = NAME("example"), .type = RRTYPE_DNSKEY, .cls = 1};
    struct build_query_options options = {.checking_disabled = true,
                                          .authentic_data = true,
                                          .dnssec_ok = true,
                                          .edns = true,
                                          .keepalive = true,
                                          .udp_size = 1232,
                                          .cookie = (const uint8_t *)"clientclserver-serv",
                                          .cookie_len = 19};
    size_t len = build_query(out, sizeof(out), &question, &options);
    struct message message = sample_parse(span_of(out, len));
    assert_int_equal(message.flags, HEADER_CD | HEADER_AD);
    assert_true(message.edns.dnssec_ok);
    assert_int_equal(message.edns.udp_size, 1232);
    struct edns_cookie cookie;
    struct edns_keepalive keepalive;
    assert_int_equal(edns_find_cookie(&message.edns, &cookie), EDNS_FOUND);
    assert_true(span_equal(cookie.server, BYTES("server-serv")));
    assert_int_equal(edns_find_keepalive(&message.edns, &keepalive), EDNS_FOUND);
    assert_false(keepalive.has_timeout);
    assert_false(message.has_trailing);
}

static void test_longest_query_needs_exactly_its_bound(void **state)
{
    (void)state;
    uint8_t wire[NAME_WIRE_MAX] = {0}, cookie[40] = {0};
    for (int i = 0; i < 254; i += 2)
        wire[i] = 1;
    struct question question = {.name = {.wire = wire, .len = 255}, .type = 1, .cls = 1};
    struct build_query_options options = {
        .edns = true, .keepalive = true, .cookie = cookie, .cookie_len = 40, .pad_block = 128};
    size_t len = build_query(out, sizeof(out), &question, &options);
    assert_int_equal(len, BUILD_QUERY_MAX);
    assert_int_equal(build_query(out, len - 1, &question, &options), 0);
    sample_parse(span_of(out, len));
}

static void test_padding_fills_up_to_the_block(void **state)
{
    (void)state;
    uint8_t wire[NAME_WIRE_MAX] = {0};
    struct build_query_options options = {.edns = true, .pad_block = EDNS_PADDING_QUERY};
    for (unsigned labels = 1; labels <= 127; labels++) {
        memset(wire, 0, sizeof(wire));
        for (unsigned i = 0; i < labels; i++)
            wire[2 * i] = 1;
        struct question question = {
            .name = {.wire = wire, .len = (uint8_t)(2 * labels + 1)}, .type = 1, .cls = 1};
        size_t len = build_query(out, sizeof(out), &question, &options);
        assert_int_equal(len % EDNS_PADDING_QUERY, 0);
        assert_true(len <= BUILD_QUERY_MAX);
        struct message message = sample_parse(span_of(out, len));
        struct span padding;
        assert_int_equal(edns_find(&message.edns, EDNS_PADDING, &padding), EDNS_FOUND);
        for (size_t i = 0; i < padding.len; i++)
            assert_int_equal(padding.data[i], 0);
        assert_false(message.has_trailing);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_query_is_header_and_question),
        cmocka_unit_test(test_query_with_everything_is_read_back),
        cmocka_unit_test(test_longest_query_needs_exactly_its_bound),
        cmocka_unit_test(test_padding_fills_up_to_the_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
