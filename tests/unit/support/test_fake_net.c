/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* The fake loop and network keep the promises of their headers. Tests of behaviour rely on that. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "loop/timer.h"
#include "net/acceptor.h"
#include "net/link.h"
#include "net/udp_query.h"
#include "net/udp_server.h"
#include "support/fake_loop.h"
#include "support/fake_net.h"
#include "support/fake_peer.h"

enum { MS = 1000 };

/* A word for each callback: "open, msg:abc, fin". */
struct seen {
    char words[4096];
    struct link *link;
    struct udp_query *query;
    struct udp_server *udp;
    struct acceptor *acceptor;
    struct loop *loop;
    bool close_at_once;
    unsigned count;
};

static void see(struct seen *seen, const char *word, struct span detail)
{
    size_t at = strlen(seen->words);

    seen->count++;
    snprintf(seen->words + at, sizeof(seen->words) - at, "%s%s%.*s", at ? " " : "", word,
             (int)detail.len, (const char *)detail.data);
}

static struct span text(const char *string)
{
    return span_of(string, strlen(string));
}

static void maybe_close(struct seen *seen)
{
    if (seen->close_at_once && seen->link)
        link_close(&seen->link);
    if (seen->close_at_once && seen->query)
        udp_query_close(&seen->query);
}

static void on_open(void *owner)
{
    see(owner, "open", text(""));
    maybe_close(owner);
}

static void on_message(void *owner, struct span message)
{
    see(owner, "msg:", message);
    maybe_close(owner);
}

static void on_room(void *owner)
{
    see(owner, "room", text(""));
    maybe_close(owner);
}

static void on_peer_closed(void *owner)
{
    see(owner, "fin", text(""));
    maybe_close(owner);
}

static void on_failed(void *owner, enum err why)
{
    see(owner, "failed:", text(err_str(why)));
    maybe_close(owner);
}

static void on_datagram(void *owner, struct span datagram)
{
    see(owner, "got:", datagram);
    maybe_close(owner);
}

static const struct link_handler link_events = {.on_open = on_open,
                                                .on_message = on_message,
                                                .on_room = on_room,
                                                .on_peer_closed = on_peer_closed,
                                                .on_failed = on_failed};
static const struct udp_query_handler query_events = {on_datagram, on_failed};

static struct link_options options(void)
{
    return (struct link_options){.max_unsent_bytes = 100000, .tcp = {.user_timeout_ms = 5000}};
}

/* The servers of these tests remember their last connection, and echo. */
static void echo(void *owner, struct fake_conn *conn, size_t index, struct span message)
{
    (void)owner;
    (void)index;
    fake_conn_send_message(conn, message);
}

static void echo_datagram(void *owner, const struct fake_query *query, struct span datagram)
{
    (void)owner;
    fake_query_reply(query, datagram, 0);
}

static const struct fake_server_handler echo_events = {.on_message = echo,
                                                       .on_datagram = echo_datagram};

struct world {
    struct loop *loop;
    struct fake_net *net;
    struct addr addr;
    struct fake_server *server;
    struct seen seen;
};

static int set_up(void **state)
{
    struct world *world = calloc(1, sizeof(*world));

    world->loop = loop_new();
    world->net = fake_net_of(world->loop);
    world->addr = fake_addr("192.0.2.53@53");
    world->server = fake_server_new(world->net, &world->addr, &echo_events, NULL);
    *state = world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;

    if (world->seen.link)
        link_close(&world->seen.link);
    if (world->seen.query)
        udp_query_close(&world->seen.query);
    assert_int_equal(fake_net_open_sockets(world->net), 0);
    loop_free(world->loop);
    free(world);
    return 0;
}

static void dial(struct world *world)
{
    struct link_options how = options();
    assert_int_equal(
        link_dial(&world->seen.link, world->loop, &world->addr, &how, &link_events, &world->seen),
        ERR_OK);
}

static void ask_udp(struct world *world, const char *words)
{
    struct addr any = {0};
    struct udp_query_path path = {&world->addr, &any, .queries_per_port = 1};
    assert_int_equal(udp_query_open(&world->seen.query, world->loop, &path, text(words),
                                    &query_events, &world->seen),
                     ERR_OK);
}

