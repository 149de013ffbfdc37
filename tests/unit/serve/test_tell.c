/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The events that taps see: a whole server in virtual time. */
#include "base/tap.h"
#include "dns/edns.h"
#include "dns/header.h"
#include "serve/notify_taker.h"
#include "unit/serve/harness.h"

enum { SEEN_MAX = 64 };

/* The events of a tap, with copies of their bytes. */
struct seen {
    struct tap_reply reply;
    struct addr asker, asked;
    struct tap_source source;
    uint8_t bytes[4096];
    uint8_t name[NAME_WIRE_MAX];
    char ede_text[256];
};

static struct seen queries[SEEN_MAX], replies[SEEN_MAX];
static unsigned query_count, reply_count;

static void keep(struct seen *seen, const struct tap_message *message)
{
    seen->reply.message = *message;
    seen->asker = *message->asker;
    seen->asked = *message->asked;
    if (message->bytes.len > 0)
        memcpy(seen->bytes, message->bytes.data, message->bytes.len);
}

static void on_query(struct tap *tap, const struct tap_message *message)
{
    (void)tap;
    assert_true(query_count < SEEN_MAX);
    keep(&queries[query_count++], message);
}

static void on_reply(struct tap *tap, const struct tap_reply *reply)
{
    (void)tap;
    assert_true(reply_count < SEEN_MAX);
    struct seen *seen = &replies[reply_count++];
    seen->reply = *reply;
    keep(seen, &reply->message);
    if (reply->source)
        seen->source = *reply->source;
    assert_true(strlen(reply->ede_text) < sizeof(seen->ede_text));
    strcpy(seen->ede_text, reply->ede_text);
    if (reply->name.len > 0)
        memcpy(seen->name, reply->name.data, reply->name.len);
}

static struct tap second = {.on_reply = on_reply};
static struct tap first = {.on_query = on_query};

static int setup(void **state)
{
    query_count = reply_count = 0;
    memset(replies, 0, sizeof(replies));
    int failed = harness_setup(state);
    first.next = &second;
    server_set_taps(server, &first);
    return failed;
}

static int setup_limited(void **state)
{
    (void)state;
    query_count = reply_count = 0;
    harness_begin();
    options.rate_limit_qps = 1;
    options.rate_limit_slip = 0;
    harness_open();
    server_set_taps(server, &second);
    return 0;
}

#define TELL_TEST(name) cmocka_unit_test_setup_teardown(name, setup, harness_teardown)

static const struct tap_reply *only_reply(enum tap_origin origin)
{
    assert_int_equal(reply_count, 1);
    assert_int_equal(replies[0].reply.origin, origin);
    return &replies[0].reply;
}

static void test_a_hit_is_shown_with_both_ends_and_all_bytes(void **state)
{
    (void)state;
    udp_ask("hit.Example", 7);
    assert_true(udp_got());
    const struct tap_reply *reply = only_reply(TAP_FROM_CACHE);
    assert_true(addr_equal(&replies[0].asker, &me));
    assert_true(addr_equal(&replies[0].asked, &here));
    assert_int_equal(reply->message.transport, TRANSPORT_UDP);
    assert_int_equal(reply->message.asked_at, reply->message.answered_at);
    assert_int_equal(reply->message.bytes.len, got.bytes.len);
    assert_memory_equal(replies[0].bytes, got_bytes, got.bytes.len);
    assert_memory_equal(replies[0].name, "\3hit\7Example", 13);
    assert_int_equal(reply->type, RRTYPE_A);
    assert_int_equal(reply->flags, HEADER_RD);
    assert_int_equal(reply->rcode, RCODE_NOERROR);
    assert_int_equal(query_count, 1);
    assert_true(addr_equal(&queries[0].asker, &me));
    assert_int_equal(queries[0].reply.message.bytes.len, sent_len);
    assert_memory_equal(queries[0].bytes, sent, sent_len);
}

static void test_an_answer_of_an_upstream_names_it_and_the_time_it_took(void **state)
{
    (void)state;
    struct tap_source source = {fake_addr("192.0.2.53@853"), TRANSPORT_TLS};
    udp_ask("miss.example", 7);
    assert_int_equal(query_count, 1);
    assert_int_equal(reply_count, 0);
    fake_loop_advance(loop, 12345);
    stub.source = &source;
    assert_true(stub_answer(false));
    assert_true(udp_got());
    const struct tap_reply *reply = only_reply(TAP_FROM_UPSTREAM);
    assert_true(addr_equal(&replies[0].source.addr, &source.addr));
    assert_int_equal(replies[0].source.transport, TRANSPORT_TLS);
    assert_int_equal(reply->message.answered_at - reply->message.asked_at, 12345);
}

