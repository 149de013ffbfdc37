/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Two TLS ends joined in memory. The bytes between them are cut in every way, and some ends
 * misbehave. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tls_raw.h"

static struct ends here;

static int set_up(void **state)
{
    (void)state;
    ends_init(&here, NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    ends_deinit(&here);
    return 0;
}

static void pair_init(struct end *client, struct end *server)
{
    ends_client(&here, client, NULL);
    end_init(server, tls_server(here.server));
    end_begin(client, text_span(""));
}

static void secured_pair(struct end *client, struct end *server, cut_fn *cut)
{
    pair_init(client, server);
    settle(client, server, cut);
    assert_int_equal(client->err, ERR_OK);
    assert_int_equal(server->err, ERR_OK);
    assert_int_equal(client->secured, 1);
    assert_int_equal(server->secured, 1);
}

static void pair_deinit(struct end *client, struct end *server)
{
    end_deinit(client);
    end_deinit(server);
}

#define assert_plain(end, text) assert_true(span_equal(buf_span(&(end)->plain), text_span(text)))
#define assert_sends(end, text) assert_int_equal(tls_send((end)->tls, text_span(text)), ERR_OK)

/* ---------------------------------------------------------------- both ends ours */

static void check_exchange(cut_fn *cut)
{
    struct end client, server;

    secured_pair(&client, &server, cut);
    assert_sends(&client, "question");
    assert_sends(&server, "answer");
    settle(&client, &server, cut);
    assert_plain(&server, "question");
    assert_plain(&client, "answer");
    pair_deinit(&client, &server);
}

static void test_two_ends_exchange_plain_text_in_one_piece(void **state)
{
    (void)state;
    check_exchange(cut_none);
}

static void test_two_ends_exchange_plain_text_byte_by_byte(void **state)
{
    (void)state;
    check_exchange(cut_bytes);
}

static void test_two_ends_exchange_plain_text_in_random_pieces(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++)
        check_exchange(cut_random);
}

static void test_facts_are_empty_before_the_handshake(void **state)
{
    struct end client, server;
    (void)state;

    pair_init(&client, &server);
    struct tls_facts facts = tls_facts(client.tls);
    assert_string_equal(facts.version, "");
    assert_string_equal(facts.cipher, "");
    assert_false(facts.authenticated || facts.resumed || facts.early_accepted);
    assert_string_equal(tls_detail(client.tls), "");
    settle(&client, &server, cut_none);
    facts = tls_facts(client.tls);
    assert_string_equal(facts.version, "TLSv1.3");
    assert_string_equal(facts.cipher, "TLS_AES_256_GCM_SHA384");
    assert_true(facts.authenticated);
    assert_false(facts.resumed || facts.early_accepted);
    assert_string_equal(tls_facts(server.tls).version, "TLSv1.3");
    assert_false(tls_facts(server.tls).authenticated);
    pair_deinit(&client, &server);
}

static void fill(struct buf *out, size_t len)
{
    uint8_t *room = buf_reserve(out, len);

    assert_non_null(room);
    for (size_t i = 0; i < len; i++)
        room[i] = (uint8_t)(i * 31 + i / 251);
    buf_commit(out, len);
}

static void check_large(size_t len, cut_fn *cut)
{
    struct end client, server;
    struct buf plain;

    buf_init(&plain, PLAIN_MAX);
    fill(&plain, len);
    secured_pair(&client, &server, cut_none);
    assert_int_equal(tls_send(client.tls, buf_span(&plain)), ERR_OK);
    /* The fewest possible records hold 16 KiB each, with 22 bytes of overhead. */
    assert_int_equal(buf_len(tls_wire(client.tls)), len + (len + 16383) / 16384 * 22);
    assert_int_equal(tls_send(server.tls, buf_span(&plain)), ERR_OK);
    settle(&client, &server, cut);
    assert_true(span_equal(buf_span(&server.plain), buf_span(&plain)));
    assert_true(span_equal(buf_span(&client.plain), buf_span(&plain)));
    buf_deinit(&plain);
    pair_deinit(&client, &server);
}