static struct fake_conn *conn(struct world *world)
{
    return fake_server_conn(world->server, 0);
}

/* ---------------------------------------------------------------- time */

struct alarm {
    struct timer timer;
    struct loop *loop;
    uint64_t rang_at;
};

static void on_alarm(struct timer *timer)
{
    struct alarm *alarm = CONTAINER_OF(timer, struct alarm, timer);
    alarm->rang_at = loop_now(alarm->loop);
}

static void test_the_clock_moves_only_on_request(void **state)
{
    struct world *world = *state;
    uint64_t begin = loop_now(world->loop);

    assert_int_equal(begin, FAKE_LOOP_START_US);
    fake_loop_settle(world->loop);
    assert_int_equal(loop_now(world->loop), begin);
    fake_loop_advance(world->loop, 12345);
    assert_int_equal(loop_now(world->loop), begin + 12345);
}

static void test_timers_fire_within_a_tick_of_their_instant(void **state)
{
    struct world *world = *state;
    struct alarm alarm = {.loop = world->loop};
    uint64_t due_at = loop_now(world->loop) + 3600 * US_PER_S;

    timer_init(&alarm.timer, on_alarm);
    timer_start(world->loop, &alarm.timer, due_at);
    fake_loop_advance(world->loop, 2 * 3600 * US_PER_S);
    assert_true(alarm.rang_at >= due_at);
    assert_true(alarm.rang_at <= due_at + 1000);
}

static void test_a_jump_lets_everything_fall_due_at_once(void **state)
{
    struct world *world = *state;
    struct alarm alarm = {.loop = world->loop};

    timer_init(&alarm.timer, on_alarm);
    timer_start(world->loop, &alarm.timer, loop_now(world->loop) + 1000);
    fake_loop_jump(world->loop, 86400 * US_PER_S);
    assert_int_equal(alarm.rang_at, 0);
    fake_loop_settle(world->loop);
    assert_int_equal(alarm.rang_at, FAKE_LOOP_START_US + 86400 * US_PER_S);
}

static void count_mail(struct mail *mail)
{
    mail->next = mail;
}

static void test_mail_is_read_in_the_next_turn(void **state)
{
    struct world *world = *state;
    struct mail mail = {.run = count_mail};

    loop_post(world->loop, &mail);
    assert_null(mail.next);
    assert_true(fake_loop_step(world->loop));
    assert_ptr_equal(mail.next, &mail);
    assert_false(fake_loop_step(world->loop));
}

/* ---------------------------------------------------------------- connections */

static void test_a_dial_takes_a_round_trip(void **state)
{
    struct world *world = *state;

    fake_server_set_latency(world->server, 10 * MS);
    dial(world);
    fake_loop_advance(world->loop, 20 * MS - 1);
    assert_string_equal(world->seen.words, "");
    fake_loop_advance(world->loop, 1);
    assert_string_equal(world->seen.words, "open");
    assert_int_equal(fake_conn_state(conn(world)), FAKE_CONN_OPEN);
}

static void test_a_refused_dial_fails(void **state)
{
    struct world *world = *state;

    fake_server_set_dial(world->server, FAKE_DIAL_REFUSE);
    dial(world);
    fake_loop_advance(world->loop, US_PER_S);
    assert_string_equal(world->seen.words, "failed:connection refused");
    assert_int_equal(fake_conn_state(conn(world)), FAKE_CONN_FAILED);
}

static void test_an_unknown_address_has_no_server(void **state)
{
    struct world *world = *state;

    world->addr = fake_addr("192.0.2.99@53");
    dial(world);
    ask_udp(world, "x");
    fake_loop_advance(world->loop, US_PER_S);
    assert_string_equal(world->seen.words, "failed:connection refused failed:connection refused");
}

static void test_a_blackhole_never_answers(void **state)
{
    struct world *world = *state;

    fake_server_set_dial(world->server, FAKE_DIAL_BLACKHOLE);
    dial(world);
    fake_loop_advance(world->loop, 3600 * US_PER_S);
    assert_string_equal(world->seen.words, "");
}

