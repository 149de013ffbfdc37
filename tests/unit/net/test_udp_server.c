/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* The UDP server socket against plain sockets on loopback. */

#include "real_net.h"

#include <stdlib.h>

#include "net/udp_server.h"

struct end {
    struct seen seen; /* must be first, because callbacks get it as their owner */
    struct udp_server *server;
    struct addr listen;
    int fd; /* the client's socket, not connected */
    struct addr client;
    bool keep_answers; /* true: no answers */
    bool close_at_once;
    struct udp_path last_path;
    unsigned open_batches, batches;
    uint64_t most_age_us;  /* the greatest age in a batch */
    struct udp_path spoil; /* if set, a lost answer goes here before each answer */
};

static void reply(struct end *end, struct span bytes, const struct udp_path *path)
{
    memcpy(udp_server_reserve(end->server), bytes.data, MIN(bytes.len, UDP_REPLY_MAX));
    udp_server_commit(end->server, MIN(bytes.len, UDP_REPLY_MAX), path);
}

static void on_begin(void *owner)
{
    struct end *end = owner;

    assert_int_equal(end->open_batches, 0);
    end->open_batches++;
    end->batches++;
    end->most_age_us = MAX(end->most_age_us, udp_server_age_us(end->server));
}

static void on_datagram(void *owner, struct span datagram, const struct udp_path *path)
{
    struct end *end = owner;

    assert_int_equal(end->open_batches, 1);
    end->last_path = *path;
    if (addr_family(&end->spoil.peer) != 0)
        reply(end, text("lost"), &end->spoil);
    if (!end->keep_answers)
        reply(end, datagram, path);
    if (end->close_at_once)
        udp_server_close(&end->server);
    see(&end->seen, "got:", datagram);
}

static void on_end(void *owner)
{
    struct end *end = owner;
    end->open_batches--;
}

static const struct udp_server_handler events = {on_begin, on_datagram, on_end};

static int set_up(void **state)
{
    struct end *end = calloc(1, sizeof(*end));

    seen_init(&end->seen, loop_new());
    *state = end;
    return 0;
}

static int tear_down(void **state)
{
    struct end *end = *state;

    if (end->server)
        udp_server_close(&end->server);
    loop_free(end->seen.loop);
    if (end->fd)
        close(end->fd);
    assert_int_equal(end->open_batches, 0);
    free(end);
    return 0;
}

static void open_at(struct end *end, const char *listen, const char *client)
{
    struct addr addr = addr_of(listen);
    struct listen_socket socket = listen_at(LISTEN_UDP, &addr);

    assert_int_equal(udp_server_open(&end->server, end->seen.loop, &socket, &events, end), ERR_OK);
    end->listen = *udp_server_local(end->server);
    assert_int_not_equal(addr_port(&end->listen), 0);
    end->fd = plain_socket(SOCK_DGRAM, client, &end->client);
}

static void ask(struct end *end, const char *at, struct span words)
{
    struct addr to = addr_of(at);

    addr_set_port(&to, addr_port(&end->listen));
    assert_int_equal(sendto(end->fd, words.data, words.len, 0, &to.sa, addr_len(&to)), words.len);
}

/* Reads an answer. Returns its length, and its source address in from_ip. */
static size_t read_answer(struct end *end, void *bytes, size_t max, char from_ip[ADDR_TEXT_MAX])
{
    struct pollfd wait = {.fd = end->fd, .events = POLLIN};
    struct addr from;
    socklen_t len = sizeof(from);
    ssize_t got;

    assert_int_equal(poll(&wait, 1, GUARD_S * 1000), 1);
    got = recvfrom(end->fd, bytes, max, 0, &from.sa, &len);
    assert_true(got >= 0);
    addr_format_ip(&from, from_ip);
    return (size_t)got;
}

static void expect_answer(struct end *end, const char *words, const char *from)
{
    char bytes[100], ip[ADDR_TEXT_MAX];
    size_t len = read_answer(end, bytes, sizeof(bytes), ip);

    assert_int_equal(len, strlen(words));
    assert_memory_equal(bytes, words, len);
    assert_string_equal(ip, from);
}

