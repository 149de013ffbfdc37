/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The keys of dnssec, and those of zones. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/changes.h"
#include "config/runtime_zones.h"
#include "nailup/build_date.h"
#include "unit/config/config_text.h"
#include "validate/anchors.h"

#define DIGEST "683D2D0ACB8C9B712A1948B27F741219298D0A450D612C483AF444A4C0FB2B16"

static struct name name_of(const char *text)
{
    static uint8_t wire[NAME_WIRE_MAX];
    struct name name;
    assert_int_equal(name_parse(&name, wire, text, strlen(text)), ERR_OK);
    return name;
}

static const struct anchor *find_anchor(const struct config *config, const char *name)
{
    return anchors_find(config->route.validation.anchors, name_of(name));
}

/* ---- values ---- */

static void test_an_empty_file_validates_with_the_keys_of_the_root(void **state)
{
    (void)state;
    struct config *config = load_fine("");
    const struct validation_options *validation = &config->route.validation;
    assert_int_equal(validation->mode, VALIDATE_YES);
    assert_false(validation->allow_sha1);
    assert_int_equal(validation->aggressive, AGGRESSIVE_TOPS);
    assert_int_equal(validation->clock_min_s, NAILUP_BUILD_DATE_S);
    assert_string_equal(config->trust_anchor_file, "");
    const struct anchor *root = find_anchor(config, "example");
    assert_true(name_is_root(root->zone));
    assert_int_equal(root->count, 2);
    assert_string_equal(root->record[0].source, "built-in");
    assert_int_equal(anchors_count(validation->anchors), 1);
    config_free(config);
}

static void test_values_are_read(void **state)
{
    (void)state;
    struct config *config =
        load_fine("dnssec:\n  validate: log\n  sha1: yes\n  aggressive: yes\n"
                  "  trust-anchors: [\"Island.Example. 3600 IN DS 7 13 2 " DIGEST "\"]\n"
                  "  negative-trust-anchors: [Broken.example, deep.island.example]\n");
    const struct validation_options *validation = &config->route.validation;
    assert_int_equal(validation->mode, VALIDATE_LOG);
    assert_true(validation->allow_sha1);
    assert_int_equal(validation->aggressive, AGGRESSIVE_YES);
    assert_int_equal(anchors_count(validation->anchors), 4);
    assert_int_equal(find_anchor(config, "x.island.example")->kind, ANCHOR_TRUSTED);
    assert_string_equal(find_anchor(config, "island.example")->record[0].source, "trust-anchors");
    assert_int_equal(find_anchor(config, "x.deep.island.example")->kind, ANCHOR_NEGATIVE);
    assert_int_equal(find_anchor(config, "broken.example")->kind, ANCHOR_NEGATIVE);
    assert_string_equal(find_anchor(config, "broken.example")->source, "negative-trust-anchors");
    assert_string_equal(find_anchor(config, "com")->record[0].source, "built-in");
    config_free(config);
}

static void test_an_anchor_of_the_root_replaces_the_builtin_ones(void **state)
{
    (void)state;
    struct config *config = load_fine("dnssec: {trust-anchors: [\". DS 7 13 2 " DIGEST "\"]}\n");
    const struct anchor *root = find_anchor(config, "example");
    assert_int_equal(root->count, 1);
    assert_string_equal(root->record[0].source, "trust-anchors");
    config_free(config);
}

static void test_zones_are_validated_unless_they_say_otherwise(void **state)
{
    (void)state;
    struct config *config = load_fine("dnssec: {validate: yes}\n"
                                      "forward-zones:\n  - {name: a, upstreams: [192.0.2.1]}\n"
                                      "  - {name: b, upstreams: [192.0.2.1], validate: no}\n"
                                      "stub-zones:\n  - {name: c, upstreams: [192.0.2.1]}\n"
                                      "  - {name: d, upstreams: [192.0.2.1], validate: no}\n");
    const struct route_zone *zones = config->route.zones;
    assert_true(zones[0].validate && !zones[1].validate);
    assert_true(zones[2].validate && !zones[3].validate);
    config_free(config);
}

