/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Answers as text: the text that the cache writes can be read back, and a fault affects one answer
 * only and is reported. */
#include "cache/text.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache/cache.h"

enum { SECOND = 1000000 };

static struct cache *cache;
static char why[TEXT_WHY_MAX];

static int set_up(void **state)
{
    (void)state;
    static const struct cache_options options = {
        .size_bytes = CACHE_SIZE_MIN, .max_ttl_s = 86400, .max_negative_ttl_s = 900};
    cache_thread_begin();
    cache = cache_new(&options);
    why[0] = '\0';
    return !cache;
}

static int tear_down(void **state)
{
    (void)state;
    cache_thread_end();
    cache_free(cache);
    return 0;
}

static struct cache_filter filter;

/* Reads the lines at 10 s. Returns how many answers were stored. *bad is the first refused line, or
 * 0. */
static uint64_t read_text(const char *text, unsigned *bad)
{
    struct text_reader *reader = text_reader_new(cache, filter, 10 * SECOND);
    unsigned number = 1;
    *bad = 0;
    for (const char *at = text; *at; number++) {
        size_t len = strcspn(at, "\n");
        char ignored[TEXT_WHY_MAX];
        if (!text_read(reader, span_of(at, len), *bad ? ignored : why) && !*bad)
            *bad = number;
        at += len + (at[len] == '\n');
    }
    if (!*bad && !text_read_end(reader, why))
        *bad = number;
    uint64_t count = text_reader_count(reader);
    free(reader);
    return count;
}

static enum cache_verdict put_item(void *context, const struct cache_item *item)
{
    assert_true(text_put(context, item, 20 * SECOND));
    return CACHE_KEEP;
}

/* Returns the text of the whole cache at 20 s. */
static const char *written(void)
{
    static char text[1 << 20];
    struct buf out;
    buf_init(&out, sizeof(text) - 1);
    for (uint64_t place = 0; cache_walk(cache, &place, 64, put_item, &out);)
        continue;
    struct span all = buf_span(&out);
    if (all.len)
        memcpy(text, all.data, all.len);
    text[all.len] = '\0';
    buf_deinit(&out);
    return text;
}

static void expect_round(const char *in, const char *out)
{
    unsigned bad;
    uint64_t count = read_text(in, &bad);
    if (bad)
        fail_msg("line %u: %s", bad, why);
    assert_int_equal(count, 1);
    assert_string_equal(written(), out);
}

static void expect_bad(const char *in, unsigned line, const char *sentence)
{
    unsigned bad;
    assert_int_equal(read_text(in, &bad), 0);
    assert_int_equal(bad, line);
    if (!strstr(why, sentence))
        fail_msg("said: %s", why);
}

static void test_an_answer_is_written_as_it_was_read_with_aged_ttls(void **state)
{
    (void)state;
    expect_round(";answer WWW.example. A ttl 300 flags do,cd,ad ede 3 ede 22\n"
                 "www.example. 300 IN CNAME x.test.\n"
                 "x.test. 400 IN A 192.0.2.1\n"
                 ";authority\n"
                 "test. 500 IN NS ns.test.\n"
                 ";additional\n"
                 "ns.test. 600 IN AAAA 2001:db8::1\n"
                 ";end\n",
                 ";answer www.example. A ttl 290 rcode NOERROR kind positive flags do,cd,ad ede 3 "
                 "ede 22\n"
                 "www.example.\t290\tIN\tCNAME\tx.test.\n"
                 "x.test.\t390\tIN\tA\t192.0.2.1\n"
                 ";authority\n"
                 "test.\t490\tIN\tNS\tns.test.\n"
                 ";additional\n"
                 "ns.test.\t590\tIN\tAAAA\t2001:db8::1\n"
                 ";end\n");
}

static void test_a_negative_answer_is_written_and_read(void **state)
{
    (void)state;
    expect_round(";answer no.example. TYPE65280 ttl 60 rcode NXDOMAIN kind nxdomain\n;authority\n"
                 "example. 60 IN SOA a. b. 1 2 3 4 5\n;end",
                 ";answer no.example. TYPE65280 ttl 50 rcode NXDOMAIN kind nxdomain\n;authority\n"
                 "example.\t50\tIN\tSOA\ta. b. 1 2 3 4 5\n;end\n");
}

