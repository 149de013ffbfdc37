/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "base/addr.h"
#include "base/log.h"
#include "base/prefix.h"
#include "config/kind.h"
#include "dns/name.h"
#include "resolve/validation_options.h"

static struct arena arena;

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena, 1 << 20);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_deinit(&arena);
    return 0;
}

struct number_case {
    const char *text;
    uint64_t number;
};

static void expect_numbers(enum kind kind, const struct number_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t number = 0;
        assert_true(kind_parse_number(kind, cases[i].text, &number));
        assert_true(number == cases[i].number);
    }
}

static void expect_no_numbers(enum kind kind, const char *const *texts)
{
    uint64_t number;
    for (; *texts; texts++)
        assert_false(kind_parse_number(kind, *texts, &number));
}

static void test_durations_have_units(void **state)
{
    (void)state;
    static const struct number_case cases[] = {
        {"0s", 0},         {"250ms", 250000},  {"10s", 10000000},
        {"5m", 300000000}, {"1h", 3600000000}, {"1d", 86400000000},
    };
    static const char *const wrong[] = {"",
                                        "10",
                                        "s",
                                        "-1s",
                                        "1.5s",
                                        "1h30m",
                                        "1 s",
                                        "10S",
                                        "1us",
                                        "never",
                                        "18446744073709551616s",
                                        "213503982334602d",
                                        NULL};
    expect_numbers(KIND_DURATION, cases, 6);
    expect_no_numbers(KIND_DURATION, wrong);
}

static void test_never_is_a_duration_only_where_it_may_be(void **state)
{
    (void)state;
    uint64_t number = 1;
    assert_true(kind_parse_number(KIND_DURATION_OR_NEVER, "never", &number));
    assert_int_equal(number, 0);
    assert_true(kind_parse_number(KIND_SECONDS_OR_NEVER, "never", &number));
    assert_false(kind_parse_number(KIND_SECONDS, "never", &number));
}

static void test_seconds_are_whole(void **state)
{
    (void)state;
    uint32_t seconds;
    assert_true(kind_parse(KIND_SECONDS, "2000ms", &arena, &seconds));
    assert_int_equal(seconds, 2);
    assert_false(kind_parse(KIND_SECONDS, "2500ms", &arena, &seconds));
}

static void test_sizes_have_units(void **state)
{
    (void)state;
    static const struct number_case cases[] = {
        {"0B", 0}, {"7B", 7}, {"64KiB", 65536}, {"256MiB", 268435456}, {"2GiB", 2147483648},
    };
    static const char *const wrong[] = {"64", "64KB", "64kib", "1.5MiB", "17179869184GiB", NULL};
    expect_numbers(KIND_SIZE, cases, 5);
    expect_no_numbers(KIND_SIZE, wrong);
}

static void test_counts_are_digits(void **state)
{
    (void)state;
    static const struct number_case cases[] = {{"0", 0}, {"007", 7}, {"65535", 65535}};
    static const char *const wrong[] = {
        "", "x", "853abc", "+1", "0x1", "1e3", "18446744073709551616", NULL};
    expect_numbers(KIND_COUNT, cases, 3);
    expect_no_numbers(KIND_COUNT, wrong);
}

static void test_booleans_are_yes_and_no(void **state)
{
    (void)state;
    bool value = false;
    assert_true(kind_parse(KIND_BOOL, "yes", &arena, &value));
    assert_true(value);
    assert_true(kind_parse(KIND_BOOL, "no", &arena, &value));
    assert_false(value);
    assert_true(kind_parse(KIND_BOOL, "true", &arena, &value));
    assert_true(value);
    assert_true(kind_parse(KIND_BOOL, "false", &arena, &value));
    assert_false(value);
    enum validate_mode mode;
    assert_true(kind_parse(KIND_VALIDATE, "true", &arena, &mode));
    assert_int_equal(mode, VALIDATE_YES);
    assert_false(kind_parse(KIND_TRANSPORT, "true", &arena, &mode));
    assert_true(kind_parse(KIND_BOOL, "True", &arena, &value));
    assert_true(value);
    assert_true(kind_parse(KIND_BOOL, "FALSE", &arena, &value));
    assert_false(value);
    enum aggressive_mode aggressive;
    assert_true(kind_parse(KIND_AGGRESSIVE, "true", &arena, &aggressive));
    assert_int_equal(aggressive, AGGRESSIVE_YES);
    assert_false(kind_parse(KIND_BOOL, "tRUE", &arena, &value));
    assert_false(kind_parse(KIND_BOOL, "Yes", &arena, &value));
    assert_false(kind_parse(KIND_BOOL, "", &arena, &value));
}

static void test_words_name_their_enums(void **state)
{
    (void)state;
    enum log_level level = LOG_ERROR;
    for (enum log_level want = LOG_ERROR; want <= LOG_DEBUG; want++) {
        assert_true(kind_parse(KIND_LOG_LEVEL, log_level_name(want), &arena, &level));
        assert_int_equal(level, want);
    }
}

