/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/validate/zone_text.h"

#include <stdio.h>

#include "base/check.h"
#include "dns/rrtype.h"

static struct zone_text zone;

#define SIG(owner, type)                                                                           \
    owner " 60 IN RRSIG " type " 13 2 60 20300101000000 20200101000000 1 example.com. AAAA"

static void test_records_and_signatures_are_grouped(void **state)
{
    (void)state;
    ZONE_TEXT(&zone, "www.example.com. 60 IN A 192.0.2.1", SIG("www.example.com.", "A"),
              "www.example.com. 60 IN AAAA 2001:db8::1", "www.example.com. 60 IN A 192.0.2.2",
              SIG("www.example.com.", "AAAA"), SIG("www.example.com.", "A"),
              "mail.example.com. 60 IN A 192.0.2.3");
    assert_int_equal(zone.sets.count, 3);
    assert_int_equal(zone.sets.record_count, 7);
    const struct rrset *a = &zone.sets.set[0], *aaaa = &zone.sets.set[1], *mail = &zone.sets.set[2];
    assert_int_equal(a->type, RRTYPE_A);
    assert_int_equal(a->count, 2);
    assert_int_equal(a->sig_count, 2);
    assert_int_equal(a->section, SECTION_ANSWER);
    assert_int_equal(aaaa->type, RRTYPE_AAAA);
    assert_int_equal(aaaa->count, 1);
    assert_int_equal(aaaa->sig_count, 1);
    assert_int_equal(mail->count, 1);
    assert_int_equal(mail->sig_count, 0);
    assert_int_equal(mail->first_sig, RRSETS_NONE);
}

static void test_lists_keep_the_order_of_the_message(void **state)
{
    (void)state;
    ZONE_TEXT(&zone, "a. 60 IN A 192.0.2.3", "a. 60 IN A 192.0.2.1", "a. 60 IN TXT \"x\"",
              "a. 60 IN A 192.0.2.2");
    const struct rrset *set = zone_text_set(&zone, RRTYPE_A);
    uint16_t at = set->first;
    static const uint8_t last[] = {3, 1, 2};
    for (size_t i = 0; i < ARRAY_LEN(last); i++, at = zone.sets.next[at])
        assert_int_equal(rrsets_rdata(&zone.sets, at).data[3], last[i]);
    assert_int_equal(at, RRSETS_NONE);
}

static void test_owners_are_compared_without_case(void **state)
{
    (void)state;
    ZONE_TEXT(&zone, "www.Example.com. 60 IN A 192.0.2.1", "WWW.example.COM. 60 IN A 192.0.2.2",
              SIG("wWw.example.com.", "A"));
    assert_int_equal(zone.sets.count, 1);
    assert_int_equal(zone.sets.set[0].count, 2);
    assert_int_equal(zone.sets.set[0].sig_count, 1);
}

static void test_each_rrset_has_the_owner_of_its_first_record(void **state)
{
    (void)state;
    ZONE_TEXT(&zone, "a.Example.com. 60 IN A 192.0.2.1", "example.com. 60 IN NS a.example.com.",
              "A.example.COM. 60 IN A 192.0.2.2", "b.example.com. 60 IN A 192.0.2.3");
    assert_int_equal(zone.sets.count, 3);
    assert_true(
        name_equal_exact(rrsets_owner(&zone.sets, &zone.sets.set[0]), NAME("a.Example.com")));
    assert_true(name_equal(rrsets_owner(&zone.sets, &zone.sets.set[1]), NAME("example.com")));
    assert_true(name_equal(rrsets_owner(&zone.sets, &zone.sets.set[2]), NAME("b.example.com")));
}

