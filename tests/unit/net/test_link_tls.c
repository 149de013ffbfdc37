/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Two links with TLS over loopback: one dials, and the other is accepted. */

#include "real_net.h"

#include <stdlib.h>

#include "net/acceptor.h"
#include "net/link.h"
#include "net/tcp.h"
#include "support/tls_certs.h"
#include "tls/tls.h"
#include "tls/tls_context.h"

struct side {
    struct seen *seen;
    const char *name;
    struct link *link;
    struct tls *tls;                 /* the TLS of the link */
    struct tcp *tcp;                 /* the connection of the server's link */
    const char *close_on, *pause_on; /* the callbacks with these words close or pause the link */
    const char *send_on, *send;
    enum err error;
    size_t bytes; /* counts the bytes of messages */
};

struct ends {
    struct seen seen;
    struct side client, server;
    struct acceptor *acceptor;
    struct addr addr;
    struct tls_certs *ca;
    struct tls_cert *cert;
    char *ca_file;
    struct tls_peer_options peer;
    struct tls_context *client_context, *server_context;
    size_t max_unsent;
    int fd;
};

static void happened(struct side *side, const char *word, struct span detail)
{
    char line[64];
    snprintf(line, sizeof(line), "%s.%s", side->name, word);
    if (side->send_on && strcmp(side->send_on, word) == 0) {
        assert_int_equal(link_send(side->link, text(side->send)), ERR_OK);
        side->send_on = NULL;
    }
    if (side->pause_on && strcmp(side->pause_on, word) == 0) {
        link_pause(side->link);
        side->pause_on = NULL;
    }
    if (side->close_on && strcmp(side->close_on, word) == 0)
        link_close(&side->link);
    see(side->seen, line, detail);
}

static void on_connected(void *owner)
{
    happened(owner, "connected", text(""));
}

static void on_open(void *owner)
{
    happened(owner, "open", text(""));
}

static void on_message(void *owner, struct span message)
{
    struct side *side = owner;
    side->bytes += message.len;
    happened(side, "msg:", message);
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
    struct side *side = owner;
    side->error = why;
    happened(side, "failed", text(""));
}

static const struct link_handler events = {.on_connected = on_connected,
                                           .on_open = on_open,
                                           .on_message = on_message,
                                           .on_room = on_room,
                                           .on_peer_closed = on_peer_closed,
                                           .on_failed = on_failed};

static void on_accept(void *owner, struct tcp *tcp)
{
    struct ends *ends = owner;
    struct link_options options = {.max_unsent_bytes = ends->max_unsent,
                                   .tls = tls_server(ends->server_context)};
    assert_non_null(options.tls);
    ends->server.tls = options.tls;
    ends->server.tcp = tcp;
    assert_int_equal(
        link_accept(&ends->server.link, ends->seen.loop, &tcp, &options, &events, &ends->server),
        ERR_OK);
}

static int set_up(void **state)
{
    struct ends *ends = calloc(1, sizeof(*ends));
    char why[TLS_WHY_MAX];

    seen_init(&ends->seen, loop_new());
    ends->client = (struct side){.seen = &ends->seen, .name = "c"};
    ends->server = (struct side){.seen = &ends->seen, .name = "s"};
    ends->max_unsent = 1000000;
    ends->fd = -1;
    ends->ca = tls_certs_authority("Test CA");
    ends->cert = tls_certs_make(&(struct tls_cert_wish){.ca = ends->ca, .ip = "127.0.0.1"});
    ends->ca_file = tls_certs_file(tls_certs_pem(ends->ca));
    ends->peer.ca_bundle = ends->ca_file;
    struct tls_server_options options = {.certificate = tls_certs_certificate(ends->cert),
                                         .key = tls_certs_key(ends->cert)};
    assert_int_equal(tls_context_client(&ends->client_context, &ends->peer, why), ERR_OK);
    assert_int_equal(tls_context_server(&ends->server_context, &options, why), ERR_OK);
    struct addr any = addr_of("127.0.0.1@0");
    struct listen_socket socket = listen_at(LISTEN_TCP, &any);
    assert_int_equal(acceptor_open(&ends->acceptor, ends->seen.loop, &socket, on_accept, ends),
                     ERR_OK);
    ends->addr = *acceptor_local(ends->acceptor);
    *state = ends;
    return 0;
}

