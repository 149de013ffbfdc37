/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The text of saved addresses: whole, cut at each byte, hostile, and at its bounds. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "daemon/host_file.h"

static const char text[] = "nailup hosts 1\n"
                           "dns.example 1795478400 192.0.2.1 2001:db8::1\n"
                           "b.example 0 192.0.2.2\n"
                           "end\n";
static struct host_file file;

static void test_a_text_is_read_and_written(void **state)
{
    struct buf out;
    (void)state;
    assert_int_equal(host_file_read(&file, span_of(text, strlen(text))), ERR_OK);
    assert_int_equal(file.count, 2);
    assert_int_equal(host_file_find(&file, "dns.example")->answered_s, 1795478400);
    assert_int_equal(host_file_find(&file, "dns.example")->count, 2);
    assert_null(host_file_find(&file, "dns.exampl"));
    buf_init(&out, HOST_FILE_BYTES_MAX);
    assert_int_equal(host_file_write(&out, &file), ERR_OK);
    assert_true(span_equal(buf_span(&out), span_of(text, strlen(text))));
    buf_deinit(&out);
}

static void test_a_text_that_is_cut_anywhere_is_not_read(void **state)
{
    (void)state;
    for (size_t len = 0; len < strlen(text); len++) {
        assert_int_equal(host_file_read(&file, span_of(text, len)), ERR_INVALID);
        assert_int_equal(file.count, 0);
    }
}

static void test_a_line_of_another_form_makes_the_text_invalid(void **state)
{
    static const char *const lines[] = {
        "",
        "dns.example",
        "dns.example 1",
        "dns.example x 192.0.2.1",
        "dns.example -1 192.0.2.1",
        "dns.example 1234567890123456 192.0.2.1",
        "dns.example 1 192.0.2.1@53",
        "dns.example 1 fe80::1%lo",
        "dns.example 1 192.0.2.256",
        "dns.example 1 192.0.2.1 dns.example",
        "dns..example 1 192.0.2.1",
        "dns.example\t1\t192.0.2.1",
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        char bad[256];
        int len = snprintf(bad, sizeof(bad), "nailup hosts 1\nok.example 1 192.0.2.1\n%s\nend\n",
                           lines[i]);
        assert_int_equal(host_file_read(&file, span_of(bad, (size_t)len)), ERR_INVALID);
        assert_int_equal(file.count, 0);
    }
}

static void test_other_versions_and_bytes_after_the_end_are_not_read(void **state)
{
    static const char other[] = "nailup hosts 2\nend\n", more[] = "nailup hosts 1\nend\nend\n";
    static const char zero[] = "nailup hosts 1\nend\0\n";
    (void)state;
    assert_int_equal(host_file_read(&file, span_of(other, strlen(other))), ERR_INVALID);
    assert_int_equal(host_file_read(&file, span_of(more, strlen(more))), ERR_INVALID);
    assert_int_equal(host_file_read(&file, span_of(zero, sizeof(zero) - 1)), ERR_INVALID);
}

static void fill(char *name, char first)
{
    memset(name, 'a', ADDR_NAME_MAX - 1);
    for (int i = 63; i < ADDR_NAME_MAX - 1; i += 64)
        name[i] = '.';
    name[0] = first;
    name[ADDR_NAME_MAX - 1] = '\0';
}

/* A file with the longest name, time and addresses in every place, and then with one name more. */
static void test_the_largest_file_fits_and_one_name_more_does_not(void **state)
{
    struct buf out;
    (void)state;
    file.count = CONFIG_HOSTS_MAX;
    for (size_t i = 0; i < file.count; i++) {
        struct host_saved *saved = &file.list[i];
        *saved = (struct host_saved){.answered_s = 999999999999999, .count = ZONE_HOST_ADDRS_MAX};
        fill(saved->name, (char)('A' + i % 26));
        for (size_t j = 0; j < saved->count; j++)
            assert_int_equal(
                addr_parse(&saved->addrs[j], "1111:2222:3333:4444:5555:6666:7777:8888", 0), ERR_OK);
    }
    buf_init(&out, HOST_FILE_BYTES_MAX + 2 * HOST_FILE_LINE_MAX);
    assert_int_equal(host_file_write(&out, &file), ERR_OK);
    assert_true(buf_len(&out) <= HOST_FILE_BYTES_MAX);
    assert_int_equal(host_file_read(&file, buf_span(&out)), ERR_OK);
    assert_int_equal(file.count, CONFIG_HOSTS_MAX);
    buf_clear(&out);
    assert_int_equal(buf_append(&out, "nailup hosts 1\n", 15), ERR_OK);
    for (int i = 0; i <= CONFIG_HOSTS_MAX; i++)
        assert_int_equal(buf_append(&out, "a 1 ::1\n", 8), ERR_OK);
    assert_int_equal(buf_append(&out, "end\n", 4), ERR_OK);
    assert_int_equal(host_file_read(&file, buf_span(&out)), ERR_INVALID);
    buf_deinit(&out);
}

static void test_more_addresses_than_a_name_may_have_are_invalid(void **state)
{
    char many[1024] = "nailup hosts 1\na 1";
    (void)state;
    for (int i = 0; i <= ZONE_HOST_ADDRS_MAX; i++)
        strcat(many, " ::1");
    strcat(many, "\nend\n");
    assert_int_equal(host_file_read(&file, span_of(many, strlen(many))), ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_text_is_read_and_written),
        cmocka_unit_test(test_a_text_that_is_cut_anywhere_is_not_read),
        cmocka_unit_test(test_a_line_of_another_form_makes_the_text_invalid),
        cmocka_unit_test(test_other_versions_and_bytes_after_the_end_are_not_read),
        cmocka_unit_test(test_the_largest_file_fits_and_one_name_more_does_not),
        cmocka_unit_test(test_more_addresses_than_a_name_may_have_are_invalid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
