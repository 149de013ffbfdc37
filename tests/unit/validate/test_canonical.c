/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/validate/zone_text.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "dns/rrtype.h"

static struct zone_text zone;
static uint8_t out[CANONICAL_MAX];

/* The line of a signature for this owner and type, with this labels field. */
#define SIG(owner, type, labels)                                                                   \
    owner " 17 IN RRSIG " type " 13 " labels                                                       \
          " 3600 20300101000000 20200101000000 4660 EXAMPLE.com. AAAA"

/* The bytes that every signature of SIG() signs after the type, with this labels field. */
#define SIGNED(labels)                                                                             \
    "\x0d" labels "\x00\x00\x0e\x10\x70\xdb\xd8\x80\x5e\x0b\xe1\x00\x12\x34"                       \
    "\x07"                                                                                         \
    "example\x03"                                                                                  \
    "com\x00"
#define COM                                                                                        \
    "\x07"                                                                                         \
    "example\x03"                                                                                  \
    "com\x00"
#define TTL "\x00\x00\x0e\x10"

/* Writes the first set of the message, which is signed. */
static size_t write_first(size_t max)
{
    const struct rrset *set = &zone.sets.set[0];
    struct rrsig sig = zone_text_sig(&zone, set);
    return canonical_write(out, max, &zone.sets, set, &sig);
}

static void assert_written(struct span expected)
{
    size_t len = write_first(sizeof(out));
    assert_int_equal(len, expected.len);
    assert_memory_equal(out, expected.data, len);
}

static void test_one_record(void **state)
{
    (void)state;
    ZONE_TEXT(&zone, "wWw.Example.COM. 17 IN A 192.0.2.1", SIG("www.example.com.", "A", "3"));
    assert_written(BYTES("\x00\x01" SIGNED("\x03") "\x03www" COM "\x00\x01\x00\x01" TTL
                                                   "\x00\x04\xc0\x00\x02\x01"));
}

static void test_records_are_sorted_and_duplicates_dropped(void **state)
{
    (void)state;
    ZONE_TEXT(&zone, SIG("example.com.", "A", "2"), "example.com. 1 IN A 192.0.2.200",
              "example.com. 2 IN A 10.0.0.1", "EXAMPLE.com. 3 IN A 192.0.2.200",
              "example.com. 4 IN A 192.0.2.3", "example.com. 5 IN A 10.0.0.1");
    assert_written(BYTES("\x00\x01" SIGNED("\x02") /* in the order of unsigned bytes */
                         COM "\x00\x01\x00\x01" TTL "\x00\x04\x0a\x00\x00\x01" /* */
                         COM "\x00\x01\x00\x01" TTL "\x00\x04\xc0\x00\x02\x03" /* */
                         COM "\x00\x01\x00\x01" TTL "\x00\x04\xc0\x00\x02\xc8"));
}

static void test_shorter_rdata_is_first(void **state)
{
    (void)state;
    ZONE_TEXT(&zone, SIG("example.com.", "TYPE999", "2"),
              "example.com. 1 IN TYPE999 \\# 10 61626364656667680001",
              "example.com. 1 IN TYPE999 \\# 9 616263646566676800",
              "example.com. 1 IN TYPE999 \\# 1 61", "example.com. 1 IN TYPE999 \\# 2 6100",
              "example.com. 1 IN TYPE999 \\# 0",
              "example.com. 1 IN TYPE999 \\# 8 6162636465666768");
    assert_int_not_equal(write_first(sizeof(out)), 0);
    static const uint8_t lengths[] = {0, 1, 2, 8, 9, 10};
    size_t at = 2 + sizeof(SIGNED("\x02")) - 1;
    for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
        at += sizeof(COM) - 1 + 8;
        assert_int_equal(get_u16(out + at), lengths[i]);
        at += 2 + lengths[i];
    }
}

static void test_a_wildcard_is_the_owner_that_was_signed(void **state)
{
    (void)state;
    ZONE_TEXT(&zone, "A.b.Example.com. 17 IN A 192.0.2.1", SIG("a.b.example.com.", "A", "2"));
    assert_written(BYTES("\x00\x01" SIGNED("\x02") "\x01*" COM "\x00\x01\x00\x01" TTL
                                                   "\x00\x04\xc0\x00\x02\x01"));
    ZONE_TEXT(&zone, "a.b.example.com. 17 IN A 192.0.2.1", SIG("a.b.example.com.", "A", "0"));
    assert_written(BYTES("\x00\x01" SIGNED("\x00") "\x01*\x00\x00\x01\x00\x01" TTL
                                                   "\x00\x04\xc0\x00\x02\x01"));
}

