/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dns/rrtype.h"
#include "unit/config/config_text.h"

/* Local data, from the file to the finished table. */

static void expect_error(const char *text, const char *error)
{
    char whole[4096], line[2048];
    snprintf(whole, sizeof(whole), "%s\n%s", text, ZONE);
    snprintf(line, sizeof(line), "f:%s\n", error);
    expect_errors(whole, line);
}

static enum local_verdict verdict_of(const struct config *config, const char *text,
                                     struct local_result *result)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct question question = {.type = RRTYPE_A, .cls = RRCLASS_IN};
    assert_int_equal(name_parse(&question.name, wire, text, strlen(text)), ERR_OK);
    return local_names_find(config->local, &question, result);
}

static void test_zones_and_records_make_the_table(void **state)
{
    (void)state;
    struct local_result result;
    struct config *config = load_fine("local-zones:\n"
                                      "  - {name: LAN, action: nxdomain}\n"
                                      "  - {name: re.example, action: redirect}\n"
                                      "local-data:\n"
                                      "  - nas.lan. 60 IN A 192.0.2.7\n"
                                      "  - re.example A 192.0.2.8\n"
                                      "  - 'txt.lan TXT \"a \\\"b\\\" c\"'\n" ZONE);
    assert_int_equal(verdict_of(config, "nas.lan", &result), LOCAL_ANSWERED);
    assert_int_equal(result.hops, 1);
    assert_int_equal(verdict_of(config, "x.lan", &result), LOCAL_ANSWERED);
    assert_int_equal(result.rcode, RCODE_NXDOMAIN);
    assert_int_equal(verdict_of(config, "x.re.example", &result), LOCAL_ANSWERED);
    assert_int_equal(verdict_of(config, "x.onion", &result), LOCAL_ANSWERED);
    assert_int_equal(verdict_of(config, "www.example", &result), LOCAL_NOT);
    config_free(config);
}

static void test_printed_local_data_loads_back_to_the_same(void **state)
{
    (void)state;
    struct buf first, second;
    struct config *config =
        load_fine("server: {version: 'a \"b\"', identity: x}\n"
                  "local-zones: [{name: LAN, action: refuse}, {name: ., action: typetransparent}]\n"
                  "local-data:\n"
                  "  - 'a.lan TXT \"a \\\"b\\\" \\065\"\t\"\\\\\"'\n"
                  "hosts-file: /etc/hosts\n"
                  "block-lists:\n"
                  "  - {file: '/a \"b\"', action: redirect, redirect-to: [0.0.0.0, '::']}\n"
                  "  - {file: /b}\n" ZONE);
    buf_init(&first, (size_t)4 * CONFIG_FILE_MAX);
    buf_init(&second, (size_t)4 * CONFIG_FILE_MAX);
    assert_int_equal(config_print(config, &first), ERR_OK);
    config_free(config);
    struct span text = buf_span(&first);
    config = load_bytes((const char *)text.data, text.len);
    assert_string_equal(errors_text, "");
    assert_int_equal(config->local_zone_count, 2);
    assert_int_equal(config->local_zones[1].action, LOCAL_TYPETRANSPARENT);
    assert_int_equal(config->block_lists[0].redirect_count, 2);
    assert_int_equal(config->block_lists[1].action, LOCAL_NXDOMAIN);
    assert_string_equal(config->server.version, "a \"b\"");
    assert_int_equal(config_print(config, &second), ERR_OK);
    assert_true(span_equal(buf_span(&second), text));
    config_free(config);
    buf_deinit(&first);
    buf_deinit(&second);
}

static void test_special_use_names_can_be_left_to_upstreams(void **state)
{
    (void)state;
    struct local_result result;
    struct config *config = load_fine("server: {default-local-zones: no}\n" ZONE);
    assert_int_equal(verdict_of(config, "localhost", &result), LOCAL_NOT);
    config_free(config);
    config = load_fine("forward-zones: [{name: ., upstreams: [192.0.2.53]}, {name: corp.test, "
                       "upstreams: [192.0.2.53]}]\n");
    assert_int_equal(verdict_of(config, "www.corp.test", &result), LOCAL_NOT);
    assert_int_equal(verdict_of(config, "www.other.test", &result), LOCAL_ANSWERED);
    config_free(config);
}