static void test_sections_never_share_an_rrset(void **state)
{
    (void)state;
    zone_text_start(&zone);
    zone_text_add(&zone, SECTION_ANSWER, "a. 60 IN NS b.");
    zone_text_add(&zone, SECTION_AUTHORITY, "a. 60 IN NS b.");
    zone_text_add(&zone, SECTION_AUTHORITY, SIG("a.", "NS"));
    zone_text_add(&zone, SECTION_ADDITIONAL, "b. 60 IN A 192.0.2.1");
    assert_true(zone_text_read(&zone));
    assert_int_equal(zone.sets.count, 2);
    assert_int_equal(zone.sets.set[0].sig_count, 0);
    assert_int_equal(zone.sets.set[1].section, SECTION_AUTHORITY);
    assert_int_equal(zone.sets.set[1].sig_count, 1);
    const struct rrset *in_answer = rrsets_find(&zone.sets, SECTION_ANSWER, NAME("A"), RRTYPE_NS);
    assert_ptr_equal(in_answer, &zone.sets.set[0]);
    assert_ptr_equal(rrsets_find(&zone.sets, SECTION_AUTHORITY, NAME("a"), RRTYPE_NS),
                     &zone.sets.set[1]);
    assert_null(rrsets_find(&zone.sets, SECTION_ANSWER, NAME("a"), RRTYPE_A));
    assert_null(rrsets_find(&zone.sets, SECTION_ANSWER, NAME("b"), RRTYPE_NS));
}

static void test_a_record_that_repeats_the_only_one_of_its_rrset_counts_once(void **state)
{
    (void)state;
    ZONE_TEXT(&zone, "a. 60 IN NSEC c. A NSEC", SIG("a.", "NSEC"), "a. 60 IN NSEC c. A NSEC",
              "www.a. 60 IN CNAME b.", "www.a. 60 IN CNAME B.", "www.a. 60 IN CNAME b.");
    assert_int_equal(zone_text_set(&zone, RRTYPE_NSEC)->count, 1);
    assert_int_equal(zone_text_set(&zone, RRTYPE_NSEC)->sig_count, 1);
    assert_int_equal(zone_text_set(&zone, RRTYPE_CNAME)->count, 1);
    ZONE_TEXT(&zone, "a. 60 IN NSEC c. A NSEC", "a. 60 IN NSEC d. A NSEC", "a. 60 IN NSEC c. NSEC",
              "www.a. 60 IN CNAME b.", "www.a. 60 IN CNAME c.");
    assert_int_equal(zone_text_set(&zone, RRTYPE_NSEC)->count, 3);
    assert_int_equal(zone_text_set(&zone, RRTYPE_CNAME)->count, 2);
}

static void test_a_signature_without_records_is_a_set(void **state)
{
    (void)state;
    ZONE_TEXT(&zone, SIG("a.example.com.", "MX"));
    assert_int_equal(zone.sets.count, 1);
    assert_int_equal(zone.sets.set[0].type, RRTYPE_MX);
    assert_int_equal(zone.sets.set[0].count, 0);
    assert_int_equal(zone.sets.set[0].first, RRSETS_NONE);
    assert_true(name_equal(rrsets_owner(&zone.sets, &zone.sets.set[0]), NAME("a.example.com")));
}

static void test_records_after_their_signature_join_it(void **state)
{
    (void)state;
    ZONE_TEXT(&zone, SIG("a.example.com.", "A"), "a.example.com. 60 IN A 192.0.2.1");
    assert_int_equal(zone.sets.count, 1);
    assert_int_equal(zone.sets.set[0].count, 1);
    assert_int_equal(zone.sets.set[0].sig_count, 1);
}

static void test_other_classes_are_passed_over(void **state)
{
    (void)state;
    ZONE_TEXT(&zone, "a. 60 CH TXT \"x\"", "a. 60 IN TXT \"y\"");
    assert_int_equal(zone.sets.count, 1);
    assert_int_equal(zone.sets.record_count, 1);
    assert_true(rrsets_read(&zone.sets, &zone.message, RRCLASS_CH));
    assert_int_equal(zone.sets.record_count, 1);
}