static void test_opens_fail_when_files_run_out(void **state)
{
    struct world *world = *state;
    struct link_options how = options();
    struct addr any = {0};
    struct udp_query_path path = {&world->addr, &any, .queries_per_port = 1};
    struct udp_query *query;
    struct link *link;

    fake_net_set_file_limit(world->net, 1);
    dial(world);
    assert_int_equal(link_dial(&link, world->loop, &world->addr, &how, &link_events, NULL),
                     ERR_NO_FILES);
    assert_int_equal(udp_query_open(&query, world->loop, &path, text("x"), &query_events, NULL),
                     ERR_NO_FILES);
    fake_net_set_file_limit(world->net, 0);
    fake_net_fail_opens(world->net, 1, ERR_UNREACHABLE);
    assert_int_equal(link_dial(&link, world->loop, &world->addr, &how, &link_events, NULL),
                     ERR_UNREACHABLE);
    assert_int_equal(fake_net_counts(world->net).dial_errors, 2);
}

static void test_messages_of_one_turn_leave_in_one_write(void **state)
{
    struct world *world = *state;

    dial(world);
    for (int i = 0; i < 50; i++)
        assert_int_equal(link_send(world->seen.link, text("q")), ERR_OK);
    fake_loop_advance(world->loop, US_PER_S);
    assert_int_equal(fake_conn_writes(conn(world)), 1);
    assert_int_equal(fake_conn_messages(conn(world)), 50);
    assert_int_equal(link_writes(world->seen.link), 1);
    for (int i = 0; i < 7; i++)
        assert_int_equal(link_send(world->seen.link, text("q")), ERR_OK);
    fake_loop_settle(world->loop);
    assert_int_equal(fake_conn_writes(conn(world)), 2);
    assert_int_equal(fake_conn_most_writes_a_turn(conn(world)), 1);
}

static void test_answers_of_one_instant_come_in_one_read(void **state)
{
    struct world *world = *state;

    dial(world);
    for (int i = 0; i < 3; i++)
        assert_int_equal(link_send(world->seen.link, text("q")), ERR_OK);
    fake_loop_advance(world->loop, US_PER_S);
    assert_string_equal(world->seen.words, "open msg:q msg:q msg:q");
    assert_int_equal(fake_conn_reads(conn(world)), 1);
}

static void test_pieces_are_read_one_by_one(void **state)
{
    struct world *world = *state;

    dial(world);
    fake_loop_advance(world->loop, US_PER_S);
    fake_conn_send_pieces(conn(world), span_of("\0\5hello\0\2hi", 11), 1, 0);
    fake_loop_advance(world->loop, US_PER_S);
    assert_string_equal(world->seen.words, "open msg:hello msg:hi");
    assert_int_equal(fake_conn_reads(conn(world)), 11);
}

static void test_a_fin_comes_after_the_bytes_sent_before(void **state)
{
    struct world *world = *state;

    dial(world);
    fake_loop_advance(world->loop, US_PER_S);
    fake_conn_send_message(conn(world), text("bye"));
    fake_conn_close(conn(world));
    fake_loop_advance(world->loop, US_PER_S);
    assert_string_equal(world->seen.words, "open msg:bye fin");
}

static void test_a_half_closed_peer_still_reads(void **state)
{
    struct world *world = *state;

    dial(world);
    fake_loop_advance(world->loop, US_PER_S);
    fake_conn_close(conn(world));
    fake_loop_advance(world->loop, US_PER_S);
    assert_int_equal(link_send(world->seen.link, text("still")), ERR_OK);
    fake_loop_advance(world->loop, US_PER_S);
    assert_int_equal(fake_conn_messages(conn(world)), 1);
}

static void test_a_reset_also_reaches_an_end_that_does_not_read(void **state)
{
    struct world *world = *state;

    dial(world);
    fake_loop_advance(world->loop, US_PER_S);
    link_pause(world->seen.link);
    fake_conn_send_message(conn(world), text("lost"));
    fake_conn_reset(conn(world));
    fake_loop_advance(world->loop, US_PER_S);
    assert_string_equal(world->seen.words, "open failed:connection reset by the peer");
    assert_int_equal(link_send(world->seen.link, text("x")), ERR_RESET);
}