static void test_errors_have_a_position_and_a_reason(void **state)
{
    (void)state;
    expect_error("local-data: [\"a.example A 192.0.2\"]",
                 "1:14: error: local-data[0]: takes a record such as \"nas.home.arpa. 3600 IN A "
                 "192.0.2.7\", not \"a.example A 192.0.2\"");
    expect_error("local-data: [a.example CH TXT hello]",
                 "1:14: error: local-data[0]: cannot be used as a record: its class is not IN; "
                 "correct it or leave it out");
    expect_error("local-data:\n  - a.example A 192.0.2.1\n  - A.example CNAME b.example",
                 "3:5: error: local-data[1]: cannot be used as a record: its name has other "
                 "records, which a CNAME does not allow; correct it or leave it out");
    expect_error(
        "local-data: [\" A 192.0.2.1\"]",
        "1:14: error: local-data[0]: begins with a space or a tab and so has no owner; write the "
        "name first, as nas.home.arpa. A 192.0.2.7");
    expect_error("local-data: [\"@ A 192.0.2.1\"]",
                 "1:14: error: local-data[0]: has an @, which is not a name here; write the full "
                 "name, or \"@\" for text");
    expect_error("local-data: [f 2147483648 A 192.0.2.1]",
                 "1:14: error: local-data[0]: has a TTL above 2147483647; lower it");
    expect_error("local-data:\n  - f TXT \"x",
                 "2:5: error: local-data[0]: has an open quote; close it, or write \\\" for a "
                 "quote character");
    expect_error("local-data: [{a: b}]",
                 "1:14: error: local-data[0]: takes a record such as \"nas.home.arpa. 3600 IN A "
                 "192.0.2.7\", not a mapping");
    expect_error("local-data: [\"a.example A 192.0.2.1\\nb.example A 192.0.2.1\"]",
                 "1:14: error: local-data[0]: takes a record such as \"nas.home.arpa. 3600 IN A "
                 "192.0.2.7\", not \"a.example A 192.0.2.1?b.example A 192.0.2.1\"");
    expect_error("local-zones: [{name: lan, action: deny}]",
                 "1:35: error: local-zones[0].action: takes transparent, typetransparent, refuse, "
                 "nxdomain, nodata, redirect or drop, not \"deny\"");
    expect_error("local-zones: [{name: lan}]",
                 "1:15: error: local-zones[0]: has no action; takes transparent, typetransparent, "
                 "refuse, nxdomain, nodata, redirect or drop");
    expect_error("local-zones:\n  - {name: lan, action: nodata}\n  - {name: LAN., action: refuse}",
                 "3:5: error: local-zones[1]: zone lan. is given twice; keep one of them");
    expect_error("local-zones: [{name: lan, action: redirect}]",
                 "1:15: error: local-zones[0]: has nothing to redirect to; add a record of lan. to "
                 "local-data");
    expect_error("local-zones: [lan]",
                 "1:15: error: local-zones[0]: takes a mapping such as {name: ads.example, action: "
                 "nxdomain}, not \"lan\"");
    expect_error("block-lists: [{file: \"\"}]",
                 "1:15: error: block-lists[0]: names no file; write {file: "
                 "/var/lib/nailup/ads.txt}");
    expect_error(
        "block-lists: [{file: /a, action: redirect}]",
        "1:15: error: block-lists[0]: has no address to redirect to; write redirect-to: [0.0.0.0, "
        "\"::\"] or another action");
    expect_error("block-lists: [{file: /a, action: drop}]",
                 "1:15: error: block-lists[0]: drops queries, which only local-zones can; write "
                 "another action");
    expect_error("block-lists: [{file: /a, redirect-to: [0.0.0.0]}]",
                 "1:15: error: block-lists[0]: has addresses but another action; write action: "
                 "redirect");
    expect_error("block-lists: [{file: /a, action: redirect, redirect-to: [192.0.2.1@80]}]",
                 "1:58: error: block-lists[0].redirect-to[0]: has a port, which a record cannot "
                 "express; leave it out");
}

/* ---- files ---- */

