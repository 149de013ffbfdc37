/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Servers of the fake network that speak TLS, against links of src/net. They speak it correctly,
 * and show each fault that a test requests. */

#include "tls_world.h"

#include <openssl/ssl.h>

static void dial_and_ask(struct world *world)
{
    dial(world);
    ask(world);
    settle(world);
}

/* Asserts that no part of the question, in any case of letters, left in plain text. */
static void assert_nothing_leaked(const struct world *world, size_t number)
{
    static const char name[] = "secret-name";
    assert_false(fake_conn_tls_raw_has(conn(world, number), span_of(name, strlen(name))));
    assert_false(facts(world, number)->plain_first);
}

/* ---------------------------------------------------------------- correct servers */

static void test_a_query_is_answered_over_tls(void **state)
{
    struct world *world = *state;

    speak(world, (struct fake_tls_options){0});
    dial_and_ask(world);
    assert_string_equal(world->words, "open msg");
    assert_true(facts(world, 0)->finished);
    assert_false(facts(world, 0)->resumed);
    assert_int_equal(facts(world, 0)->version, FAKE_TLS_1_3);
    assert_string_equal(facts(world, 0)->offered, "dot");
    assert_string_equal(facts(world, 0)->alpn, "dot");
    assert_int_equal(facts(world, 0)->plain_in, world->query_len + 2);
    assert_int_equal(facts(world, 0)->tickets, 2);
    assert_string_equal(facts(world, 0)->error, "");
    assert_nothing_leaked(world, 0);
}

static void test_the_peers_function_gets_the_query(void **state)
{
    struct world *world = *state;

    speak(world, (struct fake_tls_options){0});
    dial_and_ask(world);
    ask(world);
    settle(world);
    assert_int_equal(world->last_ask.transport, FAKE_TLS);
    assert_int_equal(world->last_ask.index, 1);
    assert_int_equal(world->last_ask.count, 1);
    assert_false(world->last_ask.early);
    assert_ptr_equal(world->last_ask.stream, conn(world, 0));
    assert_int_equal(fake_peer_tls_queries(world->peer), 2);
    assert_int_equal(fake_peer_tcp_queries(world->peer), 0);
    assert_int_equal(fake_conn_messages(conn(world, 0)), 2);
}

static void test_a_server_notes_the_name_that_the_client_expects(void **state)
{
    struct world *world = *state;

    speak(world, (struct fake_tls_options){0});
    dial_and_ask(world);
    assert_string_equal(facts(world, 0)->sni, "");
    hang_up(world);
    world->options.auth_name = (char *)"dns.test";
    dial_and_ask(world);
    assert_string_equal(world->words, "open msg");
    assert_string_equal(facts(world, 1)->sni, "dns.test");
}

static void test_a_server_may_speak_one_version_only(void **state)
{
    struct world *world = *state;

    speak(world, (struct fake_tls_options){.only = FAKE_TLS_1_2});
    dial_and_ask(world);
    assert_string_equal(world->words, "open msg");
    assert_int_equal(facts(world, 0)->version, FAKE_TLS_1_2);
    assert_nothing_leaked(world, 0);
}

static void test_a_server_of_an_old_version_is_refused(void **state)
{
    struct world *world = *state;

    speak(world, (struct fake_tls_options){.only = FAKE_TLS_1_1});
    dial_and_ask(world);
    assert_non_null(strstr(world->words, "failed:"));
    assert_false(facts(world, 0)->finished);
    assert_nothing_leaked(world, 0);
}

static void test_a_handshake_takes_its_round_trips(void **state)
{
    struct world *world = *state;
    uint64_t begin = loop_now(world->loop);

    fake_server_set_latency(fake_peer_server(world->peer), 10 * MS);
    speak(world, (struct fake_tls_options){0});
    dial_and_ask(world);
    /* one round trip each for TCP, TLS 1.3 and the query */
    assert_int_equal(world->message_at - begin, 60 * MS);
}

static void test_a_server_may_think_in_the_handshake(void **state)
{
    struct world *world = *state;
    uint64_t begin = loop_now(world->loop);

    fake_server_set_latency(fake_peer_server(world->peer), 10 * MS);
    speak(world, (struct fake_tls_options){.only = FAKE_TLS_1_3, .manner = {.delay_us = 5 * MS}});
    dial_and_ask(world);
    assert_int_equal(world->message_at - begin, 65 * MS);
}

