/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The lines of the log about the start and the end. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "cache/cache.h"
#include "daemon/report.h"
#include "unit/config/config_text.h"
#include "unit/daemon/log_lines.h"

static struct addr listening[2];
static struct control_view view;

static int begin(void **state)
{
    (void)state;
    listening[0] = addr_of("127.0.0.1@53");
    listening[1] = addr_of("::1@853");
    view = (struct control_view){
        .listening = listening,
        .listening_count = 1,
        .listening_tls = listening + 1,
        .listening_tls_count = 1,
    };
    log_lines_begin();
    return 0;
}

static int end(void **state)
{
    (void)state;
    log_lines_end();
    return 0;
}

static void test_the_start_names_each_address_and_the_program(void **state)
{
    struct config *config = load_fine("metrics: {listen: 127.0.0.1@9953}\n" ZONE);

    (void)state;
    view.config = config;
    report_start(&view);
    assert_non_null(strstr(log_lines, "forward zones: 1, stub zones: 0, recursion: "));
    assert_non_null(strstr(log_lines, "notice: daemon: listening on 127.0.0.1@53, UDP and TCP\n"));
    assert_non_null(strstr(log_lines, "notice: daemon: listening on ::1@853, TLS\n"));
    assert_non_null(strstr(log_lines, "notice: daemon: metrics at 127.0.0.1@9953, over HTTP\n"));
    assert_null(strstr(log_lines, "nailed: "));
    config_free(config);
}

/* A thousand prefixes must not hide the other lines. */
static void test_prefixes_beyond_the_bound_are_counted(void **state)
{
    char text[4096] = "tcp-upstream-keepalive: [";
    size_t len = strlen(text);

    (void)state;
    for (int i = 0; i < 20; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s10.%d.0.0/16", i ? ", " : "", i);
    snprintf(text + len, sizeof(text) - len, "]\n" ZONE);
    struct config *config = load_fine(text);
    view.config = config;
    report_start(&view);
    assert_non_null(strstr(log_lines, "info: daemon: nailed: 10.15.0.0/16\n"));
    assert_null(strstr(log_lines, "nailed: 10.16.0.0/16"));
    assert_non_null(strstr(log_lines, "info: daemon: nailed: and 4 more prefixes\n"));
    config_free(config);
}

static void test_the_end_sums_the_workers(void **state)
{
    static const struct cache_options options = {.size_bytes = CACHE_SIZE_MIN, .max_ttl_s = 86400};
    static struct stats stats[2];
    struct control_worker workers[2] = {{.stats = &stats[0]}, {.stats = &stats[1]}};
    struct control_worker *list[2] = {&workers[0], &workers[1]};

    (void)state;
    cache_thread_begin();
    view.cache = cache_new(&options);
    view.workers = list;
    view.worker_count = 2;
    view.started_at = 10 * US_PER_S;
    stats[0].queries_udp = 1;
    stats[0].queries_tcp = 2;
    stats[1].queries_tls = 4;
    stats[1].cache_hits = 5;
    stats[0].cache_misses = 2;
    stats[1].upstream_queries_tls = 3;
    report_end(&view, view.started_at + 1500 * US_PER_MS);
    assert_string_equal(log_lines,
                        "notice: daemon: stopped after 1.5 s: 7 queries, 5 hits, 2 misses, 3 "
                        "sent to upstreams\n");
    cache_thread_end();
    cache_free(view.cache);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(test_the_start_names_each_address_and_the_program),
        TEST(test_prefixes_beyond_the_bound_are_counted),
        TEST(test_the_end_sums_the_workers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
