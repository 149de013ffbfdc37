/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "config/config_views.h"
#include "serve/view_choice.h"
#include "unit/config/config_text.h"

enum { MANY = 1000 };

static unsigned view_of(const struct config *config, const char *listener, const char *client)
{
    struct addr at = addr_of(listener), addr = addr_of(client);
    return view_choice_find(view_choice_at(&config->server, &at), &addr);
}

/* ---- choosing ---- */

static void test_the_longest_prefix_and_the_listener_choose_the_view(void **state)
{
    (void)state;
    struct config *config =
        load_fine("server: {listen: [192.0.2.1, 192.0.2.2], listen-tls: []}\n" ZONE "views:\n"
                  "  - {name: wide, clients: [10.0.0.0/8]}\n"
                  "  - {name: narrow, clients: [10.1.0.0/16, \"2001:db8::/32\"]}\n"
                  "  - {name: here, clients: [10.1.0.0/16], listen: [192.0.2.2]}\n"
                  "  - {name: rest, listen: [192.0.2.2]}\n");
    assert_int_equal(view_of(config, "192.0.2.1", "10.2.0.1"), 1);
    assert_int_equal(view_of(config, "192.0.2.1", "10.1.0.1"), 2);
    assert_int_equal(view_of(config, "192.0.2.1", "2001:db8::1"), 2);
    assert_int_equal(view_of(config, "192.0.2.1", "192.0.2.9"), 0);
    assert_int_equal(view_of(config, "192.0.2.2", "10.1.0.1"), 3);
    assert_int_equal(view_of(config, "192.0.2.2", "10.2.0.1"), 1);
    assert_int_equal(view_of(config, "192.0.2.2", "192.0.2.9"), 4);
    assert_int_equal(view_of(config, "192.0.2.2", "2001:db8::1"), 2);
    assert_int_equal(view_of(config, "192.0.2.2", "2001:db9::1"), 4);
    config_free(config);
}

static void test_without_views_there_is_nothing_to_search(void **state)
{
    (void)state;
    struct config *config = load_fine(ZONE);
    struct addr at = addr_of("127.0.0.1");
    assert_null(view_choice_at(&config->server, &at));
    assert_null(config->route.views);
    assert_int_equal(view_of(config, "127.0.0.1", "10.0.0.1"), 0);
    config_free(config);
}

static void test_access_and_rate_of_a_view_replace_those_of_all(void **state)
{
    (void)state;
    struct config *config = load_fine(
        "server: {access: [{prefix: 10.0.0.0/8, action: allow}], rate-limit: "
        "{queries-per-second: 7}}\n" ZONE "views:\n"
        "  - {name: a, clients: [10.1.0.0/16], access: [{prefix: 10.1.1.0/24, action: drop}]}\n"
        "  - {name: b, clients: [10.2.0.0/16], queries-per-second: 0}\n");
    struct addr client = addr_of("10.1.1.1"), other = addr_of("10.1.2.1");
    assert_int_equal(view_choice_access(&config->server, 0, &client), SERVER_ALLOW);
    assert_int_equal(view_choice_access(&config->server, 1, &client), SERVER_DROP);
    assert_int_equal(view_choice_access(&config->server, 1, &other), SERVER_REFUSE);
    assert_int_equal(view_choice_access(&config->server, 2, &client), SERVER_ALLOW);
    assert_int_equal(view_choice_rate(&config->server, 0), 7);
    assert_int_equal(view_choice_rate(&config->server, 1), 7);
    assert_int_equal(view_choice_rate(&config->server, 2), 0);
    config_free(config);
}

/* ---- spaces ---- */

#define RPZ "rpz: [{name: a, file: /f}, {name: b, file: /f, default: no}]\n"