static void test_a_wildcard_as_the_qname_stays_the_owner(void **state)
{
    (void)state;
    ZONE_TEXT(&zone, "*.example.com. 17 IN A 192.0.2.1", SIG("*.example.com.", "A", "2"));
    assert_written(BYTES("\x00\x01" SIGNED("\x02") "\x01*" COM "\x00\x01\x00\x01" TTL
                                                   "\x00\x04\xc0\x00\x02\x01"));
}

/* ---- names in RDATA ---- */

/* Returns whether upper and lower case in the RDATA of this type give the same bytes. */
static bool is_folded(const char *type, const char *rdata)
{
    char line[512], sig[512];
    size_t len[2];
    static uint8_t first[CANONICAL_MAX];
    for (int round = 0; round < 2; round++) {
        snprintf(line, sizeof(line), "a.example.com. 1 IN %s %s", type, rdata);
        if (round)
            for (char *at = strstr(line, "Case"); at; at = strstr(at, "Case"))
                memcpy(at, "cASE", 4);
        snprintf(sig, sizeof(sig), SIG("a.example.com.", "%s", "3"), type);
        ZONE_TEXT(&zone, line, sig);
        len[round] = write_first(sizeof(out));
        assert_int_not_equal(len[round], 0);
        if (round == 0)
            memcpy(first, out, len[0]);
    }
    return len[0] == len[1] && memcmp(first, out, len[0]) == 0;
}

static void test_names_of_the_listed_types_are_lower_case(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"NS", "Case.example."},
        {"MD", "Case.example."},
        {"MF", "Case.example."},
        {"CNAME", "Case.example."},
        {"SOA", "Case. Case. 1 2 3 4 5"},
        {"MB", "Case."},
        {"MG", "Case."},
        {"MR", "Case."},
        {"PTR", "Case."},
        {"MINFO", "Case. Case."},
        {"MX", "10 Case."},
        {"RP", "Case. Case."},
        {"AFSDB", "1 Case."},
        {"RT", "1 Case."},
        {"PX", "1 Case. Case."},

        {"NAPTR", "1 2 \"u\" \"s\" \"r\" Case."},
        {"KX", "1 Case."},
        {"SRV", "1 2 3 Case."},
        {"DNAME", "Case."},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (!is_folded(rows[i][0], rows[i][1]))
            fail_msg("%s keeps its case", rows[i][0]);
}

static void test_other_rdata_keeps_its_case(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"NSEC", "Case.example. A NSEC"},
        {"HINFO", "\"Case\" \"Case\""},
        {"TXT", "\"Case\""},
        {"SVCB", "1 Case."},
        {"NAPTR", "1 2 \"u\" \"s\" \"Case\" x."},
        {"HTTPS", "1 Case."},
        {"TALINK", "Case. Case."},
        {"LP", "1 Case."},
        {"TYPE999", "\\# 6 044361736500"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        bool is_hex = strstr(rows[i][1], "\\#");
        if (!is_hex && is_folded(rows[i][0], rows[i][1]))
            fail_msg("%s is folded", rows[i][0]);
    }
    ZONE_TEXT(&zone, "example.com. 1 IN TYPE999 \\# 6 044361736500",
              SIG("example.com.", "TYPE999", "2"));
    assert_int_not_equal(write_first(sizeof(out)), 0);
    assert_non_null(memmem(out, 200,
                           "\x04"
                           "Case",
                           5));
}

static void add_raw(uint16_t type, struct span rdata)
{
    raw_rr(&zone.raw, SECTION_ANSWER, BYTES("\xc0\x0c"), type, RRCLASS_IN, 60, rdata);
}

static void add_raw_sig(uint8_t type)
{
    uint8_t rdata[] = "\0\0\x0d\1\0\0\0\1\0\0\0\2\0\0\0\1\0\1\0s";
    rdata[1] = type;
    add_raw(RRTYPE_RRSIG, span_of(rdata, sizeof(rdata) - 1));
}

#define RAW_SIGNED(type) "\0" type "\x0d\1\0\0\0\1\0\0\0\2\0\0\0\1\0\1\0"
#define RAW_OWNER(type) "\1q\0\0" type "\0\1\0\0\0\1"