/* A tap for failures costs other answers almost nothing. */
static void test_a_tap_for_failures_sees_only_them(void **state)
{
    struct tap failures = {.on_reply = on_reply, .wants_only_failures = true};
    (void)state;
    server_set_taps(server, &failures);
    udp_ask("hit.example", 7);
    assert_true(udp_got());
    assert_int_equal(reply_count, 0);
    udp_ask("miss.example", 7);
    stub.flags = RCODE_SERVFAIL;
    stub.kind = ANSWER_FAILURE;
    assert_true(stub_answer(false));
    assert_int_equal(only_reply(TAP_FROM_NO_ANSWER)->rcode, RCODE_SERVFAIL);
    assert_int_equal(query_count, 0);

    failures.next = &second; /* the other tap wants all replies */
    server_set_taps(server, &failures);
    udp_ask("hit.example", 7);
    assert_int_equal(reply_count, 3);
    server_set_taps(server, NULL);
}

static void test_an_answer_without_an_upstream_names_none(void **state)
{
    (void)state;
    udp_ask("miss.example", 7);
    stub.flags = RCODE_SERVFAIL;
    stub.kind = ANSWER_FAILURE;
    assert_true(stub_answer(false));
    const struct tap_reply *reply = only_reply(TAP_FROM_NO_ANSWER);
    assert_null(reply->source);
    assert_int_equal(reply->rcode, RCODE_SERVFAIL);
}

static void expect_errors(const struct seen *seen, uint8_t count, uint16_t code, uint16_t next,
                          const char *text)
{
    assert_int_equal(seen->reply.ede_count, count);
    assert_int_equal(seen->reply.ede[0], code);
    assert_int_equal(seen->reply.ede[1], next);
    assert_string_equal(seen->ede_text, text);
}

static void test_the_cause_of_a_failure_is_shown_with_and_without_edns(void **state)
{
    struct canned_query query = {"miss.example", 7, RRTYPE_A, HEADER_RD, 0, false, false, false};
    (void)state;
    stub.flags = RCODE_SERVFAIL;
    stub.kind = ANSWER_FAILURE;
    stub.ede_count = 2;
    stub.ede[0] = EDE_NO_REACHABLE_AUTHORITY;
    stub.ede[1] = EDE_NETWORK_ERROR;
    stub.text = "no server of the zone example. answers: timeout";
    udp_ask("miss.example", 7);
    assert_true(stub_answer(false));
    expect_errors(&replies[0], 2, 22, 23, stub.text);
    sent_len = canned_query(sent, &query);
    udp_send_from(&me);
    assert_true(stub_answer(false));
    expect_errors(&replies[1], 2, 22, 23, stub.text);
}

/* The reply is truncated, and its error has no text. */
static void test_the_cause_is_shown_where_the_reply_has_no_room_for_it(void **state)
{
    (void)state;
    stub.ede_count = 1;
    stub.ede[0] = EDE_STALE_ANSWER;
    stub.records = 200;
    stub.text = "a text";
    udp_ask("hit.example", 7);
    assert_true(udp_got());
    assert_true(header_flags(got_bytes) & HEADER_TC);
    expect_errors(&replies[0], 1, EDE_STALE_ANSWER, 0, stub.text);
}

static void test_an_answer_without_extended_errors_shows_none(void **state)
{
    (void)state;
    udp_ask("hit.example", 7);
    expect_errors(&replies[0], 0, 0, 0, "");
}

static void test_stale_and_local_answers_are_distinguished(void **state)
{
    (void)state;
    stub.stale_s = 5;
    udp_ask("hit.example", 1);
    assert_int_equal(replies[0].reply.origin, TAP_FROM_STALE);
    udp_ask("slow.example", 1);
    assert_true(stub_answer(false));
    assert_int_equal(replies[1].reply.origin, TAP_FROM_STALE);
    stub.stale_s = 0;
    stub.is_local = true;
    udp_ask("hit.example", 1);
    assert_int_equal(replies[2].reply.origin, TAP_FROM_LOCAL);
}

static void test_refusals_are_shown(void **state)
{
    struct addr refused_client = fake_addr("198.51.100.1@99");
    (void)state;
    make_query("hit.example", 1);
    udp_send_from(&refused_client);
    assert_int_equal(only_reply(TAP_FROM_REFUSAL)->rcode, RCODE_REFUSED);
    put_u16(sent + 4, 2); /* two questions */
    udp_send_from(&me);
    assert_int_equal(reply_count, 2);
    assert_int_equal(replies[1].reply.rcode, RCODE_FORMERR);
    assert_int_equal(replies[1].reply.name.len, 0);
}

/* Accepts every NOTIFY, or refuses it. The reply is the query with QR and the response code. */
static size_t take_notify(void *owner, struct span message, const struct addr *client, uint8_t *out,
                          size_t max)
{
    const uint16_t *rcode = owner;
    (void)client;
    assert_true(message.len <= max);
    memcpy(out, message.data, message.len);
    header_set_flags(out, (uint16_t)(HEADER_QR | OPCODE_NOTIFY << 11 | *rcode));
    return message.len;
}