static void test_300_kilobytes_pass_both_ways(void **state)
{
    (void)state;
    check_large(300 * 1000, cut_none);
    check_large(300 * 1000, cut_random);
}

static void test_a_record_of_16_kilobytes_may_come_one_byte_at_a_time(void **state)
{
    (void)state;
    check_large(16384, cut_bytes);
}

static void test_sending_nothing_makes_no_record(void **state)
{
    struct end client, server;
    (void)state;

    secured_pair(&client, &server, cut_none);
    assert_sends(&client, "");
    assert_int_equal(buf_len(tls_wire(client.tls)), 0);
    pair_deinit(&client, &server);
}

static void test_nothing_is_sent_before_the_connection_is_secured(void **state)
{
    struct end client, server;
    (void)state;

    pair_init(&client, &server);
    assert_int_equal(tls_send(client.tls, text_span("question")), ERR_CLOSED);
    assert_int_equal(tls_send(server.tls, text_span("answer")), ERR_CLOSED);
    assert_int_equal(client.err, ERR_OK);
    settle(&client, &server, cut_none);
    assert_int_equal(buf_len(&server.plain), 0);
    pair_deinit(&client, &server);
}

static void test_more_than_the_bound_of_the_wire_is_refused(void **state)
{
    struct end client, server;
    struct buf plain;
    (void)state;

    buf_init(&plain, 2 * TLS_WIRE_MAX);
    fill(&plain, TLS_WIRE_MAX);
    secured_pair(&client, &server, cut_none);
    assert_int_equal(tls_send(client.tls, buf_span(&plain)), ERR_LIMIT);
    assert_true(buf_len(tls_wire(client.tls)) <= TLS_WIRE_MAX);
    assert_int_equal(tls_send(client.tls, text_span("more")), ERR_CLOSED);
    buf_deinit(&plain);
    pair_deinit(&client, &server);
}

static void test_a_reader_that_stops_when_secured_gets_no_plain_text(void **state)
{
    struct end client, server;
    (void)state;

    pair_init(&client, &server);
    server.stop_on_secured = true;
    settle(&client, &server, cut_none);
    assert_sends(&client, "question");
    settle(&client, &server, cut_none);
    assert_int_equal(server.err, ERR_OK);
    assert_int_equal(buf_len(&server.plain), 0);
    pair_deinit(&client, &server);
}

static void test_a_reader_that_stops_gets_no_later_bytes(void **state)
{
    struct end client, server;
    (void)state;

    secured_pair(&client, &server, cut_none);
    server.stop_on_plain = true;
    assert_sends(&client, "one");
    settle(&client, &server, cut_none);
    assert_sends(&client, "two");
    settle(&client, &server, cut_none);
    assert_int_equal(server.err, ERR_OK);
    assert_plain(&server, "one");
    pair_deinit(&client, &server);
}

static void test_a_reader_that_stops_gets_no_end(void **state)
{
    struct end client, server;
    (void)state;

    secured_pair(&client, &server, cut_none);
    server.stop_on_plain = true;
    assert_sends(&client, "one");
    tls_end(client.tls);
    settle(&client, &server, cut_none);
    assert_int_equal(server.err, ERR_OK);
    assert_plain(&server, "one");
    pair_deinit(&client, &server);
}

static void test_a_reader_gets_the_records_of_a_read_together(void **state)
{
    struct end client, server;
    (void)state;

    secured_pair(&client, &server, cut_none);
    assert_sends(&client, "one");
    assert_sends(&client, "two");
    assert_sends(&client, "three");
    settle(&client, &server, cut_none);
    assert_plain(&server, "onetwothree");
    assert_int_equal(server.pieces, 1);
    pair_deinit(&client, &server);
}

/* Records of every size fill the reader's room in every way. */
static void test_more_records_than_the_room_holds_come_in_order(void **state)
{
    struct end client, server;
    struct buf plain;
    (void)state;

    buf_init(&plain, PLAIN_MAX);
    fill(&plain, 300 * 1000);
    secured_pair(&client, &server, cut_none);
    for (size_t at = 0, len = 1; at < buf_len(&plain); at += len, len = 1 + len * 7 % 5003) {
        len = MIN(len, buf_len(&plain) - at);
        assert_int_equal(tls_send(client.tls, span_of(plain.data + at, len)), ERR_OK);
    }
    settle(&client, &server, cut_none);
    assert_true(span_equal(buf_span(&server.plain), buf_span(&plain)));
    assert_in_range(server.pieces, 19, 40);
    buf_deinit(&plain);
    pair_deinit(&client, &server);
}