static void test_compressed_names_are_written_whole(void **state)
{
    (void)state;
    raw_start(&zone.raw, HEADER_QR);
    add_raw(RRTYPE_MX, BYTES("\0\1\1M\xc0\x0c"));
    add_raw_sig(RRTYPE_MX);
    assert_true(zone_text_read(&zone));
    assert_written(BYTES(RAW_SIGNED("\x0f") RAW_OWNER("\x0f") "\0\7\0\1\1m\1q\0"));
}

static void test_duplicates_are_found_after_decompression(void **state)
{
    (void)state;
    raw_start(&zone.raw, HEADER_QR);
    add_raw(RRTYPE_NS, BYTES("\1b\xc0\x0c"));
    add_raw(RRTYPE_NS, BYTES("\1A\1q\0"));
    add_raw(RRTYPE_NS, BYTES("\1B\1Q\0"));
    add_raw_sig(RRTYPE_NS);
    assert_true(zone_text_read(&zone));
    assert_written(BYTES(RAW_SIGNED("\2") RAW_OWNER("\2") "\0\5\1a\1q\0" /* */
                         RAW_OWNER("\2") "\0\5\1b\1q\0"));
}

static void test_soa_has_two_names_and_numbers(void **state)
{
    (void)state;
    raw_start(&zone.raw, HEADER_QR);
    add_raw(RRTYPE_SOA, BYTES("\1N\xc0\x0c\xc0\x0c"
                              "ABCDEFGHIJKLMNOPQRST"));
    add_raw_sig(RRTYPE_SOA);
    assert_true(zone_text_read(&zone));
    assert_written(BYTES(RAW_SIGNED("\6") RAW_OWNER("\6") "\0\x1c\1n\1q\0\1q\0" /* */
                                                          "ABCDEFGHIJKLMNOPQRST"));
}

static void test_nxt_and_sig_have_bytes_after_their_name(void **state)
{
    (void)state;
    raw_start(&zone.raw, HEADER_QR);
    add_raw(RRTYPE_NXT, BYTES("\1N\xc0\x0c"
                              "BITS"));
    add_raw_sig(RRTYPE_NXT);
    assert_true(zone_text_read(&zone));
    assert_written(BYTES(RAW_SIGNED("\x1e") RAW_OWNER("\x1e") "\0\x09\1n\1q\0"
                                                              "BITS"));
    raw_start(&zone.raw, HEADER_QR);
    add_raw(RRTYPE_SIG, BYTES("\0\1ABCDEFGHIJKLMNOP"
                              "\1N\xc0\x0c"
                              "SIGNATURE"));
    add_raw_sig(RRTYPE_SIG);
    assert_true(zone_text_read(&zone));
    assert_written(BYTES(RAW_SIGNED("\x18") RAW_OWNER("\x18") /* */
                         "\0\x20\0\1ABCDEFGHIJKLMNOP"
                         "\1n\1q\0"
                         "SIGNATURE"));
}

static void assert_a6(struct span rdata, struct span expected)
{
    raw_start(&zone.raw, HEADER_QR);
    add_raw(38, rdata);
    add_raw_sig(38);
    assert_true(zone_text_read(&zone));
    size_t len = write_first(sizeof(out));
    assert_true(len > expected.len);
    assert_int_equal(get_u16(out + len - expected.len - 2), expected.len);
    assert_memory_equal(out + len - expected.len, expected.data, expected.len);
}

static void test_a6_has_a_name_after_its_prefix(void **state)
{
    (void)state;
    assert_a6(BYTES("\x80\3ABC\0"), BYTES("\x80\3abc\0"));
    assert_a6(BYTES("\x79"
                    "Z"
                    "\3ABC\0"),
              BYTES("\x79"
                    "Z"
                    "\3abc\0"));
    assert_a6(BYTES("\x00"
                    "ABCDEFGHIJKLMNOP"),
              BYTES("\x00"
                    "ABCDEFGHIJKLMNOP"));
    assert_a6(BYTES("\x81\3ABC\0"), BYTES("\x81\3ABC\0")); /* malformed, so it is unchanged */
    assert_a6(BYTES("\x80\3ABC\0x"), BYTES("\x80\3ABC\0x"));
    assert_a6(BYTES("\x80\xc0\x0c"), BYTES("\x80\xc0\x0c"));
    assert_a6(BYTES("\x40"
                    "short"),
              BYTES("\x40"
                    "short"));
}

