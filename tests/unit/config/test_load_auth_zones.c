/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* local-root, which abbreviates an item of auth-zones, and zones that nothing uses. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cache/answer.h"
#include "config/config_local.h"
#include "unit/config/config_text.h"

static void expect_warning(const char *text, const char *warning)
{
    struct config *config = load_fine(text);
    struct span said = buf_span(&config->warnings);
    assert_int_equal(said.len, strlen(warning));
    if (said.len > 0)
        assert_memory_equal(said.data, warning, said.len);
    config_free(config);
}

static void test_local_root_is_a_zone_for_upstream_with_every_check(void **state)
{
    (void)state;
    struct config *config = load_fine("local-root: yes\n");
    const struct config_auth_zone *zone = &config->auth_zones[0];
    char text[ADDR_TEXT_MAX];
    assert_int_equal(config->auth_zone_count, 1);
    assert_int_equal(zone->name_len, 1);
    assert_int_equal(zone->use, ZONE_FOR_UPSTREAM);
    assert_int_equal(zone->zonemd, ZONEMD_REQUIRE);
    assert_true(zone->fallback);
    assert_int_equal(zone->source.primary_count, 16);
    assert_string_equal(addr_format(&zone->source.servers[0].addr, text), "170.247.170.2@53");
    assert_string_equal(addr_format(&zone->source.servers[15].addr, text),
                        "2620:0:2830:202::132@53");
    config_free(config);
}

static void test_local_root_asks_by_the_ip_versions_of_recursion(void **state)
{
    (void)state;
    struct config *config = load_fine("local-root: yes\nrecursion: {ipv4: no}\n");
    assert_int_equal(config->auth_zones[0].source.primary_count, 8);
    assert_int_equal(addr_family(&config->auth_zones[0].source.servers[0].addr), AF_INET6);
    config_free(config);
    config = load_fine("local-root: yes\nrecursion: {ipv6: no}\n");
    assert_int_equal(config->auth_zones[0].source.primary_count, 8);
    config_free(config);
}

static void test_local_root_comes_after_the_zones_of_the_file(void **state)
{
    (void)state;
    struct config *config =
        load_fine("local-root: yes\nauth-zones: [{name: a.test, file: /z}, {name: b.test, "
                  "primaries: [192.0.2.1]}]\n");
    assert_int_equal(config->auth_zone_count, 3);
    assert_string_equal(config->auth_zones[0].file, "/z");
    assert_true(config->auth_zones[2].is_local_root);
    assert_int_equal(config->auth_zones[1].source.primary_count, 1);
    config_free(config);
    config = load_fine("local-root: no\nauth-zones: [{name: ., file: /z}]\n");
    assert_int_equal(config->auth_zone_count, 1);
    config_free(config);
}

static void test_the_printed_configuration_has_local_root_and_not_its_zone(void **state)
{
    (void)state;
    struct config *config = load_fine("local-root: yes\nauth-zones: [{name: a.test, file: /z}]\n");
    char *text = print_text(config);
    assert_non_null(strstr(text, "local-root: yes\n"));
    assert_non_null(strstr(text, "{name: a.test., file: "));
    assert_null(strstr(text, "170.247.170.2"));
    struct config *again = load_fine(text);
    assert_int_equal(again->auth_zone_count, 2);
    config_free(again);
    config_free(config);
    free(text);
}

static void test_a_catalog_needs_primaries_and_may_have_a_file(void **state)
{
    (void)state;
    struct config *config =
        load_fine("auth-zones: [{name: a.test, primaries: [192.0.2.1], catalog: yes},\n"
                  "  {name: b.test, primaries: [192.0.2.1], file: /z, catalog: yes}]\n");
    char *text = print_text(config);
    struct config *again = load_fine(text);
    assert_true(again->auth_zones[0].catalog && again->auth_zones[1].catalog);
    assert_string_equal(again->auth_zones[1].file, "/z");
    assert_int_equal(again->auth_zones[1].source.primary_count, 1);
    config_free(again);
    config_free(config);
    free(text);
    expect_errors("auth-zones: [{name: a.test, file: /z, catalog: yes}]\n",
                  "f:1:14: error: auth-zones[0]: is a catalog, and its zones come from its "
                  "primaries; write primaries: [192.0.2.1], or leave catalog out\n");
    expect_errors("auth-zones: [{name: a.test, file: /z, primaries: [192.0.2.1]}]\n",
                  "f:1:14: error: auth-zones[0]: has a file and primaries; keep one of them\n");
}

