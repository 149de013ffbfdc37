/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "config/changes.h"
#include "config/options.h"
#include "unit/config/config_text.h"

static struct changes *changes_between(const char *before, const char *after)
{
    struct config *running = load_fine(before), *fresh = load_fine(after);
    struct changes *changes = changes_find(running, fresh);
    assert_non_null(changes);
    config_free(running);
    config_free(fresh);
    return changes;
}

static void expect_change(const struct change *change, const char *path, bool needs_restart,
                          const char *before, const char *after)
{
    assert_string_equal(change->path, path);
    assert_int_equal(change->needs_restart, needs_restart);
    assert_string_equal(change->before, before);
    assert_string_equal(change->after, after);
}

static void test_the_same_file_changes_nothing(void **state)
{
    (void)state;
    struct changes *changes = changes_between(ZONE, "# another look\n" ZONE);
    assert_int_equal(changes->count, 0);
    free(changes);
}

static void test_writing_out_a_default_changes_nothing(void **state)
{
    (void)state;
    struct changes *changes = changes_between(ZONE, "cache: {size: 128MiB, max-ttl: 24h}\n" ZONE);
    assert_int_equal(changes->count, 0);
    free(changes);
}

static void test_each_changed_key_is_named_with_both_values(void **state)
{
    (void)state;
    struct changes *changes =
        changes_between("log: {level: info}\ncache: {size: 1MiB, min-ttl: 5s}\n" ZONE,
                        "log: {level: debug}\ncache: {size: 2MiB, min-ttl: 5s}\n" ZONE);
    assert_int_equal(changes->count, 2);
    expect_change(&changes->list[0], "cache.size", true, "1MiB", "2MiB");
    expect_change(&changes->list[1], "log.level", false, "info", "debug");
    free(changes);
}

static void test_a_long_list_is_shown_as_its_number_of_items(void **state)
{
    (void)state;
    struct changes *changes =
        changes_between("server: {listen: [127.0.0.1@5301]}\n" ZONE,
                        "server: {listen: [127.0.0.1@5301, \"::1@5301\"]}\n"
                        "forward-zones:\n  - {name: a.example, upstreams: [192.0.2.1]}\n"
                        "  - {name: b.example, upstreams: [192.0.2.2]}\n");
    assert_int_equal(changes->count, 2);
    expect_change(&changes->list[0], "server.listen", false, "[127.0.0.1@5301]",
                  "[127.0.0.1@5301, \"::1@5301\"]");
    expect_change(&changes->list[1], "forward-zones", false,
                  "- {name: ., upstreams: [192.0.2.53@53], first: no, trust-ad: no, cache: yes, "
                  "validate: yes, aggressive: yes}",
                  "2 zones");
    free(changes);
}

static void test_a_long_value_is_cut(void **state)
{
    (void)state;
    char path[600], text[1400];
    memset(path, 'x', sizeof(path) - 1);
    path[0] = '/';
    path[sizeof(path) - 1] = '\0';
    snprintf(text, sizeof(text), "hosts-file: %s\n" ZONE, path);
    struct changes *changes = changes_between(ZONE, text);
    assert_int_equal(changes->count, 1);
    assert_int_equal(strlen(changes->list[0].after), CHANGES_TEXT_MAX - 1);
    assert_string_equal(changes->list[0].after + CHANGES_TEXT_MAX - 4, "...");
    free(changes);
}

static void test_a_key_that_is_not_given_differs_from_its_default(void **state)
{
    (void)state;
    struct changes *changes = changes_between(ZONE, "upstream: {fallback: udp}\n" ZONE);
    assert_int_equal(changes->count, 1);
    expect_change(&changes->list[0], "upstream.fallback", false, "not given", "udp");
    free(changes);
}

static void test_a_row_that_needs_a_restart_keeps_its_running_value(void **state)
{
    (void)state;
    struct config *running =
        load_fine("server: {workers: 3}\ncache: {size: 1MiB, snapshot: /var/a}\n" ZONE);
    struct config *fresh =
        load_fine("server: {workers: 4}\ncache: {size: 2MiB, max-ttl: 1h}\n"
                  "metrics: {listen: 127.0.0.1@9953}\ncontrol: {socket: /run/b}\n" ZONE);
    assert_int_equal(changes_hold_back(running, fresh), ERR_OK);
    config_free(running);
    assert_int_equal(fresh->workers, 3);
    assert_int_equal(fresh->cache.size_bytes, 1 << 20);
    assert_string_equal(fresh->snapshot_file, "/var/a");
    assert_string_equal(fresh->control_socket, "/run/nailup/control.sock");
    assert_int_equal(addr_family(&fresh->metrics_listen), 0);
    assert_int_equal(fresh->cache.max_ttl_s, 3600);
    config_free(fresh);
}

static void test_only_the_list_of_dnstap_needs_a_restart(void **state)
{
    (void)state;
    size_t count;
    const struct option *rows = options_all(&count);
    for (size_t i = 0; i < count; i++)
        if (rows[i].apply == APPLY_RESTART && !option_is_of_item(&rows[i]))
            assert_true(!kind_is_list(rows[i].kind) || rows[i].kind == KIND_DNSTAP_MESSAGES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same_file_changes_nothing),
        cmocka_unit_test(test_writing_out_a_default_changes_nothing),
        cmocka_unit_test(test_each_changed_key_is_named_with_both_values),
        cmocka_unit_test(test_a_long_list_is_shown_as_its_number_of_items),
        cmocka_unit_test(test_a_long_value_is_cut),
        cmocka_unit_test(test_a_key_that_is_not_given_differs_from_its_default),
        cmocka_unit_test(test_a_row_that_needs_a_restart_keeps_its_running_value),
        cmocka_unit_test(test_only_the_list_of_dnstap_needs_a_restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
