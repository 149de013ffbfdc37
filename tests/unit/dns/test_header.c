/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/dns/sample.h"

#include "dns/header.h"

static void test_fields_are_read_where_the_rfc_puts_them(void **state)
{
    (void)state;
    const uint8_t bytes[HEADER_LEN] = {0x12, 0x34, 0xad, 0xb5, 0, 1, 0, 2, 0, 3, 0, 4};
    assert_int_equal(header_id(bytes), 0x1234);
    assert_int_equal(header_opcode(bytes), 5);
    assert_int_equal(header_rcode(bytes), 5);
    assert_true(header_has(bytes, HEADER_QR | HEADER_AA | HEADER_RD | HEADER_RA | HEADER_CD));
    assert_true(header_has(bytes, HEADER_AD));
    assert_false(header_has(bytes, HEADER_TC));
    assert_false(header_has(bytes, HEADER_Z));
    for (int i = 0; i < SECTION_COUNT; i++)
        assert_int_equal(header_count(bytes, (enum section)i), i + 1);
}

static void test_setting_one_field_leaves_the_others(void **state)
{
    (void)state;
    uint8_t bytes[HEADER_LEN] = {0};
    header_set_flags(bytes, 0xffff);
    header_set_opcode(bytes, 0);
    assert_int_equal(header_flags(bytes), 0x87ff);
    header_set_rcode(bytes, 0);
    assert_int_equal(header_flags(bytes), 0x87f0);
    header_put(bytes, HEADER_TC, false);
    assert_int_equal(header_flags(bytes), 0x85f0);
    header_put(bytes, HEADER_TC, true);
    assert_int_equal(header_flags(bytes), 0x87f0);
    header_set_opcode(bytes, 15);
    header_set_rcode(bytes, 15);
    assert_int_equal(header_flags(bytes), 0xffff);
    header_set_id(bytes, 0xbeef);
    header_set_count(bytes, SECTION_ADDITIONAL, 0x0102);
    assert_int_equal(header_id(bytes), 0xbeef);
    assert_int_equal(bytes[10] << 8 | bytes[11], 0x0102);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields_are_read_where_the_rfc_puts_them),
        cmocka_unit_test(test_setting_one_field_leaves_the_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