static void test_servers_set_at_run_time_keep_the_rule_of_the_zone(void **state)
{
    (void)state;
    static const char *const zones[] = {"b", "new"};
    struct config *config =
        load_fine("dnssec: {validate: yes}\n"
                  "forward-zones: [{name: b, upstreams: [192.0.2.1], validate: no}]\n");
    struct runtime_zones runtime = {0};
    struct route_options route;
    struct arena arena;
    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < 2; i++) {
        struct runtime_zone zone;
        char why[RUNTIME_ZONE_WHY_MAX];
        const char *server = "192.0.2.2";
        assert_int_equal(runtime_zone_parse(&zone, zones[i], 1, &server, why), ERR_OK);
        assert_int_equal(runtime_zones_put(&runtime, &zone), ERR_OK);
    }
    assert_int_equal(runtime_zones_routes(&runtime, config, &config->route, &arena, &route),
                     ERR_OK);
    assert_int_equal(route.zone_count, 2);
    assert_true(!route.zones[0].validate && route.zones[1].validate);
    assert_int_equal(route.validation.mode, VALIDATE_YES);
    assert_ptr_equal(route.validation.anchors, config->anchors);
    runtime_zones_deinit(&runtime);
    arena_deinit(&arena);
    config_free(config);
}

static void test_everything_prints_and_loads_back(void **state)
{
    (void)state;
    struct config *config =
        load_fine("dnssec:\n  validate: yes\n  sha1: yes\n  trust-anchor-file: anchors\n"
                  "  trust-anchors: [\". DS 7 13 2 " DIGEST " ; mine\", 'a\\032b. DS 7 13 2 " DIGEST
                  "']\n  negative-trust-anchors: [broken.example]\n"
                  "stub-zones: [{name: c, upstreams: [192.0.2.1], validate: no}]\n");
    char *text = print_text(config);
    assert_non_null(strstr(text, "dnssec:\n  validate: yes\n  trust-anchors:\n    - \". DS 7"));
    assert_non_null(strstr(
        text, "  negative-trust-anchors: [broken.example.]\n  aggressive: tops\n  sha1: yes\n"));
    assert_non_null(strstr(text, "cache: yes, validate: no"));
    struct config *again = load_fine(text);
    char *twice = print_text(again);
    assert_string_equal(text, twice);
    assert_int_equal(anchors_count(again->anchors), anchors_count(config->anchors));
    assert_int_equal(anchors_count(again->anchors), 3);
    free(twice);
    free(text);
    config_free(again);
    config_free(config);
}

static void test_a_reload_may_change_every_key(void **state)
{
    (void)state;
    struct config *before = load_fine("");
    struct config *after =
        load_fine("dnssec: {validate: log, sha1: yes, trust-anchor-file: f, "
                  "trust-anchors: [\". DS 7 13 2 " DIGEST "\"], negative-trust-anchors: [a]}\n");
    struct changes *changes = changes_find(before, after);
    assert_int_equal(changes->count, 5);
    for (size_t i = 0; i < changes->count; i++)
        assert_false(changes->list[i].needs_restart);
    free(changes);
    config_free(before);
    config_free(after);
}

/* ---- errors ---- */

static void test_a_wrong_word_is_reported(void **state)
{
    (void)state;
    expect_errors("dnssec: {validate: yse}\n",
                  "f:1:20: error: dnssec.validate: takes no, log or yes, not \"yse\"; did you mean "
                  "yes?\n");
}

static void test_a_record_that_is_no_anchor_is_reported_with_its_place(void **state)
{
    (void)state;
    expect_errors(
        "dnssec:\n  trust-anchors:\n    - \". NS a.example.\"\n    - nonsense\n"
        "    - \". DS 7 13 2 AB\"\n    - {a: b}\n    - \"\"\n",
        "f:3:7: error: dnssec.trust-anchors[0]: is a record of another type or class; "
        "leave only DS and DNSKEY records of class IN in it\n"
        "f:4:7: error: dnssec.trust-anchors[1]: is not a DS or DNSKEY record in zone "
        "file format, such as \". IN DS 38696 8 2 683D2D0A...\"\n"
        "f:5:7: error: dnssec.trust-anchors[2]: may not be a trust anchor: the digest of "
        "a DS record must have its full length, and a DNSKEY record needs the zone bit "
        "(256 or 257), protocol 3, no revoke bit, and a whole key; replace it\n"
        "f:6:7: error: dnssec.trust-anchors[3]: takes a DS or DNSKEY record in one line, "
        "not a mapping\n"
        "f:7:7: error: dnssec.trust-anchors[4]: has no trust anchor; write a DS or DNSKEY "
        "record such as \". IN DS 38696 8 2 683D2D0A...\"\n");
}

