/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/check.h"
#include "rpz/rpz_policy.h"
#include "unit/config/config_text.h"

/* Response policy zones, from the file to the rules. */

static char zone_path[] = "/tmp/nailup-rpz-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    int fd = mkstemp(zone_path);
    return fd < 0 ? -1 : close(fd);
}

static int tear_down(void **state)
{
    (void)state;
    int result = unlink(zone_path);
    memcpy(zone_path + strlen(zone_path) - 6, "XXXXXX", 6);
    return result;
}

static void write_zone(const char *text)
{
    FILE *file = fopen(zone_path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* Loads a configuration with one policy zone and these further keys, and reads the zone's file. */
static struct config *load_zone(const char *keys)
{
    char text[1024];
    struct config *config;
    struct buf errors;
    snprintf(text, sizeof(text), "rpz: [{name: rpz.example, file: %s%s}]\n%s", zone_path, keys,
             ZONE);
    buf_init(&errors, CONFIG_ERRORS_BYTES);
    enum err err = config_parse_with_files("f", text, strlen(text), &config, &errors);
    struct span span = buf_span(&errors);
    snprintf(errors_text, sizeof(errors_text), "%.*s", (int)span.len, (const char *)span.data);
    buf_deinit(&errors);
    assert_int_equal(err == ERR_OK, config != NULL);
    return config;
}

#define HEAD "@ 300 SOA ns host 1 2 3 4 5\n"

static void expect_fault(const char *keys, const char *sentence)
{
    char expected[512];
    assert_null(load_zone(keys));
    snprintf(expected, sizeof(expected), "f:1:7: error: rpz[0].file: %s%s\n",
             strncmp(sentence, "/", 1) == 0 ? "" : zone_path, sentence);
    assert_string_equal(errors_text, expected);
}

static void test_a_file_makes_rules(void **state)
{
    (void)state;
    write_zone(HEAD "bad.test 300 CNAME .\n8.0.0.0.10.rpz-ip 300 CNAME .\n");
    struct config *config = load_zone("");
    assert_non_null(config);
    const struct rpz_policy *policy = config->rpz.policy;
    assert_int_equal(rpz_policy_count(policy), 1);
    const struct rpz_rules *rules = rpz_policy_zone_rules(rpz_policy_at(policy, 0));
    assert_int_equal(rpz_rules_count(rules, RPZ_QNAME), 1);
    assert_int_equal(rpz_rules_count(rules, RPZ_IP), 1);
    config_free(config);
}

static void test_faults_of_a_file_are_errors(void **state)
{
    (void)state;
    write_zone(HEAD "bad.test 300 A 1.2.3\n");
    assert_null(load_zone(""));
    assert_non_null(strstr(errors_text, "f:1:7: error: rpz[0].file: "));
    assert_non_null(strstr(errors_text, ":2: "));
    write_zone("bad.test 300 CNAME .\n");
    expect_fault("", " does not have exactly one SOA record; a zone needs one");
    unlink(zone_path);
    expect_fault("", " cannot be read: No such file or directory");
    write_zone("");
}

static void test_max_bytes_bounds_records_and_rules(void **state)
{
    char text[40000] = HEAD;
    size_t len = strlen(text);
    (void)state;
    for (unsigned i = 0; i < 1200; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "name%u.test 300 CNAME .\n", i);
    write_zone(text);
    assert_null(load_zone(", max-bytes: 64KiB"));
    assert_non_null(strstr(errors_text, "max-bytes"));
    struct config *config = load_zone(", max-bytes: 1MiB");
    assert_non_null(config);
    config_free(config);
}

static void test_contradictions_are_errors(void **state)
{
    (void)state;
    expect_errors("rpz: [{name: a}]\n" ZONE,
                  "f:1:7: error: rpz[0]: has no rules; write file: "
                  "/var/lib/nailup/rpz.zone, or primaries: [192.0.2.1]\n");
    expect_errors("rpz: [{name: a, file: /x}, {name: A, file: /y}]\n" ZONE,
                  "f:1:28: error: rpz[1]: has the name of an earlier zone; keep one of them\n");
    expect_errors("rpz: [{name: a, file: /x, primaries: [192.0.2.1]}]\n" ZONE,
                  "f:1:7: error: rpz[0]: has a file and primaries; keep one of them\n");
    expect_errors("rpz: [{name: a, file: /x, catalog: yes}]\n" ZONE,
                  "f:1:7: error: rpz[0]: has a file, but the zones of a catalog come from its "
                  "primaries; write primaries: [192.0.2.1], or leave catalog out\n");
    expect_errors("rpz: [{name: A, primaries: [192.0.2.1]}]\n"
                  "auth-zones: [{name: a, file: /x}]\n" ZONE,
                  "f:1:17: error: rpz[0].primaries: a zone of auth-zones has the same name; keep "
                  "one of them\n");
    expect_errors("rpz: [{name: a, primaries: [{address: 192.0.2.1, tsig-key: k}]}]\n" ZONE,
                  "f:1:17: error: rpz[0].primaries: the key k is not in tsig-keys; add it there or "
                  "correct the name\n");
    expect_errors("rpz: [{name: a, file: /x, action-override: cname}]\n" ZONE,
                  "f:1:7: error: rpz[0]: has no target; write cname-override: garden.example, or "
                  "another action-override\n");
    expect_errors(
        "rpz: [{name: a, file: /x, action-override: cname, cname-override: \"*.\"}]\n" ZONE,
        "f:1:7: error: rpz[0]: has a target that is the name of an action; write "
        "cname-override: garden.example, or another action-override\n");
    expect_errors(
        "rpz: [{name: a, file: /x, action-override: cname, cname-override: RPZ-drop}]\n" ZONE,
        "f:1:7: error: rpz[0]: has a target that is the name of an action; write "
        "cname-override: garden.example, or another action-override\n");
    expect_errors("rpz: [{name: a, file: /x, cname-override: b}]\n" ZONE,
                  "f:1:7: error: rpz[0]: has a cname-override but another action; write "
                  "action-override: cname\n");
}

static void test_a_printed_policy_loads_back_to_the_same(void **state)
{
    (void)state;
    struct buf first, second;
    struct config *config = load_fine("rpz-wait-recurse: yes\n"
                                      "rpz:\n"
                                      "  - {name: A.example, file: /x, action-override: cname, "
                                      "cname-override: '*.garden.example', log: yes, log-name: "
                                      "feed, break-dnssec: yes, ede: none, max-bytes: 2GiB}\n"
                                      "  - {name: b.example, file: /y}\n"
                                      "  - {name: c.example, primaries: [192.0.2.1, "
                                      "{address: 192.0.2.2, tls: yes}], "
                                      "allow-notify: [192.0.2.0/24], catalog: yes}\n" ZONE);
    assert_int_equal(config->rpz.count, 3);
    buf_init(&first, 1 << 20);
    buf_init(&second, 1 << 20);
    assert_int_equal(config_print(config, &first), ERR_OK);
    config_free(config);
    config = load_bytes((const char *)buf_span(&first).data, buf_span(&first).len);
    assert_non_null(config);
    assert_int_equal(config->rpz.zones[0].options.override, RPZ_OVERRIDE_CNAME);
    assert_int_equal(config->rpz.zones[0].options.ede, RPZ_EDE_NONE);
    assert_true(config->rpz.zones[0].options.break_dnssec && config->rpz.wait_recurse);
    assert_int_equal(config->rpz.zones[2].source.primary_count, 2);
    assert_true(config->rpz.zones[2].catalog && !config->rpz.zones[1].catalog);
    assert_int_equal(config->rpz.zones[2].source.allow_notify.count, 1);
    assert_int_equal(config_print(config, &second), ERR_OK);
    config_free(config);
    assert_int_equal(buf_span(&first).len, buf_span(&second).len);
    assert_memory_equal(buf_span(&first).data, buf_span(&second).data, buf_span(&first).len);
    buf_deinit(&first);
    buf_deinit(&second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_file_makes_rules, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_faults_of_a_file_are_errors, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_max_bytes_bounds_records_and_rules, set_up, tear_down),
        cmocka_unit_test(test_contradictions_are_errors),
        cmocka_unit_test(test_a_printed_policy_loads_back_to_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