static char directory[64], list_path[128], hosts_path[128], config_path[128];

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int set_up(void **state)
{
    (void)state;
    strcpy(directory, "/tmp/nailup-local-XXXXXX");
    if (!mkdtemp(directory))
        return 1;
    snprintf(list_path, sizeof(list_path), "%s/list", directory);
    snprintf(hosts_path, sizeof(hosts_path), "%s/hosts", directory);
    snprintf(config_path, sizeof(config_path), "%s/nailup.yaml", directory);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(list_path);
    unlink(hosts_path);
    unlink(config_path);
    return rmdir(directory);
}

/* Loads a configuration with a list and a hosts file of these names. */
static struct config *load_with(const char *list, const char *hosts)
{
    char text[1024];
    struct config *config;
    struct buf errors;
    snprintf(text, sizeof(text), "block-lists: [{file: %s}]\nhosts-file: %s\n%s", list, hosts,
             ZONE);
    write_file(config_path, text);
    buf_init(&errors, CONFIG_ERRORS_BYTES);
    enum err err = config_load(config_path, &config, &errors);
    struct span span = buf_span(&errors);
    snprintf(errors_text, sizeof(errors_text), "%.*s", (int)span.len, (const char *)span.data);
    buf_deinit(&errors);
    assert_int_equal(err == ERR_OK, config != NULL);
    return config;
}

static void test_files_are_read_and_their_broken_lines_reported(void **state)
{
    (void)state;
    char expected[512];
    struct local_result result;
    write_file(list_path, "ads.example\n<html>\n");
    write_file(hosts_path, "192.0.2.1 gw.lan\nnonsense\n");
    struct config *config = load_with(list_path, hosts_path);
    assert_non_null(config);
    assert_int_equal(verdict_of(config, "gw.lan", &result), LOCAL_ANSWERED);
    assert_int_equal(verdict_of(config, "www.ads.example", &result), LOCAL_ANSWERED);
    snprintf(
        expected, sizeof(expected),
        "%s:2:1: warning: \"nonsense\" is not an address; a line has an address and the names of "
        "its host\n"
        "%s:2:1: warning: \"<html>\" is not a domain name: use letters, digits, - and _ "
        "between dots; international names begin with xn--\n",
        hosts_path, list_path);
    struct span span = buf_span(&config->warnings);
    assert_int_equal(span.len, strlen(expected));
    assert_memory_equal(span.data, expected, span.len);
    config_free(config);
}

static void test_ten_broken_lines_are_reported_and_the_rest_counted(void **state)
{
    (void)state;
    char text[4096] = "";
    for (int i = 0; i < 500; i++)
        strcat(text, "<p>\n");
    write_file(list_path, text);
    write_file(hosts_path, "");
    struct config *config = load_with(list_path, hosts_path);
    assert_non_null(config);
    struct span span = buf_span(&config->warnings);
    unsigned lines = 0;
    for (size_t i = 0; i < span.len; i++)
        lines += span.data[i] == '\n';
    assert_int_equal(lines, 11);
    assert_non_null(memmem(span.data, span.len, "490 more lines were not understood", 33));
    config_free(config);
}

static void test_files_that_cannot_be_read_are_errors(void **state)
{
    (void)state;
    char expected[1024];
    assert_null(load_with(list_path, directory));
    snprintf(expected, sizeof(expected),
             "%s:1:15: error: block-lists[0].file: %s cannot be read: No such file or directory\n"
             "%s:2:1: error: hosts-file: %s is not a regular file\n",
             config_path, list_path, config_path, directory);
    assert_string_equal(errors_text, expected);
}

/* Opening a FIFO without a writer would block. */
static void test_a_fifo_is_refused_as_a_list(void **state)
{
    (void)state;
    assert_int_equal(mkfifo(list_path, 0600), 0);
    write_file(hosts_path, "");
    assert_null(load_with(list_path, hosts_path));
    assert_non_null(strstr(errors_text, "is not a regular file"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zones_and_records_make_the_table),
        cmocka_unit_test(test_printed_local_data_loads_back_to_the_same),
        cmocka_unit_test(test_special_use_names_can_be_left_to_upstreams),
        cmocka_unit_test(test_errors_have_a_position_and_a_reason),
        TEST(test_files_are_read_and_their_broken_lines_reported),
        TEST(test_ten_broken_lines_are_reported_and_the_rest_counted),
        TEST(test_files_that_cannot_be_read_are_errors),
        TEST(test_a_fifo_is_refused_as_a_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
