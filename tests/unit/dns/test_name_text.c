/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/dns/sample.h"

#include "dns/name.h"

static bool parses(const char *text)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct name name;
    return name_parse(&name, wire, text, strlen(text)) == ERR_OK;
}

static void assert_text(const char *text, const char *expected)
{
    char out[NAME_TEXT_MAX];
    assert_string_equal(name_format(NAME(text), out), expected);
}

static void test_final_dot_is_optional(void **state)
{
    (void)state;
    assert_true(name_equal_exact(NAME("a.b"), NAME("a.b.")));
    assert_true(name_is_root(NAME(".")));
}

static void test_empty_text_and_labels_are_refused(void **state)
{
    (void)state;
    assert_false(parses(""));
    assert_false(parses(".."));
    assert_false(parses(".a"));
    assert_false(parses("a..b"));
    assert_false(parses("a.."));
}

static void test_escapes_stand_for_bytes(void **state)
{
    (void)state;
    assert_memory_equal(NAME("a\\.b\\000\\255\\\\").wire, "\6a.b\0\377\\", 8);
    assert_text("a\\.b\\000.\\X", "a\\.b\\000.X.");
    assert_text("A\\032b", "A\\032b.");
    assert_text("\\$\\@\\\"\\;", "\\$\\@\\\"\\;.");
}

static void test_bad_escapes_are_refused(void **state)
{
    (void)state;
    assert_false(parses("a\\"));
    assert_false(parses("a\\256"));
    assert_false(parses("a\\12"));
    assert_false(parses("a\\1x2"));
    assert_false(parses("a\\99.b"));
}

static void test_label_of_64_bytes_is_refused(void **state)
{
    (void)state;
    char text[65] = {0};
    memset(text, 'a', 63);
    assert_true(parses(text));
    text[63] = 'a';
    assert_false(parses(text));
}

static void test_name_over_255_bytes_is_refused(void **state)
{
    (void)state;
    char text[300] = {0};
    for (size_t i = 0; i < 254; i += 2)
        memcpy(text + i, "a.", 2);
    assert_true(parses(text));
    text[253] = '\0';
    assert_true(parses(text));
    memcpy(text + 253, "a.", 2);
    assert_false(parses(text));
    memcpy(text + 253, ".a.", 3);
    assert_false(parses(text));
}

static void test_every_byte_survives_text_and_back(void **state)
{
    (void)state;
    for (unsigned byte = 0; byte < 256; byte++) {
        const uint8_t wire[] = {3, 'x', (uint8_t)byte, '7', 1, (uint8_t)byte, 0};
        struct name name = {.wire = wire, .len = sizeof(wire)};
        char text[NAME_TEXT_MAX];
        assert_true(name_equal_exact(NAME(name_format(name, text)), name));
    }
}

static void test_longest_text_fits_its_bound(void **state)
{
    (void)state;
    uint8_t wire[NAME_WIRE_MAX] = {63};
    wire[64] = wire[128] = 63;
    wire[192] = 61;
    struct name name = {.wire = wire, .len = 255};
    char text[NAME_TEXT_MAX];
    assert_int_equal(strlen(name_format(name, text)), 250 * 4 + 4);
    assert_true(name_equal_exact(NAME(text), name));
}

static void test_no_more_than_the_length_is_read(void **state)
{
    (void)state;
    uint8_t wire[NAME_WIRE_MAX];
    struct name name;
    assert_int_equal(name_parse(&name, wire, "a.b/24", 3), ERR_OK);
    assert_true(name_equal_exact(name, NAME("a.b")));
    assert_int_equal(name_parse(&name, wire, "a\\123", 3), ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_final_dot_is_optional),
        cmocka_unit_test(test_empty_text_and_labels_are_refused),
        cmocka_unit_test(test_escapes_stand_for_bytes),
        cmocka_unit_test(test_bad_escapes_are_refused),
        cmocka_unit_test(test_label_of_64_bytes_is_refused),
        cmocka_unit_test(test_name_over_255_bytes_is_refused),
        cmocka_unit_test(test_every_byte_survives_text_and_back),
        cmocka_unit_test(test_longest_text_fits_its_bound),
        cmocka_unit_test(test_no_more_than_the_length_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