static void test_names_are_given_once(void **state)
{
    (void)state;
    expect_errors(
        "dnssec: {negative-trust-anchors: [a.example, A.Example, a..b]}\n",
        "f:1:46: error: dnssec.negative-trust-anchors[1]: a.example. is given twice; keep "
        "one of them\n"
        "f:1:57: error: dnssec.negative-trust-anchors[2]: takes a domain name such as "
        "corp.example, or a single dot for everything, not \"a..b\"\n");
}

/* ---- the file ---- */

static char file_path[] = "/tmp/nailup_anchors_XXXXXX";

static void write_file(const char *text, mode_t mode)
{
    memcpy(file_path + sizeof(file_path) - 7, "XXXXXX", 6);
    int fd = mkstemp(file_path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

/* Loads a configuration that names the file. */
static struct config *load_with_file(const char *path, const char *more)
{
    char text[1024];
    struct config *config;
    struct buf errors;
    snprintf(text, sizeof(text), "dnssec: {validate: yes, trust-anchor-file: %s}\n%s", path, more);
    buf_init(&errors, CONFIG_ERRORS_BYTES);
    enum err err = config_parse_with_files("f", text, strlen(text), &config, &errors);
    struct span span = buf_span(&errors);
    if (span.len)
        memcpy(errors_text, span.data, span.len);
    errors_text[span.len] = '\0';
    buf_deinit(&errors);
    assert_int_equal(err == ERR_OK, config != NULL);
    return config;
}

static void expect_file_error(const char *path, const char *error)
{
    char expected[1024];
    struct config *config = load_with_file(path, "");
    snprintf(expected, sizeof(expected), "f:1:25: error: dnssec.trust-anchor-file: %s%s\n", path,
             error);
    assert_string_equal(errors_text, expected);
    assert_null(config);
}

static void test_a_file_of_another_zone_leaves_the_builtin_root(void **state)
{
    (void)state;
    write_file("island.example. DS 7 13 2 " DIGEST "\n", 0600);
    struct config *config = load_with_file(file_path, "");
    assert_non_null(config);
    assert_int_equal(find_anchor(config, "com")->count, 2);
    assert_string_equal(find_anchor(config, "x.island.example")->record[0].source,
                        "trust-anchor-file");
    config_free(config);
    unlink(file_path);
}

static void test_a_file_of_the_root_replaces_the_builtin_anchors(void **state)
{
    (void)state;
    write_file(". DS 7 13 2 " DIGEST "\n", 0600);
    struct config *config = load_with_file(file_path, "");
    assert_int_equal(find_anchor(config, "com")->count, 1);
    config_free(config);
    unlink(file_path);
}

#define REVOKED(zone)                                                                              \
    "; autotrust trust anchor file\n;;REVOKED\n;;id: " zone " 1\n" zone " IN DNSKEY 385 3 13 "     \
    "mdsswUyr3DPW132mOi8V9xESWE8jTo0dxCjjnopKl+GqJxpVXckHAeF+KkxLbxILfDLUT0rAK9iUzy1L53eKGQ== "    \
    ";;state=4 [ REVOKED ] ;;count=0\n"

static void test_a_zone_whose_keys_were_revoked_has_no_anchor(void **state)
{
    (void)state;
    char warning[512];
    write_file(REVOKED("."), 0600);
    struct config *config = load_with_file(file_path, "");
    assert_string_equal(errors_text, "");
    assert_null(find_anchor(config, "com"));
    assert_true(config->keeps_anchors);
    snprintf(warning, sizeof(warning),
             "f:1:25: warning: %s says that all keys of . were revoked, so the zone has no trust "
             "anchor; replace the file by one with the zone's current anchor\n",
             file_path);
    struct span said = buf_span(&config->warnings);
    assert_int_equal(said.len, strlen(warning));
    assert_memory_equal(said.data, warning, said.len);
    config_free(config);
    unlink(file_path);
    write_file(REVOKED("island.example."), 0600);
    config = load_with_file(file_path, "");
    assert_true(name_is_root(find_anchor(config, "x.island.example")->zone));
    config_free(config);
    unlink(file_path);
}

static void test_a_file_that_cannot_be_read_whole_is_an_error(void **state)
{
    (void)state;
    write_file(". DS 7 13 2 " DIGEST "\n\n. DS 7 13 2 (\n", 0600);
    expect_file_error(file_path,
                      ", line 3: has a parenthesis that is not closed; was the file cut off?");
    unlink(file_path);
    expect_file_error(file_path, " cannot be read: No such file or directory; fetch it, or leave "
                                 "the key out to use the built-in anchors");
    expect_file_error("/tmp", " is not a regular file");
}

/* ---- warnings ---- */

static void expect_warnings(const char *text, const char *warnings)
{
    struct config *config = load_fine(text);
    struct span span = buf_span(&config->warnings);
    char *shown = strndup(span.len ? (const char *)span.data : "", span.len);
    assert_string_equal(shown, warnings);
    free(shown);
    config_free(config);
}

static void test_anchors_without_effect_get_a_warning(void **state)
{
    (void)state;
    expect_warnings("dnssec: {validate: no, negative-trust-anchors: [a]}\n",
                    "f:1:24: warning: dnssec.negative-trust-anchors has no effect while "
                    "dnssec.validate is no; write validate: yes or log\n");
    expect_warnings("dnssec: {validate: log, negative-trust-anchors: [a]}\n", "");
}

#define UNSIGNED                                                                                   \
    "no anchor of a. has an algorithm and a digest that count, so its answers fail to validate; "  \
    "name another key of it\n"

static void test_anchors_of_unknown_algorithms_get_a_warning(void **state)
{
    (void)state;
    expect_warnings("dnssec: {validate: yes, trust-anchors: [a. DS 7 253 2 " DIGEST "]}\n",
                    "f:1:25: warning: " UNSIGNED);
    expect_warnings("dnssec: {validate: yes, trust-anchors: [a. DS 7 13 9 AB]}\n",
                    "f:1:25: warning: " UNSIGNED);
    expect_warnings("dnssec: {validate: yes, trust-anchors: [a. DS 7 7 2 " DIGEST "]}\n",
                    "f:1:25: warning: " UNSIGNED);
    expect_warnings(
        "dnssec: {validate: yes, trust-anchors: [a. DS 7 13 9 AB, a. DS 7 13 2 " DIGEST "]}\n", "");
    expect_warnings("dnssec: {validate: yes, sha1: yes, trust-anchors: [a. DS 7 7 2 " DIGEST "]}\n",
                    "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_empty_file_validates_with_the_keys_of_the_root),
        cmocka_unit_test(test_values_are_read),
        cmocka_unit_test(test_an_anchor_of_the_root_replaces_the_builtin_ones),
        cmocka_unit_test(test_zones_are_validated_unless_they_say_otherwise),
        cmocka_unit_test(test_servers_set_at_run_time_keep_the_rule_of_the_zone),
        cmocka_unit_test(test_everything_prints_and_loads_back),
        cmocka_unit_test(test_a_reload_may_change_every_key),
        cmocka_unit_test(test_a_wrong_word_is_reported),
        cmocka_unit_test(test_a_record_that_is_no_anchor_is_reported_with_its_place),
        cmocka_unit_test(test_names_are_given_once),
        cmocka_unit_test(test_a_file_of_another_zone_leaves_the_builtin_root),
        cmocka_unit_test(test_a_file_of_the_root_replaces_the_builtin_anchors),
        cmocka_unit_test(test_a_zone_whose_keys_were_revoked_has_no_anchor),
        cmocka_unit_test(test_a_file_that_cannot_be_read_whole_is_an_error),
        cmocka_unit_test(test_anchors_without_effect_get_a_warning),
        cmocka_unit_test(test_anchors_of_unknown_algorithms_get_a_warning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