static void test_a_group_that_was_not_guessed_costs_a_round_trip(void **state)
{
    struct world *world = *state;
    uint64_t begin = loop_now(world->loop);

    fake_server_set_latency(fake_peer_server(world->peer), 10 * MS);
    speak(world, (struct fake_tls_options){.groups = "P-384"});
    dial_and_ask(world);
    assert_string_equal(world->words, "open msg");
    assert_int_equal(world->message_at - begin, 80 * MS);
}

static void test_tls_can_be_switched_off_again(void **state)
{
    struct world *world = *state;
    struct link_options how = link_how(NULL);

    speak(world, (struct fake_tls_options){0});
    fake_peer_speak_tls(world->peer, NULL);
    assert_int_equal(link_dial(&world->link, world->loop, &world->addr, &how, &link_events, world),
                     ERR_OK);
    ask(world);
    settle(world);
    assert_string_equal(world->words, "open msg");
    assert_false(fake_conn_speaks_tls(conn(world, 0)));
    assert_int_equal(world->last_ask.transport, FAKE_TCP);
}

static void test_plain_text_before_a_handshake_is_noticed(void **state)
{
    struct world *world = *state;
    struct link_options how = link_how(NULL);
    static const char name[] = "secret-name";

    speak(world, (struct fake_tls_options){0});
    assert_int_equal(link_dial(&world->link, world->loop, &world->addr, &how, &link_events, world),
                     ERR_OK);
    ask(world);
    settle(world);
    assert_true(facts(world, 0)->plain_first);
    assert_true(fake_conn_tls_raw_has(conn(world, 0), span_of(name, strlen(name))));
    assert_int_equal(fake_conn_tls_raw(conn(world, 0)).len, world->query_len + 2);
    assert_int_equal(fake_conn_messages(conn(world, 0)), 0);
}

static void test_a_server_without_a_certificate_shows_an_untrusted_one(void **state)
{
    struct world *world = *state;

    fake_peer_speak_tls(world->peer, &(struct fake_tls_options){0});
    dial_and_ask(world);
    assert_non_null(strstr(world->words, err_str(ERR_TLS_PIN)));
    assert_int_equal(facts(world, 0)->plain_in, 0);
    assert_int_not_equal(facts(world, 0)->got_alert, -1);
    assert_nothing_leaked(world, 0);
}

/* ---------------------------------------------------------------- sessions */

static void dial_twice(struct world *world, struct fake_tls_options second)
{
    dial_and_ask(world);
    hang_up(world);
    speak(world, second);
    dial_and_ask(world);
    assert_string_equal(world->words, "open msg");
}

static void test_a_second_dial_is_resumed(void **state)
{
    struct world *world = *state;

    speak(world, (struct fake_tls_options){0});
    dial_twice(world, (struct fake_tls_options){0});
    assert_false(facts(world, 0)->offered_ticket);
    assert_true(facts(world, 1)->offered_ticket);
    assert_true(facts(world, 1)->resumed);
    assert_true(tls_facts(link_tls(world->link)).resumed);
}

static void test_a_second_dial_is_resumed_in_tls_1_2(void **state)
{
    struct world *world = *state;

    speak(world, (struct fake_tls_options){.only = FAKE_TLS_1_2});
    dial_twice(world, (struct fake_tls_options){.only = FAKE_TLS_1_2});
    assert_int_equal(facts(world, 0)->tickets, 1);
    assert_true(facts(world, 1)->resumed);
}

static void test_a_server_may_forget_its_tickets(void **state)
{
    struct world *world = *state;

    speak(world, (struct fake_tls_options){0});
    dial_twice(world, (struct fake_tls_options){.forget_tickets = true});
    assert_true(facts(world, 1)->offered_ticket);
    assert_false(facts(world, 1)->resumed);
}