static void test_a_query_is_answered_by_the_server(void **state)
{
    struct end *end = *state;

    open_at(end, "127.0.0.1@0", "127.0.0.1@0");
    ask(end, "127.0.0.1", text("hello"));
    run_until_seen(&end->seen, 1);
    expect_answer(end, "hello", "127.0.0.1");
    assert_true(addr_equal(&end->last_path.peer, &end->client));
    assert_int_equal(addr_family(&end->last_path.local), 0);
}

static void test_a_wildcard_answers_from_the_queried_address(void **state)
{
    struct end *end = *state;

    open_at(end, "0.0.0.0@0", "127.0.0.1@0");
    ask(end, "127.0.0.7", text("seven"));
    run_until_seen(&end->seen, 1);
    expect_answer(end, "seven", "127.0.0.7");
    assert_int_equal(addr_port(&end->last_path.local), addr_port(&end->listen));
    ask(end, "127.0.0.1", text("one"));
    run_until_seen(&end->seen, 1);
    expect_answer(end, "one", "127.0.0.1");
}

static void test_an_ipv6_wildcard_answers_and_leaves_ipv4_alone(void **state)
{
    struct end *end = *state;
    struct addr v4;
    char where[30];
    int fd;

    needs_ipv6();
    open_at(end, "::@0", "::1@0");
    snprintf(where, sizeof(where), "127.0.0.1@%u", addr_port(&end->listen));
    fd = plain_socket(SOCK_DGRAM, where, &v4); /* IPv4 may use the same port */
    close(fd);
    ask(end, "::1", text("six"));
    run_until_seen(&end->seen, 1);
    expect_answer(end, "six", "::1");
    assert_int_equal(addr_family(&end->last_path.local), AF_INET6);
}

static void test_answers_outside_of_a_batch_leave_at_the_end_of_the_turn(void **state)
{
    struct end *end = *state;

    open_at(end, "127.0.0.1@0", "127.0.0.1@0");
    end->keep_answers = true;
    ask(end, "127.0.0.1", text("later"));
    run_until_seen(&end->seen, 1);
    reply(end, text("now"), &end->last_path);
    run_some_turns(end->seen.loop);
    expect_answer(end, "now", "127.0.0.1");
}

static void test_many_datagrams_come_in_batches_and_none_is_lost(void **state)
{
    enum { COUNT = 100 };
    struct end *end = *state;
    char words[20];

    open_at(end, "127.0.0.1@0", "127.0.0.1@0");
    for (int i = 0; i < COUNT; i++) {
        snprintf(words, sizeof(words), "%d", i);
        ask(end, "127.0.0.1", text(words));
    }
    run_until_seen(&end->seen, COUNT);
    assert_true(end->batches < COUNT / 10);
    for (int i = 0; i < COUNT; i++) {
        snprintf(words, sizeof(words), "%d", i);
        expect_answer(end, words, "127.0.0.1");
    }
    assert_int_equal(udp_server_dropped(end->server), 0);
}

static void test_more_answers_than_a_batch_holds_all_leave(void **state)
{
    enum { COUNT = 75 };
    struct end *end = *state;

    open_at(end, "127.0.0.1@0", "127.0.0.1@0");
    end->keep_answers = true;
    ask(end, "127.0.0.1", text("x"));
    run_until_seen(&end->seen, 1);
    for (int i = 0; i < COUNT; i++)
        reply(end, text("y"), &end->last_path);
    run_some_turns(end->seen.loop);
    for (int i = 0; i < COUNT; i++)
        expect_answer(end, "y", "127.0.0.1");
}

static void test_one_answer_that_cannot_be_sent_does_not_lose_the_others(void **state)
{
    struct end *end = *state;

    open_at(end, "127.0.0.1@0", "127.0.0.1@0");
    /* the kernel refuses broadcasts from this socket */
    end->spoil.peer = addr_of("255.255.255.255@53");
    ask(end, "127.0.0.1", text("one"));
    ask(end, "127.0.0.1", text("two"));
    run_until_seen(&end->seen, 2);
    expect_answer(end, "one", "127.0.0.1");
    expect_answer(end, "two", "127.0.0.1");
    assert_int_equal(udp_server_dropped(end->server), 2);
}

static void test_a_client_that_left_does_not_affect_others(void **state)
{
    struct end *end = *state;
    int gone;

    open_at(end, "127.0.0.1@0", "127.0.0.1@0");
    gone = end->fd;
    ask(end, "127.0.0.1", text("bye"));
    close(gone);
    run_until_seen(&end->seen, 1);
    end->fd = plain_socket(SOCK_DGRAM, "127.0.0.1@0", &end->client);
    ask(end, "127.0.0.1", text("hello"));
    run_until_seen(&end->seen, 1);
    expect_answer(end, "hello", "127.0.0.1");
}