static int tear_down(void **state)
{
    struct ends *ends = *state;

    if (ends->client.link)
        link_close(&ends->client.link);
    if (ends->server.link)
        link_close(&ends->server.link);
    acceptor_close(&ends->acceptor);
    loop_free(ends->seen.loop);
    tls_context_free(ends->client_context);
    tls_context_free(ends->server_context);
    tls_certs_free_cert(ends->cert);
    tls_certs_free(ends->ca);
    unlink(ends->ca_file);
    free(ends->ca_file);
    if (ends->fd >= 0)
        close(ends->fd);
    free(ends);
    return 0;
}

static enum err dial_to(struct ends *ends, const struct addr *addr)
{
    struct tls_peer peer = {.addr = addr, .options = &ends->peer};
    struct link_options options = {.max_unsent_bytes = ends->max_unsent,
                                   .tls = tls_client(ends->client_context, &peer)};
    assert_non_null(options.tls);
    ends->client.tls = options.tls;
    return link_dial(&ends->client.link, ends->seen.loop, addr, &options, &events, &ends->client);
}

/* Runs until both ends are open. */
static void join(struct ends *ends)
{
    assert_int_equal(dial_to(ends, &ends->addr), ERR_OK);
    run_until_seen(&ends->seen, 3);
    assert_non_null(strstr(ends->seen.words, "c.open"));
    assert_non_null(strstr(ends->seen.words, "s.open"));
    run_some_turns(ends->seen.loop);
    ends->seen.words[0] = '\0';
}

static void test_messages_of_a_turn_leave_in_one_write_both_ways(void **state)
{
    struct ends *ends = *state;

    join(ends);
    struct link *ends_of[] = {ends->client.link, ends->server.link};
    for (int i = 0; i < 2; i++) {
        uint64_t writes = link_writes(ends_of[i]), reads = link_reads(ends_of[1 - i]);
        assert_int_equal(link_send(ends_of[i], text("one")), ERR_OK);
        assert_int_equal(link_send(ends_of[i], text("")), ERR_OK);
        assert_int_equal(link_send(ends_of[i], text("two")), ERR_OK);
        run_until_seen(&ends->seen, 3);
        assert_int_equal(link_writes(ends_of[i]), writes + 1);
        assert_int_equal(link_reads(ends_of[1 - i]), reads + 1);
        assert_int_equal(link_unsent(ends_of[i]), 0);
    }
    assert_string_equal(ends->seen.words, "s.msg:one s.msg: s.msg:two c.msg:one c.msg: c.msg:two");
}

/* A record of TLS 1.3 adds a header of 5 bytes, a type and a tag of 16 bytes (RFC 8446
 * section 5.2).
 */
enum { RECORD_BYTES = 5 + 1 + 16 };

/* NSD 4.6 and dnsdist 1.7 answer only the first message of a record, and the others when further
 * bytes come. */
static void test_each_message_of_a_turn_is_a_separate_record_both_ways(void **state)
{
    struct ends *ends = *state;
    static uint8_t large[40000];

    join(ends);
    struct link *ends_of[] = {ends->client.link, ends->server.link};
    for (int i = 0; i < 2; i++) {
        uint64_t writes = link_writes(ends_of[i]), written = link_written(ends_of[i]);
        for (int n = 0; n < 8; n++)
            assert_int_equal(link_send(ends_of[i], text("message")), ERR_OK);
        assert_int_equal(link_send(ends_of[i], text("")), ERR_OK);
        run_until_seen(&ends->seen, 9);
        assert_int_equal(link_writes(ends_of[i]), writes + 1);
        assert_int_equal(link_written(ends_of[i]) - written, 8 * 9 + 2 + 9 * RECORD_BYTES);
    }
    uint64_t written = link_written(ends->client.link);
    assert_int_equal(link_send(ends->client.link, span_of(large, sizeof(large))), ERR_OK);
    assert_int_equal(link_send(ends->client.link, text("small")), ERR_OK);
    run_until_seen(&ends->seen, 2);
    assert_int_equal(link_written(ends->client.link) - written,
                     2 + sizeof(large) + 7 + (3 + 1) * RECORD_BYTES);
}

