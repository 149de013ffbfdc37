/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The arguments of `nailupctl nta`, good and hostile, and the table of anchors. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>

#include "base/units.h"
#include "daemon/nta_command.h"
#include "unit/config/config_text.h"
#include "unit/daemon/shown_call.h"

#define DIGEST "683D2D0ACB8C9B712A1948B27F741219298D0A450D612C483AF444A4C0FB2B16"
#define KEY                                                                                        \
    "mdsswUyr3DPW132mOi8V9xESWE8jTo0dxCjjnopKl+GqJxpVXckHAeF+KkxLbxILfDLUT0rAK9iUzy1L53eKGQ=="

static struct runtime_ntas ntas;
static struct nta_request request;
static bool changed;
static char why[RUNTIME_NTA_WHY_MAX];

static int begin(void **state)
{
    (void)state;
    ntas.count = 0;
    why[0] = '\0';
    return 0;
}

static enum err read_words(int count, const char *const *words)
{
    static struct call call;

    call.argc = count;
    for (int i = 0; i < count; i++)
        call.argv[i] = words[i];
    return nta_command_read(&call, 0, &request, why);
}

#define READ(...)                                                                                  \
    read_words((int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)),                      \
               (const char *[]){__VA_ARGS__})

static enum err apply(void)
{
    return nta_command_apply(&ntas, &request, &changed, why);
}

static void test_a_name_is_added_and_removed(void **state)
{
    (void)state;
    assert_int_equal(READ("add", "Corp.Example", "2h"), ERR_OK);
    assert_int_equal(request.verb, NTA_ADD);
    assert_int_equal(request.nta.ends_at, 7200 * US_PER_S);
    assert_int_equal(apply(), ERR_OK);
    assert_true(changed);
    assert_int_equal(READ("add", "corp.example"), ERR_OK);
    assert_int_equal(apply(), ERR_OK);
    assert_false(changed);
    assert_int_equal(ntas.list[0].ends_at, 3600 * US_PER_S);
    assert_int_equal(READ("remove", "CORP.example."), ERR_OK);
    assert_int_equal(apply(), ERR_OK);
    assert_true(changed);
    assert_int_equal(ntas.count, 0);
    assert_int_equal(apply(), ERR_INVALID);
    assert_non_null(strstr(why, "no such negative trust anchor"));
}

static void test_no_word_shows_the_list(void **state)
{
    (void)state;
    assert_int_equal(read_words(0, NULL), ERR_OK);
    assert_int_equal(request.verb, NTA_LIST);
    assert_int_equal(READ("list"), ERR_OK);
    assert_int_equal(request.verb, NTA_LIST);
}

static void test_wrong_words_are_refused_and_change_nothing(void **state)
{
    (void)state;
    assert_int_equal(READ("list", "corp.example"), ERR_INVALID);
    assert_int_equal(READ("set", "corp.example"), ERR_INVALID);
    assert_string_equal(why, "write add NAME [TIME], remove NAME, or list");
    assert_int_equal(READ("add"), ERR_INVALID);
    assert_int_equal(READ("remove"), ERR_INVALID);
    assert_int_equal(READ("remove", "corp.example", "1h"), ERR_INVALID);
    assert_int_equal(READ("add", "a..b"), ERR_INVALID);
    assert_int_equal(READ("add", "corp.example", "8d"), ERR_INVALID);
    assert_int_equal(READ("add", "corp.example", "soon"), ERR_INVALID);
    assert_int_equal(ntas.count, 0);
}

static void test_their_number_is_bounded_and_the_refusal_says_so(void **state)
{
    char name[32];

    (void)state;
    for (int i = 0; i < RUNTIME_NTAS_MAX; i++) {
        snprintf(name, sizeof(name), "z%d.example", i);
        assert_int_equal(READ("add", name), ERR_OK);
        assert_int_equal(apply(), ERR_OK);
    }
    assert_int_equal(READ("add", "one-more.example"), ERR_OK);
    assert_int_equal(apply(), ERR_LIMIT);
    assert_non_null(strstr(why, "remove one of them first"));
    assert_int_equal(ntas.count, RUNTIME_NTAS_MAX);
}

static void test_each_one_is_shown_with_the_time_left(void **state)
{
    struct call *call = shown_call();

    (void)state;
    assert_int_equal(READ("add", "corp.example", "2h"), ERR_OK);
    assert_int_equal(apply(), ERR_OK);
    nta_command_show(call, &ntas, 3600 * US_PER_S);
    call_done(call);
    assert_non_null(strstr(shown, "\nrow\tcorp.example.\t3600000000\n"));
}

static void test_each_anchor_is_shown_with_tag_algorithm_and_source(void **state)
{
    struct call *call = shown_call();
    struct config *config =
        load_fine("dnssec:\n  validate: yes\n  negative-trust-anchors: [broken.example]\n"
                  "  trust-anchors: [a. DS 7 99 2 " DIGEST ", a. DNSKEY 257 3 13 " KEY "]\n");

    (void)state;
    nta_command_show_anchors(call, config->route.validation.anchors, NULL, 0);
    call_done(call);
    config_free(config);
    assert_non_null(strstr(shown, "\nrow\ta.\tDS\t7\talgorithm 99\ttrust-anchors\t\t\t\n"
                                  "row\ta.\tDNSKEY\t2371\tECDSAP256SHA256\ttrust-anchors\t\t\t\n"
                                  "row\t.\tDS\t20326\tRSASHA256\tbuilt-in\t\t\t\n"
                                  "row\t.\tDS\t38696\tRSASHA256\tbuilt-in\t\t\t\n"
                                  "row\tbroken.example.\tnegative\t"));
    assert_non_null(strstr(shown, "\t\tnegative-trust-anchors\t\t\t\n"));
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup(test, begin)
    const struct CMUnitTest tests[] = {
        TEST(test_a_name_is_added_and_removed),
        TEST(test_no_word_shows_the_list),
        TEST(test_wrong_words_are_refused_and_change_nothing),
        TEST(test_their_number_is_bounded_and_the_refusal_says_so),
        TEST(test_each_one_is_shown_with_the_time_left),
        TEST(test_each_anchor_is_shown_with_tag_algorithm_and_source),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
