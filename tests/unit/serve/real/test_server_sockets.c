/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * A reload on real sockets under a flood: an address that goes loses nothing. Two servers on one
 * loop act as two workers, so that the kernel spreads clients over the sockets of both; the
 * clients are threads.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "loop/loop.h"
#include "loop/timer.h"
#include "serve/server.h"
#include "unit/serve/stub_resolver.h"

enum {
    WORKERS = 2,
    FLOODS = 3,
    CALLERS = 3,
    /* the datagrams under way for one client, so few that no receive buffer overflows */
    WINDOW = 50,
    BEFORE_US = 50 * 1000,
    GUARD_US = 30 * 1000 * 1000, /* the test gives up after this time */
};

static struct loop *loop;
static struct stats stats;
static struct listen_sockets *sockets;
static struct server_options options[2]; /* before and after the reload */
static struct addr listens[2];
static struct addr target;
static struct server_quota *quotas[2];
static struct server *servers[WORKERS];
static struct timer timer, guard;
static unsigned ended;
static unsigned clients; /* the threads, each of which must have an answer before the reload */
static atomic_uint served;
static atomic_bool is_over; /* no socket serves the target any longer */

/* ---- clients over UDP ---- */

struct flood {
    pthread_t thread;
    unsigned sent, answered, refused;
};

static void connect_to_target(int fd)
{
    MUST(connect(fd, &target.sa, addr_len(&target)) == 0);
}

/* Reads all answers. With IP_RECVERR, the kernel also reports each datagram that found no socket.
 */
