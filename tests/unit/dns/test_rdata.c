/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/dns/sample.h"

#include "dns/message.h"
#include "dns/rdata.h"
#include "dns/rrtype.h"
#include "unit/dns/raw.h"

static struct raw raw;

/* Returns whether this RDATA passes. Another record follows it, and no name may extend into that
 * record. */
static bool passes_in(uint16_t cls, uint16_t type, struct span rdata)
{
    raw_start(&raw, HEADER_QR);
    raw_rr(&raw, SECTION_ANSWER, BYTES("\xc0\x0c"), type, cls, 0, rdata);
    raw_rr(&raw, SECTION_ANSWER, BYTES("\0"), RRTYPE_NULL, 1, 0, BYTES("\0\0\0\0\0\0\0\0"));
    struct message message = sample_parse(raw_span(&raw));
    return message_check_rdata(&message);
}

#define PASSES(type, literal) passes_in(RRCLASS_IN, RRTYPE_##type, BYTES(literal))

static void test_addresses_have_their_length(void **state)
{
    (void)state;
    assert_true(PASSES(A, "\1\2\3\4"));
    assert_false(PASSES(A, "\1\2\3"));
    assert_false(PASSES(A, "\1\2\3\4\5"));
    assert_false(PASSES(A, ""));
    assert_true(PASSES(AAAA, "0123456789abcdef"));
    assert_false(PASSES(AAAA, "0123456789abcde"));
    assert_false(PASSES(AAAA, "0123456789abcdefg"));
}

static void test_one_name_fills_its_rdata(void **state)
{
    (void)state;
    const uint16_t types[] = {RRTYPE_NS, RRTYPE_CNAME, RRTYPE_PTR, RRTYPE_DNAME, RRTYPE_MB};
    for (int i = 0; i < 5; i++) {
        assert_true(passes_in(1, types[i], BYTES("\1a\0")));
        assert_true(passes_in(1, types[i], BYTES("\1a\xc0\x0c")));
        assert_true(passes_in(1, types[i], BYTES("\xc0\x0c")));
        assert_false(passes_in(1, types[i], BYTES("\1a\0x")));
        assert_false(passes_in(1, types[i], BYTES("\xc0\x0c\0")));
        assert_false(passes_in(1, types[i], BYTES("")));
    }
}

static void test_name_running_over_its_rdata_is_refused(void **state)
{
    (void)state;
    assert_false(PASSES(NS, "\1a")); /* the root byte would belong to the next owner */
    assert_false(PASSES(NS, "\3ab"));
    assert_false(PASSES(NS, "\1a\xc0")); /* half a pointer */
    assert_false(PASSES(MX, "\0\1\1a"));
    assert_false(PASSES(SRV, "\0\1\0\1\0\1\1a"));
}

static void test_pointer_in_rdata_must_be_sound(void **state)
{
    (void)state;
    assert_false(PASSES(NS, "\xc0\x25")); /* a pointer to itself: 12 + 7 + 12 = 31 */
    assert_false(PASSES(NS, "\xc0\x1f"));
    assert_false(PASSES(NS, "\xff\xff"));
    assert_false(PASSES(NS, "\xc0\x00"));
}

static void test_fixed_bytes_come_before_and_after_names(void **state)
{
    (void)state;
    assert_true(PASSES(MX, "\0\1\1a\0"));
    assert_false(PASSES(MX, "\0"));
    assert_false(PASSES(MX, "\0\1"));
    assert_true(PASSES(SOA, "\1a\0\xc0\x0c"
                            "01234567890123456789"));
    assert_false(PASSES(SOA, "\1a\0\xc0\x0c"
                             "0123456789012345678"));
    assert_false(PASSES(SOA, "\1a\0\xc0\x0c"
                             "012345678901234567890"));
    assert_false(PASSES(SOA, "\1a\0"));
    assert_true(PASSES(SRV, "\0\1\0\1\0\1\1a\0"));
    assert_true(PASSES(SRV, "\0\1\0\1\0\1\xc0\x0c"));
    assert_true(PASSES(RP, "\0\0"));
    assert_false(PASSES(RP, "\0"));
}

static void test_strings_fill_their_rdata(void **state)
{
    (void)state;
    assert_true(PASSES(TXT, "\3abc\0\1x"));
    assert_true(PASSES(TXT, "\0"));
    assert_false(PASSES(TXT, ""));
    assert_false(PASSES(TXT, "\4abc"));
    assert_true(PASSES(HINFO, "\1a\1b"));
    assert_false(PASSES(HINFO, "\1a"));
    assert_false(PASSES(HINFO, "\1a\1b\1c"));
    assert_true(PASSES(NAPTR, "\0\1\0\1\1u\0\2!!\0"));
    assert_true(PASSES(NAPTR, "\0\1\0\1\1u\0\2!!\xc0\x0c"));
    assert_false(PASSES(NAPTR, "\0\1\0\1\1u\0\3!!"));
}

static void test_names_that_must_be_whole_are_refused_compressed(void **state)
{
    (void)state;
    assert_true(PASSES(RRSIG, "012345678901234567\1a\0signature"));
    assert_false(PASSES(RRSIG, "012345678901234567\xc0\x0csignature"));
    assert_false(PASSES(RRSIG, "01234567890123456"));
    assert_true(PASSES(NSEC, "\1a\0\0\1\x40"));
    assert_false(PASSES(NSEC, "\xc0\x0c\0\1\x40"));
    assert_true(PASSES(HTTPS, "\0\1\0"));
    assert_false(PASSES(HTTPS, "\0\1\xc0\x0c"));
}