/* Records of other classes and of the additional section belong to no set. */
static void test_a_record_leads_to_its_set(void **state)
{
    (void)state;
    zone_text_start(&zone);
    zone_text_add(&zone, SECTION_ANSWER, SIG("a.", "AAAA"));
    zone_text_add(&zone, SECTION_ANSWER, "a. 60 IN A 192.0.2.1");
    zone_text_add(&zone, SECTION_ANSWER, "a. 60 CH A 192.0.2.1");
    zone_text_add(&zone, SECTION_ANSWER, "a. 60 IN AAAA 2001:db8::1");
    zone_text_add(&zone, SECTION_ANSWER, SIG("a.", "A"));
    zone_text_add(&zone, SECTION_AUTHORITY, "a. 60 IN A 192.0.2.1");
    zone_text_add(&zone, SECTION_ADDITIONAL, "a. 60 IN A 192.0.2.1");
    assert_true(zone_text_read(&zone));
    static const int sets[] = {0, 1, -1, 0, 1, 2, -1};
    struct rr_iter iter = message_all_rrs(&zone.message);
    struct rr rr;
    for (size_t i = 0; i < ARRAY_LEN(sets); i++) {
        assert_true(message_rr_next(&iter, &rr));
        assert_ptr_equal(rrsets_with(&zone.sets, &rr),
                         sets[i] < 0 ? NULL : &zone.sets.set[sets[i]]);
    }
    struct rr former = zone.sets.record[0];
    ZONE_TEXT(&zone, "a. 60 CH A 192.0.2.1");
    assert_null(rrsets_with(&zone.sets, &former));
}

/* The owners are a pointer, a pointer to that pointer, the same labels again, and a suffix with a
 * pointer. All of them are "q.". */
static void test_pointers_to_one_name_are_one_owner(void **state)
{
    (void)state;
    raw_start(&zone.raw, HEADER_QR);
    static const struct {
        const char *bytes;
        size_t len;
    } owners[] = {{"\xc0\x0c", 2}, {"\x01q\x00", 3}, {"\x01Q\xc0\x0e", 4}, {"\xc0\x0c", 2}};
    for (size_t i = 0; i < ARRAY_LEN(owners); i++) {
        uint8_t address[4] = {192, 0, 2, (uint8_t)i};
        raw_rr(&zone.raw, SECTION_ANSWER, span_of(owners[i].bytes, owners[i].len), RRTYPE_A,
               RRCLASS_IN, 60, span_of(address, sizeof(address)));
    }
    assert_true(zone_text_read(&zone));
    assert_int_equal(zone.sets.count, 1);
    assert_int_equal(zone.sets.set[0].count, 4);
}

static void test_an_empty_message_has_no_sets(void **state)
{
    (void)state;
    zone_text_start(&zone);
    assert_true(zone_text_read(&zone));
    assert_int_equal(zone.sets.count, 0);
}

/* ---- hostile messages ---- */

static void test_malformed_rdata_is_refused(void **state)
{
    (void)state;
    static const struct {
        uint16_t type;
        struct span rdata;
    } rows[] = {
        {RRTYPE_A, {(const uint8_t *)"\1\2\3", 3}},
        {RRTYPE_NS,
         {(const uint8_t *)"\x05"
                           "abc",
          4}},
        {RRTYPE_NS, {(const uint8_t *)"\xc0\xff", 2}},
        {RRTYPE_SOA, {(const uint8_t *)"\0\0", 2}},
        {RRTYPE_RRSIG, {(const uint8_t *)"\0", 1}},
        {RRTYPE_RRSIG, {(const uint8_t *)"\0\1\x0d\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xc0\x0c", 20}},
        {RRTYPE_DNSKEY, {(const uint8_t *)"\1\0\3", 3}},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        raw_start(&zone.raw, HEADER_QR);
        raw_rr(&zone.raw, SECTION_ANSWER, BYTES("\xc0\x0c"), rows[i].type, RRCLASS_IN, 60,
               rows[i].rdata);
        assert_false(zone_text_read(&zone));
    }
}