static void test_a_dark_connection_times_out_by_its_unacknowledged_bytes(void **state)
{
    struct world *world = *state;

    dial(world);
    fake_loop_advance(world->loop, US_PER_S);
    fake_conn_go_dark(conn(world));
    fake_loop_advance(world->loop, 60 * US_PER_S);
    assert_string_equal(world->seen.words, "open");
    assert_int_equal(link_send(world->seen.link, text("x")), ERR_OK);
    fake_loop_advance(world->loop, 5 * US_PER_S);
    assert_string_equal(world->seen.words, "open failed:timed out");
}

static void test_a_peer_that_does_not_read_makes_writes_partial(void **state)
{
    struct world *world = *state;
    char big[1000];

    memset(big, 'x', sizeof(big));
    dial(world);
    fake_loop_advance(world->loop, US_PER_S);
    fake_conn_stop_reading(conn(world), 1500);
    for (int i = 0; i < 3; i++)
        assert_int_equal(link_send(world->seen.link, span_of(big, sizeof(big))), ERR_OK);
    fake_loop_advance(world->loop, US_PER_S);
    assert_int_equal(link_unsent(world->seen.link), 3 * 1002 - 1500);
    assert_int_equal(fake_conn_messages(conn(world)), 0);
    fake_conn_start_reading(conn(world));
    fake_loop_advance(world->loop, US_PER_S);
    assert_int_equal(link_unsent(world->seen.link), 0);
    assert_int_equal(fake_conn_messages(conn(world)), 3);
}

static void test_short_writes_go_on_in_the_next_turn(void **state)
{
    struct world *world = *state;

    fake_net_set_write_max(world->net, 1);
    dial(world);
    assert_int_equal(link_send(world->seen.link, text("hello")), ERR_OK);
    fake_loop_advance(world->loop, US_PER_S);
    assert_string_equal(world->seen.words, "open msg:hello");
    assert_int_equal(fake_conn_writes(conn(world)), 7);
    assert_int_equal(fake_conn_most_writes_a_turn(conn(world)), 1);
}

static void test_our_close_arrives_as_a_fin(void **state)
{
    struct world *world = *state;

    dial(world);
    fake_loop_advance(world->loop, US_PER_S);
    assert_int_equal(link_send(world->seen.link, text("last")), ERR_OK);
    link_close(&world->seen.link);
    fake_loop_advance(world->loop, US_PER_S);
    assert_int_equal(fake_conn_messages(conn(world)), 1);
    assert_true(fake_conn_was_closed(conn(world)));
    assert_int_equal(fake_conn_state(conn(world)), FAKE_CONN_CLOSED);
}

static void test_closing_is_allowed_in_every_callback(void **state)
{
    struct world *world = *state;

    world->seen.close_at_once = true;
    dial(world); /* on_open */
    fake_loop_advance(world->loop, US_PER_S);
    assert_null(world->seen.link);
    fake_server_set_dial(world->server, FAKE_DIAL_UNREACHABLE);
    dial(world); /* on_failed */
    fake_loop_advance(world->loop, US_PER_S);
    assert_null(world->seen.link);
    fake_server_set_dial(world->server, FAKE_DIAL_ACCEPT);
    world->seen.close_at_once = false;
    for (int i = 2; i < 4; i++) {
        dial(world);
        fake_loop_advance(world->loop, US_PER_S);
        world->seen.close_at_once = true;
        if (i == 2) /* on_message, with another message behind it */
            fake_conn_send(fake_server_conn(world->server, 2), span_of("\0\1a\0\1b", 6));
        else /* on_peer_closed */
            fake_conn_close(fake_server_conn(world->server, 3));
        fake_loop_advance(world->loop, US_PER_S);
        assert_null(world->seen.link);
        world->seen.close_at_once = false;
    }
    assert_string_equal(world->seen.words, "open failed:network or host unreachable open msg:a "
                                           "open fin");
}

/* ---------------------------------------------------------------- UDP queries */

static void test_a_datagram_is_answered(void **state)
{
    struct world *world = *state;

    ask_udp(world, "hello");
    fake_loop_advance(world->loop, 2 * MS);
    assert_string_equal(world->seen.words, "got:hello");
}