static void test_records_of_many_types_come_back(void **state)
{
    (void)state;
    static const char *const records[] = {
        "TXT \"a b\" \"\\\\ \\\" \\000\\255 ;\"",
        "DNSKEY 257 3 13 "
        "mdsswUyr3DPW132mOi8V9xESWE8jTo0dxCjjnopKl+GqJxpVXckHAeF+KkxLbxILfDLUT0rAK9iUzy1L53eKGQ==",
        "RRSIG A 13 2 300 20300101000000 20200101000000 12345 example. c2lnbmF0dXJl",
        "MX 10 mail.example.",
        "SRV 1 2 53 a\\.b.example.",
        "TYPE65280 \\# 3 010203",
        "CAA 0 issue \"ca.example\"",
        "NAPTR 1 1 \"u\" \"sip+E2U\" \"!^.*$!sip:a@b!\" .",
        "DS 1 13 2 49FD46E6C4B45C55D4AC49FD46E6C4B45C55D4AC49FD46E6C4B45C55D4AC0011",
        "SVCB 1 svc.example. alpn=h2",
        "HTTPS 1 . alpn=h2,h3 ipv4hint=192.0.2.1",
        "LOC 52 22 23.000 N 4 53 32.000 E -2.00m 0.00m 10000.00m 10.00m",
        "NSEC a.example. A RRSIG NSEC",
    };
    for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
        static char text[4096], first[1 << 20];
        unsigned bad;
        int type_len = (int)strcspn(records[i], " ");
        snprintf(text, sizeof(text),
                 ";answer x.example. %.*s ttl 300\nx.example. 300 IN %s\n;end\n", type_len,
                 records[i], records[i]);
        if (read_text(text, &bad) != 1)
            fail_msg("%s: line %u: %s", records[i], bad, why);
        strcpy(first, written());
        cache_thread_end();
        cache_free(cache);
        set_up(NULL);
        if (read_text(first, &bad) != 1)
            fail_msg("%s: line %u: %s", first, bad, why);
        cache_thread_end();
        cache_free(cache);
        set_up(NULL);
    }
}

static void test_comments_and_empty_lines_are_ignored(void **state)
{
    (void)state;
    expect_round(
        "; a comment\n\n \t\n;answer a. A ttl 20\r\n;more\n\na. 20 IN A 192.0.2.1\n;end\n;the end",
        ";answer a. A ttl 10 rcode NOERROR kind positive\na.\t10\tIN\tA\t192.0.2.1\n;end\n");
}

static void test_a_fault_is_reported_and_the_next_answer_is_stored(void **state)
{
    (void)state;
    unsigned bad;
    assert_int_equal(
        read_text(";answer a. A ttl 20\na. 20 IN A 192.0.2.256\na. 20 IN A 192.0.2.1\n;end\n"
                  ";answer b. A ttl 20\nb. 20 IN A 192.0.2.1\n;end\n",
                  &bad),
        1);
    assert_int_equal(bad, 2);
    assert_null(strstr(written(), ";answer a."));
}

#define A_RECORD "a. 20 IN A 192.0.2.1\n"

static void test_hostile_text_is_refused_by_line(void **state)
{
    (void)state;
    expect_bad(A_RECORD, 1, "outside of an answer");
    expect_bad(";end", 1, "no answer ends");
    expect_bad(";answer a. A ttl 1\n 60 IN A 192.0.2.1", 2, "a space or a tab");
    expect_bad(";answer a. A ttl 1\n@ 60 IN A 192.0.2.1", 2, "an @");
    expect_bad(";answer a. A ttl 1\na. 2147483648 IN A 192.0.2.1", 2, "a TTL above");
    expect_bad(";answer a. TXT ttl 1\na. 60 IN TXT \"x", 2, "a quote");
    expect_bad(";answer ", 1, "no name");
    expect_bad(";answer a..b A ttl 1", 1, "no name");
    expect_bad(";answer a.", 1, "no type");
    expect_bad(";answer a. B ttl 1", 1, "no type");
    expect_bad(";answer a. A ttl", 1, "'ttl'");
    expect_bad(";answer a. A ttl -1", 1, "'ttl'");
    expect_bad(";answer a. A ttl 99999999999", 1, "'ttl'");
    expect_bad(";answer a. A color red", 1, "'color'");
    expect_bad(";answer a. A kind odd", 1, "'kind'");
    expect_bad(";answer a. A rcode ODD", 1, "'rcode'");
    expect_bad(";answer a. A flags do,xx", 1, "'flags'");
    expect_bad(";answer a. A ede 1 ede 2 ede 3", 1, "'ede'");
    expect_bad(";answer a. A ede 70000", 1, "'ede'");
    expect_bad(";answer a. A ttl 20\n" A_RECORD, 3, "no ;end");
    expect_bad(";answer a. A ttl 20\n" A_RECORD ";answer b. A ttl 20\n;end", 3, "no ;end");
    expect_bad(";answer a. A ttl 20\n;additional\n;authority\n", 3, "out of order");
    expect_bad(";answer a. A ttl 20\n;end", 2, "contradicts");
    expect_bad(";answer a. A ttl 20 rcode NXDOMAIN\n" A_RECORD ";end", 3, "contradicts");
    expect_bad(";answer a. A ttl 20 kind nxdomain\n" A_RECORD ";end", 3, "contradicts");
    expect_bad(";answer a. A ttl 20 rcode SERVFAIL\n" A_RECORD ";end", 3, "contradicts");
    expect_bad(";answer a. A ttl 20\na. 20 CH A 192.0.2.1\n;end", 3, "contradicts");
    expect_bad(";answer a. A ttl 20\na. 20 IN OPT 1\n;end", 2, "not a record");
    expect_bad(";answer a. A ttl 20\n$INCLUDE /etc/passwd\n;end", 2, "not a record");
    expect_bad(";answer a. A ttl 20\na. 20 IN A \\# 3 010203\n;end", 2, "not a record");
}