static void test_a_notify_is_shown_as_accepted_or_refused(void **state)
{
    (void)state;
    struct addr refused_client = fake_addr("198.51.100.1@99");
    uint16_t rcode = RCODE_NOERROR;
    struct notify_taker taker = {take_notify, &rcode};
    server_set_notify_taker(server, &taker);
    make_query("hit.example", 1);
    header_set_flags(sent, OPCODE_NOTIFY << 11);
    udp_send_from(&refused_client);
    assert_int_equal(only_reply(TAP_FROM_LOCAL)->rcode, RCODE_NOERROR);
    assert_int_equal(replies[0].reply.message.bytes.len, sent_len);
    rcode = RCODE_NOTAUTH;
    udp_send_from(&refused_client);
    assert_int_equal(reply_count, 2);
    assert_int_equal(replies[1].reply.origin, TAP_FROM_REFUSAL);
    assert_int_equal(replies[1].reply.rcode, RCODE_NOTAUTH);
    assert_memory_equal(replies[1].name, "\3hit\7example", 13);
}

static void test_queries_stopped_by_a_limit_are_shown(void **state)
{
    (void)state;
    stub.result = RESOLVER_FULL;
    udp_ask("miss.example", 1);
    assert_int_equal(only_reply(TAP_FROM_LIMIT)->rcode, RCODE_SERVFAIL);
    expect_errors(&replies[0], 1, EDE_OTHER, 0, "too many queries wait");
}

static void test_a_dropped_query_is_shown_without_bytes(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++)
        udp_ask("hit.example", 1);
    assert_int_equal(reply_count, 3);
    assert_int_equal(replies[0].reply.origin, TAP_FROM_CACHE);
    assert_int_equal(replies[2].reply.origin, TAP_FROM_LIMIT);
    assert_int_equal(replies[2].reply.message.bytes.len, 0);
    assert_int_equal(replies[2].reply.name.len, 13);
    expect_errors(&replies[2], 0, 0, 0, "");
}

static void test_a_message_that_is_no_query_is_not_shown(void **state)
{
    struct addr unwanted = fake_addr("192.0.2.66@99"); /* the access list drops this client */
    (void)state;
    make_query("hit.example", 1);
    udp_send_from(&unwanted);
    sent[2] |= 0x80; /* an answer */
    udp_send_from(&me);
    sent_len = 5;
    udp_send_from(&me);
    assert_int_equal(query_count + reply_count, 0);
}

static void test_streams_are_shown_too(void **state)
{
    (void)state;
    struct fake_conn *conn = fake_client_tcp_open(net, &here, &me);
    make_query("hit.example", 1);
    uint8_t len[2];
    put_u16(len, (uint16_t)sent_len);
    fake_conn_send(conn, span_of(len, 2));
    fake_conn_send(conn, span_of(sent, sent_len));
    fake_loop_settle(loop);
    const struct tap_reply *reply = only_reply(TAP_FROM_CACHE);
    assert_int_equal(reply->message.transport, TRANSPORT_TCP);
    assert_true(addr_equal_ip(&replies[0].asker, &me));
    assert_true(addr_equal(&replies[0].asked, &here));
    assert_int_equal(query_count, 1);
}

static void test_taps_that_stop_get_no_more_events(void **state)
{
    (void)state;
    udp_ask("miss.example", 1);
    server_set_taps(server, NULL);
    udp_ask("hit.example", 2);
    assert_true(stub_answer(false));
    assert_int_equal(query_count, 1);
    assert_int_equal(reply_count, 0);
    assert_true(udp_got());
    assert_true(udp_got());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TELL_TEST(test_a_hit_is_shown_with_both_ends_and_all_bytes),
        TELL_TEST(test_an_answer_of_an_upstream_names_it_and_the_time_it_took),
        TELL_TEST(test_a_tap_for_failures_sees_only_them),
        TELL_TEST(test_an_answer_without_an_upstream_names_none),
        TELL_TEST(test_the_cause_of_a_failure_is_shown_with_and_without_edns),
        TELL_TEST(test_the_cause_is_shown_where_the_reply_has_no_room_for_it),
        TELL_TEST(test_an_answer_without_extended_errors_shows_none),
        TELL_TEST(test_stale_and_local_answers_are_distinguished),
        TELL_TEST(test_refusals_are_shown),
        TELL_TEST(test_a_notify_is_shown_as_accepted_or_refused),
        TELL_TEST(test_queries_stopped_by_a_limit_are_shown),
        cmocka_unit_test_setup_teardown(test_a_dropped_query_is_shown_without_bytes, setup_limited,
                                        harness_teardown),
        TELL_TEST(test_a_message_that_is_no_query_is_not_shown),
        TELL_TEST(test_streams_are_shown_too),
        TELL_TEST(test_taps_that_stop_get_no_more_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