static void test_opaque_types_and_classes_pass(void **state)
{
    (void)state;
    assert_true(passes_in(1, 1234, BYTES("\xff\xff")));
    assert_true(PASSES(NULL, ""));
    assert_true(passes_in(RRCLASS_CH, RRTYPE_A, BYTES("\1a\0\1\2")));
    assert_true(passes_in(RRCLASS_ANY, RRTYPE_NS, BYTES("")));
    assert_false(passes_in(RRCLASS_CH, RRTYPE_NS, BYTES("\1a")));
}

static void test_parts_give_the_offsets_of_names(void **state)
{
    (void)state;
    assert_true(PASSES(SOA, "\1a\0\xc0\x0c"
                            "01234567890123456789"));
    struct message message = sample_parse(raw_span(&raw));
    struct rr_iter iter = message_all_rrs(&message);
    struct rr rr;
    struct rdata_parts parts;
    assert_true(message_rr_next(&iter, &rr));
    assert_true(rdata_split(&message, &rr, &parts));
    assert_int_equal(parts.names_offset, rr.rdata_offset);
    assert_int_equal(parts.tail_offset, rr.rdata_offset + 5);
    assert_true(message_rr_next(&iter, &rr));
    assert_true(rdata_split(&message, &rr, &parts));
    assert_null(parts.layout);
}

static void test_expanded_rdata_has_no_pointers(void **state)
{
    (void)state;
    uint8_t out[64];
    struct rr rr;
    raw_start(&raw, HEADER_QR); /* \xc0\x0c points to the QNAME */
    raw_rr(&raw, SECTION_ANSWER, BYTES("\xc0\x0c"), RRTYPE_MX, 1, 0, BYTES("\0\5\1a\xc0\x0c"));
    raw_rr(&raw, SECTION_ANSWER, BYTES("\xc0\x0c"), RRTYPE_A, 1, 0, BYTES("\1\2\3\4"));
    raw_rr(&raw, SECTION_ANSWER, BYTES("\xc0\x0c"), RRTYPE_MX, 1, 0, BYTES("\0\5"));
    struct message message = sample_parse(raw_span(&raw));
    struct name name = message.question.name;
    struct rr_iter iter = message_rrs(&message, SECTION_ANSWER);
    assert_true(message_rr_next(&iter, &rr));
    assert_int_equal(rdata_expand(&message, &rr, out, sizeof(out)), 4 + name.len);
    assert_memory_equal(out, "\0\5\1a", 4);
    assert_memory_equal(out + 4, name.wire, name.len);
    assert_int_equal(rdata_expand(&message, &rr, out, 4 + name.len - 1), 0);
    assert_true(message_rr_next(&iter, &rr));
    assert_int_equal(rdata_expand(&message, &rr, out, sizeof(out)), 4);
    assert_memory_equal(out, "\1\2\3\4", 4);
    assert_true(message_rr_next(&iter, &rr));
    assert_int_equal(rdata_expand(&message, &rr, out, sizeof(out)), 0);
}

static void test_rdata_at_the_end_of_the_longest_message_is_checked(void **state)
{
    (void)state;
    raw_start(&raw, HEADER_QR);
    size_t len = 65535 - raw.len - 12 - 14;
    static uint8_t zeros[65535];
    raw_rr(&raw, SECTION_ANSWER, BYTES("\xc0\x0c"), RRTYPE_NULL, 1, 0, span_of(zeros, len));
    raw_rr(&raw, SECTION_ANSWER, BYTES("\xc0\x0c"), RRTYPE_CNAME, 1, 0, BYTES("\xc0\x0c"));
    assert_int_equal(raw.len, 65535);
    struct message message = sample_parse(raw_span(&raw));
    assert_true(message_check_rdata(&message));
    raw.bytes[65534] = 0; /* a pointer into the header */
    assert_false(message_check_rdata(&message));
}

static void test_a_checked_message_and_its_copies_pass_at_once(void **state)
{
    (void)state;
    struct message copy;
    raw_start(&raw, HEADER_QR);
    raw_rr(&raw, SECTION_ANSWER, BYTES("\xc0\x0c"), RRTYPE_A, 1, 0, BYTES("\1\2\3"));
    struct message message = sample_parse(raw_span(&raw));
    struct rr_iter iter = message_rrs(&message, SECTION_ANSWER);
    struct rr rr;
    assert_true(message_rr_next(&iter, &rr));
    assert_false(message_check_rr(&message, &rr));
    message_note_checked(&message);
    message_move(&copy, &message, message.bytes.data);
    assert_true(message_check_rr(&message, &rr) && message_check_rdata(&message));
    assert_true(message_check_rdata(&copy));
    message = sample_parse(raw_span(&raw)); /* another parse knows nothing of the note */
    assert_false(message_check_rdata(&message));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses_have_their_length),
        cmocka_unit_test(test_one_name_fills_its_rdata),
        cmocka_unit_test(test_name_running_over_its_rdata_is_refused),
        cmocka_unit_test(test_pointer_in_rdata_must_be_sound),
        cmocka_unit_test(test_fixed_bytes_come_before_and_after_names),
        cmocka_unit_test(test_strings_fill_their_rdata),
        cmocka_unit_test(test_names_that_must_be_whole_are_refused_compressed),
        cmocka_unit_test(test_opaque_types_and_classes_pass),
        cmocka_unit_test(test_parts_give_the_offsets_of_names),
        cmocka_unit_test(test_expanded_rdata_has_no_pointers),
        cmocka_unit_test(test_rdata_at_the_end_of_the_longest_message_is_checked),
        cmocka_unit_test(test_a_checked_message_and_its_copies_pass_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