static bool answer_and_end(void *owner, struct span bytes)
{
    struct end *end = owner;

    assert_int_equal(tls_send(end->tls, bytes), ERR_OK);
    tls_end(end->tls);
    return true;
}

static void test_a_reader_may_send_and_end_inside_its_call(void **state)
{
    struct end client, server;
    const struct tls_reader reader = {.on_plain = answer_and_end};
    (void)state;

    secured_pair(&client, &server, cut_none);
    assert_sends(&client, "echo");
    struct buf *wire = tls_wire(client.tls);
    assert_int_equal(tls_receive(server.tls, buf_span(wire), &reader, &server), ERR_OK);
    buf_consume(wire, buf_len(wire));
    settle(&client, &server, cut_none);
    assert_plain(&client, "echo");
    assert_int_equal(client.err, ERR_PEER_CLOSED);
    pair_deinit(&client, &server);
}

static bool send_too_much(void *owner, struct span bytes)
{
    struct end *end = owner;
    static const uint8_t much[TLS_WIRE_MAX];
    (void)bytes;

    end->pieces++;
    assert_int_equal(tls_send(end->tls, span_of(much, sizeof(much))), ERR_LIMIT);
    return true;
}

static void test_a_reader_that_breaks_the_connection_gets_no_more(void **state)
{
    struct end client, server;
    const struct tls_reader reader = {.on_plain = send_too_much};
    (void)state;

    secured_pair(&client, &server, cut_none);
    assert_sends(&client, "one");
    assert_sends(&client, "two");
    struct buf *wire = tls_wire(client.tls);
    assert_int_equal(tls_receive(server.tls, buf_span(wire), &reader, &server), ERR_LIMIT);
    assert_int_equal(server.pieces, 1);
    assert_false(tls_is_secured(server.tls));
    pair_deinit(&client, &server);
}

/* ---------------------------------------------------------------- the end */

static void test_a_close_notify_ends_one_direction_only(void **state)
{
    struct end client, server;
    (void)state;

    secured_pair(&client, &server, cut_none);
    assert_sends(&client, "last question");
    tls_end(client.tls);
    settle(&client, &server, cut_none);
    assert_plain(&server, "last question");
    assert_int_equal(server.err, ERR_PEER_CLOSED);
    assert_true(tls_is_secured(server.tls));
    assert_sends(&server, "last answer");
    tls_end(server.tls);
    settle(&client, &server, cut_none);
    assert_plain(&client, "last answer");
    assert_int_equal(client.err, ERR_PEER_CLOSED);
    pair_deinit(&client, &server);
}

static void test_a_close_notify_is_sent_once_and_nothing_after_it(void **state)
{
    struct end client, server;
    (void)state;

    secured_pair(&client, &server, cut_none);
    tls_end(client.tls);
    size_t len = buf_len(tls_wire(client.tls));
    assert_true(len > 0);
    tls_end(client.tls);
    assert_int_equal(buf_len(tls_wire(client.tls)), len);
    assert_int_equal(tls_send(client.tls, text_span("more")), ERR_CLOSED);
    assert_int_equal(buf_len(tls_wire(client.tls)), len);
    pair_deinit(&client, &server);
}

static void test_bytes_after_a_close_notify_are_not_read(void **state)
{
    struct end client, server;
    (void)state;

    secured_pair(&client, &server, cut_none);
    tls_end(client.tls);
    settle(&client, &server, cut_none);
    server.err = ERR_OK;
    end_receive(&server, text_span("anything"));
    assert_int_equal(server.err, ERR_PEER_CLOSED);
    assert_int_equal(buf_len(&server.plain), 0);
    pair_deinit(&client, &server);
}