static void test_a_late_answer_is_lost(void **state)
{
    struct world *world = *state;

    ask_udp(world, "hello");
    udp_query_close(&world->seen.query);
    fake_loop_advance(world->loop, US_PER_S);
    assert_string_equal(world->seen.words, "");
    assert_int_equal(fake_net_counts(world->net).late_datagrams, 1);
}

static void test_datagrams_are_lost_or_refused(void **state)
{
    struct world *world = *state;

    fake_server_lose_datagrams(world->server, 1);
    ask_udp(world, "one");
    fake_loop_advance(world->loop, US_PER_S);
    udp_query_close(&world->seen.query);
    fake_server_set_udp(world->server, FAKE_UDP_REFUSE);
    world->seen.close_at_once = true;
    ask_udp(world, "two");
    fake_loop_advance(world->loop, US_PER_S);
    assert_string_equal(world->seen.words, "failed:connection refused");
    assert_int_equal(fake_server_datagrams(world->server), 0);
}

/* ---------------------------------------------------------------- listeners and clients */

static void on_query(void *owner, struct span datagram, const struct udp_path *path)
{
    struct seen *seen = owner;

    see(seen, "query:", datagram);
    memcpy(udp_server_reserve(seen->udp), datagram.data, datagram.len);
    udp_server_commit(seen->udp, datagram.len, path);
    if (seen->close_at_once)
        udp_server_close(&seen->udp);
}

static void on_batch_end(void *owner)
{
    see(owner, "end", text(""));
}

static const struct udp_server_handler udp_events = {.on_datagram = on_query,
                                                     .on_batch_end = on_batch_end};

static void test_clients_ask_by_udp_in_batches(void **state)
{
    struct world *world = *state;
    struct addr wildcard = fake_addr("0.0.0.0@53"), asked = fake_addr("192.0.2.7@53");
    struct addr client = fake_addr("198.51.100.1@4000");
    struct fake_reply reply;
    uint64_t turn;

    struct listen_socket socket = fake_listen_at(&wildcard, LISTEN_UDP);
    assert_int_equal(
        udp_server_open(&world->seen.udp, world->loop, &socket, &udp_events, &world->seen), ERR_OK);
    fake_client_udp_send(world->net, &asked, &client, text("a"));
    fake_client_udp_send(world->net, &asked, &client, text("b"));
    fake_loop_advance(world->loop, US_PER_S);
    assert_string_equal(world->seen.words, "query:a query:b end");
    assert_true(fake_client_udp_next(world->net, &client, &reply));
    assert_true(addr_equal(&reply.from, &asked));
    assert_true(span_equal(reply.datagram, text("a")));
    turn = reply.turn;
    assert_true(fake_client_udp_next(world->net, NULL, &reply));
    assert_int_equal(reply.turn, turn);
    assert_false(fake_client_udp_next(world->net, NULL, &reply));
    world->seen.close_at_once = true;
    fake_client_udp_send(world->net, &asked, &client, text("c"));
    fake_client_udp_send(world->net, &asked, &client, text("d"));
    fake_loop_advance(world->loop, US_PER_S);
    assert_string_equal(world->seen.words, "query:a query:b end query:c end");
    assert_int_equal(fake_client_udp_waiting(world->net), 1);
}

static void on_accept(void *owner, struct tcp *tcp)
{
    struct seen *seen = owner;
    struct link_options how = options();

    see(seen, "accept", text(""));
    assert_int_equal(link_accept(&seen->link, seen->loop, &tcp, &how, &link_events, seen), ERR_OK);
}