static void test_messages_sent_before_it_is_open_wait_for_the_handshake(void **state)
{
    struct ends *ends = *state;

    assert_int_equal(dial_to(ends, &ends->addr), ERR_OK);
    assert_int_equal(link_send(ends->client.link, text("early")), ERR_OK);
    ends->client.send_on = "connected";
    ends->client.send = "later";
    run_until_seen(&ends->seen, 5);
    assert_non_null(strstr(ends->seen.words, "s.msg:early s.msg:later"));
    assert_true(tls_facts(link_tls(ends->client.link)).authenticated);
}

static void test_a_close_sends_close_notify_before_the_fin(void **state)
{
    struct ends *ends = *state;

    join(ends);
    assert_int_equal(link_send(ends->client.link, text("last")), ERR_OK);
    link_close(&ends->client.link);
    run_until_seen(&ends->seen, 2);
    assert_string_equal(ends->seen.words, "s.msg:last s.fin");
    assert_int_equal(link_send(ends->server.link, text("to nobody")), ERR_OK);
    run_some_turns(ends->seen.loop);
}

static void test_messages_before_a_close_notify_are_delivered_first(void **state)
{
    struct ends *ends = *state;

    join(ends);
    ends->server.pause_on = "msg:";
    assert_int_equal(link_send(ends->client.link, text("a")), ERR_OK);
    assert_int_equal(link_send(ends->client.link, text("b")), ERR_OK);
    link_close(&ends->client.link);
    run_until_seen(&ends->seen, 1);
    run_some_turns(ends->seen.loop);
    assert_string_equal(ends->seen.words, "s.msg:a");
    link_resume(ends->server.link);
    run_until_seen(&ends->seen, 2);
    assert_string_equal(ends->seen.words, "s.msg:a s.msg:b s.fin");
}

/* Sends a message and a close_notify in one write, without a FIN, because the peer still awaits
 * answers. */
static void send_and_notify(struct side *side, const char *message)
{
    uint8_t framed[64];
    size_t len = strlen(message);

    put_u16(framed, (uint16_t)len);
    memcpy(framed + 2, message, len);
    assert_int_equal(tls_send_messages(side->tls, span_of(framed, 2 + len)), ERR_OK);
    tls_end(side->tls);
    link_push(side->link);
}

static void test_a_close_notify_is_reported_after_a_pause_without_messages(void **state)
{
    struct ends *ends = *state;

    join(ends);
    ends->server.pause_on = "msg:";
    send_and_notify(&ends->client, "last");
    run_until_seen(&ends->seen, 1);
    run_some_turns(ends->seen.loop);
    assert_string_equal(ends->seen.words, "s.msg:last");
    link_resume(ends->server.link);
    run_until_seen(&ends->seen, 1);
    assert_string_equal(ends->seen.words, "s.msg:last s.fin");
    assert_int_equal(link_send(ends->server.link, text("answer")), ERR_OK);
    run_until_seen(&ends->seen, 1);
    assert_non_null(strstr(ends->seen.words, "c.msg:answer"));
}

static void test_a_pause_delays_the_report_of_a_close_notify(void **state)
{
    struct ends *ends = *state;

    join(ends);
    ends->server.pause_on = "msg:";
    send_and_notify(&ends->client, "last");
    run_until_seen(&ends->seen, 1);
    link_resume(ends->server.link);
    link_pause(ends->server.link);
    run_some_turns(ends->seen.loop);
    assert_string_equal(ends->seen.words, "s.msg:last");
    link_resume(ends->server.link);
    run_until_seen(&ends->seen, 1);
    assert_string_equal(ends->seen.words, "s.msg:last s.fin");
}

