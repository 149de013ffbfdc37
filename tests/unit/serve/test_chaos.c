/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "dns/message.h"
#include "dns/rrtype.h"
#include "serve/chaos.h"

static struct chaos_space space;
static struct answer answer;

static bool ask(const char *text, uint16_t type, uint16_t cls, const char *version,
                const char *identity)
{
    static uint8_t wire[NAME_WIRE_MAX];
    struct server_options options = {.version = (char *)(uintptr_t)version,
                                     .identity = (char *)(uintptr_t)identity};
    struct question question = {.type = type, .cls = cls};
    assert_int_equal(name_parse(&question.name, wire, text, strlen(text)), ERR_OK);
    return chaos_answer(&answer, &space, &question, &options);
}

/* Expects an answer with one record of this text. */
static void expect(const char *text)
{
    struct message message;
    struct rr rr;
    assert_int_equal(message_parse(&message, answer.message), MESSAGE_OK);
    assert_int_equal(message.counts[SECTION_ANSWER], 1);
    struct rr_iter iter = message_rrs(&message, SECTION_ANSWER);
    assert_true(message_rr_next(&iter, &rr));
    assert_int_equal(rr.type, RRTYPE_TXT);
    assert_int_equal(rr.cls, RRCLASS_CH);
    assert_int_equal(rr.ttl, 0);
    struct span rdata = message_rdata(&message, &rr);
    assert_int_equal(rdata.len, strlen(text) + 1);
    assert_int_equal(rdata.data[0], strlen(text));
    assert_memory_equal(rdata.data + 1, text, strlen(text));
}

static void test_version_and_identity_are_answered_when_configured(void **state)
{
    (void)state;
    assert_true(ask("version.bind", RRTYPE_TXT, RRCLASS_CH, "v 1", ""));
    expect("v 1");
    assert_true(ask("VERSION.server", RRTYPE_ANY, RRCLASS_CH, "v 1", NULL));
    expect("v 1");
    assert_true(ask("id.server", RRTYPE_TXT, RRCLASS_CH, "", "fra-1"));
    expect("fra-1");
    assert_true(ask("hostname.bind", RRTYPE_TXT, RRCLASS_CH, NULL, "fra-1"));
    expect("fra-1");
}

static void test_without_texts_nothing_is_revealed(void **state)
{
    (void)state;
    assert_false(ask("version.bind", RRTYPE_TXT, RRCLASS_CH, "", "fra-1"));
    assert_false(ask("version.bind", RRTYPE_TXT, RRCLASS_CH, NULL, NULL));
    assert_false(ask("id.server", RRTYPE_TXT, RRCLASS_CH, "v 1", ""));
    assert_false(ask("version.bind", RRTYPE_TXT, RRCLASS_IN, "v 1", "x"));
    assert_false(ask("version.bind", RRTYPE_A, RRCLASS_CH, "v 1", "x"));
    assert_false(ask("authors.bind", RRTYPE_TXT, RRCLASS_CH, "v 1", "x"));
    assert_false(ask("a.version.bind", RRTYPE_TXT, RRCLASS_CH, "v 1", "x"));
    assert_false(ask(".", RRTYPE_TXT, RRCLASS_CH, "v 1", "x"));
}

static void test_the_longest_text_fits(void **state)
{
    (void)state;
    char text[256];
    memset(text, 'x', 255);
    text[255] = '\0';
    assert_true(ask("hostname.bind", RRTYPE_TXT, RRCLASS_CH, NULL, text));
    expect(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_version_and_identity_are_answered_when_configured),
        cmocka_unit_test(test_without_texts_nothing_is_revealed),
        cmocka_unit_test(test_the_longest_text_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
