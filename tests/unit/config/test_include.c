/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Files that include others: merged values, refused files, and the positions of errors. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/config/config_text.h"

/* Each test has its own directory and runs in it. */
static char directory[] = "/tmp/nailup-include-XXXXXX";

static int enter(void **state)
{
    (void)state;
    strcpy(directory + strlen(directory) - 6, "XXXXXX");
    assert_non_null(mkdtemp(directory));
    assert_int_equal(chdir(directory), 0);
    return 0;
}

static int remove_one(const char *path, const struct stat *status, int flag, struct FTW *ftw)
{
    (void)status;
    (void)flag;
    (void)ftw;
    return remove(path);
}

static int leave(void **state)
{
    (void)state;
    assert_int_equal(chdir("/"), 0);
    return nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static struct config *load_main(void)
{
    struct config *config;
    struct buf errors;
    buf_init(&errors, CONFIG_ERRORS_BYTES);
    enum err err = config_load("main", &config, &errors);
    struct span span = buf_span(&errors);
    if (span.len)
        memcpy(errors_text, span.data, span.len);
    errors_text[span.len] = '\0';
    buf_deinit(&errors);
    assert_int_equal(err == ERR_OK, config != NULL);
    return config;
}

static struct config *main_loads(void)
{
    struct config *config = load_main();
    assert_string_equal(errors_text, "");
    return config;
}

static void main_fails(const char *errors)
{
    struct config *config = load_main();
    assert_string_equal(errors_text, errors);
    assert_null(config);
}

static void test_include_joins_sections_and_lists(void **state)
{
    (void)state;
    put("main", "include: more\nserver: {workers: 3}\n"
                "local-data: ['a.test. 60 A 192.0.2.1']\n" ZONE);
    put("more", "server: {max-clients: 7, rate-limit: {slip: 3}}\n"
                "local-data: ['b.test. 60 A 192.0.2.2']\ncache: {size: 64MiB}\n"
                "upstream:\ntcp-upstream-keepalive: [192.0.2.53]\n");
    struct config *config = main_loads();
    assert_int_equal(config->workers, 3);
    assert_int_equal(config->server.max_clients, 7);
    assert_int_equal(config->server.rate_limit_slip, 3);
    assert_int_equal(config->cache.size_bytes, 64 << 20);
    assert_int_equal(config->record_count, 2);
    assert_string_equal(config->records[0].text, "a.test. 60 A 192.0.2.1");
    assert_int_equal(config->entry_count, 1);
    assert_int_equal(config->included, 1);
    config_free(config);
}

static void test_include_of_many_reads_them_in_the_order_of_their_names(void **state)
{
    (void)state;
    mkdir("conf.d", 0755);
    put("main", "include: conf.d/*.yaml\n" ZONE "local-data: ['0.test. 60 A 192.0.2.1']\n");
    put("conf.d/20.yaml", "local-data: ['2.test. 60 A 192.0.2.1']\n");
    put("conf.d/10.yaml", "local-data: ['1.test. 60 A 192.0.2.1']\n");
    put("conf.d/.hidden.yaml", "nonsense\n");
    put("conf.d/30.yaml~", "nonsense\n");
    struct config *config = main_loads();
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(config->records[i].text[0], '0' + (int)i);
    assert_int_equal(config->record_count, 3);
    config_free(config);
}

static void test_include_is_relative_to_the_file_that_names_it(void **state)
{
    (void)state;
    char line[512];
    mkdir("a[b]", 0755);
    mkdir("a[b]/c*", 0755);
    snprintf(line, sizeof(line), "include: ['a[b]/one', 'one?', '%s/two']\n" ZONE, directory);
    put("main", line);
    put("two", "server: {workers: 2}\n");
    mkdir("ab", 0755); /* a file that the words would match if they were patterns */
    put("ab/one", "nonsense\n");
    /* 'a[b]/one' has brackets, so it is a pattern, and it matches only ab/one. */
    main_fails("ab/one:1:1: error: file: takes a mapping of keys to values, not a word\n");
    put("ab/one", "include: ['../a[[]b]/one']\n");
    put("a[b]/one", "include: [three, 'c\\*/fo*']\n");
    put("a[b]/three", "server: {max-clients: 3}\n");
    put("a[b]/c*/four", "include: five*\n");
    put("a[b]/c*/five", "cache: {size: 5MiB}\n");
    struct config *config = main_loads();
    assert_int_equal(config->workers, 2);
    assert_int_equal(config->server.max_clients, 3);
    assert_int_equal(config->cache.size_bytes, 5 << 20);
    config_free(config);
}

static void test_include_of_nothing_is_fine(void **state)
{
    (void)state;
    put("main", "include: [none*, empty, words]\n" ZONE);
    put("empty", "");
    put("words", "# nothing\ninclude:\nserver:\n");
    config_free(main_loads());
    put("main", "include:\n" ZONE);
    config_free(main_loads());
}

static void test_include_fills_a_section_that_is_empty(void **state)
{
    (void)state;
    put("main", "include: more\nserver:\n" ZONE);
    put("more", "server: {workers: 4}\n");
    struct config *config = main_loads();
    assert_int_equal(config->workers, 4);
    config_free(config);
}

static void test_include_value_given_twice_names_both_places(void **state)
{
    (void)state;
    put("main", "include: [one, two]\nserver:\n  workers: 3\n" ZONE);
    put("one", "server:\n  rate-limit:\n    slip: 1\n  workers: 4\n");
    put("two", "# here\nserver: {rate-limit: {slip: 1}}\n");
    main_fails(
        "one:4:3: error: server.workers: is given twice, first in main:3; keep one of them\n"
        "two:2:23: error: server.rate-limit.slip: is given twice, first in one:3; keep one of "
        "them\n");
    put("one", "server: [1]\n");
    put("two", "forward-zones: none\n");
    main_fails(
        "one:1:1: error: server: is given twice, first in main:2; keep one of them\n"
        "two:1:1: error: forward-zones: is given twice, first in main:4; keep one of them\n");
}

static void test_include_errors_are_in_the_file_that_has_them(void **state)
{
    (void)state;
    put("main", "include: [one, two]\nserver: {workers: many}\n" ZONE);
    put("one", "\ncache:\n  sise: 1MiB\n");
    put("two",
        "forward-zones:\n- {name: a.test, upstreams: []}\n- {name: b.test, upstreams: [x]}\n");
    main_fails("main:2:19: error: server.workers: takes a whole number, not \"many\"\n"
               "one:3:3: error: cache.sise: is unknown; did you mean size?\n"
               "two:2:29: error: forward-zones[1].upstreams: has 0 addresses; takes 1 to 64\n"
               "two:3:30: error: forward-zones[2].upstreams[0]: takes an address such as "
               "192.0.2.53, 192.0.2.53@5353 or \"::1@53\", not \"x\"; a host name has a dot, as "
               "in dns.example.net or router.\n");
}

/* Contradictions show only when all files are loaded. */
static void test_include_contradictions_are_found_in_their_file(void **state)
{
    (void)state;
    put("main", "include: one\n" ZONE);
    put("one", "\nforward-zones:\n- {name: b.test, upstreams: [192.0.2.54], trust-ad: yes}\n");
    struct config *config = load_main();
    assert_null(config);
    assert_ptr_equal(strstr(errors_text, "one:3:3: error: forward-zones[1]: "), errors_text);
}

static void test_include_of_invalid_yaml_reports_its_place(void **state)
{
    (void)state;
    put("main", "include: one\n" ZONE);
    put("one", "a: 1\na: 2\n");
    main_fails("one:2:1: error: a: is given twice, first in line 1; keep one of them\n");
    put("one", "- a\n");
    main_fails("one:1:1: error: file: takes a mapping of keys to values, not a list\n");
}

static void test_include_of_itself_is_refused(void **state)
{
    (void)state;
    put("main", "include: one\n" ZONE);
    put("one", "include: [two]\n");
    put("two", "include: main\n");
    main_fails(
        "two:1:10: error: include: main is included twice or includes itself; name it once\n");
    put("two", "include: ../*/one\n");
    struct config *config = load_main();
    assert_null(config);
    assert_non_null(strstr(errors_text, "is included twice or includes itself"));
    put("two", "");
    assert_int_equal(symlink("one", "link"), 0);
    put("main", "include: [one, link]\n" ZONE);
    main_fails(
        "main:1:16: error: include: link is included twice or includes itself; name it once\n");
}

static void test_include_of_an_unreadable_file_is_refused(void **state)
{
    (void)state;
    mkdir("folder", 0755);
    assert_int_equal(mkfifo("pipe", 0644), 0);
    put("main", "include: [none, folder, pipe, '', [one], /dev/zero]\n" ZONE);
    main_fails("main:1:11: error: include: none cannot be read: No such file or directory\n"
               "main:1:17: error: include: folder is not a regular file\n"
               "main:1:25: error: include: pipe is not a regular file\n"
               "main:1:31: error: include: takes a path, or a list of paths\n"
               "main:1:35: error: include: takes a path, or a list of paths\n"
               "main:1:42: error: include: /dev/zero is not a regular file\n");
}

static void test_include_depth_is_bounded(void **state)
{
    (void)state;
    char name[16], text[32];
    put("main", "include: f1\n" ZONE);
    for (int i = 1; i <= 9; i++) {
        snprintf(name, sizeof(name), "f%d", i);
        snprintf(text, sizeof(text), i < 8 ? "include: f%d\n" : "\n", i + 1);
        put(name, text);
    }
    struct config *config = main_loads();
    assert_int_equal(config->included, 8);
    config_free(config);
    put("f8", "include: f9\n");
    main_fails("f8:1:10: error: include: files are included deeper than 8\n");
}

static void test_include_number_of_files_is_bounded(void **state)
{
    (void)state;
    char name[16];
    put("main", "include: f*\n" ZONE);
    for (int i = 0; i < 256; i++) {
        snprintf(name, sizeof(name), "f%d", i);
        put(name, "");
    }
    config_free(main_loads());
    put("f256", "");
    put("f257", "");
    main_fails("main:1:10: error: include: more than 256 files are included\n");
}

static void test_include_bytes_are_bounded_in_total(void **state)
{
    (void)state;
    char *text = malloc(CONFIG_FILE_MAX / 2 + 2);
    memset(text, '#', CONFIG_FILE_MAX / 2 + 1);
    text[CONFIG_FILE_MAX / 2 + 1] = '\0';
    put("main", "include: [one, two]\n" ZONE);
    put("one", text);
    put("two", text);
    main_fails("main:1:16: error: include: with two all files together are larger than 33554432 "
               "bytes\n");
    text[1000] = '\0';
    put("two", text);
    config_free(main_loads());
    free(text);
}

/* When two mappings merge, each key of one is looked up in the other. */
static void test_include_of_a_mapping_of_many_keys_is_refused(void **state)
{
    (void)state;
    put("main", "include: one\n" ZONE);
    FILE *file = fopen("one", "w");
    assert_non_null(file);
    for (int i = 0; i < 50000; i++)
        fprintf(file, "k%d: 1\n", i);
    fclose(file);
    main_fails("one:1:1: error: file: has a mapping of more than 256 keys; no section has so "
               "many\n");
}

static void test_include_is_allowed_only_at_the_top_level(void **state)
{
    (void)state;
    put("main", "server: {include: one}\n" ZONE);
    main_fails("main:1:10: error: server.include: is unknown here; it belongs to the top of the "
               "file, outside of all sections\n");
}

static void test_include_without_a_file_is_refused(void **state)
{
    (void)state;
    expect_errors("include: /etc/passwd\n" ZONE,
                  "f:1:1: error: include: is only allowed in a file; leave it out\n");
    config_free(load_fine("include: []\n" ZONE));
}

static void test_included_contents_are_printed_in_place(void **state)
{
    (void)state;
    struct buf first, second;
    put("main", "include: one\nserver: {workers: 3}\n");
    put("one", ZONE "server: {max-clients: 9}\n");
    struct config *config = main_loads();
    buf_init(&first, 4 * CONFIG_FILE_MAX);
    buf_init(&second, 4 * CONFIG_FILE_MAX);
    assert_int_equal(config_print(config, &first), ERR_OK);
    config_free(config);
    struct span text = buf_span(&first);
    config = load_bytes((const char *)text.data, text.len);
    assert_string_equal(errors_text, "");
    assert_int_equal(config->server.max_clients, 9);
    assert_int_equal(config_print(config, &second), ERR_OK);
    assert_true(span_equal(buf_span(&first), buf_span(&second)));
    config_free(config);
    buf_deinit(&first);
    buf_deinit(&second);
}

#define INCLUDE_TEST(test) cmocka_unit_test_setup_teardown(test, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        INCLUDE_TEST(test_include_joins_sections_and_lists),
        INCLUDE_TEST(test_include_of_many_reads_them_in_the_order_of_their_names),
        INCLUDE_TEST(test_include_is_relative_to_the_file_that_names_it),
        INCLUDE_TEST(test_include_of_nothing_is_fine),
        INCLUDE_TEST(test_include_fills_a_section_that_is_empty),
        INCLUDE_TEST(test_include_value_given_twice_names_both_places),
        INCLUDE_TEST(test_include_errors_are_in_the_file_that_has_them),
        INCLUDE_TEST(test_include_contradictions_are_found_in_their_file),
        INCLUDE_TEST(test_include_of_invalid_yaml_reports_its_place),
        INCLUDE_TEST(test_include_of_itself_is_refused),
        INCLUDE_TEST(test_include_of_an_unreadable_file_is_refused),
        INCLUDE_TEST(test_include_depth_is_bounded),
        INCLUDE_TEST(test_include_number_of_files_is_bounded),
        INCLUDE_TEST(test_include_bytes_are_bounded_in_total),
        INCLUDE_TEST(test_include_of_a_mapping_of_many_keys_is_refused),
        INCLUDE_TEST(test_include_is_allowed_only_at_the_top_level),
        INCLUDE_TEST(test_include_without_a_file_is_refused),
        INCLUDE_TEST(test_included_contents_are_printed_in_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