static bool is_not_a(const void *context, struct name name, const struct answer *answer)
{
    (void)context, (void)answer;
    return name.len != 3 || name.wire[1] != 'a';
}

static void test_answers_that_the_filter_rejects_are_skipped_silently(void **state)
{
    (void)state;
    unsigned bad;
    filter.may_store = is_not_a;
    uint64_t count = read_text(";answer A. A ttl 20\na. 20 IN A 192.0.2.1\n;end\n"
                               ";answer b. A ttl 20\nb. 20 IN A 192.0.2.1\n;end\n",
                               &bad);
    filter.may_store = NULL;
    assert_int_equal(count, 1);
    assert_int_equal(bad, 0);
}

static void test_expired_answers_and_failures_are_skipped_silently(void **state)
{
    (void)state;
    unsigned bad;
    assert_int_equal(read_text(";answer a. A ttl 0\n" A_RECORD ";end\n"
                               ";answer b. A ttl 5 rcode SERVFAIL kind failure\n;end\n",
                               &bad),
                     0);
    assert_int_equal(bad, 0);
}

static void test_a_line_too_long_or_with_a_zero_is_refused(void **state)
{
    (void)state;
    static char line[TEXT_LINE_MAX + 1];
    struct text_reader *reader = text_reader_new(cache, filter, 0);
    memset(line, 'x', sizeof(line));
    assert_false(text_read(reader, span_of(line, sizeof(line)), why));
    assert_false(text_read(reader, span_of("a\0b", 3), why));
    assert_true(text_read(reader, span_of(NULL, 0), why));
    free(reader);
}

static void test_an_answer_larger_than_a_message_is_refused(void **state)
{
    (void)state;
    static char text[5000 * 64];
    size_t at = (size_t)sprintf(text, ";answer a. A ttl 20\n");
    for (unsigned i = 0; i < 4000; i++)
        at += (size_t)sprintf(text + at, "n%u.example%u. 20 IN A 192.0.2.1\n", i, i);
    strcpy(text + at, ";end");
    expect_bad(text, 4002, "larger than a message");
}

static void test_an_answer_that_does_not_fit_the_buffer_is_left_out_whole(void **state)
{
    (void)state;
    struct buf out;
    uint8_t message[] = "\0\0\x80\x80\0\1\0\0\0\0\0\0\1a\0\0\1\0\1";
    struct cache_item item = {.answer = {.message = span_of(message, sizeof(message) - 1)}};
    buf_init(&out, 20);
    assert_int_equal(buf_append(&out, "before", 6), ERR_OK);
    assert_false(text_put(&out, &item, 0));
    assert_int_equal(buf_len(&out), 6);
    buf_deinit(&out);
}

#define SENTENCE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SENTENCE(test_an_answer_is_written_as_it_was_read_with_aged_ttls),
        SENTENCE(test_a_negative_answer_is_written_and_read),
        SENTENCE(test_records_of_many_types_come_back),
        SENTENCE(test_comments_and_empty_lines_are_ignored),
        SENTENCE(test_a_fault_is_reported_and_the_next_answer_is_stored),
        SENTENCE(test_hostile_text_is_refused_by_line),
        SENTENCE(test_answers_that_the_filter_rejects_are_skipped_silently),
        SENTENCE(test_expired_answers_and_failures_are_skipped_silently),
        SENTENCE(test_a_line_too_long_or_with_a_zero_is_refused),
        SENTENCE(test_an_answer_larger_than_a_message_is_refused),
        SENTENCE(test_an_answer_that_does_not_fit_the_buffer_is_left_out_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
