/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Links against plain sockets on loopback. test_fake_net.c has more tests, in virtual time. */

#include "real_net.h"

#include <stdlib.h>

#include "net/acceptor.h"
#include "net/link.h"

struct end {
    struct seen seen; /* must be first, because callbacks get it as their owner */
    struct link *link;
    struct acceptor *acceptor;
    const char *close_on; /* the callback with this word closes the link */
    const char *pause_on;
    bool echo;
    int fd; /* the plain socket of the other side */
};

static struct link_options options = {.max_unsent_bytes = 1000000};

static void happened(struct end *end, const char *word, struct span detail)
{
    if (end->close_on && strcmp(end->close_on, word) == 0)
        link_close(&end->link);
    if (end->pause_on && strcmp(end->pause_on, word) == 0)
        link_pause(end->link);
    see(&end->seen, word, detail);
}

static void on_open(void *owner)
{
    happened(owner, "open", text(""));
}

static void on_message(void *owner, struct span message)
{
    struct end *end = owner;

    if (end->echo)
        assert_int_equal(link_send(end->link, message), ERR_OK);
    happened(end, "msg:", message);
}

static void on_room(void *owner)
{
    happened(owner, "room", text(""));
}

static void on_peer_closed(void *owner)
{
    happened(owner, "fin", text(""));
}

static void on_failed(void *owner, enum err why)
{
    happened(owner, "failed:", text(err_str(why)));
}

static const struct link_handler events = {.on_open = on_open,
                                           .on_message = on_message,
                                           .on_room = on_room,
                                           .on_peer_closed = on_peer_closed,
                                           .on_failed = on_failed};

static int set_up(void **state)
{
    struct end *end = calloc(1, sizeof(*end));

    seen_init(&end->seen, loop_new());
    end->fd = -1;
    *state = end;
    return 0;
}

static int tear_down(void **state)
{
    struct end *end = *state;

    if (end->link)
        link_close(&end->link);
    if (end->acceptor)
        acceptor_close(&end->acceptor);
    loop_free(end->seen.loop);
    if (end->fd >= 0)
        close(end->fd);
    free(end);
    return 0;
}

static void dial_plain(struct end *end)
{
    struct addr addr;
    int listener = plain_listener(&addr);

    assert_int_equal(link_dial(&end->link, end->seen.loop, &addr, &options, &events, end), ERR_OK);
    run_until_seen(&end->seen, 1);
    end->fd = accept(listener, NULL, NULL);
    assert_true(end->fd >= 0);
    close(listener);
}

static void on_accept(void *owner, struct tcp *tcp)
{
    struct end *end = owner;

    assert_int_equal(link_accept(&end->link, end->seen.loop, &tcp, &options, &events, end), ERR_OK);
    assert_null(tcp);
    see(&end->seen, "accepted", text(""));
}

static void read_whole(struct end *end, void *out, size_t len)
{
    for (size_t got = 0; got < len;) {
        size_t now = plain_read(end->fd, (uint8_t *)out + got, len - got);
        assert_true(now > 0);
        got += now;
    }
}

static void write_whole(struct end *end, const char *bytes, size_t len)
{
    assert_int_equal(send(end->fd, bytes, len, 0), len);
}

static void test_messages_of_a_turn_leave_in_one_write(void **state)
{
    struct end *end = *state;
    char got[9];

    dial_plain(end);
    assert_int_equal(link_send(end->link, text("one")), ERR_OK);
    assert_int_equal(link_send(end->link, text("")), ERR_OK);
    memcpy(link_reserve(end->link, 100), "ab", 2);
    link_commit(end->link, 2);
    assert_int_equal(link_unsent(end->link), 11);
    assert_non_null(link_reserve(end->link, 100)); /* the bytes are never committed */
    run_some_turns(end->seen.loop);
    assert_int_equal(link_unsent(end->link), 0);
    assert_int_equal(link_writes(end->link), 1);
    read_whole(end, got, 5);
    assert_memory_equal(got, "\0\3one", 5);
    read_whole(end, got, 6);
    assert_memory_equal(got, "\0\0\0\2ab", 6);
}

