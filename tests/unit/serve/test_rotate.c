/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Addresses come in another order. Everything else stays in its place. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "serve/reply.h"
#include "serve/rotate.h"
#include "unit/serve/canned.h"

static struct canned canned;
static struct build build;
static uint8_t copy[MESSAGE_MAX];
static size_t names_at;

/* ---- an answer, record by record ---- */

static void begin(const char *name, uint16_t type)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct question question = canned_question(name, type, wire);
    build_init(&build, canned.bytes, sizeof(canned.bytes));
    build_header(&build, 0, HEADER_QR | HEADER_RA);
    build_question(&build, &question);
    build_section(&build, SECTION_ANSWER);
    names_at = HEADER_LEN + question.name.len + 4u;
}

static struct name name_of(const char *text, uint8_t *wire)
{
    struct name name;
    assert_int_equal(name_parse(&name, wire, text, strlen(text)), ERR_OK);
    return name;
}

static void put(const char *owner, uint16_t type, const void *rdata, size_t len)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct name name = name_of(owner, wire);
    build_bytes(&build, name.wire, name.len); /* some servers do not compress the owner */
    build_rr_begin_owned(&build, type, RRCLASS_IN, 300);
    build_bytes(&build, rdata, len);
    build_rr_end(&build);
}

static void put_pointed(uint16_t pointer, uint16_t type, const void *rdata, size_t len)
{
    build_pointer(&build, pointer);
    build_rr_begin_owned(&build, type, RRCLASS_IN, 300);
    build_bytes(&build, rdata, len);
    build_rr_end(&build);
}

static void put_a(uint8_t last)
{
    put_pointed(HEADER_LEN, RRTYPE_A, (uint8_t[]){192, 0, 2, last}, 4);
}

static void finish(void)
{
    struct message message;
    size_t len = build_finish(&build);
    assert_true(len > 0);
    assert_int_equal(message_parse(&message, span_of(canned.bytes, len)), MESSAGE_OK);
    canned.answer = (struct answer){
        .message = span_of(canned.bytes, len),
        .ttl_offsets = canned.offsets,
        .ttl_count = (uint16_t)ttl_collect(&message, canned.offsets, CANNED_RRS_MAX),
        .ttl_s = 300,
    };
}

static void rotate(uint32_t turn)
{
    memcpy(copy, canned.bytes, canned.answer.message.len);
    rotate_addresses(&canned.answer, copy, canned.answer.message.len, names_at, turn);
}

/* Returns the last byte of each record's data. */
static const char *order(void)
{
    static char text[128];
    size_t len = 0;
    struct message message;
    assert_int_equal(message_parse(&message, span_of(copy, canned.answer.message.len)), MESSAGE_OK);
    struct rr_iter iter = message_rrs(&message, SECTION_ANSWER);
    for (struct rr rr; message_rr_next(&iter, &rr);)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%u ",
                                copy[rr.rdata_offset + rr.rdata_len - 1]);
    return text;
}

/* ---- what rotates ---- */

static void test_rotate_each_address_comes_first_in_turn(void **state)
{
    (void)state;
    begin("a.example", RRTYPE_A);
    put_a(1);
    put_a(2);
    put_a(3);
    finish();
    const char *const orders[] = {"1 2 3 ", "2 3 1 ", "3 1 2 "};
    for (uint32_t turn = 0; turn < 9; turn++) {
        rotate(turn);
        assert_string_equal(order(), orders[turn % 3]);
    }
    rotate(UINT32_MAX);
    assert_string_equal(order(), orders[UINT32_MAX % 3]);
}

static void test_rotate_ipv6_addresses(void **state)
{
    (void)state;
    begin("a.example", RRTYPE_AAAA);
    for (uint8_t i = 1; i <= 2; i++)
        put_pointed(HEADER_LEN, RRTYPE_AAAA, (uint8_t[16]){0x20, 1, 0xd, 0xb8, [15] = i}, 16);
    finish();
    rotate(1);
    assert_string_equal(order(), "2 1 ");
}

/* The addresses have a pointer into the alias as their owner, and a signature follows them. */
static void test_rotate_leaves_aliases_and_signatures_in_their_places(void **state)
{
    (void)state;
    static const uint8_t target[] = {1, 'b', 0xc0, HEADER_LEN + 2};
    static const uint8_t signature[30] = {[29] = 99};
    begin("a.example", RRTYPE_A);
    put_pointed(HEADER_LEN, RRTYPE_CNAME, target, sizeof(target));
    uint16_t at = (uint16_t)((size_t)(build.at - build.start) - sizeof(target));
    for (uint8_t i = 1; i <= 3; i++)
        put_pointed(at, RRTYPE_A, (uint8_t[]){192, 0, 2, i}, 4);
    put_pointed(at, RRTYPE_RRSIG, signature, sizeof(signature));
    finish();
    rotate(2);
    assert_string_equal(order(), "14 3 1 2 99 ");
}

