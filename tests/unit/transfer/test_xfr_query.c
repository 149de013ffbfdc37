/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/transfer/xfr_play.h"

#include "transfer/xfr_query.h"
#include "transfer/xfr_serial.h"

static void test_queries_parse(void **state)
{
    (void)state;
    static const uint16_t types[] = {RRTYPE_SOA, RRTYPE_AXFR, RRTYPE_IXFR};
    for (size_t i = 0; i < 3; i++) {
        uint8_t bytes[XFR_QUERY_MAX];
        size_t len = xfr_query_write(bytes, NAME("example.com"), types[i], 7, 0xfffffff0);
        struct message message = sample_parse(span_of(bytes, len));
        assert_int_equal(message.id, 7);
        assert_int_equal(message.flags, 0);
        assert_int_equal(message.question.type, types[i]);
        assert_true(name_equal(message.question.name, NAME("example.com")));
        assert_int_equal(message.counts[SECTION_AUTHORITY], types[i] == RRTYPE_IXFR);
        assert_true(message_check_rdata(&message));
        if (types[i] == RRTYPE_IXFR)
            assert_int_equal(get_u32(bytes + len - 20), 0xfffffff0);
    }
}

static void test_the_longest_name_fits(void **state)
{
    (void)state;
    uint8_t wire[NAME_WIRE_MAX] = {0}, bytes[XFR_QUERY_MAX];
    for (size_t at = 0; at < 254; at += 2) {
        wire[at] = 1;
        wire[at + 1] = 'a';
    }
    struct name name = {wire, NAME_WIRE_MAX};
    struct message message =
        sample_parse(span_of(bytes, xfr_query_write(bytes, name, RRTYPE_IXFR, 1, 1)));
    assert_true(name_equal(message.question.name, name));
}

static enum xfr_probe probe(uint8_t *bytes, size_t len, uint32_t *serial, uint16_t *rcode)
{
    return xfr_probe_read(span_of(bytes, len), NAME("example.com"), PLAY_ID, serial, rcode);
}

static void test_a_primary_tells_its_serial(void **state)
{
    (void)state;
    uint8_t bytes[PLAY_MESSAGE_MAX];
    uint32_t serial;
    uint16_t rcode;
    size_t len = play_message(bytes, RRTYPE_SOA, "a1 S4000000000");
    assert_int_equal(probe(bytes, len, &serial, &rcode), XFR_PROBE_SERIAL);
    assert_int_equal(serial, 4000000000);
}

static void test_other_answers_have_names(void **state)
{
    (void)state;
    static const struct {
        size_t offset;
        uint8_t byte;
        enum xfr_probe probe;
    } rows[] = {
        {0, 9, XFR_PROBE_UNRELATED},    {2, 0x04, XFR_PROBE_UNRELATED},
        {2, 0xa4, XFR_PROBE_UNRELATED}, {13, 'f', XFR_PROBE_UNRELATED},
        {26, 1, XFR_PROBE_UNRELATED},   {2, 0x80, XFR_PROBE_NOT_PRIMARY},
        {3, 5, XFR_PROBE_RCODE},        {7, 9, XFR_PROBE_MALFORMED},
        {32, 1, XFR_PROBE_NOT_PRIMARY}, {34, 3, XFR_PROBE_NOT_PRIMARY},
        {40, 25, XFR_PROBE_MALFORMED},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        uint8_t bytes[PLAY_MESSAGE_MAX];
        uint32_t serial;
        uint16_t rcode;
        size_t len = play_message(bytes, RRTYPE_SOA, "S5 a1");
        bytes[rows[i].offset] = rows[i].byte;
        if (probe(bytes, len, &serial, &rcode) != rows[i].probe)
            fail_msg("byte %zu", rows[i].offset);
        assert_int_equal(rcode, rows[i].probe == XFR_PROBE_RCODE ? RCODE_REFUSED : 0);
    }
}

static void test_an_answer_without_soa_or_question_tells_nothing(void **state)
{
    (void)state;
    uint8_t bytes[PLAY_MESSAGE_MAX];
    uint32_t serial;
    uint16_t rcode;
    size_t len = play_message(bytes, RRTYPE_SOA, "");
    assert_int_equal(probe(bytes, len, &serial, &rcode), XFR_PROBE_NOT_PRIMARY);
    len = play_message(bytes, 0, "S5");
    assert_int_equal(probe(bytes, len, &serial, &rcode), XFR_PROBE_UNRELATED);
    assert_int_equal(probe(bytes, 11, &serial, &rcode), XFR_PROBE_MALFORMED);
}

/* RFC 1982 section 3.2. */
static void test_serial_arithmetic(void **state)
{
    (void)state;
    assert_true(xfr_serial_is_newer(1, 0));
    assert_false(xfr_serial_is_newer(0, 1));
    assert_false(xfr_serial_is_newer(5, 5));
    assert_true(xfr_serial_is_newer(0, UINT32_MAX));
    assert_true(xfr_serial_is_newer(0x7fffffff, 0));
    assert_false(xfr_serial_is_newer(0x80000000, 0));
    assert_false(xfr_serial_is_newer(0, 0x80000000));
    assert_false(xfr_serial_is_newer(0x80000001, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_queries_parse),
        cmocka_unit_test(test_the_longest_name_fits),
        cmocka_unit_test(test_a_primary_tells_its_serial),
        cmocka_unit_test(test_other_answers_have_names),
        cmocka_unit_test(test_an_answer_without_soa_or_question_tells_nothing),
        cmocka_unit_test(test_serial_arithmetic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