static void test_views_choose_zones_of_response_policy(void **state)
{
    (void)state;
    struct config *config =
        load_fine(ZONE RPZ "views:\n"
                           "  - {name: usual, clients: [10.0.0.0/16]}\n"
                           "  - {name: both, clients: [10.1.0.0/16], rpz-zones: [B., a]}\n"
                           "  - {name: none, clients: [10.2.0.0/16], rpz-zones: []}\n");
    const struct server_options *server = &config->server;
    const uint32_t wanted[] = {1, 1, 3, 0};
    for (unsigned i = 0; i < ARRAY_LEN(wanted); i++)
        assert_int_equal(view_choice_policy(server, i), wanted[i]);
    assert_true(server->policy_choices.differ);
    assert_int_equal(config->route.views->space_count, 0); /* a policy changes no cached answer */
    config_free(config);
    config = load_fine(ZONE "rpz: [{name: a, file: /f}]\n"
                            "views: [{name: v, clients: [10.0.0.0/8], rpz-zones: [a]}]\n");
    assert_false(config->server.policy_choices.differ);
    config_free(config);
}

static void test_views_that_resolve_alike_share_a_space(void **state)
{
    (void)state;
    struct config *config = load_fine(
        ZONE "views:\n"
             "  - {name: a, clients: [10.1.0.0/16], queries-per-second: 9}\n"
             "  - {name: b, clients: [10.2.0.0/16], local-data: [\"x.example. A 192.0.2.1\"]}\n"
             "  - {name: c, clients: [10.3.0.0/16], validate: log}\n"
             "  - {name: d, clients: [10.4.0.0/16], validate: yes}\n"
             "  - {name: e, clients: [10.5.0.0/16], validate: log, access: []}\n"
             "  - {name: f, clients: [10.6.0.0/16], forward-zones: [{name: lab.example, upstreams: "
             "[192.0.2.9]}]}\n"
             "  - {name: g, clients: [10.7.0.0/16], forward-zones: [{name: lab.example, upstreams: "
             "[192.0.2.9]}], local-data: [\"x.example. A 192.0.2.1\"]}\n"
             "  - {name: h, clients: [10.8.0.0/16], forward-zones: [{name: lab.example, upstreams: "
             "[192.0.2.9@54]}]}\n"
             "  - {name: i, clients: [10.9.0.0/16], local-zones: [{name: x.example, action: "
             "transparent}]}\n"
             "  - {name: j, clients: [10.10.0.0/16], inherit-local: no}\n");
    static const size_t spaces[] = {0, 0, 1, 0, 1, 2, 2, 3, 4, 5};
    const struct view_set *set = config->route.views;
    assert_int_equal(set->space_count, 5);
    for (size_t i = 0; i < ARRAY_LEN(spaces); i++)
        assert_int_equal(set->views[i].space, spaces[i]);
    assert_int_equal(set->spaces[0].mode, VALIDATE_LOG);
    assert_int_equal(set->spaces[1].zone_count, 1);
    assert_null(set->views[0].local);
    assert_non_null(set->views[1].local);
    config_free(config);
}

static void test_a_configuration_with_views_prints_and_loads_again(void **state)
{
    (void)state;
    struct config *config =
        load_fine("server: {listen: [192.0.2.1]}\n" ZONE RPZ "views:\n"
                  "  - name: a.b-c_D\n    clients: [10.1.0.0/16, \"2001:db8::/32\"]\n"
                  "    listen: [192.0.2.1]\n    inherit-local: no\n    validate: log\n"
                  "    access: [{prefix: 10.1.1.0/24, action: refuse}]\n    queries-per-second: 3\n"
                  "    stub-zones: [{name: s.example, upstreams: [192.0.2.7@5353]}]\n"
                  "    local-zones: [{name: l.example, action: refuse}]\n"
                  "    local-data: [\"x.example. A 192.0.2.1\"]\n"
                  "  - {name: e, clients: [10.9.0.0/16], rpz-zones: [b]}\n"
                  "  - {name: f, clients: [10.8.0.0/16], rpz-zones: []}\n");
    struct buf texts[2];
    for (int i = 0; i < 2; i++) {
        buf_init(&texts[i], (size_t)4 * CONFIG_FILE_MAX);
        assert_int_equal(config_print(config, &texts[i]), ERR_OK);
        struct span text = buf_span(&texts[i]);
        config_free(config);
        config = load_bytes((const char *)text.data, text.len);
        assert_string_equal(errors_text, "");
    }
    assert_true(span_equal(buf_span(&texts[0]), buf_span(&texts[1])));
    assert_int_equal(config->view_count, 3);
    assert_int_equal(view_choice_policy(&config->server, 1), 1);
    assert_int_equal(view_choice_policy(&config->server, 2), 2);
    assert_int_equal(view_choice_policy(&config->server, 3), 0);
    config_free(config);
    buf_deinit(&texts[0]);
    buf_deinit(&texts[1]);
}