static void test_a_server_gives_as_many_tickets_as_configured(void **state)
{
    static const struct fake_tls_options none[] = {
        {.tickets = FAKE_TLS_NO_TICKETS, .only = FAKE_TLS_1_2}, {.tickets = FAKE_TLS_NO_TICKETS}};
    struct world *world = *state;

    for (size_t i = 0; i < 2; i++) {
        speak(world, none[i]);
        dial_and_ask(world);
        assert_int_equal(facts(world, i)->tickets, 0);
        hang_up(world);
    }
    speak(world, (struct fake_tls_options){.tickets = 5});
    dial_and_ask(world);
    assert_false(facts(world, 2)->offered_ticket);
    assert_int_equal(facts(world, 2)->tickets, 5);
    fake_conn_tls_give_ticket(conn(world, 2));
    settle(world);
    assert_int_equal(facts(world, 2)->tickets, 6);
    assert_int_equal(
        tls_rack_count(tls_tickets_rack(world->tickets, span_of(world->cert->pin, 32))), 6);
}

static void test_tickets_say_their_lifetime(void **state)
{
    struct world *world = *state;
    struct tls_rack *rack = tls_tickets_rack(world->tickets, span_of(world->cert->pin, 32));
    SSL_SESSION *session;

    speak(world, (struct fake_tls_options){.ticket_lifetime_s = 1234});
    dial_and_ask(world);
    session = tls_rack_take(rack, time(NULL));
    assert_non_null(session);
    assert_int_equal(SSL_SESSION_get_ticket_lifetime_hint(session), 1234);
    SSL_SESSION_free(session);
    assert_null(tls_rack_take(rack, time(NULL) + 1300));
}

/* ---------------------------------------------------------------- early data */

static void prepare_early(struct world *world)
{
    world->options.early_data = true;
    speak(world, (struct fake_tls_options){.early = FAKE_EARLY_ACCEPT});
    dial_and_ask(world);
    hang_up(world);
    world->ask_on_connected = true;
}

static void test_early_data_is_taken(void **state)
{
    struct world *world = *state;
    uint64_t begin;

    prepare_early(world);
    fake_server_set_latency(fake_peer_server(world->peer), 10 * MS);
    begin = loop_now(world->loop);
    dial(world);
    settle(world);
    assert_true(facts(world, 1)->early_accepted);
    assert_int_equal(facts(world, 1)->early_bytes, world->query_len + 2);
    assert_int_equal(facts(world, 1)->plain_in, 0);
    assert_true(world->last_ask.early);
    assert_int_equal(fake_peer_queries(world->peer), 2);
    assert_int_equal(world->message_at - begin, 40 * MS); /* a round trip for TCP, and one more */
    assert_nothing_leaked(world, 1);
}

static void test_early_data_may_be_rejected(void **state)
{
    struct world *world = *state;

    prepare_early(world);
    speak(world, (struct fake_tls_options){.early = FAKE_EARLY_REJECT});
    dial(world);
    settle(world);
    assert_string_equal(world->words, "open msg");
    assert_true(facts(world, 1)->offered_early);
    assert_true(facts(world, 1)->resumed);
    assert_false(facts(world, 1)->early_accepted);
    assert_int_equal(facts(world, 1)->early_bytes, 0);
    /* the query came a second time */
    assert_int_equal(facts(world, 1)->plain_in, world->query_len + 2);
    assert_false(world->last_ask.early);
}

static void test_tickets_without_early_data_get_none(void **state)
{
    struct world *world = *state;

    prepare_early(world);
    speak(world, (struct fake_tls_options){.forget_tickets = true});
    dial(world);
    settle(world); /* the ticket is unknown, so the early data must come again */
    hang_up(world);
    while (facts(world, fake_server_dials(fake_peer_server(world->peer)) - 1)->offered_early) {
        dial(world);
        ask(world);
        settle(world);
        hang_up(world);
    }
    assert_in_range(fake_server_dials(fake_peer_server(world->peer)), 3, 5);
}

/* ---------------------------------------------------------------- ALPN */

static void test_a_server_may_know_no_alpn(void **state)
{
    struct world *world = *state;

    speak(world, (struct fake_tls_options){.alpn = FAKE_ALPN_NONE});
    dial_and_ask(world);
    assert_string_equal(world->words, "open msg");
    assert_string_equal(facts(world, 0)->alpn, "");
}

static void test_a_server_may_choose_another_protocol(void **state)
{
    struct world *world = *state;

    speak(world, (struct fake_tls_options){.alpn = FAKE_ALPN_OTHER});
    dial_and_ask(world);
    assert_non_null(strstr(world->words, "failed:"));
    assert_int_equal(facts(world, 0)->plain_in, 0);
    assert_nothing_leaked(world, 0);
}