static void test_names_fold_to_lower_case(void **state)
{
    (void)state;
    uint8_t wire[NAME_WIRE_MAX];
    assert_true(kind_parse(KIND_ZONE_NAME, "Corp.Example", &arena, wire));
    assert_memory_equal(wire, "\4corp\7example", 14);
    assert_true(kind_parse(KIND_ZONE_NAME, ".", &arena, wire));
    assert_memory_equal(wire, "", 1);
    assert_false(kind_parse(KIND_ZONE_NAME, "a..b", &arena, wire));
    assert_false(kind_parse(KIND_ZONE_NAME, "", &arena, wire));
}

static void test_paths_are_printable_and_may_be_relative(void **state)
{
    (void)state;
    char *path;
    assert_true(kind_parse(KIND_PATH, "/run/x y.sock", &arena, &path));
    assert_string_equal(path, "/run/x y.sock");
    assert_true(kind_parse(KIND_PATH, "", &arena, &path));
    assert_true(kind_parse(KIND_PATH, "run/x", &arena, &path));
    assert_string_equal(path, "run/x");
    assert_false(kind_parse(KIND_PATH, "/run/\n", &arena, &path));
}

static void test_paths_and_texts_have_a_bound(void **state)
{
    (void)state;
    char text[KIND_STRING_MAX + 2], *field;
    memset(text, '/', sizeof(text));
    text[KIND_STRING_MAX + 1] = '\0';
    assert_false(kind_parse(KIND_PATH, text, &arena, &field));
    assert_false(kind_parse(KIND_TEXT, text, &arena, &field));
    text[KIND_STRING_MAX] = '\0';
    assert_true(kind_parse(KIND_PATH, text, &arena, &field));
    assert_true(kind_parse(KIND_TEXT, text, &arena, &field));
    assert_false(kind_parse(KIND_TEXT, "a\tb", &arena, &field));
}

static void test_an_nsid_has_one_of_two_forms(void **state)
{
    (void)state;
    char *field, text[300] = "ascii_";
    assert_true(kind_parse(KIND_NSID, "", &arena, &field));
    assert_true(kind_parse(KIND_NSID, "ascii_ns7", &arena, &field));
    assert_true(kind_parse(KIND_NSID, "00ff", &arena, &field));
    assert_false(kind_parse(KIND_NSID, "ns7", &arena, &field));
    assert_false(kind_parse(KIND_NSID, "00f", &arena, &field));
    memset(text + 6, 'x', 249);
    assert_true(kind_parse(KIND_NSID, text, &arena, &field));
    text[255] = 'x';
    assert_false(kind_parse(KIND_NSID, text, &arena, &field));
}

static void test_an_http_path_has_no_character_with_two_forms(void **state)
{
    (void)state;
    char *field, text[300] = "/";
    assert_true(kind_parse(KIND_HTTP_PATH, "/", &arena, &field));
    assert_true(kind_parse(KIND_HTTP_PATH, "/dns-query", &arena, &field));
    assert_true(kind_parse(KIND_HTTP_PATH, "/a.b/_~9", &arena, &field));
    assert_false(kind_parse(KIND_HTTP_PATH, "", &arena, &field));
    assert_false(kind_parse(KIND_HTTP_PATH, "dns-query", &arena, &field));
    assert_false(kind_parse(KIND_HTTP_PATH, "/a?b", &arena, &field));
    assert_false(kind_parse(KIND_HTTP_PATH, "/a%20b", &arena, &field));
    assert_false(kind_parse(KIND_HTTP_PATH, "/a b", &arena, &field));
    memset(text + 1, 'x', 254);
    assert_true(kind_parse(KIND_HTTP_PATH, text, &arena, &field));
    text[255] = 'x';
    assert_false(kind_parse(KIND_HTTP_PATH, text, &arena, &field));
}

static void test_host_names_fold_and_lose_their_last_dot(void **state)
{
    (void)state;
    static const char *const wrong[] = {".", "a..b", ".a", "a b", "a#b", "*.a", "10.0.0.1", "::1"};
    char *name;
    assert_true(kind_parse(KIND_HOST_NAME, "DNS.Example-1.net.", &arena, &name));
    assert_string_equal(name, "dns.example-1.net");
    assert_true(kind_parse(KIND_HOST_NAME, "", &arena, &name));
    assert_string_equal(name, "");
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        if (kind_parse(KIND_HOST_NAME, wrong[i], &arena, &name))
            fail_msg("%s was taken", wrong[i]);
}

