/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dns/rrtype.h"
#include "validate/anchor_file.h"

#define DIGEST "683D2D0ACB8C9B712A1948B27F741219298D0A450D612C483AF444A4C0FB2B16"
#define ROOT_DS ". IN DS 38696 8 2 " DIGEST
/* 64 bytes, the length of a P-256 key. */
#define KEY                                                                                        \
    "mdsswUyr3DPW132mOi8V9xESWE8jTo0dxCjjnopKl+GqJxpVXckHAeF+KkxLbxILfDLUT0rAK9iUzy1L53eKGQ=="
#define HEAD "; autotrust trust anchor file\n;;id: . 1\n;;last_queried: 0 ;;Thu Jan  1 1970\n"
#define VALID " ;{id = 7 (ksk), size = 256b} ;;state=2 [  VALID  ] ;;count=0 ;;lastchange=0\n"

static struct anchor_file_problem problem;

/* Reads a copy of exactly this size, so that a sanitizer detects a byte read beyond it. */
static struct anchors *read_bytes(const char *text, size_t len)
{
    struct anchors *anchors = anchors_new();
    char *copy = malloc(len ? len : 1);
    memcpy(copy, text, len);
    problem = (struct anchor_file_problem){0};
    enum err err = anchor_file_read(anchors, span_of(copy, len), &problem);
    free(copy);
    assert_int_equal(err == ERR_INVALID, problem.sentence != NULL);
    if (err == ERR_OK)
        return anchors;
    anchors_free(anchors);
    return NULL;
}

static struct anchors *read_fine(const char *text)
{
    struct anchors *anchors = read_bytes(text, strlen(text));
    if (!anchors)
        fail_msg("line %zu: %s", problem.line, problem.sentence);
    return anchors;
}

static void expect_fault(const char *text, size_t line, const char *part)
{
    struct anchors *anchors = read_bytes(text, strlen(text));
    assert_null(anchors);
    if (!strstr(problem.sentence, part) || problem.line != line)
        fail_msg("line %zu: %s", problem.line, problem.sentence);
}

static void expect_zone(const struct anchors *anchors, size_t at, const char *zone, size_t count)
{
    char text[NAME_TEXT_MAX];
    const struct anchor *anchor = anchors_at(anchors, at);
    assert_string_equal(name_format(anchor->zone, text), zone);
    assert_int_equal(anchor->count, count);
}

/* ---- plain files ---- */

static void test_records_of_any_owner_are_read(void **state)
{
    (void)state;
    struct anchors *anchors = read_fine("; a comment\n\n" ROOT_DS " ; KSK-2024\n"
                                        "Example 3600 DNSKEY 257 3 13 " KEY "\r\n"
                                        "example. IN DS 1 13 2 " DIGEST "\n");
    expect_zone(anchors, 0, ".", 1);
    expect_zone(anchors, 1, "example.", 2);
    assert_int_equal(anchors_count(anchors), 2);
    anchors_free(anchors);
}

static void test_a_record_takes_several_lines(void **state)
{
    (void)state;
    struct anchors *anchors = read_fine("example. IN DNSKEY ( 257 3 13 ; the key\n"
                                        "  mdsswUyr3DPW132mOi8V9xESWE8jTo0dxCjjnopKl+Gq\n"
                                        "\n"
                                        "  JxpVXckHAeF+KkxLbxILfDLUT0rAK9iUzy1L53eKGQ==\n"
                                        ") ; its end\n"
                                        "example. DS 7 13 2 (" DIGEST ")");
    expect_zone(anchors, 0, "example.", 2);
    assert_int_equal(anchors_at(anchors, 0)->record[0].type, RRTYPE_DNSKEY);
    assert_int_equal(anchors_at(anchors, 0)->record[0].rdata.len, 4 + 64);
    assert_int_equal(anchors_at(anchors, 0)->record[1].type, RRTYPE_DS);
    anchors_free(anchors);
}

static void test_a_record_without_owner_has_that_of_the_record_before(void **state)
{
    (void)state;
    struct anchors *anchors = read_fine("example. IN DS 7 13 2 " DIGEST "\n"
                                        "  IN DNSKEY 257 3 13 " KEY "\n"
                                        "\tDS 8 13 2 " DIGEST "\n");
    expect_zone(anchors, 0, "example.", 3);
    anchors_free(anchors);
}

static void test_escapes_belong_to_the_name(void **state)
{
    (void)state;
    struct anchors *anchors = read_fine("a\\;b\\(c\\.d.example. IN DS 7 13 2 " DIGEST "\n");
    expect_zone(anchors, 0, "a\\;b\\(c\\.d.example.", 1);
    anchors_free(anchors);
}

static void test_keys_of_any_algorithm_are_read(void **state)
{
    (void)state;
    struct anchors *anchors =
        read_fine("example. IN DS 7 15 4 " DIGEST "683D2D0ACB8C9B712A1948B27F741219\n"
                  "example. IN DS 7 253 2 " DIGEST "\n");
    expect_zone(anchors, 0, "example.", 2);
    anchors_free(anchors);
}