static void test_a_server_may_refuse_by_alpn(void **state)
{
    struct world *world = *state;

    speak(world, (struct fake_tls_options){.alpn = FAKE_ALPN_REFUSE});
    dial_and_ask(world);
    assert_non_null(strstr(world->words, "failed:"));
    assert_int_equal(facts(world, 0)->sent_alert, SSL_AD_NO_APPLICATION_PROTOCOL);
    assert_int_equal(facts(world, 0)->plain_in, 0);
}

/* ---------------------------------------------------------------- certificates of clients */

static void test_a_server_may_ask_for_a_certificate(void **state)
{
    struct world *world = *state;

    speak(world, (struct fake_tls_options){.ask_certificate = true});
    dial_and_ask(world);
    assert_string_equal(world->words, "open msg");
    assert_false(facts(world, 0)->has_certificate);
}

/* Presents our certificate from a file, as the configuration does. */
static void show_certificate(struct world *world)
{
    char why[TLS_WHY_MAX];

    world->options.certificate = world->options.key = (char *)tls_certs_write(world->cert);
    tls_context_free(world->dialing);
    assert_int_equal(tls_context_client(&world->dialing, &world->options, why), ERR_OK);
}

static void test_a_server_sees_the_certificate_it_asked_for(void **state)
{
    struct world *world = *state;

    show_certificate(world);
    for (size_t i = 0; i < 2; i++) {
        speak(world, (struct fake_tls_options){.need_certificate = true,
                                               .forget_tickets = true,
                                               .only = i ? FAKE_TLS_1_2 : FAKE_TLS_1_3});
        dial_and_ask(world);
        assert_string_equal(world->words, "open msg");
        assert_true(facts(world, i)->has_certificate);
        assert_memory_equal(facts(world, i)->pin, world->cert->pin, 32);
        hang_up(world);
    }
}

static void test_a_server_may_insist_on_a_certificate(void **state)
{
    struct world *world = *state;

    for (size_t i = 0; i < 2; i++) {
        speak(world, (struct fake_tls_options){.need_certificate = true,
                                               .only = i ? FAKE_TLS_1_2 : FAKE_TLS_1_3});
        dial_and_ask(world);
        assert_non_null(strstr(world->words, "failed:"));
        assert_int_not_equal(facts(world, i)->sent_alert, -1);
        assert_int_equal(facts(world, i)->plain_in, 0);
        hang_up(world);
    }
}

/* ---------------------------------------------------------------- faulty servers */

static const char *outcome(struct world *world, struct fake_tls_manner manner)
{
    size_t number = fake_server_dials(fake_peer_server(world->peer));

    hang_up(world);
    speak(world, (struct fake_tls_options){.manner = manner});
    dial_and_ask(world);
    assert_int_equal(facts(world, number)->plain_in, 0);
    assert_int_equal(fake_peer_queries(world->peer), 0);
    assert_nothing_leaked(world, number);
    return world->words;
}

static void test_a_server_may_stop_at_any_byte(void **state)
{
    struct world *world = *state;

    for (size_t bytes = 0; bytes < 600; bytes += 29)
        assert_string_equal(outcome(world, (struct fake_tls_manner){.trouble = FAKE_TLS_STALL,
                                                                    .after_bytes = bytes}),
                            "");
}

static void test_a_server_may_stop_after_a_flight(void **state)
{
    struct world *world = *state;

    speak(world,
          (struct fake_tls_options){.only = FAKE_TLS_1_2,
                                    .manner = {.trouble = FAKE_TLS_STALL, .after_flights = 1}});
    dial_and_ask(world);
    assert_string_equal(world->words, "");
    assert_true(fake_conn_reads(conn(world, 0)) > 0);
    assert_false(facts(world, 0)->finished);
}

static void test_a_server_may_end_tcp_in_the_handshake(void **state)
{
    struct world *world = *state;

    for (size_t bytes = 0; bytes < 300; bytes += 50) {
        assert_non_null(strstr(
            outcome(world, (struct fake_tls_manner){.trouble = FAKE_TLS_FIN, .after_bytes = bytes}),
            err_str(ERR_TLS_CLOSED)));
        assert_non_null(strstr(
            outcome(world, (struct fake_tls_manner){.trouble = FAKE_TLS_RST, .after_bytes = bytes}),
            "failed:"));
    }
}