static void test_an_end_before_the_handshake_sends_nothing(void **state)
{
    struct end client, server;
    (void)state;

    pair_init(&client, &server);
    size_t len = buf_len(tls_wire(client.tls));
    tls_end(client.tls);
    tls_end(server.tls);
    assert_int_equal(buf_len(tls_wire(client.tls)), len);
    assert_int_equal(buf_len(tls_wire(server.tls)), 0);
    pair_deinit(&client, &server);
}

static void test_a_context_may_be_freed_before_its_connections(void **state)
{
    struct ends other;
    struct end client, server;
    (void)state;

    ends_init(&other, NULL);
    ends_client(&other, &client, NULL);
    end_init(&server, tls_server(other.server));
    tls_context_free(other.client);
    tls_context_free(other.server);
    other.client = other.server = NULL;
    end_begin(&client, text_span(""));
    settle(&client, &server, cut_none);
    assert_int_equal(client.err, ERR_OK);
    assert_int_equal(client.secured, 1);
    pair_deinit(&client, &server);
    tls_free(&client.tls); /* a second call gets NULL */
    ends_deinit(&other);
}

/* ---------------------------------------------------------------- peers without TLS, and damaged
 * records */

static void check_not_spoken(bool is_client, const void *bytes, size_t len)
{
    struct end end;

    if (is_client)
        ends_client(&here, &end, NULL);
    else
        end_init(&end, tls_server(here.server));
    end_begin(&end, text_span(""));
    end_receive(&end, span_of(bytes, len));
    assert_int_equal(end.err, ERR_TLS_NOT_SPOKEN);
    assert_string_not_equal(tls_detail(end.tls), "");
    assert_false(tls_is_secured(end.tls));
    assert_int_equal(tls_receive(end.tls, text_span("more"), &end_reader, &end),
                     ERR_TLS_NOT_SPOKEN);
    end_deinit(&end);
}

static void test_a_peer_that_does_not_speak_tls_is_reported(void **state)
{
    /* A DNS answer over plain TCP, an HTTP request and response, and SSH. */
    static const uint8_t dns[] = {0, 12, 0x12, 0x34, 0x81, 0x80, 0, 0, 0, 0, 0, 0, 0, 0};
    const char *texts[] = {"HTTP/1.1 400 Bad Request\r\n\r\n", "GET / HTTP/1.1\r\n\r\n",
                           "SSH-2.0-test\r\n", "CONNECT a:1 HTTP/1.1\r\n\r\n"};
    (void)state;

    for (int is_client = 0; is_client < 2; is_client++) {
        check_not_spoken(is_client, dns, sizeof(dns));
        for (size_t i = 0; i < ARRAY_LEN(texts); i++)
            check_not_spoken(is_client, texts[i], strlen(texts[i]));
    }
}

static void test_records_before_a_flipped_bit_reach_the_reader(void **state)
{
    struct end client, server;
    (void)state;

    secured_pair(&client, &server, cut_none);
    assert_sends(&client, "one");
    assert_sends(&client, "two");
    struct buf *wire = tls_wire(client.tls);
    wire->data[wire->end - 1] ^= 1;
    settle(&client, &server, cut_none);
    assert_plain(&server, "one");
    assert_int_equal(server.err, ERR_TLS_FAILED);
    assert_false(tls_is_secured(server.tls));
    pair_deinit(&client, &server);
}

static void test_a_flipped_bit_is_an_error_and_sends_an_alert(void **state)
{
    struct end client, server;
    (void)state;

    secured_pair(&client, &server, cut_none);
    assert_sends(&client, "question");
    struct buf *wire = tls_wire(client.tls);
    wire->data[wire->end - 1] ^= 1;
    settle(&client, &server, cut_none);
    assert_int_equal(server.err, ERR_TLS_FAILED);
    assert_int_equal(buf_len(&server.plain), 0);
    assert_int_equal(client.err, ERR_TLS_ALERT);
    assert_string_equal(tls_detail(client.tls), "sslv3 alert bad record mac");
    pair_deinit(&client, &server);
}

static void test_a_record_that_is_too_large_is_an_error(void **state)
{
    struct end client, server;
    static const uint8_t header[] = {23, 3, 3, 0xff, 0xff};
    (void)state;

    secured_pair(&client, &server, cut_none);
    end_receive(&server, span_of(header, sizeof(header)));
    assert_int_equal(server.err, ERR_TLS_FAILED);
    pair_deinit(&client, &server);
}