static void test_messages_before_the_connection_wait_for_it(void **state)
{
    struct end *end = *state;
    struct addr addr;
    int listener = plain_listener(&addr);
    char got[6];

    assert_int_equal(link_dial(&end->link, end->seen.loop, &addr, &options, &events, end), ERR_OK);
    assert_int_equal(link_send(end->link, text("a")), ERR_OK);
    assert_int_equal(link_send(end->link, text("b")), ERR_OK);
    run_until_seen(&end->seen, 1);
    end->fd = accept(listener, NULL, NULL);
    read_whole(end, got, 6);
    assert_memory_equal(got, "\0\1a\0\1b", 6);
    assert_int_equal(link_writes(end->link), 1);
    close(listener);
}

static void test_messages_of_one_read_are_delivered_and_answered_in_one_write(void **state)
{
    struct end *end = *state;
    char got[9];

    dial_plain(end);
    end->echo = true;
    assert_int_equal(link_last_byte_at(end->link), 0);
    write_whole(end, "\0\1a\0\1b\0\1c\0", 10);
    run_until_seen(&end->seen, 3);
    read_whole(end, got, 9);
    assert_memory_equal(got, "\0\1a\0\1b\0\1c", 9);
    assert_int_equal(link_reads(end->link), 1);
    assert_int_equal(link_writes(end->link), 1);
    assert_int_equal(link_partial(end->link), 1);
    assert_true(link_last_byte_at(end->link) > 0);
    write_whole(end, "\2de", 3);
    run_until_seen(&end->seen, 1);
    assert_string_equal(end->seen.words, "open msg:a msg:b msg:c msg:de");
}

static void test_a_paused_link_keeps_messages_that_were_read(void **state)
{
    struct end *end = *state;

    dial_plain(end);
    end->pause_on = "msg:";
    write_whole(end, "\0\1a\0\1b\0\1c", 9);
    run_until_seen(&end->seen, 1);
    run_some_turns(end->seen.loop);
    assert_string_equal(end->seen.words, "open msg:a");
    link_resume(end->link);
    assert_string_equal(end->seen.words, "open msg:a");
    run_until_seen(&end->seen, 1); /* the callback pauses the link again */
    end->pause_on = NULL;
    link_resume(end->link);
    run_until_seen(&end->seen, 1);
    write_whole(end, "\0\1d", 3); /* the socket is read again */
    run_until_seen(&end->seen, 1);
    assert_string_equal(end->seen.words, "open msg:a msg:b msg:c msg:d");
}

static void test_a_full_link_refuses_and_reports_room(void **state)
{
    struct end *end = *state;
    uint8_t *big = calloc(1, LINK_MESSAGE_MAX);
    struct span message = span_of(big, LINK_MESSAGE_MAX);
    size_t sent = 0;

    dial_plain(end);
    for (int i = 0; i < 1000; i++) { /* first the kernel's buffer fills, then the link's */
        while (link_send(end->link, message) == ERR_OK)
            sent++;
        if (link_unsent(end->link) > options.max_unsent_bytes - LINK_MESSAGE_MAX - 2) {
            size_t before = link_unsent(end->link);
            run_some_turns(end->seen.loop);
            if (link_unsent(end->link) == before)
                break;
        }
    }
    assert_int_equal(link_send(end->link, message), ERR_LIMIT);
    assert_null(link_reserve(end->link, LINK_MESSAGE_MAX));
    end->seen.words[0] = '\0';
    for (size_t left = sent * (LINK_MESSAGE_MAX + 2); left > 0;) {
        ssize_t got = recv(end->fd, big, MIN(left, LINK_MESSAGE_MAX), MSG_DONTWAIT);
        if (got > 0)
            left -= (size_t)got;
        else
            run_some_turns(end->seen.loop);
    }
    assert_non_null(strstr(end->seen.words, "room"));
    assert_int_equal(link_unsent(end->link), 0);
    assert_int_equal(link_send(end->link, message), ERR_OK);
    free(big);
}