static void test_a_server_may_answer_without_tls(void **state)
{
    struct world *world = *state;

    assert_non_null(strstr(outcome(world, (struct fake_tls_manner){.trouble = FAKE_TLS_GARBAGE}),
                           err_str(ERR_TLS_NOT_SPOKEN)));
    assert_non_null(strstr(outcome(world, (struct fake_tls_manner){.trouble = FAKE_TLS_PLAIN}),
                           err_str(ERR_TLS_NOT_SPOKEN)));
    assert_non_null(strstr(outcome(world, (struct fake_tls_manner){.trouble = FAKE_TLS_REFUSE}),
                           err_str(ERR_TLS_ALERT)));
}

static void test_a_server_may_send_a_byte_at_a_time(void **state)
{
    struct world *world = *state;

    world->wish.len = 16384; /* more than a record holds */
    speak(world, (struct fake_tls_options){.manner = {.piece_bytes = 1}});
    dial_and_ask(world);
    assert_string_equal(world->words, "open msg");
    assert_true(fake_conn_reads(conn(world, 0)) > 17000);
}

static void test_an_answer_may_come_in_pieces(void **state)
{
    struct world *world = *state;
    uint64_t begin;

    speak(world, (struct fake_tls_options){0});
    dial_and_ask(world);
    world->wish = (struct fake_answer){.piece_bytes = 1, .gap_us = 1 * MS};
    begin = loop_now(world->loop);
    ask(world);
    settle(world);
    assert_string_equal(world->words, "open msg msg");
    assert_true(world->message_at - begin > 60 * MS);
}

static void test_an_answer_may_come_in_many_records(void **state)
{
    struct world *world = *state;

    world->wish.len = 5000;
    speak(world, (struct fake_tls_options){.manner = {.record_bytes = 1}});
    dial_and_ask(world);
    assert_string_equal(world->words, "open msg");
    assert_int_equal(facts(world, 0)->plain_out, 5002);
}

/* ---------------------------------------------------------------- after the handshake */

static void open_with(struct world *world, enum fake_tls_version only, enum fake_tls_ending ending)
{
    speak(world, (struct fake_tls_options){.only = only, .manner = {.ending = ending}});
    dial_and_ask(world);
    assert_string_equal(world->words, "open msg");
}

static void test_our_end_sends_close_notify(void **state)
{
    struct world *world = *state;

    open_with(world, FAKE_TLS_1_3, FAKE_TLS_END_POLITE);
    hang_up(world);
    assert_true(facts(world, 0)->got_close_notify);
    assert_true(fake_conn_was_closed(conn(world, 0)));
}

static void test_a_server_closes_politely(void **state)
{
    struct world *world = *state;

    open_with(world, FAKE_TLS_1_3, FAKE_TLS_END_POLITE);
    world->wish.how = FAKE_CLOSE;
    ask(world);
    settle(world);
    assert_string_equal(world->words, "open msg msg fin");
    assert_true(facts(world, 0)->sent_close_notify);
}

static void test_a_server_closes_without_close_notify(void **state)
{
    struct world *world = *state;

    open_with(world, FAKE_TLS_1_3, FAKE_TLS_END_ABRUPT);
    fake_conn_close(conn(world, 0));
    settle(world);
    assert_string_equal(world->words, "open msg fin");
    assert_false(facts(world, 0)->sent_close_notify);
}

static void test_a_server_closes_tls_and_keeps_tcp(void **state)
{
    struct world *world = *state;

    open_with(world, FAKE_TLS_1_3, FAKE_TLS_END_NOTIFY);
    fake_conn_close(conn(world, 0));
    settle(world);
    assert_string_equal(world->words, "open msg fin");
    assert_true(facts(world, 0)->sent_close_notify);
    assert_int_equal(fake_conn_state(conn(world, 0)), FAKE_CONN_OPEN);
}

static void test_a_server_resets(void **state)
{
    struct world *world = *state;

    open_with(world, FAKE_TLS_1_3, FAKE_TLS_END_POLITE);
    world->wish.how = FAKE_RESET;
    ask(world);
    settle(world);
    assert_non_null(strstr(world->words, err_str(ERR_RESET)));
}