static void test_a_close_notify_in_the_handshake_is_a_close(void **state)
{
    static const uint8_t alert[] = {21, 3, 3, 0, 2, 1, 0};
    struct end client;
    (void)state;

    ends_client(&here, &client, NULL);
    end_begin(&client, text_span(""));
    end_receive(&client, span_of(alert, sizeof(alert)));
    assert_int_equal(client.err, ERR_TLS_CLOSED);
    end_deinit(&client);
}

static void test_an_alert_in_the_handshake_is_named(void **state)
{
    static const uint8_t alert[] = {21, 3, 3, 0, 2, 2, 40};
    struct end client;
    (void)state;

    ends_client(&here, &client, NULL);
    end_begin(&client, text_span(""));
    end_receive(&client, span_of(alert, sizeof(alert)));
    assert_int_equal(client.err, ERR_TLS_ALERT);
    assert_string_equal(tls_detail(client.tls), "sslv3 alert handshake failure");
    end_deinit(&client);
}

static void test_an_error_of_another_connection_has_no_effect(void **state)
{
    struct end client, server;
    (void)state;

    pair_init(&client, &server);
    ERR_raise(ERR_LIB_SSL, SSL_R_WRONG_VERSION_NUMBER);
    settle(&client, &server, cut_none);
    assert_int_equal(client.err, ERR_OK);
    ERR_raise(ERR_LIB_SSL, SSL_R_WRONG_VERSION_NUMBER);
    assert_sends(&client, "question");
    settle(&client, &server, cut_none);
    assert_plain(&server, "question");
    pair_deinit(&client, &server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_ends_exchange_plain_text_in_one_piece),
        cmocka_unit_test(test_two_ends_exchange_plain_text_byte_by_byte),
        cmocka_unit_test(test_two_ends_exchange_plain_text_in_random_pieces),
        cmocka_unit_test(test_facts_are_empty_before_the_handshake),
        cmocka_unit_test(test_300_kilobytes_pass_both_ways),
        cmocka_unit_test(test_a_record_of_16_kilobytes_may_come_one_byte_at_a_time),
        cmocka_unit_test(test_sending_nothing_makes_no_record),
        cmocka_unit_test(test_nothing_is_sent_before_the_connection_is_secured),
        cmocka_unit_test(test_more_than_the_bound_of_the_wire_is_refused),
        cmocka_unit_test(test_a_reader_that_stops_when_secured_gets_no_plain_text),
        cmocka_unit_test(test_a_reader_that_stops_gets_no_later_bytes),
        cmocka_unit_test(test_a_reader_that_stops_gets_no_end),
        cmocka_unit_test(test_a_reader_gets_the_records_of_a_read_together),
        cmocka_unit_test(test_more_records_than_the_room_holds_come_in_order),
        cmocka_unit_test(test_a_reader_may_send_and_end_inside_its_call),
        cmocka_unit_test(test_a_reader_that_breaks_the_connection_gets_no_more),
        cmocka_unit_test(test_a_close_notify_ends_one_direction_only),
        cmocka_unit_test(test_a_close_notify_is_sent_once_and_nothing_after_it),
        cmocka_unit_test(test_bytes_after_a_close_notify_are_not_read),
        cmocka_unit_test(test_an_end_before_the_handshake_sends_nothing),
        cmocka_unit_test(test_a_context_may_be_freed_before_its_connections),
        cmocka_unit_test(test_a_peer_that_does_not_speak_tls_is_reported),
        cmocka_unit_test(test_records_before_a_flipped_bit_reach_the_reader),
        cmocka_unit_test(test_a_flipped_bit_is_an_error_and_sends_an_alert),
        cmocka_unit_test(test_a_record_that_is_too_large_is_an_error),
        cmocka_unit_test(test_a_close_notify_in_the_handshake_is_a_close),
        cmocka_unit_test(test_an_alert_in_the_handshake_is_named),
        cmocka_unit_test(test_an_error_of_another_connection_has_no_effect),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
