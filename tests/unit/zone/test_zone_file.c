/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/zone/zone_make.h"

#include <stdlib.h>

#include "zone/zone_lexer.h"

#define SOA "@ 300 IN SOA ns me 7 1h 2m 3w 4\n"

static void assert_rdata(const struct zone_data *data, const char *owner, uint16_t type,
                         const char *bytes, size_t len)
{
    struct zone_rrset rrset;
    struct span rdata;
    if (!zone_data_find(data, zone_make_name(owner), type, &rrset))
        fail_msg("%s has no type %u", owner, type);
    assert_true(zone_rrset_next(&rrset, &rdata));
    assert_int_equal(rdata.len, len);
    assert_memory_equal(rdata.data, bytes, len);
}

#define ASSERT_RDATA(data, owner, type, bytes)                                                     \
    assert_rdata(data, owner, type, bytes, sizeof(bytes) - 1)

static uint32_t ttl_of(const struct zone_data *data, const char *owner)
{
    struct zone_rrset rrset;
    assert_true(zone_data_find(data, zone_make_name(owner), RRTYPE_A, &rrset));
    return rrset.ttl;
}

static void test_owners_are_relative_absolute_or_repeated(void **state)
{
    (void)state;
    struct zone_data *data = zone_make("example.net", SOA "www A 192.0.2.1\n"
                                                          "\tAAAA 2001:db8::1\n"
                                                          "abs.example.net. A 192.0.2.2\n"
                                                          "$ORIGIN sub\n"
                                                          "@ A 192.0.2.3\n"
                                                          "a\\.b A 192.0.2.4\n"
                                                          "$ORIGIN deep.sub.example.net.\n"
                                                          "c CNAME @\n");
    ASSERT_RDATA(data, "www.example.net", RRTYPE_A, "\300\0\2\1");
    ASSERT_RDATA(data, "www.example.net", RRTYPE_AAAA, "\40\1\15\270\0\0\0\0\0\0\0\0\0\0\0\1");
    ASSERT_RDATA(data, "abs.example.net", RRTYPE_A, "\300\0\2\2");
    ASSERT_RDATA(data, "sub.example.net", RRTYPE_A, "\300\0\2\3");
    ASSERT_RDATA(data, "a\\.b.sub.example.net", RRTYPE_A, "\300\0\2\4");
    ASSERT_RDATA(data, "c.deep.sub.example.net", RRTYPE_CNAME, "\4deep\3sub\7example\3net\0");
    zone_data_unref(data);
}

static void test_ttl_and_class_come_in_any_order(void **state)
{
    (void)state;
    struct zone_data *data = zone_make("n", SOA "a A 192.0.2.1\n"
                                                "b 20 IN A 192.0.2.1\n"
                                                "c IN 1h1m A 192.0.2.1\n"
                                                "d A 192.0.2.1\n"
                                                "$TTL 2d\n"
                                                "e A 192.0.2.1\n"
                                                "f 5 A 192.0.2.1\n"
                                                "g class1 a 192.0.2.1\n");
    assert_int_equal(ttl_of(data, "a.n"), 300);
    assert_int_equal(ttl_of(data, "b.n"), 20);
    assert_int_equal(ttl_of(data, "c.n"), 3660);
    assert_int_equal(ttl_of(data, "d.n"), 3660);
    assert_int_equal(ttl_of(data, "e.n"), 172800);
    assert_int_equal(ttl_of(data, "f.n"), 5);
    assert_int_equal(ttl_of(data, "g.n"), 172800);
    zone_data_unref(data);
}

static void test_a_soa_without_ttl_has_its_minimum(void **state)
{
    (void)state;
    struct zone_data *data = zone_make("n", "@ SOA . . 1 2 3 4 77\n");
    assert_int_equal(zone_data_soa(data)->ttl, 77);
    zone_data_unref(data);
}

static void test_parentheses_comments_and_quotes_are_understood(void **state)
{
    (void)state;
    struct zone_data *data = zone_make("n", "; a comment\n\n"
                                            "@ 60 SOA ns. me. ( 1 ; serial\n"
                                            "   2 3\n 4 5 ) ; done\r\n"
                                            "a TXT \"two words; and (more)\" x\\065\\\" \"\"\n"
                                            "b TXT (\"one\"\n \"two\")");
    assert_int_equal(zone_data_soa(data)->minimum, 5);
    ASSERT_RDATA(data, "a.n", RRTYPE_TXT, "\25two words; and (more)\3xA\"\0");
    ASSERT_RDATA(data, "b.n", RRTYPE_TXT, "\3one\3two");
    zone_data_unref(data);
}