static void take_all(int fd, struct flood *flood)
{
    uint8_t bytes[512];
    struct iovec part = {bytes, sizeof(bytes)};
    uint8_t control[512];
    while (recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0 || errno == ECONNREFUSED)
        flood->answered += errno != ECONNREFUSED, errno = 0;
    for (;;) {
        struct msghdr header = {.msg_iov = &part,
                                .msg_iovlen = 1,
                                .msg_control = control,
                                .msg_controllen = sizeof(control)};
        if (recvmsg(fd, &header, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
            return;
        flood->refused++;
    }
}

static unsigned under_way(const struct flood *flood)
{
    return flood->sent - flood->answered - flood->refused;
}

static void *run_flood(void *argument)
{
    struct flood *flood = argument;
    uint8_t query[512];
    size_t len = canned_query(
        query, &(struct canned_query){
                   .name = "hit.example", .id = 7, .type = RRTYPE_A, .flags = HEADER_RD});
    int fd = socket(AF_INET, SOCK_DGRAM, 0), one = 1;
    MUST(setsockopt(fd, IPPROTO_IP, IP_RECVERR, &one, sizeof(one)) == 0);
    connect_to_target(fd);
    while (!atomic_load(&is_over)) {
        if (under_way(flood) < WINDOW && send(fd, query, len, MSG_DONTWAIT) == (ssize_t)len)
            flood->sent++;
        bool is_first = flood->answered == 0;
        take_all(fd, flood);
        if (is_first && flood->answered > 0)
            atomic_fetch_add(&served, 1);
    }
    while (send(fd, query, len, MSG_DONTWAIT) != (ssize_t)len) /* fails with each earlier refusal */
        take_all(fd, flood);
    flood->sent++;
    for (int tries = 0; under_way(flood) > 0 && tries < 1000; tries++) {
        poll(NULL, 0, 10);
        take_all(fd, flood);
    }
    close(fd);
    return NULL;
}

/* ---- clients over TCP ---- */

struct caller {
    pthread_t thread;
    unsigned connected, answered;
};

static bool ask_stream(int fd)
{
    uint8_t query[512] = {0}, answer[2];
    size_t len = canned_query(
        query + 2, &(struct canned_query){
                       .name = "hit.example", .id = 7, .type = RRTYPE_A, .flags = HEADER_RD});
    query[1] = (uint8_t)len;
    return send(fd, query, len + 2, MSG_NOSIGNAL) == (ssize_t)len + 2 &&
           recv(fd, answer, sizeof(answer), MSG_WAITALL) == sizeof(answer);
}

/* Each query has its own connection, so at any time some connection is at each step of its setup.
 */
static void *run_caller(void *argument)
{
    struct caller *caller = argument;
    while (!atomic_load(&is_over)) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        bool is_connected = connect(fd, &target.sa, addr_len(&target)) == 0;
        caller->connected += is_connected;
        caller->answered += is_connected && ask_stream(fd);
        if (is_connected && caller->connected == 1)
            atomic_fetch_add(&served, 1);
        close(fd);
    }
    return NULL;
}

/* ---- the servers ---- */

static void make_options(struct server_options *to, const char *text, struct addr *listen)
{
    struct prefix prefix;
    MUST(addr_parse(listen, text, 0) == ERR_OK);
    *to = (struct server_options){.listen = listen,
                                  .listen_count = 1,
                                  .access = prefix_set_new(),
                                  .max_udp_size = 1232,
                                  .client_idle_timeout_us = 30 * US_PER_S,
                                  .max_clients = 1000,
                                  .max_clients_per_address = 1000,
                                  .max_waiting = 1000,
                                  .max_waiting_per_client = 1000,
                                  .client_prefix_v4 = 32,
                                  .client_prefix_v6 = 56};
    MUST(prefix_parse(&prefix, "127.0.0.0/8") == ERR_OK);
    MUST(prefix_set_add(to->access, &prefix, SERVER_ALLOW) == ERR_OK);
    MUST(prefix_set_freeze(to->access) == ERR_OK);
}

static void on_guard(struct timer *due)
{
    (void)due;
    fail_msg("%u of %d servers have ended", ended, WORKERS);
}

static void on_ended(void *context)
{
    (void)context;
    if (++ended < WORKERS)
        return;
    atomic_store(&is_over, true);
    loop_stop(loop);
}

static void on_reload(struct timer *due)
{
    size_t which;
    if (atomic_load(&served) < clients) {
        timer_start(loop, due, loop_clock(loop) + BEFORE_US);
        return;
    }
    assert_int_equal(listen_sockets_prepare(sockets, &options[1], &which), ERR_OK);
    for (size_t i = 0; i < WORKERS; i++) {
        struct listen_share *share = listen_sockets_take(sockets, i);
        server_reload(servers[i], &options[1], &share, quotas[1], on_ended, NULL);
    }
    listen_sockets_commit(sockets);
}

/* A loopback address that no other program uses: on 127.0.0.1, the port that the kernel draws for
 * UDP may be in use over TCP. */
static const char *own_address(unsigned number)
{
    static char text[32];
    unsigned pid = (unsigned)getpid();
    snprintf(text, sizeof(text), "127.%u.%u.%u@0", 128 + pid / 31250 % 64, 1 + pid / 125 % 250,
             1 + pid % 125 * 2 + number);
    return text;
}

static int setup(void **state)
{
    (void)state;
    size_t which;
    loop = loop_new();
    stub_reset();
    ended = 0;
    atomic_store(&served, 0);
    atomic_store(&is_over, false);
    for (unsigned i = 0; i < 2; i++)
        make_options(&options[i], own_address(i), &listens[i]);
    quotas[0] = server_quota_new(&options[0], NULL);
    quotas[1] = server_quota_new(&options[1], quotas[0]);
    sockets = listen_sockets_new(WORKERS);
    assert_int_equal(listen_sockets_prepare(sockets, &options[0], &which), ERR_OK);
    for (size_t i = 0; i < WORKERS; i++) {
        struct listen_share *share = listen_sockets_take(sockets, i);
        assert_int_equal(
            server_open(&servers[i], loop, &options[0], &share, &stub, quotas[0], &stats), ERR_OK);
    }
    listen_sockets_commit(sockets);
    target = *listen_sockets_local(sockets, 0);
    timer_init(&timer, on_reload);
    timer_init(&guard, on_guard);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    timer_stop(&timer);
    timer_stop(&guard);
    for (size_t i = 0; i < WORKERS; i++)
        server_free(servers[i]);
    listen_sockets_free(sockets);
    for (size_t i = 0; i < 2; i++) {
        server_quota_free(quotas[i]);
        prefix_set_free(options[i].access);
    }
    loop_free(loop);
    return 0;
}

/* Runs until the address has ended. The reload comes once all clients have had an answer. */
static void run(unsigned client_count)
{
    clients = client_count;
    timer_start(loop, &timer, loop_clock(loop) + BEFORE_US);
    timer_start(loop, &guard, loop_clock(loop) + GUARD_US);
    loop_run(loop);
    assert_int_equal(ended, WORKERS);
}

static void test_not_one_datagram_of_a_flood_is_lost_when_its_address_goes(void **state)
{
    (void)state;
    struct flood floods[FLOODS] = {0};
    for (int i = 0; i < FLOODS; i++)
        MUST(pthread_create(&floods[i].thread, NULL, run_flood, &floods[i]) == 0);
    run(FLOODS);
    for (int i = 0; i < FLOODS; i++) {
        pthread_join(floods[i].thread, NULL);
        assert_true(floods[i].answered > 0);
        assert_true(floods[i].refused > 0);
        assert_int_equal(under_way(&floods[i]), 0);
    }
}

static void test_every_connection_that_is_made_is_served_when_its_address_goes(void **state)
{
    (void)state;
    struct caller callers[CALLERS] = {0};
    for (int i = 0; i < CALLERS; i++)
        MUST(pthread_create(&callers[i].thread, NULL, run_caller, &callers[i]) == 0);
    run(CALLERS);
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(callers[i].thread, NULL);
        assert_true(callers[i].connected > 0);
        assert_int_equal(callers[i].answered, callers[i].connected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_not_one_datagram_of_a_flood_is_lost_when_its_address_goes, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_every_connection_that_is_made_is_served_when_its_address_goes, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
