/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/dns/sample.h"

#include "dns/rrtype.h"

static void test_every_type_has_a_text_that_parses_back(void **state)
{
    (void)state;
    for (uint32_t type = 0; type <= UINT16_MAX; type++) {
        char text[RRTYPE_TEXT_MAX];
        uint16_t back = 0;
        assert_int_equal(rrtype_parse(&back, rrtype_name((uint16_t)type, text)), ERR_OK);
        assert_int_equal(back, type);
    }
}

static void test_type_texts_are_read_in_any_case(void **state)
{
    (void)state;
    uint16_t type;
    char text[RRTYPE_TEXT_MAX];
    assert_int_equal(rrtype_parse(&type, "aaaa"), ERR_OK);
    assert_int_equal(type, RRTYPE_AAAA);
    assert_int_equal(rrtype_parse(&type, "type65"), ERR_OK);
    assert_int_equal(type, RRTYPE_HTTPS);
    assert_string_equal(rrtype_name(65, text), "HTTPS");
    assert_string_equal(rrtype_name(1234, text), "TYPE1234");
    assert_string_equal(rrtype_name(RRTYPE_NSAP_PTR, text), "NSAP-PTR");
}

static void test_words_that_are_no_type_are_refused(void **state)
{
    (void)state;
    const char *const words[] = {"",       "AAAAA",  "TYPE",   "TYPE65536",
                                 "TYPE-1", "TYPE1x", "TYPE 1", "TYPE99999999999999999999"};
    uint16_t type;
    for (int i = 0; i < 8; i++)
        assert_int_equal(rrtype_parse(&type, words[i]), ERR_INVALID);
}

static void test_other_numbers_have_texts_too(void **state)
{
    (void)state;
    char text[RRTYPE_TEXT_MAX];
    assert_string_equal(rrtype_class_name(RRCLASS_IN, text), "IN");
    assert_string_equal(rrtype_class_name(7, text), "CLASS7");
    assert_string_equal(rrtype_rcode_name(RCODE_NXDOMAIN, text), "NXDOMAIN");
    assert_string_equal(rrtype_rcode_name(RCODE_BADCOOKIE, text), "BADCOOKIE");
    assert_string_equal(rrtype_rcode_name(4095, text), "RCODE4095");
    assert_string_equal(rrtype_opcode_name(OPCODE_NOTIFY, text), "NOTIFY");
    assert_string_equal(rrtype_opcode_name(9, text), "OPCODE9");
}

static void test_meta_types_are_no_data(void **state)
{
    (void)state;
    const uint16_t meta[] = {0,           RRTYPE_OPT,  RRTYPE_TSIG, RRTYPE_TKEY,
                             RRTYPE_IXFR, RRTYPE_AXFR, RRTYPE_ANY,  128};
    for (int i = 0; i < 8; i++)
        assert_true(rrtype_is_meta(meta[i]));
    const uint16_t data[] = {RRTYPE_A, RRTYPE_RRSIG, RRTYPE_LP, RRTYPE_CAA, 127, 256, 65535};
    for (int i = 0; i < 7; i++)
        assert_false(rrtype_is_meta(data[i]));
    assert_true(rrtype_is_transfer(RRTYPE_AXFR));
    assert_true(rrtype_is_transfer(RRTYPE_IXFR));
    assert_false(rrtype_is_transfer(RRTYPE_ANY));
}

static void test_types_left_out_without_do_are_those_of_dnssec(void **state)
{
    (void)state;
    assert_true(rrtype_is_dnssec(RRTYPE_RRSIG));
    assert_true(rrtype_is_dnssec(RRTYPE_NSEC3));
    assert_false(rrtype_is_dnssec(RRTYPE_DS));
    assert_false(rrtype_is_dnssec(RRTYPE_A));
}

static void test_only_rfc_1035_types_are_compressed_on_output(void **state)
{
    (void)state;
    const uint16_t sent[] = {RRTYPE_NS, RRTYPE_MD, RRTYPE_MF,  RRTYPE_CNAME, RRTYPE_SOA, RRTYPE_MB,
                             RRTYPE_MG, RRTYPE_MR, RRTYPE_PTR, RRTYPE_MINFO, RRTYPE_MX};
    unsigned count = 0;
    for (uint32_t type = 0; type <= UINT16_MAX; type++) {
        const struct rrtype_layout *layout = rrtype_layout((uint16_t)type, RRCLASS_IN);
        if (layout && layout->compress) {
            assert_int_equal(type, sent[count++]);
            assert_true(layout->pointers);
        }
    }
    assert_int_equal(count, 11);
}

static void test_types_of_rfc_3597_section_4_may_arrive_compressed(void **state)
{
    (void)state;
    const uint16_t types[] = {RRTYPE_RP,  RRTYPE_AFSDB, RRTYPE_RT, RRTYPE_SIG, RRTYPE_PX,
                              RRTYPE_NXT, RRTYPE_NAPTR, RRTYPE_KX, RRTYPE_SRV, RRTYPE_DNAME};
    for (int i = 0; i < 10; i++) {
        assert_true(rrtype_layout(types[i], RRCLASS_IN)->pointers);
        assert_false(rrtype_layout(types[i], RRCLASS_IN)->compress);
    }
    assert_false(rrtype_layout(RRTYPE_RRSIG, RRCLASS_IN)->pointers);
    assert_false(rrtype_layout(RRTYPE_SVCB, RRCLASS_IN)->pointers);
}

static void test_layouts_depend_on_the_class(void **state)
{
    (void)state;
    assert_null(rrtype_layout(RRTYPE_A, RRCLASS_CH));
    assert_non_null(rrtype_layout(RRTYPE_TXT, RRCLASS_CH));
    assert_null(rrtype_layout(RRTYPE_NS, RRCLASS_ANY));
    assert_null(rrtype_layout(RRTYPE_NS, RRCLASS_NONE));
    assert_null(rrtype_layout(RRTYPE_CAA, RRCLASS_IN));
    assert_null(rrtype_layout(RRTYPE_NULL, RRCLASS_IN));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_type_has_a_text_that_parses_back),
        cmocka_unit_test(test_type_texts_are_read_in_any_case),
        cmocka_unit_test(test_words_that_are_no_type_are_refused),
        cmocka_unit_test(test_other_numbers_have_texts_too),
        cmocka_unit_test(test_meta_types_are_no_data),
        cmocka_unit_test(test_types_left_out_without_do_are_those_of_dnssec),
        cmocka_unit_test(test_only_rfc_1035_types_are_compressed_on_output),
        cmocka_unit_test(test_types_of_rfc_3597_section_4_may_arrive_compressed),
        cmocka_unit_test(test_layouts_depend_on_the_class),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