/* The link cannot seal because its sealed bytes reach their bound. */
static void test_a_failure_to_seal_while_making_room_is_reported(void **state)
{
    struct ends *ends = *state;
    static uint8_t half[600];

    ends->max_unsent = 1000;
    join(ends);
    tls_wire(ends->client.tls)->max = 1;
    assert_int_equal(link_send(ends->client.link, span_of(half, sizeof(half))), ERR_OK);
    assert_int_equal(link_send(ends->client.link, span_of(half, sizeof(half))), ERR_LIMIT);
    run_until_seen(&ends->seen, 1);
    assert_string_equal(ends->seen.words, "c.failed");
}

static void test_room_from_the_handshake_is_reported_once_the_link_is_open(void **state)
{
    struct ends *ends = *state;
    static uint8_t large[65000];

    ends->max_unsent = 66000;
    assert_int_equal(dial_to(ends, &ends->addr), ERR_OK);
    assert_int_equal(link_send(ends->client.link, span_of(large, 1000)), ERR_OK);
    assert_int_equal(link_send(ends->client.link, span_of(large, sizeof(large))), ERR_LIMIT);
    run_until_seen(&ends->seen, 4);
    run_some_turns(ends->seen.loop);
    assert_non_null(strstr(ends->seen.words, "c.room"));
}

static void test_nothing_waits_to_be_sent_after_a_failure(void **state)
{
    struct ends *ends = *state;
    static uint8_t large[60000];

    ends->max_unsent = 200000;
    join(ends);
    link_pause(ends->server.link);
    while (link_send(ends->client.link, span_of(large, sizeof(large))) == ERR_OK)
        run_some_turns(ends->seen.loop);
    assert_true(link_unsent(ends->client.link) > 0);
    size_t written;
    assert_int_equal(tcp_write(ends->server.tcp, text("no record"), &written), ERR_OK);
    /* before the failure, the link may report room */
    while (!strstr(ends->seen.words, "c.failed")) {
        run_until_seen(&ends->seen, 1);
        while (link_send(ends->client.link, span_of(large, sizeof(large))) == ERR_OK)
            continue;
    }
    assert_int_equal(link_unsent(ends->client.link), 0);
}

static void test_a_link_may_be_closed_inside_every_callback(void **state)
{
    struct ends *ends = *state;
    static const char *const words[] = {"connected", "open", "msg:", "fin"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        ends->client.close_on = words[i];
        ends->server.send_on = "open";
        ends->server.send = "x";
        ends->server.close_on = "open";
        assert_int_equal(dial_to(ends, &ends->addr), ERR_OK);
        while (ends->client.link)
            run_until_seen(&ends->seen, 1);
        run_some_turns(ends->seen.loop);
        if (ends->server.link)
            link_close(&ends->server.link);
        ends->seen.words[0] = '\0';
    }
}

static void test_the_bound_of_the_queue_counts_sealed_bytes(void **state)
{
    struct ends *ends = *state;
    static uint8_t large[60000];
    size_t sent = 0;

    ends->max_unsent = 200000;
    join(ends);
    link_pause(ends->server.link);
    while (link_send(ends->client.link, span_of(large, sizeof(large))) == ERR_OK) {
        sent++;
        run_some_turns(ends->seen.loop);
        assert_true(link_unsent(ends->client.link) <= ends->max_unsent + 2000);
        assert_true(sent < 10000);
    }
    link_resume(ends->server.link);
    while (ends->server.bytes < sent * sizeof(large))
        run_until_seen(&ends->seen, 1);
    assert_non_null(strstr(ends->seen.words, "c.room"));
    assert_int_equal(ends->server.bytes, sent * sizeof(large));
}

static void test_a_message_of_65535_bytes_goes_both_ways(void **state)
{
    struct ends *ends = *state;
    static uint8_t large[LINK_MESSAGE_MAX];

    join(ends);
    assert_int_equal(link_send(ends->client.link, span_of(large, sizeof(large))), ERR_OK);
    assert_int_equal(link_send(ends->server.link, span_of(large, sizeof(large))), ERR_OK);
    run_until_seen(&ends->seen, 2);
    assert_int_equal(ends->server.bytes, sizeof(large));
    assert_int_equal(ends->client.bytes, sizeof(large));
}