static void test_clients_ask_by_tcp(void **state)
{
    struct world *world = *state;
    struct addr listen = fake_addr("127.0.0.1@53"), from = fake_addr("127.0.0.9@4000");
    struct fake_conn *client, *refused;
    struct span message;

    world->seen.loop = world->loop;
    refused = fake_client_tcp_open(world->net, &listen, &from);
    fake_loop_advance(world->loop, US_PER_S);
    assert_int_equal(fake_conn_state(refused), FAKE_CONN_FAILED);
    struct listen_socket socket = fake_listen_at(&listen, LISTEN_TCP);
    assert_int_equal(
        acceptor_open(&world->seen.acceptor, world->loop, &socket, on_accept, &world->seen),
        ERR_OK);
    fake_net_set_file_limit(world->net, 1);
    client = fake_client_tcp_open(world->net, &listen, &from);
    fake_conn_send_message(client, text("early"));
    fake_loop_advance(world->loop, US_PER_S);
    assert_string_equal(world->seen.words, "");
    fake_net_set_file_limit(world->net, 0);
    fake_loop_advance(world->loop, US_PER_S);
    assert_string_equal(world->seen.words, "accept msg:early");
    assert_true(addr_equal(link_peer(world->seen.link), &from));
    assert_int_equal(link_send(world->seen.link, text("answer")), ERR_OK);
    fake_loop_settle(world->loop);
    assert_true(fake_conn_next_message(client, &message));
    assert_true(span_equal(message, text("answer")));
    assert_false(fake_conn_next_message(client, &message));
    acceptor_close(&world->seen.acceptor);
}

/* ---------------------------------------------------------------- the DNS peer */

static void slow_first(void *owner, const struct fake_ask *ask, struct fake_answer *answer)
{
    (void)owner;
    fake_answer_rcode(answer, ask->query, ask->index == 0 ? 3 : 0);
    answer->delay_us = ask->index == 0 ? 100 * MS : 0;
    if (ask->index == 2)
        answer->how = FAKE_RESET;
}

static void test_a_peer_answers_out_of_order_and_resets(void **state)
{
    struct world *world = *state;
    struct fake_peer *peer;
    uint8_t query[300];
    size_t len = fake_query_build(query, 0x4142, "example.org", 1, 1232);

    world->addr = fake_addr("192.0.2.1@53");
    peer = fake_peer_new(world->net, &world->addr, slow_first, NULL);
    dial(world);
    assert_int_equal(link_send(world->seen.link, span_of(query, len)), ERR_OK);
    assert_int_equal(link_send(world->seen.link, span_of(query, len)), ERR_OK);
    fake_loop_advance(world->loop, 50 * MS);
    assert_int_equal(world->seen.count, 2);
    fake_loop_advance(world->loop, 100 * MS);
    assert_int_equal(world->seen.count, 3);
    assert_int_equal(link_send(world->seen.link, span_of(query, len)), ERR_OK);
    fake_loop_advance(world->loop, 100 * MS);
    assert_int_equal(fake_peer_tcp_queries(peer), 3);
    assert_int_equal(world->seen.count, 4);
    assert_int_equal(fake_conn_state(fake_server_conn(fake_peer_server(peer), 0)),
                     FAKE_CONN_FAILED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_clock_moves_only_on_request),
        TEST(test_timers_fire_within_a_tick_of_their_instant),
        TEST(test_a_jump_lets_everything_fall_due_at_once),
        TEST(test_mail_is_read_in_the_next_turn),
        TEST(test_a_dial_takes_a_round_trip),
        TEST(test_a_refused_dial_fails),
        TEST(test_an_unknown_address_has_no_server),
        TEST(test_a_blackhole_never_answers),
        TEST(test_opens_fail_when_files_run_out),
        TEST(test_messages_of_one_turn_leave_in_one_write),
        TEST(test_answers_of_one_instant_come_in_one_read),
        TEST(test_pieces_are_read_one_by_one),
        TEST(test_a_fin_comes_after_the_bytes_sent_before),
        TEST(test_a_half_closed_peer_still_reads),
        TEST(test_a_reset_also_reaches_an_end_that_does_not_read),
        TEST(test_a_dark_connection_times_out_by_its_unacknowledged_bytes),
        TEST(test_a_peer_that_does_not_read_makes_writes_partial),
        TEST(test_short_writes_go_on_in_the_next_turn),
        TEST(test_our_close_arrives_as_a_fin),
        TEST(test_closing_is_allowed_in_every_callback),
        TEST(test_a_datagram_is_answered),
        TEST(test_a_late_answer_is_lost),
        TEST(test_datagrams_are_lost_or_refused),
        TEST(test_clients_ask_by_udp_in_batches),
        TEST(test_clients_ask_by_tcp),
        TEST(test_a_peer_answers_out_of_order_and_resets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