static void test_a_thousand_views_load(void **state)
{
    (void)state;
    char *text = malloc(MANY * 256), *at = text;
    at += sprintf(at, ZONE "views:\n");
    for (unsigned i = 0; i < MANY; i++)
        at += sprintf(at,
                      "  - {name: v%u, clients: [10.%u.%u.0/24], forward-zones: [{name: "
                      "z%u.example, upstreams: [192.0.2.1]}], local-data: [\"x.example. A "
                      "192.0.2.2\"]}\n",
                      i, i / 250, i % 250, i);
    struct config *config = load_fine(text);
    assert_int_equal(config->route.views->space_count, MANY);
    assert_int_equal(view_of(config, "127.0.0.1", "10.3.249.1"), MANY);
    config_free(config);
    free(text);
}

static void test_the_zones_of_all_views_are_bounded(void **state)
{
    (void)state;
    enum { ZONES = 500, VIEWS = VIEW_ZONES_MAX / (ZONES + 1) + 1 };
    char *text = malloc((size_t)(ZONES + VIEWS) * 160), *at = text;
    at += sprintf(at, "forward-zones:\n");
    for (unsigned i = 0; i < ZONES; i++)
        at += sprintf(at, "  - {name: t%u.example, upstreams: [192.0.2.53]}\n", i);
    at += sprintf(at, "views:\n");
    for (unsigned i = 0; i < VIEWS; i++)
        at += sprintf(at,
                      "  - {name: v%u, clients: [10.%u.%u.0/24], forward-zones: [{name: "
                      "z%u.example, upstreams: [192.0.2.1]}]}\n",
                      i, i / 250, i % 250, i);
    assert_null(load_text(text));
    assert_non_null(strstr(errors_text, "zones together, inherited ones included; at most 200000"));
    free(text);
}

/* ---- errors ---- */

static void test_wrong_views_are_refused(void **state)
{
    (void)state;
    expect_errors(ZONE "views: [{clients: [10.0.0.0/8]}]\n",
                  "f:2:9: error: views[0]: has no name; takes a text of at most 255 bytes, or \"\" "
                  "for none\n");
    expect_errors(ZONE "views: [{name: a b, clients: [10.0.0.0/8]}]\n",
                  "f:2:9: error: views[0]: has a name that is not 1 to 63 letters, digits, dots, "
                  "hyphens and underscores; write name: guests\n");
    expect_errors(ZONE
                  "views: [{name: a, clients: [10.0.0.0/8]}, {name: a, clients: [10.1.0.0/16]}]\n",
                  "f:2:43: error: views[1]: has the name of another view, a; choose another one\n");
    expect_errors(ZONE "views: [{name: a}]\n",
                  "f:2:9: error: views[0]: has neither clients nor listen, so no client could have "
                  "this view; add clients: [10.0.0.0/8]\n");
    expect_errors(ZONE
                  "views: [{name: a, clients: [10.0.0.0/8]}, {name: b, clients: [10.0.0.0/8]}]\n",
                  "f:2:43: error: views: 10.0.0.0/8 is in clients of b and of an earlier view; "
                  "keep one of them\n");
    expect_errors(
        ZONE RPZ "views: [{name: v, clients: [10.0.0.0/8], rpz-zones: [a, c]}]\n",
        "f:3:9: error: views[0].rpz-zones: c. is not a zone of rpz; add it there, or leave it "
        "out here\n");
    expect_errors("server: {listen: [192.0.2.1]}\n" ZONE "views:\n"
                  "  - {name: a, clients: [10.0.0.0/8, 10.1.0.0/16], listen: [192.0.2.1]}\n"
                  "  - {name: b, clients: [10.1.0.0/16]}\n"
                  "  - {name: c, clients: [10.1.0.0/16], listen: [192.0.2.1]}\n",
                  "f:6:5: error: views: 10.1.0.0/16 is in clients of c and of an earlier view at "
                  "192.0.2.1@53; keep one of them\n");
    expect_errors("server: {listen: [192.0.2.1]}\n" ZONE "views:\n"
                  "  - {name: a, listen: [192.0.2.1]}\n"
                  "  - {name: b, clients: [\"::/0\"], listen: [192.0.2.1]}\n",
                  "f:5:5: error: views: ::/0 is in clients of b and of an earlier view at "
                  "192.0.2.1@53; keep one of them\n");
    expect_errors(ZONE RPZ "views: [{name: v, clients: [10.0.0.0/8], rpz-zones: [a, A.]}]\n",
                  "f:3:57: error: views[0].rpz-zones[1]: a. is given twice; keep one of them\n");
    expect_errors(
        ZONE "views: [{name: a, listen: [192.0.2.77]}]\n",
        "f:2:9: error: views[0].listen: 192.0.2.77@53 is not in server.listen, "
        "server.listen-tls or server.listen-https; write one of their addresses, with its "
        "port\n");
    expect_errors(ZONE "views: [{name: a, clients: [10.0.0.0/8], forward-zones: [{name: x, "
                       "upstreams: [127.0.0.1@53]}]}]\n",
                  "f:2:58: error: views[0].forward-zones[0]: 127.0.0.1@53 is an address of "
                  "server.listen: queries would loop\n");
}