static void test_types_have_their_data(void **state)
{
    (void)state;
    struct zone_data *data = zone_make(
        "n", SOA
        "mx MX 10 mail\nsrv SRV 1 2 53 @\nds DS 1 8 2 aB cD0\t1\nns NS ns.\n"
        "unknown TYPE65280 \\# 4 0a00 0001\nempty TYPE65281 \\# 0\n"
        "a A \\# 4 c0000201\nnaptr NAPTR 1 2 \"u\" \"s\" \"\" .\n"
        "caa CAA 0 issue \"ca.example\"\nbare CAA 128 iodef mailto:a@b\nhttps HTTPS 1 . alpn=h2\n"
        "quoted HTTPS 1 . alpn=\"h2\" port=\"53\"\n"
        "n3 NSEC3PARAM 1 0 10 ab\nnsec NSEC x A RRSIG\n"
        "md ZONEMD 7 1 1 00112233\n");
    ASSERT_RDATA(data, "mx.n", RRTYPE_MX, "\0\12\4mail\1n\0");
    ASSERT_RDATA(data, "srv.n", RRTYPE_SRV, "\0\1\0\2\0\65\1n\0");
    ASSERT_RDATA(data, "ds.n", RRTYPE_DS, "\0\1\10\2\253\315\1");
    ASSERT_RDATA(data, "ns.n", RRTYPE_NS, "\2ns\0");
    ASSERT_RDATA(data, "unknown.n", 65280, "\12\0\0\1");
    ASSERT_RDATA(data, "empty.n", 65281, "");
    ASSERT_RDATA(data, "a.n", RRTYPE_A, "\300\0\2\1");
    ASSERT_RDATA(data, "naptr.n", RRTYPE_NAPTR, "\0\1\0\2\1u\1s\0\0");
    ASSERT_RDATA(data, "caa.n", RRTYPE_CAA, "\0\5issueca.example");
    ASSERT_RDATA(data, "bare.n", RRTYPE_CAA, "\200\5iodefmailto:a@b");
    ASSERT_RDATA(data, "https.n", RRTYPE_HTTPS, "\0\1\0\0\1\0\3\2h2");
    ASSERT_RDATA(data, "quoted.n", RRTYPE_HTTPS, "\0\1\0\0\1\0\3\2h2\0\3\0\2\0\65");
    ASSERT_RDATA(data, "n3.n", RRTYPE_NSEC3PARAM, "\1\0\0\12\1\253");
    ASSERT_RDATA(data, "nsec.n", RRTYPE_NSEC, "\1x\1n\0\0\6\100\0\0\0\0\2");
    ASSERT_RDATA(data, "md.n", RRTYPE_ZONEMD, "\0\0\0\7\1\1\0\21\42\63");
    zone_data_unref(data);
}

/* Types of RFC 1183, RFC 1712 and RFC 6742. */
static void test_rare_types_have_their_data(void **state)
{
    (void)state;
    struct zone_data *data =
        zone_make("n", SOA "x25 X25 x311061\none ISDN one\ntwo ISDN one \"two\"\n"
                           "gpos GPOS -32.6882 -116.8652 -10.0\nnid NID 10 0014:4fff:ff20:ee64\n"
                           "l32 L32 10 10.1.2.0\nl64 L64 10 2001:0DB8:1140:1000\nlp LP 10 l64\n");
    ASSERT_RDATA(data, "x25.n", RRTYPE_X25, "\7x311061");
    ASSERT_RDATA(data, "one.n", RRTYPE_ISDN, "\3one");
    ASSERT_RDATA(data, "two.n", RRTYPE_ISDN, "\3one\3two");
    ASSERT_RDATA(data, "gpos.n", RRTYPE_GPOS, "\10-32.6882\11-116.8652\5-10.0");
    ASSERT_RDATA(data, "nid.n", RRTYPE_NID, "\0\12\0\24\117\377\377\40\356\144");
    ASSERT_RDATA(data, "l32.n", RRTYPE_L32, "\0\12\12\1\2\0");
    ASSERT_RDATA(data, "l64.n", RRTYPE_L64, "\0\12\40\1\15\270\21\100\20\0");
    ASSERT_RDATA(data, "lp.n", RRTYPE_LP, "\0\12\3l64\1n\0");
    zone_data_unref(data);
}