/* A catalog changes nothing for names in its own zone. */
static void test_a_catalog_answers_nothing(void **state)
{
    (void)state;
    static const uint8_t wire[] = "\7version\3cat\7example";
    const struct name name = {wire, sizeof(wire)};
    const struct answer answer = {.kind = ANSWER_POSITIVE};
    struct config *config =
        load_fine("auth-zones: [{name: cat.example, primaries: [192.0.2.1]}]\n");
    assert_false(config_may_cache(config, name, &answer));
    config_free(config);
    config = load_fine("auth-zones: [{name: cat.example, primaries: [192.0.2.1], catalog: yes}]\n");
    assert_true(config_may_cache(config, name, &answer));
    config_free(config);
    expect_warning("auth-zones: [{name: cat.example, primaries: [192.0.2.1], catalog: yes, for: "
                   "upstream}]\nforward-zones: [{name: ., upstreams: [192.0.2.1]}]\n",
                   "");
}

static void test_local_root_and_another_root_contradict_each_other(void **state)
{
    (void)state;
    expect_errors("auth-zones: [{name: ., file: /z}]\nlocal-root: yes\n",
                  "f:2:1: error: local-root: is yes, and auth-zones has a zone for the root; keep "
                  "one of them\n");
}

static void test_a_zone_that_recursion_never_meets_gets_a_warning(void **state)
{
    (void)state;
    expect_warning("local-root: yes\n", "");
    expect_warning("local-root: yes\nforward-zones: [{name: a.test, upstreams: [192.0.2.1]}]\n",
                   "");
    expect_warning("local-root: yes\nforward-zones: [{name: ., upstreams: [192.0.2.1]}]\n",
                   "f:1:1: warning: local-root: recursion does not start at the root here, so "
                   "nothing uses the root zone; leave local-root out\n");
    expect_warning("auth-zones: [{name: x.a.test, file: /z, for: upstream}]\n"
                   "forward-zones: [{name: a.test, upstreams: [192.0.2.1]}]\n",
                   "f:1:1: warning: auth-zones: x.a.test. is for: upstream, but its names go to "
                   "the servers of a forward zone and not to recursion, so nothing uses it; write "
                   "for: both, or a stub zone\n");
    expect_warning("auth-zones: [{name: x.a.test, file: /z, for: both}]\n"
                   "forward-zones: [{name: a.test, upstreams: [192.0.2.1]}]\n",
                   "");
    expect_warning("auth-zones: [{name: y.x.a.test, file: /z, for: upstream}]\n"
                   "forward-zones: [{name: a.test, upstreams: [192.0.2.1]}]\n"
                   "stub-zones: [{name: x.a.test, upstreams: [192.0.2.2]}]\n",
                   "");
}

static void test_a_missing_file_gets_a_warning(void **state)
{
    (void)state;
    static const char text[] = "auth-zones:\n- {name: a.test, file: /nonexistent/a}\n"
                               "- {name: b.test, file: /nonexistent/b, fallback: yes}\n"
                               "- {name: c.test, file: /nonexistent/c, primaries: [192.0.2.1], "
                               "catalog: yes}\n";
    static const char warnings[] =
        "f:2:3: warning: auth-zones[0].file: /nonexistent/a cannot be read: No such file or "
        "directory; until it can, and a reload, its names get SERVFAIL\n"
        "f:3:3: warning: auth-zones[1].file: /nonexistent/b cannot be read: No such file or "
        "directory; until it can, and a reload, its names are resolved like others\n"
        "f:4:3: warning: auth-zones[2].file: /nonexistent/c cannot be read: No such file or "
        "directory; until it can, and a reload, its members do not change, or there are none\n";
    struct config *config;
    struct buf errors;
    buf_init(&errors, CONFIG_ERRORS_BYTES);
    assert_int_equal(config_parse_with_files("f", text, strlen(text), &config, &errors), ERR_OK);
    struct span said = buf_span(&config->warnings);
    assert_int_equal(said.len, strlen(warnings));
    assert_memory_equal(said.data, warnings, said.len);
    config_free(config);
    buf_deinit(&errors);
    expect_warning(text, ""); /* a load that reads no files gives no warning */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_local_root_is_a_zone_for_upstream_with_every_check),
        cmocka_unit_test(test_local_root_asks_by_the_ip_versions_of_recursion),
        cmocka_unit_test(test_local_root_comes_after_the_zones_of_the_file),
        cmocka_unit_test(test_the_printed_configuration_has_local_root_and_not_its_zone),
        cmocka_unit_test(test_a_catalog_needs_primaries_and_may_have_a_file),
        cmocka_unit_test(test_a_catalog_answers_nothing),
        cmocka_unit_test(test_local_root_and_another_root_contradict_each_other),
        cmocka_unit_test(test_a_zone_that_recursion_never_meets_gets_a_warning),
        cmocka_unit_test(test_a_missing_file_gets_a_warning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