static void test_after_a_reset_sending_fails(void **state)
{
    struct end *end = *state;

    dial_plain(end);
    plain_reset(end->fd);
    end->fd = -1;
    run_until_seen(&end->seen, 1);
    assert_string_equal(end->seen.words, "open failed:connection reset by the peer");
    assert_int_equal(link_send(end->link, text("x")), ERR_RESET);
    assert_null(link_reserve(end->link, 10));
    run_some_turns(end->seen.loop);
}

static void test_after_a_fin_messages_may_be_sent_and_nothing_is_called(void **state)
{
    struct end *end = *state;
    char got[8];

    dial_plain(end);
    write_whole(end, "\0\1a\0\5cut", 8);
    assert_int_equal(shutdown(end->fd, SHUT_WR), 0);
    run_until_seen(&end->seen, 2);
    assert_int_equal(link_send(end->link, text("answer")), ERR_OK);
    run_some_turns(end->seen.loop);
    read_whole(end, got, 8);
    plain_reset(end->fd);
    end->fd = -1;
    run_some_turns(end->seen.loop);
    assert_string_equal(end->seen.words, "open msg:a fin");
}

static void test_closing_is_allowed_in_every_callback(void **state)
{
    struct end *end = *state;
    struct addr closed = closed_port(SOCK_STREAM);

    end->close_on = "open";
    dial_plain(end);
    assert_null(end->link);
    close(end->fd);
    end->close_on = "msg:";
    dial_plain(end);
    write_whole(end, "\0\1a\0\1b", 6);
    run_until_seen(&end->seen, 1);
    assert_null(end->link);
    close(end->fd);
    end->close_on = "fin";
    dial_plain(end);
    close(end->fd);
    run_until_seen(&end->seen, 1);
    assert_null(end->link);
    end->fd = -1;
    end->close_on = "failed:";
    if (link_dial(&end->link, end->seen.loop, &closed, &options, &events, end) == ERR_OK)
        run_until_seen(&end->seen, 1);
    run_some_turns(end->seen.loop);
    assert_string_equal(end->seen.words, "open open msg:a open fin failed:connection refused");
}

static void test_a_message_sent_in_the_callback_that_closes_still_leaves(void **state)
{
    struct end *end = *state;
    char got[4];

    dial_plain(end);
    end->echo = true;
    end->close_on = "msg:";
    write_whole(end, "\0\1a\0\1b", 6);
    run_until_seen(&end->seen, 1);
    assert_null(end->link);
    read_whole(end, got, 3);
    assert_memory_equal(got, "\0\1a", 3);
    assert_int_equal(plain_read(end->fd, got, 1), 0); /* a FIN and not a RST */
}

static void test_a_client_is_accepted_into_a_link(void **state)
{
    struct end *end = *state;
    struct addr addr = addr_of("127.0.0.1@0");
    struct listen_socket socket = listen_at(LISTEN_TCP, &addr);
    char got[4];

    assert_int_equal(acceptor_open(&end->acceptor, end->seen.loop, &socket, on_accept, end),
                     ERR_OK);
    end->fd = plain_connect(acceptor_local(end->acceptor));
    end->echo = true;
    write_whole(end, "\0\2hi", 4);
    run_until_seen(&end->seen, 2);
    run_some_turns(end->seen.loop);
    read_whole(end, got, 4);
    assert_memory_equal(got, "\0\2hi", 4);
    assert_true(addr_equal(link_local(end->link), acceptor_local(end->acceptor)));
    assert_string_equal(end->seen.words, "accepted msg:hi");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_messages_of_a_turn_leave_in_one_write),
        TEST(test_messages_before_the_connection_wait_for_it),
        TEST(test_messages_of_one_read_are_delivered_and_answered_in_one_write),
        TEST(test_a_paused_link_keeps_messages_that_were_read),
        TEST(test_a_full_link_refuses_and_reports_room),
        TEST(test_after_a_reset_sending_fails),
        TEST(test_after_a_fin_messages_may_be_sent_and_nothing_is_called),
        TEST(test_closing_is_allowed_in_every_callback),
        TEST(test_a_message_sent_in_the_callback_that_closes_still_leaves),
        TEST(test_a_client_is_accepted_into_a_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