/* Adds A records whose owners have one letter: "a" + i. */
static void add_owners(unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++) {
        uint8_t owner[3] = {1, (uint8_t)('!' + i), 0};
        raw_rr(&zone.raw, SECTION_ANSWER, span_of(owner, sizeof(owner)), RRTYPE_A, RRCLASS_IN, 60,
               BYTES("\xc0\0\2\1"));
    }
}

static void test_the_bound_on_rrsets(void **state)
{
    (void)state;
    raw_start(&zone.raw, HEADER_QR);
    add_owners(0, RRSETS_MAX);
    assert_true(zone_text_read(&zone));
    assert_int_equal(zone.sets.count, RRSETS_MAX);
    add_owners(3, 4); /* a known owner is allowed */
    assert_true(zone_text_read(&zone));
    add_owners(RRSETS_MAX, RRSETS_MAX + 1);
    assert_false(zone_text_read(&zone));
}

static void test_the_bound_on_records(void **state)
{
    (void)state;
    raw_start(&zone.raw, HEADER_QR);
    for (unsigned i = 0; i < RRSETS_RECORDS_MAX; i++) {
        uint8_t address[4];
        put_u32(address, i);
        raw_rr(&zone.raw, SECTION_ANSWER, BYTES("\xc0\x0c"), RRTYPE_A, RRCLASS_IN, 60,
               span_of(address, sizeof(address)));
    }
    assert_true(zone_text_read(&zone));
    assert_int_equal(zone.sets.set[0].count, RRSETS_RECORDS_MAX);
    raw_rr(&zone.raw, SECTION_ANSWER, BYTES("\xc0\x0c"), RRTYPE_A, RRCLASS_IN, 60,
           BYTES("\xff\xff\xff\xff"));
    assert_false(zone_text_read(&zone));
}

/* 32 owners of 255 bytes differ only in their last label, and further records repeat the last
 * owner. */
static void test_long_owners_without_pointers_are_distinguished(void **state)
{
    (void)state;
    uint8_t owner[NAME_WIRE_MAX];
    memset(owner, 'x', sizeof(owner));
    for (size_t at = 0; at < 252; at += 63)
        owner[at] = 62;
    owner[252] = 1;
    owner[254] = 0;
    raw_start(&zone.raw, HEADER_QR);
    for (unsigned i = 0; i < 200; i++) {
        owner[253] = (uint8_t)('!' + (i < RRSETS_MAX ? i : RRSETS_MAX - 1));
        raw_rr(&zone.raw, SECTION_ANSWER, span_of(owner, sizeof(owner)), RRTYPE_A, RRCLASS_IN, 60,
               BYTES("\xc0\0\2\1"));
    }
    assert_true(zone_text_read(&zone));
    assert_int_equal(zone.sets.count, RRSETS_MAX);
    assert_int_equal(zone.sets.set[RRSETS_MAX - 1].count, 200 - RRSETS_MAX + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records_and_signatures_are_grouped),
        cmocka_unit_test(test_lists_keep_the_order_of_the_message),
        cmocka_unit_test(test_owners_are_compared_without_case),
        cmocka_unit_test(test_each_rrset_has_the_owner_of_its_first_record),
        cmocka_unit_test(test_sections_never_share_an_rrset),
        cmocka_unit_test(test_a_record_that_repeats_the_only_one_of_its_rrset_counts_once),
        cmocka_unit_test(test_a_signature_without_records_is_a_set),
        cmocka_unit_test(test_records_after_their_signature_join_it),
        cmocka_unit_test(test_other_classes_are_passed_over),
        cmocka_unit_test(test_a_record_leads_to_its_set),
        cmocka_unit_test(test_pointers_to_one_name_are_one_owner),
        cmocka_unit_test(test_an_empty_message_has_no_sets),
        cmocka_unit_test(test_malformed_rdata_is_refused),
        cmocka_unit_test(test_the_bound_on_rrsets),
        cmocka_unit_test(test_the_bound_on_records),
        cmocka_unit_test(test_long_owners_without_pointers_are_distinguished),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