/* ldns does not know the names of draft-ietf-tls-key-share-prediction and RFC 9540. */
static void test_new_parameters_of_https_have_their_values(void **state)
{
    (void)state;
    struct zone_data *data = zone_make(
        "n", SOA "oblivious SVCB 1 . mandatory=alpn,ohttp alpn=h2 ohttp\n"
                 "groups HTTPS 1 . tls-supported-groups=29,4588\n"
                 "quoted HTTPS 1 . tls-supported-groups=\"29\" ohttp mandatory=\"ohttp\"\n"
                 "ohttp HTTPS 1 ohttp ipv4hint=192.0.2.1\n"
                 "empty HTTPS 1 . ohttp= port=1\n"
                 "nothing HTTPS 1 . ohttp=\"\" port=1\n"
                 "last HTTPS 1 . ohttp=\n"
                 "known HTTPS 1 . alpn=h2 no-default-alpn=\"\" port=1\n"
                 "alone HTTPS 1 . alpn=h2 no-default-alpn=\n"
                 "many HTTPS 1 . key8=\"\" key10=\n");
    ASSERT_RDATA(data, "oblivious.n", RRTYPE_SVCB, "\0\1\0\0\0\0\4\0\1\0\10\0\1\0\3\2h2\0\10\0\0");
    ASSERT_RDATA(data, "groups.n", RRTYPE_HTTPS, "\0\1\0\0\11\0\4\0\35\21\354");
    ASSERT_RDATA(data, "quoted.n", RRTYPE_HTTPS, "\0\1\0\0\0\0\2\0\10\0\10\0\0\0\11\0\2\0\35");
    ASSERT_RDATA(data, "ohttp.n", RRTYPE_HTTPS, "\0\1\5ohttp\1n\0\0\4\0\4\300\0\2\1");
    ASSERT_RDATA(data, "empty.n", RRTYPE_HTTPS, "\0\1\0\0\3\0\2\0\1\0\10\0\0");
    ASSERT_RDATA(data, "nothing.n", RRTYPE_HTTPS, "\0\1\0\0\3\0\2\0\1\0\10\0\0");
    ASSERT_RDATA(data, "last.n", RRTYPE_HTTPS, "\0\1\0\0\10\0\0");
    ASSERT_RDATA(data, "known.n", RRTYPE_HTTPS, "\0\1\0\0\1\0\3\2h2\0\2\0\0\0\3\0\2\0\1");
    ASSERT_RDATA(data, "alone.n", RRTYPE_HTTPS, "\0\1\0\0\1\0\3\2h2\0\2\0\0");
    ASSERT_RDATA(data, "many.n", RRTYPE_HTTPS, "\0\1\0\0\10\0\0\0\12\0\0");
    zone_data_unref(data);
}