static void test_keys_of_a_view_are_checked_like_those_of_a_file(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "views: {}\n",
        "views: [a]\n",
        "views: [{name: a, clients: [10.0.0.0/8], cache: {size: 1MiB}}]\n",
        "views: [{name: a, clients: [10.0.0.0/33]}]\n",
        "views: [{name: a, clients: [10.0.0.0/8, 10.0.0.0/8]}]\n",
        "views: [{name: a, clients: [10.0.0.0/8], views: []}]\n",
        "views: [{name: a, clients: [10.0.0.0/8], local-data: [x]}]\n",
        "views: [{name: a, clients: [10.0.0.0/8], local-zones: [{name: x.example}]}]\n",
        "views: [{name: a, clients: [10.0.0.0/8], local-zones: [{name: x.example, action: "
        "redirect}]}]\n",
        "views: [{name: a, clients: [10.0.0.0/8], forward-zones: [{name: x, upstreams: "
        "[192.0.2.1]}], stub-zones: [{name: x, upstreams: [192.0.2.1]}]}]\n",
        "views: [{name: a, clients: [10.0.0.0/8], forward-zones: [{name: x, upstreams: "
        "[192.0.2.1]}, {name: x, upstreams: [192.0.2.1]}]}]\n",
        "views: [{name: a, clients: [10.0.0.0/8], forward-zones: [{name: x, upstreams: "
        "[192.0.2.1], connections: 9}]}]\n",
        "views: [{name: a, clients: [10.0.0.0/8], validate: maybe}]\n",
        "views: [{name: a, clients: [10.0.0.0/8], forward-zones: [{name: x, upstreams: "
        "[dns.example.net]}]}]\n",
        "views: [{name: a, clients: [10.0.0.0/8], stub-zones: [{name: x, upstreams: "
        "[dns.example.net]}]}]\n",
        "views: [[], {name: [], clients: 3}, {name: b, clients: [10.0.0.0/8]}]\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        char text[512];
        snprintf(text, sizeof(text), "%s%s", ZONE, wrong[i]);
        assert_null(load_text(text));
        assert_non_null(strstr(errors_text, "views"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_longest_prefix_and_the_listener_choose_the_view),
        cmocka_unit_test(test_without_views_there_is_nothing_to_search),
        cmocka_unit_test(test_access_and_rate_of_a_view_replace_those_of_all),
        cmocka_unit_test(test_views_choose_zones_of_response_policy),
        cmocka_unit_test(test_views_that_resolve_alike_share_a_space),
        cmocka_unit_test(test_a_configuration_with_views_prints_and_loads_again),
        cmocka_unit_test(test_a_thousand_views_load),
        cmocka_unit_test(test_the_zones_of_all_views_are_bounded),
        cmocka_unit_test(test_wrong_views_are_refused),
        cmocka_unit_test(test_keys_of_a_view_are_checked_like_those_of_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