/* Debian's package dns-root-data contains the anchors in both forms. */
static void test_the_files_of_the_system_are_read(void **state)
{
    (void)state;
    static const char *const paths[] = {"/usr/share/dns/root.key", "/usr/share/dns/root.ds"};
    char text[8192];
    for (size_t i = 0; i < 2; i++) {
        FILE *file = fopen(paths[i], "r");
        if (!file)
            skip();
        text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
        fclose(file);
        struct anchors *anchors = read_fine(text);
        expect_zone(anchors, 0, ".", 2);
        anchors_free(anchors);
    }
}

static void test_a_line_that_is_no_anchor_is_an_error(void **state)
{
    (void)state;
    expect_fault(ROOT_DS "\nnonsense\n", 2, "is not a DS or DNSKEY record");
    expect_fault(ROOT_DS "\n. IN NS a.example.\n", 2, "another type or class");
    expect_fault(". CH DS 38696 8 2 " DIGEST "\n", 1, "another type or class");
    expect_fault("trust-anchors {\n  . initial-key 257 3 8 \"AwEA\";\n};\n", 1,
                 "leave only DS and DNSKEY");
    expect_fault("$ORIGIN example.\n" ROOT_DS "\n", 1, "directive");
    expect_fault("$INCLUDE /etc/keys\n", 1, "directive");
    expect_fault("@ IN DS 38696 8 2 " DIGEST "\n", 1, "@");
    expect_fault("\n IN DS 38696 8 2 " DIGEST "\n", 2, "there is none");
    expect_fault(ROOT_DS "\n\001\n", 2, "not printable ASCII");
    expect_fault(ROOT_DS "\n\n; \xc3\xa4\n\xc3\xa4. DS\n", 4, "not printable ASCII");
    expect_fault(ROOT_DS ")\n", 1, "closing parenthesis");
}

static void test_a_file_that_is_cut_off_is_an_error(void **state)
{
    (void)state;
    expect_fault(ROOT_DS "\nexample. IN DNSKEY (\n257 3 13\n", 2, "not closed");
    expect_fault(ROOT_DS "\nexample. IN DS 7 13 2 683D2D0A\n", 2, "full length");
    expect_fault(ROOT_DS "\nexample. IN DNSKEY 257 3 13\n", 2, "is not a DS or DNSKEY record");
    expect_fault(ROOT_DS "\nexample. IN DNSKEY 257 3\n", 2, "is not a DS or DNSKEY record");
    expect_fault("example. IN DNSKEY 257 3 13 mdsswUyr3DPW132mOi8V9xESWE8jTo0d\n", 1, "whole key");
    expect_fault("", 0, "no trust anchor");
    expect_fault("; only a comment\n\n", 0, "no trust anchor");
}

static void test_a_nul_is_an_error(void **state)
{
    (void)state;
    static const char text[] = ROOT_DS "\n\0 more\n";
    assert_null(read_bytes(text, sizeof(text) - 1));
    assert_int_equal(problem.line, 2);
}

static void test_a_key_that_may_not_sign_is_an_error(void **state)
{
    (void)state;
    expect_fault("example. IN DNSKEY 385 3 13 " KEY "\n", 1, "no revoke bit");
    expect_fault("example. IN DNSKEY 0 3 13 " KEY "\n", 1, "zone bit");
    expect_fault("example. IN DNSKEY 257 2 13 " KEY "\n", 1, "protocol 3");
}

static void test_the_bounds_are_reached(void **state)
{
    (void)state;
    size_t len = ANCHOR_FILE_BYTES_MAX + 1;
    char *text = malloc(len + 1), line[256];
    memset(text, '\n', len);
    text[len] = '\0';
    expect_fault(text, 0, "larger than 1 MiB");
    memset(text, 'a', 20000);
    expect_fault(text + 1, 1, "16 KiB");
    size_t at = 0;
    for (int i = 0; i <= ANCHOR_RECORDS_MAX; i++) {
        int part = snprintf(line, sizeof(line), "example. IN DS %d 13 2 " DIGEST "\n", i);
        memcpy(text + at, line, (size_t)part);
        at += (size_t)part;
    }
    text[at] = '\0';
    expect_fault(text, ANCHOR_RECORDS_MAX + 1, "one record or zone too many");
    free(text);
}

/* ---- Unbound's files ---- */

