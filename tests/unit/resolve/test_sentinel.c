/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "dns/rrtype.h"
#include "resolve/sentinel.h"
#include "validate/anchors.h"

static struct anchors *anchors;

static int begin(void **state)
{
    (void)state;
    anchors = anchors_new();
    return anchors_add_root(anchors) == ERR_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    anchors_free(anchors);
    return 0;
}

static enum sentinel judge_type(const char *text, uint16_t type)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct question question = {.type = type, .cls = RRCLASS_IN};
    assert_int_equal(name_parse(&question.name, wire, text, strlen(text)), ERR_OK);
    return sentinel_judge(&question, anchors);
}

static enum sentinel judge(const char *text)
{
    assert_int_equal(judge_type(text, RRTYPE_A), judge_type(text, RRTYPE_AAAA));
    return judge_type(text, RRTYPE_A);
}

static void test_names_ask_whether_a_key_is_trusted(void **state)
{
    (void)state;
    assert_int_equal(judge("root-key-sentinel-is-ta-20326.example"), SENTINEL_PASS);
    assert_int_equal(judge("root-key-sentinel-not-ta-20326.example"), SENTINEL_FAIL);
    assert_int_equal(judge("root-key-sentinel-is-ta-20327.example"), SENTINEL_FAIL);
    assert_int_equal(judge("root-key-sentinel-not-ta-20327.example"), SENTINEL_PASS);
    assert_int_equal(judge("root-key-sentinel-is-ta-00001.a.b.example"), SENTINEL_FAIL);
    assert_int_equal(judge("root-key-sentinel-is-ta-38696"), SENTINEL_PASS);
}

static void test_other_names_and_types_are_ordinary(void **state)
{
    (void)state;
    static const char *const names[] = {
        "www.example",
        "www.root-key-sentinel-is-ta-20327.example",
        "root-key-sentinel-is-ta-2032.example",
        "root-key-sentinel-is-ta-020327.example",
        "root-key-sentinel-is-ta-2032x.example",
        "root-key-sentinel-is-ta--0001.example",
        "root-key-sentinel-is-ta-65536.example",
        "root-key-sentinel-is-ta-99999.example",
        "root-key-sentinel-no-ta-20326.example",
        "root-key-sentinel-not-ta-2032.example",
        "xroot-key-sentinel-is-ta-2032.example",
        ".",
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (judge(names[i]) != SENTINEL_NONE)
            fail_msg("%s is taken for a sentinel", names[i]);
    assert_int_equal(judge_type("root-key-sentinel-is-ta-20327.example", RRTYPE_TXT),
                     SENTINEL_NONE);
    assert_int_equal(judge_type("root-key-sentinel-is-ta-20327.example", RRTYPE_ANY),
                     SENTINEL_NONE);
}

static void test_without_an_anchor_of_the_root_names_are_ordinary(void **state)
{
    (void)state;
    assert_int_equal(anchors_add_negative(anchors, name_root()), ERR_OK);
    assert_int_equal(judge("root-key-sentinel-is-ta-20327.example"), SENTINEL_NONE);
    anchors_free(anchors);
    anchors = anchors_new();
    assert_int_equal(judge("root-key-sentinel-is-ta-20327.example"), SENTINEL_NONE);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(test_names_ask_whether_a_key_is_trusted),
        TEST(test_other_names_and_types_are_ordinary),
        TEST(test_without_an_anchor_of_the_root_names_are_ordinary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