static void test_a_server_may_send_a_late_alert(void **state)
{
    struct world *world = *state;

    for (size_t i = 0; i < 2; i++) {
        open_with(world, i ? FAKE_TLS_1_2 : FAKE_TLS_1_3, FAKE_TLS_END_POLITE);
        fake_conn_tls_alert(conn(world, i));
        settle(world);
        assert_non_null(strstr(world->words, err_str(ERR_TLS_ALERT)));
        assert_int_equal(facts(world, i)->sent_alert, SSL_AD_BAD_RECORD_MAC);
        hang_up(world);
    }
}

static void test_a_server_may_want_to_renegotiate(void **state)
{
    struct world *world = *state;

    open_with(world, FAKE_TLS_1_2, FAKE_TLS_END_POLITE);
    fake_conn_tls_renegotiate(conn(world, 0));
    settle(world);
    assert_int_equal(facts(world, 0)->got_alert, SSL_AD_NO_RENEGOTIATION);
}

static void test_new_keys_change_nothing(void **state)
{
    struct world *world = *state;

    open_with(world, FAKE_TLS_1_3, FAKE_TLS_END_POLITE);
    fake_conn_tls_update_keys(conn(world, 0));
    settle(world);
    ask(world);
    settle(world);
    assert_string_equal(world->words, "open msg msg");
}

static void test_garbage_between_records_ends_the_connection(void **state)
{
    struct world *world = *state;

    open_with(world, FAKE_TLS_1_3, FAKE_TLS_END_POLITE);
    fake_conn_tls_send_raw(conn(world, 0), span_of("no record at all", 16));
    settle(world);
    assert_non_null(strstr(world->words, "failed:"));
    assert_int_not_equal(facts(world, 0)->got_alert, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_query_is_answered_over_tls),
        TEST(test_the_peers_function_gets_the_query),
        TEST(test_a_server_notes_the_name_that_the_client_expects),
        TEST(test_a_server_may_speak_one_version_only),
        TEST(test_a_server_of_an_old_version_is_refused),
        TEST(test_a_handshake_takes_its_round_trips),
        TEST(test_a_server_may_think_in_the_handshake),
        TEST(test_a_group_that_was_not_guessed_costs_a_round_trip),
        TEST(test_tls_can_be_switched_off_again),
        TEST(test_plain_text_before_a_handshake_is_noticed),
        TEST(test_a_server_without_a_certificate_shows_an_untrusted_one),
        TEST(test_a_second_dial_is_resumed),
        TEST(test_a_second_dial_is_resumed_in_tls_1_2),
        TEST(test_a_server_may_forget_its_tickets),
        TEST(test_a_server_gives_as_many_tickets_as_configured),
        TEST(test_tickets_say_their_lifetime),
        TEST(test_early_data_is_taken),
        TEST(test_early_data_may_be_rejected),
        TEST(test_tickets_without_early_data_get_none),
        TEST(test_a_server_may_know_no_alpn),
        TEST(test_a_server_may_choose_another_protocol),
        TEST(test_a_server_may_refuse_by_alpn),
        TEST(test_a_server_may_ask_for_a_certificate),
        TEST(test_a_server_sees_the_certificate_it_asked_for),
        TEST(test_a_server_may_insist_on_a_certificate),
        TEST(test_a_server_may_stop_at_any_byte),
        TEST(test_a_server_may_stop_after_a_flight),
        TEST(test_a_server_may_end_tcp_in_the_handshake),
        TEST(test_a_server_may_answer_without_tls),
        TEST(test_a_server_may_send_a_byte_at_a_time),
        TEST(test_an_answer_may_come_in_pieces),
        TEST(test_an_answer_may_come_in_many_records),
        TEST(test_our_end_sends_close_notify),
        TEST(test_a_server_closes_politely),
        TEST(test_a_server_closes_without_close_notify),
        TEST(test_a_server_closes_tls_and_keeps_tcp),
        TEST(test_a_server_resets),
        TEST(test_a_server_may_send_a_late_alert),
        TEST(test_a_server_may_want_to_renegotiate),
        TEST(test_new_keys_change_nothing),
        TEST(test_garbage_between_records_ends_the_connection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