static const struct {
    const char *text;
    size_t line;
    enum err err;
    const char *sentence;
} faults[] = {
    {"$INCLUDE other\n", 1, ERR_INVALID, "$INCLUDE is not supported"},
    {"$GENERATE 1-9 a A 192.0.2.$\n", 1, ERR_INVALID, "is not a directive"},
    {"$ORIGIN\n", 1, ERR_INVALID, "$ORIGIN needs a name"},
    {"$TTL 2147483648\n", 1, ERR_INVALID, "$TTL needs"},
    {"a A 192.0.2.1\n", 1, ERR_INVALID, "the record has no TTL"},
    {" A 192.0.2.1\n", 1, ERR_INVALID, "the first record has no owner"},
    {SOA "a..b A 192.0.2.1\n", 2, ERR_INVALID, "is not a domain name"},
    {SOA "a A 192.0.2\n", 2, ERR_INVALID, "the data do not fit"},
    {SOA "a A 192.0.2.1 x\n", 2, ERR_INVALID, "the data do not fit"},
    {SOA "a A\n", 2, ERR_INVALID, "the data do not fit"},
    {SOA "a CAA\n", 2, ERR_INVALID, "the data do not fit"},
    {SOA "a AAAA 192.0.2.1\n", 2, ERR_INVALID, "the data do not fit"},
    {SOA "a MX 65536 b\n", 2, ERR_INVALID, "the data do not fit"},
    {SOA "a TXT\n", 2, ERR_INVALID, "the data do not fit"},
    {SOA "a TXT \\25\n", 2, ERR_INVALID, "the data do not fit"},
    {SOA "a TXT \\256\n", 2, ERR_INVALID, "the data do not fit"},
    {SOA "a DS 1 8 2 abc\n", 2, ERR_INVALID, "the data do not fit"},
    {SOA "a NSEC3 x\n", 2, ERR_INVALID, "the data do not fit"},
    {SOA "a X25\n", 2, ERR_INVALID, "the data do not fit"},
    {SOA "a ISDN 1 2 3\n", 2, ERR_INVALID, "the data do not fit"},
    {SOA "a GPOS 1 2\n", 2, ERR_INVALID, "the data do not fit"},
    {SOA "a NID 10 14:4fff\n", 2, ERR_INVALID, "the data do not fit"},
    {SOA "a NID 65536 0014:4fff:ff20:ee64\n", 2, ERR_INVALID, "the data do not fit"},
    {SOA "a L32 10 10.1.2\n", 2, ERR_INVALID, "the data do not fit"},
    {SOA "a L64 10 2001:db8:1140\n", 2, ERR_INVALID, "the data do not fit"},
    {SOA "a L64 10 2001:db8:1140:1000:\n", 2, ERR_INVALID, "the data do not fit"},
    {SOA "a L64 10 2001:db8::1000\n", 2, ERR_INVALID, "the data do not fit"},
    {SOA "a L64 10 2001:db8:11400:1000\n", 2, ERR_INVALID, "the data do not fit"},
    {SOA "a LP 10\n", 2, ERR_INVALID, "the data do not fit"},
    {SOA "a HTTPS 1 . ohttp=1\n", 2, ERR_INVALID, "the data do not fit"},
    {SOA "a HTTPS 1 . ohttp=\"1\"\n", 2, ERR_INVALID, "the data do not fit"},
    {SOA "a HTTPS 1 . ohttp\"\"\n", 2, ERR_INVALID, "the data do not fit"},
    {SOA "a HTTPS 1 . alpn=\n", 2, ERR_INVALID, "the data do not fit"},
    {SOA "a HTTPS 1 . port=\"\"\n", 2, ERR_INVALID, "the data do not fit"},
    {SOA "a HTTPS 1 . mandatory=\"\"\n", 2, ERR_INVALID, "the data do not fit"},
    {SOA "a HTTPS 1 . tls-supported-groups=\"\"\n", 2, ERR_INVALID, "the data do not fit"},
    {SOA "a HTTPS 1 . tls-supported-groups\n", 2, ERR_INVALID, "the data do not fit"},
    {SOA "a HTTPS 1 . tls-supported-groups=\n", 2, ERR_INVALID, "the data do not fit"},
    {SOA "a HTTPS 1 . tls-supported-groups=29,\n", 2, ERR_INVALID, "the data do not fit"},
    {SOA "a HTTPS 1 . tls-supported-groups=65536\n", 2, ERR_INVALID, "the data do not fit"},
    {SOA "a HTTPS 1 . tls-supported-groups=\"x\"\n", 2, ERR_INVALID, "the data do not fit"},
    {SOA "a HTTPS 1 . tls-supported-group=29\n", 2, ERR_INVALID, "the data do not fit"},
    {SOA "a A \\# 4 c00002\n", 2, ERR_INVALID, "\\# does not have the number"},
    {SOA "a A \\# 3 c00002\n", 2, ERR_INVALID, "the data do not fit"},
    {SOA "a A \\#\n", 2, ERR_INVALID, "\\# needs"},
    {SOA "a A \\# 1 g0\n", 2, ERR_INVALID, "the bytes after"},
    {SOA "\n\na BOGUS x\n", 4, ERR_INVALID, "is not a type"},
    {SOA "a CH A 192.0.2.1\n", 2, ERR_INVALID, "is not a type"},
    {SOA "a 1x A 192.0.2.1\n", 2, ERR_INVALID, "is not a TTL"},
    {SOA "a 60 IN\n", 2, ERR_INVALID, "the record has no type"},
    {SOA "a OPT \\# 0\n", 2, ERR_INVALID, "the data do not fit"},
    {SOA "a SOA . . 1 2 3 4 5\n", 2, ERR_INVALID, "the SOA record is not"},
    {SOA "a.other. A 192.0.2.1\n", 2, ERR_OUT_OF_ZONE, "the owner is outside"},
    {SOA "a TXT \"x\n\"\n", 2, ERR_INVALID, "the quoted text"},
    {SOA "a TXT ( x\n\n", 4, ERR_INVALID, "a parenthesis is not closed"},
    {SOA "a TXT x )\n", 2, ERR_INVALID, "a closing parenthesis"},
};