/* RFC 1035 and its successors define the RDATA of class IN only. */
static void test_rdata_of_another_class_is_taken_as_it_is(void **state)
{
    (void)state;
    raw_start(&zone.raw, HEADER_QR);
    raw_rr(&zone.raw, SECTION_ANSWER, BYTES("\xc0\x0c"), RRTYPE_SRV, RRCLASS_CH, 1,
           BYTES("\0\1\0\2\0\3\1T\xc0\x0c"));
    uint8_t rdata[] = "\0\x21\x0d\1\0\0\0\1\0\0\0\2\0\0\0\1\0\1\0s";
    raw_rr(&zone.raw, SECTION_ANSWER, BYTES("\xc0\x0c"), RRTYPE_RRSIG, RRCLASS_CH, 1,
           span_of(rdata, sizeof(rdata) - 1));
    zone.message = sample_parse(raw_span(&zone.raw));
    assert_true(rrsets_read(&zone.sets, &zone.message, RRCLASS_CH));
    assert_written(BYTES(RAW_SIGNED("\x21") "\1q\0\0\x21\0\3\0\0\0\1" /* */
                                            "\0\x0a\0\1\0\2\0\3\1T\xc0\x0c"));
}

/* ---- order of many records ---- */

static uint64_t random_state = 7;

static unsigned draw(unsigned bound)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(random_state >> 33) % bound;
}

/* Reads the written records and checks their order. Returns how many there are. */
static unsigned assert_sorted(size_t len, size_t sig_len, size_t owner_len)
{
    unsigned count = 0;
    struct span before = {0};
    for (size_t at = sig_len; at < len;) {
        at += owner_len + 8;
        struct span rdata = span_of(out + at + 2, get_u16(out + at));
        size_t shorter = MIN(before.len, rdata.len);
        if (count > 0) {
            int order = shorter ? memcmp(before.data, rdata.data, shorter) : 0;
            assert_true(order < 0 || (order == 0 && before.len < rdata.len));
        }
        before = rdata;
        at += 2 + rdata.len;
        count++;
    }
    return count;
}

static void test_any_number_of_records_is_sorted(void **state)
{
    (void)state;
    static const unsigned counts[] = {2, 3, 23, 24, 25, 26, 100, 1000, RRSETS_RECORDS_MAX - 1};
    for (size_t round = 0; round < ARRAY_LEN(counts); round++) {
        static bool is_seen[1 << 12];
        unsigned distinct = 0;
        memset(is_seen, 0, sizeof(is_seen));
        raw_start(&zone.raw, HEADER_QR);
        for (unsigned i = 0; i < counts[round]; i++) {
            unsigned value = draw(1 << 12);
            distinct += !is_seen[value];
            is_seen[value] = true;
            uint8_t rdata[12] = "prefix..";
            put_u16(rdata + 8, (uint16_t)value);
            add_raw(999, span_of(rdata, 10 + value % 3));
        }
        uint8_t sig[] = "\3\xe7\x0d\1\0\0\0\1\0\0\0\2\0\0\0\1\0\1\0s";
        add_raw(RRTYPE_RRSIG, span_of(sig, sizeof(sig) - 1));
        assert_true(zone_text_read(&zone));
        size_t len = write_first(sizeof(out));
        assert_int_equal(assert_sorted(len, 19, 3), distinct);
    }
}

static void test_any_number_of_names_is_sorted(void **state)
{
    (void)state;
    for (unsigned count = 2; count < 900; count = count * 2 + 1) {
        raw_start(&zone.raw, HEADER_QR);
        for (unsigned i = 0; i < count; i++) {
            char rdata[7];
            snprintf(rdata, sizeof(rdata), "\4%04X", (i * 7919) & 0xffff);
            memcpy(rdata + 5, "\xc0\x0c", 2);
            add_raw(RRTYPE_NS, span_of(rdata, 7));
        }
        add_raw_sig(RRTYPE_NS);
        assert_true(zone_text_read(&zone));
        size_t len = write_first(sizeof(out));
        assert_int_equal(assert_sorted(len, 19, 3), count);
    }
}

/* ---- bounds ---- */

/* With each maximum below the length, the result is 0 and nothing is written behind the maximum. */
static void assert_bounded(void)
{
    size_t len = write_first(sizeof(out));
    assert_int_not_equal(len, 0);
    for (size_t max = 0; max < len; max += 1 + len / 400) {
        uint8_t *exact = malloc(max ? max : 1);
        const struct rrset *set = &zone.sets.set[0];
        struct rrsig sig = zone_text_sig(&zone, set);
        assert_int_equal(canonical_write(exact, max, &zone.sets, set, &sig), 0);
        free(exact);
    }
}