static void test_long_and_empty_datagrams_are_cut_and_kept(void **state)
{
    struct end *end = *state;
    uint8_t *big = calloc(1, 60000);
    char ip[ADDR_TEXT_MAX];

    open_at(end, "127.0.0.1@0", "127.0.0.1@0");
    ask(end, "127.0.0.1", span_of(big, 60000));
    ask(end, "127.0.0.1", text(""));
    run_until_seen(&end->seen, 2);
    assert_int_equal(end->seen.bytes, UDP_QUERY_MAX);
    assert_int_equal(read_answer(end, big, 60000, ip), UDP_REPLY_MAX);
    assert_int_equal(read_answer(end, big, 60000, ip), 0);
    free(big);
}

/* Sends queries without answering them, because the answers would overflow a client's buffer. */
static void ask_often(struct end *end, unsigned count)
{
    end->keep_answers = true;
    for (unsigned i = 0; i < count; i++)
        ask(end, "127.0.0.1", text("x"));
    usleep(2000); /* the queries become at least this old */
    run_until_seen(&end->seen, count);
}

enum { MORE_THAN_TURNS_READ = 700, TRIES = 1000 };

/* The kernel starts to stamp datagrams a little after the request. */
static void expect_ages(struct end *end)
{
    end->most_age_us = 0;
    for (int i = 0; i < TRIES && end->most_age_us < 2000; i++)
        ask_often(end, 1);
    assert_true(end->most_age_us >= 2000);
    assert_true(end->most_age_us < GUARD_S * US_PER_S);
}

static void test_ages_are_known_under_overload(void **state)
{
    struct end *end = *state;

    open_at(end, "127.0.0.1@0", "127.0.0.1@0");
    ask_often(end, 10);
    assert_int_equal(end->most_age_us, 0); /* the kernel stamps datagrams only on demand */
    ask_often(end, MORE_THAN_TURNS_READ);
    expect_ages(end);
}

static void test_ages_are_known_at_a_wildcard_too(void **state)
{
    struct end *end = *state;

    open_at(end, "0.0.0.0@0", "127.0.0.1@0");
    ask_often(end, MORE_THAN_TURNS_READ);
    expect_ages(end);
    /* the destination comes along with the age */
    assert_int_equal(addr_family(&end->last_path.local), AF_INET);
}

static void test_a_server_may_be_closed_in_its_callback(void **state)
{
    struct end *end = *state;

    open_at(end, "127.0.0.1@0", "127.0.0.1@0");
    end->close_at_once = true;
    ask(end, "127.0.0.1", text("one"));
    ask(end, "127.0.0.1", text("two"));
    run_until_seen(&end->seen, 1);
    assert_null(end->server);
    assert_string_equal(end->seen.words, "got:one");
    expect_answer(end, "one", "127.0.0.1"); /* the answer was ready before the close */
}

static void test_workers_share_an_address(void **state)
{
    struct end *end = *state;
    struct udp_server *second;

    open_at(end, "127.0.0.1@0", "127.0.0.1@0");
    struct listen_socket socket = listen_at(LISTEN_UDP, &end->listen);
    assert_int_equal(udp_server_open(&second, end->seen.loop, &socket, &events, end), ERR_OK);
    udp_server_close(&second);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_query_is_answered_by_the_server),
        TEST(test_a_wildcard_answers_from_the_queried_address),
        TEST(test_an_ipv6_wildcard_answers_and_leaves_ipv4_alone),
        TEST(test_answers_outside_of_a_batch_leave_at_the_end_of_the_turn),
        TEST(test_many_datagrams_come_in_batches_and_none_is_lost),
        TEST(test_more_answers_than_a_batch_holds_all_leave),
        TEST(test_one_answer_that_cannot_be_sent_does_not_lose_the_others),
        TEST(test_a_client_that_left_does_not_affect_others),
        TEST(test_long_and_empty_datagrams_are_cut_and_kept),
        TEST(test_ages_are_known_under_overload),
        TEST(test_ages_are_known_at_a_wildcard_too),
        TEST(test_a_server_may_be_closed_in_its_callback),
        TEST(test_workers_share_an_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