static void test_faults_name_their_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        struct zone_builder *builder = zone_builder_new(zone_make_name("n"), ZONE_MAKE_BYTES);
        struct zone_file_fault fault;
        enum err err =
            zone_file_read(builder, span_of(faults[i].text, strlen(faults[i].text)), &fault);
        if (err != faults[i].err || fault.line != faults[i].line ||
            strncmp(fault.sentence, faults[i].sentence, strlen(faults[i].sentence)) != 0)
            fail_msg("fault %zu: %d, line %zu: %s", i, err, fault.line, fault.sentence);
        zone_builder_free(builder);
    }
}

static void test_words_strings_and_names_have_bounds(void **state)
{
    (void)state;
    enum { SIZE = ZONE_FILE_TOKENS_MAX * 2 + 100 };
    char *text = malloc(SIZE);
    struct zone_file_fault fault;
    static const struct {
        const char *before;
        const char *repeated;
        size_t times;
        enum err err;
    } longs[] = {
        {SOA "a TXT", " x", ZONE_FILE_TOKENS_MAX - 2, ERR_OK},
        {SOA "a TXT", " x", ZONE_FILE_TOKENS_MAX - 1, ERR_LIMIT},
        {SOA "a TXT ", "x", 255, ERR_OK},
        {SOA "a TXT ", "x", 256, ERR_INVALID},
        {SOA "a CNAME ", "x.", 126, ERR_OK},
        {SOA "a CNAME ", "x.", 128, ERR_INVALID},
        {SOA "a CNAME x", ".x", 125, ERR_OK},
        {SOA "a CNAME x", ".x", 126, ERR_INVALID},
    };
    for (size_t i = 0; i < sizeof(longs) / sizeof(longs[0]); i++) {
        struct zone_builder *builder = zone_builder_new(zone_make_name("n"), ZONE_MAKE_BYTES);
        size_t at = (size_t)snprintf(text, SIZE, "%s", longs[i].before);
        for (size_t j = 0; j < longs[i].times; j++)
            at += (size_t)snprintf(text + at, SIZE - at, "%s", longs[i].repeated);
        enum err err = zone_file_read(builder, span_of(text, at), &fault);
        if (err != longs[i].err)
            fail_msg("text %zu: %d", i, err);
        zone_builder_free(builder);
    }
    free(text);
}

static void test_a_zone_that_exceeds_its_bound_says_so(void **state)
{
    (void)state;
    struct zone_builder *builder = zone_builder_new(zone_make_name("n"), 100);
    struct zone_file_fault fault;
    static const char text[] = SOA "a A 192.0.2.1\nb A 192.0.2.1\nc A 192.0.2.1\n";
    assert_int_equal(zone_file_read(builder, span_of(text, sizeof(text) - 1), &fault), ERR_LIMIT);
    assert_int_equal(fault.line, 4);
    assert_string_equal(fault.sentence, "the zone exceeds its bound");
    zone_builder_free(builder);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_owners_are_relative_absolute_or_repeated),
        cmocka_unit_test(test_ttl_and_class_come_in_any_order),
        cmocka_unit_test(test_a_soa_without_ttl_has_its_minimum),
        cmocka_unit_test(test_parentheses_comments_and_quotes_are_understood),
        cmocka_unit_test(test_types_have_their_data),
        cmocka_unit_test(test_rare_types_have_their_data),
        cmocka_unit_test(test_new_parameters_of_https_have_their_values),
        cmocka_unit_test(test_faults_name_their_line),
        cmocka_unit_test(test_words_strings_and_names_have_bounds),
        cmocka_unit_test(test_a_zone_that_exceeds_its_bound_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
