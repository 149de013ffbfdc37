/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/transfer/xfr_play.h"

#include "transfer/xfr_notify.h"

/* Writes a NOTIFY with these records. */
static size_t notify_write(uint8_t out[PLAY_MESSAGE_MAX], uint16_t type, const char *records)
{
    size_t len = play_message(out, type, records);
    header_set_flags(out, HEADER_AA);
    header_set_opcode(out, OPCODE_NOTIFY);
    return len;
}

static void test_a_notify_names_its_zone_and_serial(void **state)
{
    (void)state;
    uint8_t bytes[PLAY_MESSAGE_MAX];
    struct xfr_notify notify;
    size_t len = notify_write(bytes, RRTYPE_SOA, "S4000000000");
    assert_true(xfr_notify_read(&notify, span_of(bytes, len)));
    assert_true(name_equal(xfr_notify_zone(&notify), NAME("example.com")));
    assert_true(notify.has_serial);
    assert_int_equal(notify.serial, 4000000000);
    assert_false(notify.has_tsig);
}

static void test_a_notify_may_lack_its_serial(void **state)
{
    (void)state;
    uint8_t bytes[PLAY_MESSAGE_MAX];
    struct xfr_notify notify;
    assert_true(xfr_notify_read(&notify, span_of(bytes, notify_write(bytes, RRTYPE_SOA, ""))));
    assert_false(notify.has_serial);
    assert_true(xfr_notify_read(&notify, span_of(bytes, notify_write(bytes, RRTYPE_SOA, "a1"))));
    assert_false(notify.has_serial);
}

static void test_other_messages_are_no_notify(void **state)
{
    (void)state;
    static const struct {
        size_t offset;
        uint8_t byte;
    } rows[] = {{2, 0xa4}, {2, 0x04}, {2, 0x2c}, {5, 0}, {26, 1}, {28, 3}, {7, 9}, {7, 0}};
    uint8_t bytes[PLAY_MESSAGE_MAX];
    struct xfr_notify notify;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        size_t len = notify_write(bytes, RRTYPE_SOA, "S5");
        bytes[rows[i].offset] = rows[i].byte;
        if (xfr_notify_read(&notify, span_of(bytes, len)))
            fail_msg("byte %zu", rows[i].offset);
    }
    assert_false(xfr_notify_read(&notify, span_of(bytes, 11)));
}

static void test_a_reply_repeats_the_question(void **state)
{
    (void)state;
    uint8_t bytes[PLAY_MESSAGE_MAX], reply[XFR_NOTIFY_REPLY_MAX];
    struct xfr_notify notify;
    assert_true(xfr_notify_read(&notify, span_of(bytes, notify_write(bytes, RRTYPE_SOA, "S5"))));
    struct message message =
        sample_parse(span_of(reply, xfr_notify_reply(&notify, RCODE_NOTAUTH, reply)));
    assert_int_equal(message.id, PLAY_ID);
    assert_true(message_is_answer(&message));
    assert_int_equal(message_opcode(&message), OPCODE_NOTIFY);
    assert_int_equal(message_rcode(&message), RCODE_NOTAUTH);
    assert_int_equal(message.question.type, RRTYPE_SOA);
    assert_true(name_equal(message.question.name, NAME("example.com")));
    assert_false(message.flags & HEADER_AA); /* AA is clear, because the zone is not held here */
    message = sample_parse(span_of(reply, xfr_notify_reply(&notify, RCODE_NOERROR, reply)));
    assert_true(message.flags & HEADER_AA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_notify_names_its_zone_and_serial),
        cmocka_unit_test(test_a_notify_may_lack_its_serial),
        cmocka_unit_test(test_other_messages_are_no_notify),
        cmocka_unit_test(test_a_reply_repeats_the_question),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