static void test_rotate_knows_a_name_however_it_is_written(void **state)
{
    (void)state;
    uint8_t one[] = {1, 1, 1, 1}, two[] = {2, 2, 2, 2}, three[] = {3, 3, 3, 3};
    begin("a.example", RRTYPE_A);
    uint16_t at = (uint16_t)(build.at - build.start);
    put("b.example", RRTYPE_A, one, 4);
    put_pointed(at, RRTYPE_A, two, 4);
    put("b.example", RRTYPE_A, three, 4);
    finish();
    rotate(1);
    assert_string_equal(order(), "2 3 1 ");
}

/* ---- answers that are not rotated ---- */

static void test_rotate_mixes_no_rrsets(void **state)
{
    (void)state;
    uint8_t one[] = {1, 1, 1, 1}, two[] = {2, 2, 2, 2};
    begin("a.example", RRTYPE_ANY);
    put("b.example", RRTYPE_A, one, 4);
    put("b.example", RRTYPE_A, two, 4);
    put("c.example", RRTYPE_A, one, 4);
    put("c.example", RRTYPE_A, two, 4);
    put("c.example", RRTYPE_TXT, one, 4);
    put("c.example", RRTYPE_TXT, two, 4);
    finish();
    rotate(1);
    assert_string_equal(order(), "2 1 2 1 1 2 ");
}

static void test_rotate_leaves_other_sections_alone(void **state)
{
    (void)state;
    begin("a.example", RRTYPE_MX);
    build_section(&build, SECTION_ADDITIONAL);
    put_a(1);
    put_a(2);
    finish();
    rotate(1);
    assert_memory_equal(copy, canned.bytes, canned.answer.message.len);
}

/* No cache holds such entries. Even so, nothing is written beyond the end of a copy. */
static void test_rotate_wrong_offsets_change_nothing_beyond_the_copy(void **state)
{
    (void)state;
    static const uint16_t lies[] = {0, 1, 11, 12, 25, 30, 31, 60, 61, 62, 70, 1000, 65535};
    begin("a.example", RRTYPE_A);
    put_a(1);
    put_a(2);
    finish();
    size_t len = canned.answer.message.len;
    uint8_t *message = malloc(len), *exact = malloc(len);
    memcpy(message, canned.bytes, len);
    canned.answer.message = span_of(message, len);
    for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
        for (size_t which = 0; which < 2; which++) {
            uint16_t offsets[2] = {canned.offsets[0], canned.offsets[1]};
            offsets[which] = lies[i];
            canned.answer.ttl_offsets = offsets;
            rotate_addresses(&canned.answer, exact, len, names_at, 1);
        }
    }
    free(message);
    free(exact);
}

/* ---- rotation in replies ---- */

static size_t reply_to(uint16_t id, bool rotates)
{
    struct reply_rules rules = reply_rules_udp(1232);
    struct query_error error;
    struct query query;
    struct reply reply;
    uint8_t asked[512];
    rules.rotates = rotates;
    size_t len = canned_query(asked, &(struct canned_query){"A.eXample", id, RRTYPE_A, HEADER_RD, 0,
                                                            false, false, false});
    assert_int_equal(query_check(&query, &error, span_of(asked, len)), QUERY_RESOLVE);
    reply_plan_answer(&reply, &query, &canned.answer, &rules);
    assert_true(reply.len <= sizeof(copy));
    reply_write(&reply, copy, 2000000);
    return reply.len;
}

static void test_rotate_only_where_it_is_asked_for(void **state)
{
    (void)state;
    unsigned firsts[4] = {0};
    begin("a.example", RRTYPE_A);
    put_a(1);
    put_a(2);
    put_a(3);
    finish();
    for (uint16_t id = 0; id < 300; id++) {
        assert_int_equal(reply_to(id, false), canned.answer.message.len);
        assert_string_equal(order(), "1 2 3 ");
        reply_to(id, true);
        firsts[order()[0] - '0']++;
        assert_memory_equal(copy + 12, "\1A\7eXample", 10);
    }
    for (int i = 1; i <= 3; i++)
        assert_int_equal(firsts[i], 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rotate_each_address_comes_first_in_turn),
        cmocka_unit_test(test_rotate_ipv6_addresses),
        cmocka_unit_test(test_rotate_leaves_aliases_and_signatures_in_their_places),
        cmocka_unit_test(test_rotate_knows_a_name_however_it_is_written),
        cmocka_unit_test(test_rotate_mixes_no_rrsets),
        cmocka_unit_test(test_rotate_leaves_other_sections_alone),
        cmocka_unit_test(test_rotate_wrong_offsets_change_nothing_beyond_the_copy),
        cmocka_unit_test(test_rotate_only_where_it_is_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