static void test_the_address_of_metrics_has_its_own_port(void **state)
{
    (void)state;
    static const char *const wrong[] = {"127.0.0.1@0", "127.0.0.1#a", "239.1.1.1", "ff02::1", "x"};
    struct addr addr;
    assert_true(kind_parse(KIND_LISTEN_METRICS, "127.0.0.1", &arena, &addr));
    assert_int_equal(addr_port(&addr), 9953);
    assert_true(kind_parse(KIND_LISTEN_METRICS, "", &arena, &addr));
    assert_int_equal(addr_family(&addr), 0);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        if (kind_parse(KIND_LISTEN_METRICS, wrong[i], &arena, &addr))
            fail_msg("%s was taken", wrong[i]);
}

/* Printed text reads back to a value that prints the same text. */
static void expect_round_trip(enum kind kind, const char *text, const char *printed)
{
    char out[KIND_TEXT_MAX];
    _Alignas(max_align_t) uint8_t field[512];
    assert_true(kind_size(kind) <= sizeof(field));
    assert_true(kind_parse(kind, text, &arena, field));
    assert_string_equal(kind_format(kind, field, out), printed);
    if (*printed == '"')
        return; /* only YAML can read quotes */
    assert_true(kind_parse(kind, printed, &arena, field));
    assert_string_equal(kind_format(kind, field, out), printed);
}

static void test_values_print_in_their_largest_unit(void **state)
{
    (void)state;
    expect_round_trip(KIND_DURATION, "120s", "2m");
    expect_round_trip(KIND_DURATION, "1500ms", "1500ms");
    expect_round_trip(KIND_DURATION, "24h", "1d");
    expect_round_trip(KIND_DURATION, "0ms", "0s");
    expect_round_trip(KIND_DURATION_OR_NEVER, "never", "never");
    expect_round_trip(KIND_SECONDS, "90s", "90s");
    expect_round_trip(KIND_SECONDS_OR_NEVER, "60m", "1h");
    expect_round_trip(KIND_SIZE, "1024KiB", "1MiB");
    expect_round_trip(KIND_SIZE, "1025B", "1025B");
    expect_round_trip(KIND_COUNT, "12", "12");
    expect_round_trip(KIND_COUNT16, "1232", "1232");
}

static void test_words_and_names_print_as_yaml(void **state)
{
    (void)state;
    expect_round_trip(KIND_BOOL, "yes", "yes");
    expect_round_trip(KIND_FALLBACK, "none", "none");
    expect_round_trip(KIND_TRANSPORT, "tcp", "tcp");
    expect_round_trip(KIND_TRANSPORT, "tls", "tls");
    expect_round_trip(KIND_PROFILE, "strict", "strict");
    expect_round_trip(KIND_PROFILE, "opportunistic", "opportunistic");
    expect_round_trip(KIND_HOST_NAME, "A.example", "\"a.example\"");
    expect_round_trip(KIND_TEXT, "a:b", "\"a:b\"");
    expect_round_trip(KIND_LOG_FORMAT, "json", "json");
    expect_round_trip(KIND_LISTEN_METRICS, "", "\"\"");
    expect_round_trip(KIND_LISTEN_METRICS, "127.0.0.1", "127.0.0.1@9953");
    expect_round_trip(KIND_LISTEN_METRICS, "::1@99", "\"::1@99\"");
    expect_round_trip(KIND_PREFIX, "10.1.1.1", "10.1.1.1");
    expect_round_trip(KIND_PREFIX, "10.50.1.64/27", "10.50.1.64/27");
    expect_round_trip(KIND_PREFIX, "2001:db8::/32", "\"2001:db8::/32\"");
    expect_round_trip(KIND_ZONE_NAME, ".", ".");
    expect_round_trip(KIND_ZONE_NAME, "A.example", "a.example.");
    expect_round_trip(KIND_ZONE_NAME, "a\\\"b.c", "\"a\\\\\\\"b.c.\"");
    expect_round_trip(KIND_ZONE_NAME, "*.example", "\"*.example.\"");
    expect_round_trip(KIND_PATH, "/a\"b\\c", "\"/a\\\"b\\\\c\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_are_digits),
        cmocka_unit_test(test_durations_have_units),
        cmocka_unit_test(test_never_is_a_duration_only_where_it_may_be),
        cmocka_unit_test(test_seconds_are_whole),
        cmocka_unit_test(test_sizes_have_units),
        cmocka_unit_test(test_booleans_are_yes_and_no),
        cmocka_unit_test(test_words_name_their_enums),
        cmocka_unit_test(test_names_fold_to_lower_case),
        cmocka_unit_test(test_paths_are_printable_and_may_be_relative),
        cmocka_unit_test(test_paths_and_texts_have_a_bound),
        cmocka_unit_test(test_an_nsid_has_one_of_two_forms),
        cmocka_unit_test(test_an_http_path_has_no_character_with_two_forms),
        cmocka_unit_test(test_host_names_fold_and_lose_their_last_dot),
        cmocka_unit_test(test_the_address_of_metrics_has_its_own_port),
        cmocka_unit_test(test_values_print_in_their_largest_unit),
        cmocka_unit_test(test_words_and_names_print_as_yaml),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
