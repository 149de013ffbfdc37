/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* dnstap files: queries of clients come out with their address and time. A damaged file is refused.
 */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "dnstap_file.h"

static uint8_t bytes[8192];
static size_t len, frames;
static struct capture capture;

/* The query www.example A with RD. */
static const uint8_t query[] = "\x12\x34\1\0\0\1\0\0\0\0\0\0\3www\7example\0\0\1\0\1";

static void put(const void *from, size_t count)
{
    memcpy(bytes + len, from, count);
    len += count;
}

#define PUT(text) put(text, sizeof(text) - 1)

/* A file with this content type and no frame. */
static void begin(const char *content)
{
    uint8_t number[4];
    len = 0;
    PUT("\0\0\0\0\0\0\0");
    uint8_t control = (uint8_t)(12 + strlen(content));
    put(&control, 1);
    PUT("\0\0\0\2\0\0\0\1");
    put_u32(number, (uint32_t)strlen(content));
    put(number, 4);
    put(content, strlen(content));
}

/* Adds a frame with a message of this type from 192.0.2.7, at 5.000000009 s if it has a time. */
static void add_message(uint8_t type, bool has_time)
{
    size_t start = len;
    PUT("\0\0\0\0\x78\1\x72\0"); /* lengths of the frame and of the message are filled in */
    size_t message = len;
    put((const uint8_t[]){0x08, type}, 2);
    PUT("\x10\1\x18\1\x22\4\xc0\0\2\7");
    if (has_time)
        PUT("\x40\5\x4d\x09\0\0\0");
    put((const uint8_t[]){0x52, sizeof(query) - 1}, 2);
    put(query, sizeof(query) - 1);
    bytes[message - 1] = (uint8_t)(len - message);
    put_u32(bytes + start, (uint32_t)(len - start - 4));
}

static void end(void)
{
    PUT("\0\0\0\0\0\0\0\4\0\0\0\3");
}

static enum dnstap_fault load(size_t count)
{
    FILE *in = fmemopen(bytes, count, "r");
    enum dnstap_fault fault = dnstap_file_load(&capture, in, &frames);
    fclose(in);
    return fault;
}

static void expect_fault(enum dnstap_fault expected)
{
    assert_int_equal(load(len), expected);
    assert_int_equal(capture.queries.count, 0);
    assert_non_null(dnstap_fault_text(expected));
}

static void test_queries_of_clients_come_out(void **state)
{
    (void)state;
    struct wire_query parsed;
    char text[ADDR_TEXT_MAX];
    begin("protobuf:dnstap.Dnstap");
    add_message(5, true);
    add_message(6, true); /* the response */
    add_message(3, true); /* a query that the resolver sent */
    add_message(1, true);
    end();
    assert_int_equal(load(len), DNSTAP_FINE);
    assert_int_equal(frames, 4);
    assert_int_equal(capture.queries.count, 2);
    assert_true(wire_parse_query(query_file_at(&capture.queries, 1), &parsed));
    assert_memory_equal(parsed.lower, "\3www\7example", 13);
    assert_int_equal(capture.events[0].at_ns, UINT64_C(5000000009));
    assert_string_equal(addr_format_ip(&capture.clients[0], text), "192.0.2.7");
    assert_false(capture.lacks_times);
    capture_deinit(&capture);
}

static void test_a_file_without_its_end_is_read(void **state)
{
    (void)state;
    begin("protobuf:dnstap.Dnstap");
    add_message(5, false);
    assert_int_equal(load(len), DNSTAP_FINE);
    assert_true(capture.lacks_times);
    capture_deinit(&capture);
}

static void test_a_file_that_is_cut_is_refused_whole(void **state)
{
    (void)state;
    begin("protobuf:dnstap.Dnstap");
    size_t start = len;
    add_message(5, true);
    size_t one = len;
    add_message(5, true);
    size_t two = len;
    end();
    for (size_t count = 1; count < len; count++) {
        enum dnstap_fault fault = load(count);
        bool is_whole = count == one || count == two;
        assert_int_equal(fault, count < start    ? DNSTAP_NO_STREAM
                                : count == start ? DNSTAP_EMPTY
                                : is_whole       ? DNSTAP_FINE
                                                 : DNSTAP_CUT);
        assert_int_equal(capture.queries.count > 0, is_whole);
        capture_deinit(&capture);
    }
}

static void test_other_files_are_refused(void **state)
{
    (void)state;
    begin("protobuf:other");
    expect_fault(DNSTAP_CONTENT);
    begin("protobuf:dnstap.Dnstap");
    end();
    expect_fault(DNSTAP_EMPTY);
    bytes[11] = 3; /* STOP comes first */
    expect_fault(DNSTAP_NO_STREAM);
    begin("protobuf:dnstap.Dnstap");
    put_u32(bytes + 4, DNSTAP_CONTROL_MAX + 1);
    expect_fault(DNSTAP_NO_STREAM);
    begin("protobuf:dnstap.Dnstap");
    bytes[19]++; /* the content type is longer than its frame */
    expect_fault(DNSTAP_CONTENT);
}

static void test_fields_that_lie_are_faults(void **state)
{
    (void)state;
    static const char *const frames_[] = {
        "\0\0\0\1\x78",   /* a field key without a field number */
        "\0\0\0\2\x72\5", /* a length beyond the frame */
        "\0\0\0\xc\x72\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\1",   /* a length of 64 bits */
        "\0\0\0\xc\x78\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", /* a varint of 11 bytes */
        "\0\0\0\2\x73\1",           /* a wire type that protobuf 3 does not have */
        "\0\0\0\5\x78\1\x72\1\x52", /* a message that ends in a key */
        "\0\0\0\4\x75\1\1\1",       /* a fixed-size field of three bytes */
    };
    static const size_t sizes[] = {5, 6, 16, 16, 6, 9, 8};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        begin("protobuf:dnstap.Dnstap");
        put(frames_[i], sizes[i]);
        expect_fault(DNSTAP_FRAME);
    }
    begin("protobuf:dnstap.Dnstap");
    put_u32(bytes + len, DNSTAP_FRAME_MAX + 1);
    len += 4;
    expect_fault(DNSTAP_FRAME);
    begin("protobuf:dnstap.Dnstap");
    add_message(5, true);
    PUT("\0\0\0\0\0\0\0\4\0\0\0\2"); /* a second START */
    expect_fault(DNSTAP_FRAME);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_queries_of_clients_come_out),
        cmocka_unit_test(test_a_file_without_its_end_is_read),
        cmocka_unit_test(test_a_file_that_is_cut_is_refused_whole),
        cmocka_unit_test(test_other_files_are_refused),
        cmocka_unit_test(test_fields_that_lie_are_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