static void test_a_peer_that_ends_during_the_handshake_is_reported(void **state)
{
    struct ends *ends = *state;
    struct addr addr;
    int listener = plain_listener(&addr);
    uint8_t hello[2048];

    assert_int_equal(dial_to(ends, &addr), ERR_OK);
    run_until_seen(&ends->seen, 1);
    ends->fd = accept(listener, NULL, NULL);
    close(listener);
    run_some_turns(ends->seen.loop);
    assert_true(plain_read(ends->fd, hello, sizeof(hello)) > 100);
    assert_int_equal(hello[0], 22); /* the record of a handshake */
    shutdown(ends->fd, SHUT_WR);
    run_until_seen(&ends->seen, 1);
    assert_int_equal(ends->client.error, ERR_TLS_CLOSED);
}

static void test_a_peer_without_tls_is_reported(void **state)
{
    struct ends *ends = *state;
    struct addr addr;
    int listener = plain_listener(&addr);

    assert_int_equal(dial_to(ends, &addr), ERR_OK);
    run_until_seen(&ends->seen, 1);
    ends->fd = accept(listener, NULL, NULL);
    close(listener);
    assert_int_equal(send(ends->fd, "SSH-2.0-other\r\n", 15, 0), 15);
    run_until_seen(&ends->seen, 1);
    assert_int_equal(ends->client.error, ERR_TLS_NOT_SPOKEN);
}

static void test_a_client_without_tls_fails(void **state)
{
    struct ends *ends = *state;
    uint8_t alert[64];

    ends->fd = plain_connect(&ends->addr);
    assert_int_equal(send(ends->fd, "\0\035plain text over a TLS port...", 31, 0), 31);
    run_until_seen(&ends->seen, 1);
    assert_string_equal(ends->seen.words, "s.failed");
    link_close(&ends->server.link);
    run_some_turns(ends->seen.loop);
    size_t len = plain_read(ends->fd, alert, sizeof(alert));
    assert_true(len == 0 || alert[0] == 21); /* an alert and no other record */
}

static void test_a_refused_dial_keeps_nothing(void **state)
{
    struct ends *ends = *state;
    struct addr nobody = closed_port(SOCK_STREAM);

    if (dial_to(ends, &nobody) == ERR_OK) {
        run_until_seen(&ends->seen, 1);
        assert_int_equal(ends->client.error, ERR_REFUSED);
    }
}

static void test_a_certificate_for_another_name_fails_and_the_server_gets_an_alert(void **state)
{
    struct ends *ends = *state;

    static char other[] = "other.test";

    ends->peer.auth_name = other;
    assert_int_equal(dial_to(ends, &ends->addr), ERR_OK);
    run_until_seen(&ends->seen, 2);
    assert_int_equal(ends->client.error, ERR_TLS_NAME);
    assert_string_not_equal(tls_detail(link_tls(ends->client.link)), "");
    while (ends->server.error == ERR_OK)
        run_until_seen(&ends->seen, 1);
    assert_int_equal(ends->server.error, ERR_TLS_ALERT);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_messages_of_a_turn_leave_in_one_write_both_ways),
        CASE(test_each_message_of_a_turn_is_a_separate_record_both_ways),
        CASE(test_messages_sent_before_it_is_open_wait_for_the_handshake),
        CASE(test_a_close_sends_close_notify_before_the_fin),
        CASE(test_messages_before_a_close_notify_are_delivered_first),
        CASE(test_a_close_notify_is_reported_after_a_pause_without_messages),
        CASE(test_a_pause_delays_the_report_of_a_close_notify),
        CASE(test_a_failure_to_seal_while_making_room_is_reported),
        CASE(test_room_from_the_handshake_is_reported_once_the_link_is_open),
        CASE(test_nothing_waits_to_be_sent_after_a_failure),
        CASE(test_a_link_may_be_closed_inside_every_callback),
        CASE(test_the_bound_of_the_queue_counts_sealed_bytes),
        CASE(test_a_message_of_65535_bytes_goes_both_ways),
        CASE(test_a_peer_that_ends_during_the_handshake_is_reported),
        CASE(test_a_peer_without_tls_is_reported),
        CASE(test_a_client_without_tls_fails),
        CASE(test_a_refused_dial_keeps_nothing),
        CASE(test_a_certificate_for_another_name_fails_and_the_server_gets_an_alert),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
