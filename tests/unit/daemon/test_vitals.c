/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Messages to a service manager, here a socket of the test. A build without libsystemd sends none.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/units.h"
#include "cache/cache.h"
#include "daemon/readiness.h"
#include "daemon/vitals.h"
#include "loop/loop.h"
#include "support/fake_loop.h"

enum { WORKERS = 2 };

static struct loop *loop;
static struct stats stats[WORKERS];
static struct control_worker workers[WORKERS];
static struct control_worker *list[WORKERS];
static struct control_view view;
static struct cache *cache;
static struct vitals *vitals;
static int manager = -1;
static unsigned pings, states;
static char last_state[512];

/* An abstract address needs no file. */
static void listen_as_manager(void)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    char text[64];
    int len = snprintf(text, sizeof(text), "@nailup-test-vitals-%d", (int)getpid());

    memcpy(name.sun_path + 1, text + 1, (size_t)len - 1);
    manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    assert_true(manager >= 0);
    assert_int_equal(bind(manager, (struct sockaddr *)&name,
                          (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)len)),
                     0);
    setenv("NOTIFY_SOCKET", text, 1);
}

static void read_messages(void)
{
    char text[512];

    for (ssize_t got; (got = recv(manager, text, sizeof(text) - 1, 0)) > 0;) {
        text[got] = '\0';
        if (strstr(text, "WATCHDOG=1"))
            pings++;
        if (!strstr(text, "STATUS="))
            continue;
        states++;
        strcpy(last_state, text);
    }
}

static int begin(void **state)
{
    static const struct cache_options options = {.size_bytes = CACHE_SIZE_MIN, .max_ttl_s = 86400};

    (void)state;
    if (!readiness_is_built())
        return 0;
    memset(stats, 0, sizeof(stats));
    pings = states = 0;
    cache_thread_begin();
    cache = cache_new(&options);
    loop = loop_new();
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = (struct control_worker){.loop = loop_new(), .stats = &stats[i]};
        list[i] = &workers[i];
    }
    view = (struct control_view){.cache = cache, .workers = list, .worker_count = WORKERS};
    listen_as_manager();
    setenv("WATCHDOG_USEC", "4000000", 1); /* main then ticks each second */
    return 0;
}

static int end(void **state)
{
    (void)state;
    if (!readiness_is_built())
        return 0;
    vitals_stop(vitals);
    for (int i = 0; i < WORKERS; i++)
        loop_free(workers[i].loop);
    vitals_free(&vitals);
    vitals_free(&vitals);
    loop_free(loop);
    cache_thread_end();
    cache_free(cache);
    close(manager);
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    return 0;
}

/* Runs this many ticks. Main and the first `turning` workers turn in each; the other workers hang.
 */
static void pass_ticks(int count, int turning)
{
    for (int i = 0; i < count; i++) {
        fake_loop_advance(loop, US_PER_S);
        for (int worker = 0; worker < turning; worker++)
            fake_loop_settle(workers[worker].loop);
        read_messages();
    }
}

#define NEED_SYSTEMD()                                                                             \
    do {                                                                                           \
        if (!readiness_is_built())                                                                 \
            skip();                                                                                \
    } while (0)

static void test_the_watchdog_is_fed_while_all_threads_turn(void **state)
{
    (void)state;
    NEED_SYSTEMD();
    vitals = vitals_start(loop, &view);
    assert_non_null(vitals);
    pass_ticks(8, WORKERS);
    assert_in_range(pings, 7, 10);
}

static void test_one_worker_that_hangs_starves_the_watchdog(void **state)
{
    (void)state;
    NEED_SYSTEMD();
    vitals = vitals_start(loop, &view);
    pass_ticks(3, WORKERS);
    unsigned before = pings;
    pass_ticks(20, WORKERS - 1);
    assert_in_range(pings, before, before + 1);
    pass_ticks(3, WORKERS);
    assert_true(pings > before + 1);
}

static void test_the_status_is_sent_when_it_changed(void **state)
{
    (void)state;
    NEED_SYSTEMD();
    vitals = vitals_start(loop, &view);
    read_messages();
    assert_int_equal(states, 1);
    pass_ticks(60, WORKERS);
    assert_int_equal(states, 1);
    stats[1].queries_udp = 41;
    stats[0].queries_tls = 1;
    pass_ticks(11, WORKERS);
    assert_int_equal(states, 2);
    assert_non_null(strstr(last_state, "STATUS=42 queries received"));
}

static void test_nothing_is_sent_after_the_stop(void **state)
{
    (void)state;
    NEED_SYSTEMD();
    vitals = vitals_start(loop, &view);
    vitals_stop(vitals);
    read_messages();
    pings = states = 0;
    pass_ticks(30, WORKERS);
    assert_int_equal(pings + states, 0);
}

static void test_without_a_service_manager_there_are_no_vitals(void **state)
{
    (void)state;
    NEED_SYSTEMD();
    unsetenv("NOTIFY_SOCKET");
    assert_null(vitals_start(loop, &view));
    vitals_stop(NULL);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(test_the_watchdog_is_fed_while_all_threads_turn),
        TEST(test_one_worker_that_hangs_starves_the_watchdog),
        TEST(test_the_status_is_sent_when_it_changed),
        TEST(test_nothing_is_sent_after_the_stop),
        TEST(test_without_a_service_manager_there_are_no_vitals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