static void test_the_bound_on_the_output(void **state)
{
    (void)state;
    ZONE_TEXT(&zone, "www.example.com. 17 IN A 192.0.2.1", SIG("www.example.com.", "A", "3"));
    size_t len = write_first(sizeof(out));
    assert_int_equal(write_first(len), len);
    assert_bounded();
    ZONE_TEXT(&zone, "www.example.com. 1 IN MX 1 m.example.", SIG("www.example.com.", "MX", "3"));
    len = write_first(sizeof(out));
    assert_int_equal(write_first(len), len);
    assert_bounded();
    ZONE_TEXT(&zone, "www.example.com. 1 IN MX 1 m.example.",
              "www.example.com. 1 IN MX 2 n.example.", SIG("www.example.com.", "MX", "3"));
    assert_bounded();
    ZONE_TEXT(&zone, "www.example.com. 1 IN A 192.0.2.1", "www.example.com. 1 IN A 192.0.2.2",
              SIG("www.example.com.", "A", "3"));
    len = write_first(sizeof(out));
    assert_int_equal(write_first(len), len);
    assert_bounded();
}

static void test_names_that_grow_beyond_the_bound_are_refused(void **state)
{
    (void)state;
    raw_start(&zone.raw, HEADER_QR);
    uint8_t name[NAME_WIRE_MAX];
    memset(name, 'x', sizeof(name));
    for (size_t at = 0; at < 254; at += 63)
        name[at] = 62;
    name[252] = 1;
    name[254] = 0;
    add_raw(RRTYPE_NS, span_of(name, sizeof(name)));
    uint8_t pointer[2];
    put_u16(pointer, (uint16_t)(0xc000 | (zone.raw.len - sizeof(name))));
    for (unsigned i = 0; i < 1500; i++)
        add_raw(RRTYPE_NS, span_of(pointer, 2));
    add_raw_sig(RRTYPE_NS);
    assert_true(zone_text_read(&zone));
    assert_int_equal(write_first(sizeof(out)), 0);
}

static void test_one_record_of_the_greatest_length(void **state)
{
    (void)state;
    static uint8_t rdata[MESSAGE_MAX - 100];
    memset(rdata, 0xab, sizeof(rdata));
    raw_start(&zone.raw, HEADER_QR);
    add_raw_sig(RRTYPE_TXT);
    add_raw(RRTYPE_NULL, span_of(rdata, sizeof(rdata)));
    assert_true(zone_text_read(&zone));
    const struct rrset *set = zone_text_set(&zone, RRTYPE_NULL);
    struct rrsig sig = zone_text_sig(&zone, zone_text_set(&zone, RRTYPE_TXT));
    size_t len = canonical_write(out, sizeof(out), &zone.sets, set, &sig);
    assert_int_equal(len, 19 + 3 + 8 + 2 + sizeof(rdata));
    assert_memory_equal(out + len - sizeof(rdata), rdata, sizeof(rdata));
}

static void test_a_set_without_records_has_nothing_signed(void **state)
{
    (void)state;
    ZONE_TEXT(&zone, SIG("example.com.", "A", "2"));
    assert_int_equal(write_first(sizeof(out)), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_record),
        cmocka_unit_test(test_records_are_sorted_and_duplicates_dropped),
        cmocka_unit_test(test_shorter_rdata_is_first),
        cmocka_unit_test(test_a_wildcard_is_the_owner_that_was_signed),
        cmocka_unit_test(test_a_wildcard_as_the_qname_stays_the_owner),
        cmocka_unit_test(test_names_of_the_listed_types_are_lower_case),
        cmocka_unit_test(test_other_rdata_keeps_its_case),
        cmocka_unit_test(test_compressed_names_are_written_whole),
        cmocka_unit_test(test_duplicates_are_found_after_decompression),
        cmocka_unit_test(test_soa_has_two_names_and_numbers),
        cmocka_unit_test(test_nxt_and_sig_have_bytes_after_their_name),
        cmocka_unit_test(test_a6_has_a_name_after_its_prefix),
        cmocka_unit_test(test_rdata_of_another_class_is_taken_as_it_is),
        cmocka_unit_test(test_any_number_of_records_is_sorted),
        cmocka_unit_test(test_any_number_of_names_is_sorted),
        cmocka_unit_test(test_the_bound_on_the_output),
        cmocka_unit_test(test_names_that_grow_beyond_the_bound_are_refused),
        cmocka_unit_test(test_one_record_of_the_greatest_length),
        cmocka_unit_test(test_a_set_without_records_has_nothing_signed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