static void test_keys_that_are_valid_or_missing_count(void **state)
{
    (void)state;
    char text[4096];
    size_t len = (size_t)snprintf(text, sizeof(text), HEAD);
    for (int i = 0; i <= 5; i++)
        len +=
            (size_t)snprintf(text + len, sizeof(text) - len,
                             ".\t172800\tIN\tDNSKEY\t%d 3 13 %cdsswUyr3DPW132mOi8V9xESWE8jTo0dxCj"
                             "jnopKl+GqJxpVXckHAeF+KkxLbxILfDLUT0rAK9iUzy1L53eKGQ== "
                             ";{id = %d (ksk), size = 256b} ;;state=%d [ A ] ;;count=0\n",
                             i == 4 ? 385 : 257, 'A' + i, i, i);
    struct anchors *anchors = read_fine(text);
    expect_zone(anchors, 0, ".", 2);
    /* The first letter in base64 has the first six bits of the key. */
    assert_int_equal(anchors_at(anchors, 0)->record[0].rdata.data[4] >> 2, 2);
    assert_int_equal(anchors_at(anchors, 0)->record[1].rdata.data[4] >> 2, 3);
    anchors_free(anchors);
}

static void test_a_file_without_valid_keys_is_an_error(void **state)
{
    (void)state;
    expect_fault(HEAD ". IN DNSKEY 257 3 13 " KEY " ;;state=1 [ ADDPEND ]\n", 0,
                 "no key in the state VALID");
    expect_fault(";;REVOKED\n; all keys are revoked\n;;id: . 1\n"
                 ". IN DNSKEY 385 3 13 " KEY " ;;state=4 [ REVOKED ]\n",
                 0, "all keys of the zone were revoked");
    expect_fault(HEAD, 0, "no trust anchor");
}

static void test_a_state_that_is_unknown_or_given_twice_is_an_error(void **state)
{
    (void)state;
    expect_fault(HEAD ". IN DNSKEY 257 3 13 " KEY " ;;state=6\n", 4, "states are 0 to 5");
    expect_fault(HEAD ". IN DNSKEY 257 3 13 " KEY " ;;state=\n", 4, "states are 0 to 5");
    expect_fault(HEAD ". IN DNSKEY 257 3 13 " KEY " ;;state=4294967298\n", 4, "states are 0 to 5");
    expect_fault(HEAD ". IN DNSKEY 257 3 13 " KEY " ;;state=2 ;;state=1\n", 4, "two states");
}

/* A key without a state would count at once, although its waiting time has not ended. */
static void test_a_key_without_state_among_others_is_an_error(void **state)
{
    (void)state;
    expect_fault(HEAD ". IN DNSKEY 257 3 13 " KEY VALID ". IN DNSKEY 257 3 13 " KEY "\n", 5,
                 "has no state");
    expect_fault(". IN DNSKEY 257 3 13 " KEY "\n. IN DNSKEY 257 3 13 " KEY VALID, 1,
                 "has no state");
    expect_fault(HEAD ". IN DNSKEY 257 3 13 " KEY "\n", 4, "has no state");
}

/* A kept file is cut at each byte. It is refused, or it has whole records only. */
static void test_a_kept_file_that_is_cut_anywhere_is_never_half_used(void **state)
{
    (void)state;
    static const char whole[] =
        HEAD ". IN DNSKEY 257 3 13 " KEY VALID ". IN DNSKEY 256 3 13 " KEY VALID;
    size_t first_end = strlen(HEAD ". IN DNSKEY 257 3 13 " KEY VALID), fine = 0;
    for (size_t len = 0; len < sizeof(whole) - 1; len++) {
        struct anchors *anchors = read_bytes(whole, len);
        if (!anchors)
            continue;
        fine++;
        assert_int_equal(len, first_end);
        expect_zone(anchors, 0, ".", 1);
        anchors_free(anchors);
    }
    assert_int_equal(fine, 1);
}

static void test_a_comment_line_with_a_state_belongs_to_no_record(void **state)
{
    (void)state;
    struct anchors *anchors = read_fine(ROOT_DS "\n; ;;state=1\n");
    expect_zone(anchors, 0, ".", 1);
    anchors_free(anchors);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records_of_any_owner_are_read),
        cmocka_unit_test(test_a_record_takes_several_lines),
        cmocka_unit_test(test_a_record_without_owner_has_that_of_the_record_before),
        cmocka_unit_test(test_escapes_belong_to_the_name),
        cmocka_unit_test(test_keys_of_any_algorithm_are_read),
        cmocka_unit_test(test_the_files_of_the_system_are_read),
        cmocka_unit_test(test_a_line_that_is_no_anchor_is_an_error),
        cmocka_unit_test(test_a_file_that_is_cut_off_is_an_error),
        cmocka_unit_test(test_a_nul_is_an_error),
        cmocka_unit_test(test_a_key_that_may_not_sign_is_an_error),
        cmocka_unit_test(test_the_bounds_are_reached),
        cmocka_unit_test(test_keys_that_are_valid_or_missing_count),
        cmocka_unit_test(test_a_file_without_valid_keys_is_an_error),
        cmocka_unit_test(test_a_state_that_is_unknown_or_given_twice_is_an_error),
        cmocka_unit_test(test_a_key_without_state_among_others_is_an_error),
        cmocka_unit_test(test_a_kept_file_that_is_cut_anywhere_is_never_half_used),
        cmocka_unit_test(test_a_comment_line_with_a_state_belongs_to_no_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
