/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Requests of DNS over HTTPS become messages, and replies find their requests. */

#include "h2_peer.h"

static void test_messages_come_from_both_methods(void **state)
{
    struct peer *peer = *state;
    peer_preface(peer);
    peer_get(peer, 1, "/dns-query?dns=cXVlcnk"); /* query */
    peer_post(peer, 3, "another");
    assert_int_equal(peer_expect(peer, "query"), 1);
    assert_int_equal(peer_expect(peer, "another"), 3);
    peer_expect_none(peer);
    assert_int_equal(peer->err, ERR_OK);
}

static void test_replies_leave_in_any_order_with_their_age(void **state)
{
    struct peer *peer = *state;
    peer_preface(peer);
    peer_post(peer, 1, "slow");
    peer_post(peer, 3, "fast");
    uint32_t slow = peer_expect(peer, "slow"), fast = peer_expect(peer, "fast");
    peer_reply(peer, fast, 100);
    peer_expect_status(peer, 3, "200");
    assert_null(peer_find(peer, NGHTTP2_HEADERS, 1));
    const struct peer_frame *head = peer_find(peer, NGHTTP2_HEADERS, 3);
    assert_string_equal(head->age, "private, max-age=60");
    assert_string_equal(head->length, "100");
    assert_string_equal(head->kind, "application/dns-message");
    const struct peer_frame *data = peer_find(peer, NGHTTP2_DATA, 3);
    assert_int_equal(data->len, 100);
    assert_int_equal(data->flags, NGHTTP2_FLAG_END_STREAM);
    peer_reply(peer, slow, 7);
    peer_expect_status(peer, 1, "200");
    assert_int_equal(h2_unsent(peer->h2), 0);
}

static void test_requests_without_a_message_get_a_status(void **state)
{
    static const struct {
        const char *method, *path, *type, *status;
    } cases[] = {
        {"GET", "/other?dns=cXVlcnk", NULL, "404"},
        {"GET", "/dns-query2?dns=cXVlcnk", NULL, "404"},
        {"GET", "/dns-query", NULL, "400"},
        {"GET", "/dns-query?dns=", NULL, "400"},
        {"GET", "/dns-query?dns=cXVlcnk=", NULL, "400"},
        {"GET", "/dns-query?dns=cXVlcn", NULL, "400"}, /* its last bits are not zero */
        {"GET", "/dns-query?dns=cXVlc", NULL, "400"},  /* no byte ends there */
        {"GET", "/dns-query?dns=c+Vl", NULL, "400"},
        {"GET", "/dns-query?dns=cXVl&dns=cXVl", NULL, "400"},
        {"PUT", "/dns-query", "application/dns-message", "405"},
        {"HEAD", "/dns-query?dns=cXVlcnk", NULL, "405"},
        {"POST", "/dns-query", NULL, "415"},
        {"POST", "/dns-query", "application/json", "415"},
        {"POST", "/dns-query", "application/dns-message-x", "415"},
        {"POST", "/dns-query", "application/dns-message", "400"}, /* its body is empty */
        {"POST", "/x", "application/dns-message", "404"},
    };
    struct peer *peer = *state;
    peer_preface(peer);
    for (uint32_t i = 0; i < ARRAY_LEN(cases); i++) {
        peer_head(peer, 2 * i + 1, NGHTTP2_FLAG_END_STREAM, cases[i].method, cases[i].path,
                  cases[i].type);
        peer_expect_status(peer, 2 * i + 1, cases[i].status);
        peer_expect_none(peer);
    }
    assert_int_equal(h2_refused(peer->h2), ARRAY_LEN(cases));
    assert_int_equal(peer->err, ERR_OK);
}

static void test_unusual_requests_are_read_too(void **state)
{
    struct peer *peer = *state;
    peer_preface(peer);
    peer_get(peer, 1, "/dns-query?ct&dns=cXVlcnk&x=dns=1");
    peer_expect(peer, "query");
    peer_head(peer, 3, 0, "POST", "/dns-query?dns=cXVlcnk", "Application/DNS-message ; charset=x");
    peer_data(peer, 3, 0, "bo", 2);
    peer_data(peer, 3, 0, "dy", 2);
    peer_data(peer, 3, NGHTTP2_FLAG_END_STREAM, "", 0);
    peer_expect(peer, "body");
    peer_head(peer, 5, 0, "GET", "/dns-query?dns=cXVlcnk", NULL);
    peer_data(peer, 5, NGHTTP2_FLAG_END_STREAM, "ignored", 7);
    peer_expect(peer, "query");
}

static void test_a_message_that_is_no_query_gets_a_status(void **state)
{
    struct peer *peer = *state;
    peer_preface(peer);
    peer_post(peer, 1, "junk");
    h2_decline(peer->h2, peer_expect(peer, "junk"), true);
    peer_expect_status(peer, 1, "400");
}

static void test_a_query_without_an_answer_ends_with_a_reset(void **state)
{
    struct peer *peer = *state;
    peer_preface(peer);
    peer_post(peer, 1, "query");
    h2_decline(peer->h2, peer_expect(peer, "query"), false);
    peer_expect_reset(peer, 1, NGHTTP2_CANCEL);
    assert_null(peer_find(peer, NGHTTP2_HEADERS, 1));
}

static void test_a_longer_body_is_refused_before_its_end(void **state)
{
    static const char body[PEER_MESSAGE_MAX + 1];
    struct peer *peer = *state;
    peer_preface(peer);
    peer_head(peer, 1, 0, "POST", "/dns-query", "application/dns-message");
    peer_data(peer, 1, 0, body, sizeof(body));
    peer_expect_status(peer, 1, "413");
    peer_expect_reset(peer, 1, NGHTTP2_NO_ERROR); /* it need not send the rest */
    peer_head(peer, 3, 0, "POST", "/dns-query", "application/dns-message");
    peer_data(peer, 3, NGHTTP2_FLAG_END_STREAM, body, PEER_MESSAGE_MAX);
    uint32_t exchange;
    struct span message;
    assert_true(h2_next(peer->h2, &exchange, &message));
    assert_int_equal(message.len, PEER_MESSAGE_MAX);
}

static void test_a_longer_message_in_the_path_is_refused(void **state)
{
    char path[4096] = "/dns-query?dns=";
    struct peer *peer = *state;
    peer_preface(peer);
    size_t len = strlen(path);
    memset(path + len, 'A', PEER_MESSAGE_MAX * 4 / 3 + 4);
    peer_get(peer, 1, path);
    peer_expect_status(peer, 1, "414");
}

static void test_a_cancelled_exchange_gets_no_reply(void **state)
{
    struct peer *peer = *state;
    peer_preface(peer);
    peer_post(peer, 1, "query");
    uint32_t exchange = peer_expect(peer, "query");
    peer_reset(peer, 1);
    peer_reply(peer, exchange, 100);
    h2_decline(peer->h2, exchange, false);
    peer_collect(peer);
    assert_null(peer_find(peer, NGHTTP2_HEADERS, 1));
    assert_int_equal(h2_unsent(peer->h2), 0);
}

static void test_a_message_that_is_cancelled_before_its_turn_is_dropped(void **state)
{
    struct peer *peer = *state;
    peer_preface(peer);
    peer_post(peer, 1, "first");
    peer_post(peer, 3, "second");
    peer_reset(peer, 1);
    peer_expect(peer, "second");
    peer_expect_none(peer);
}

static void test_a_second_reply_has_no_effect(void **state)
{
    struct peer *peer = *state;
    peer_preface(peer);
    peer_post(peer, 1, "query");
    uint32_t exchange = peer_expect(peer, "query");
    peer_reply(peer, exchange, 10);
    peer_reply(peer, exchange, 20);
    h2_decline(peer->h2, exchange, true);
    peer_collect(peer);
    assert_int_equal(peer->body_len, 10);
}

/* ---- the end ---- */

static void test_an_announced_end_still_takes_requests(void **state)
{
    struct peer *peer = *state;
    peer_preface(peer);
    h2_announce_end(peer->h2);
    h2_announce_end(peer->h2);
    peer_collect(peer);
    const struct peer_frame *notice = peer_find(peer, NGHTTP2_GOAWAY, 0);
    assert_int_equal(notice->last, INT32_MAX);
    assert_int_equal(notice->code, NGHTTP2_NO_ERROR);
    peer_post(peer, 1, "query");
    peer_reply(peer, peer_expect(peer, "query"), 10);
    peer_expect_status(peer, 1, "200");
    assert_int_equal(peer->err, ERR_OK);
}

static void test_the_end_names_the_queries_that_may_be_repeated(void **state)
{
    struct peer *peer = *state;
    peer_preface(peer);
    peer_post(peer, 1, "asked");
    peer_post(peer, 3, "waits");
    peer_head(peer, 5, 0, "POST", "/dns-query", "application/dns-message");
    uint32_t asked = peer_expect(peer, "asked");
    h2_end(peer->h2);
    peer_expect_reset(peer, 3, NGHTTP2_REFUSED_STREAM);
    assert_int_equal(peer_find(peer, NGHTTP2_GOAWAY, 0)->last, 5);
    peer_data(peer, 5, NGHTTP2_FLAG_END_STREAM, "late", 4);
    peer_expect_reset(peer, 5, NGHTTP2_REFUSED_STREAM);
    peer_post(peer, 7, "later");
    peer_collect(peer);
    assert_null(peer_find(peer, NGHTTP2_HEADERS, 7));
    peer_expect_none(peer);
    peer_reply(peer, asked, 10);
    peer_expect_status(peer, 1, "200");
    assert_int_equal(peer->err, ERR_OK);
}

static void test_memory_is_counted_and_given_back(void **state)
{
    struct peer *peer = *state;
    peer_preface(peer);
    peer_collect(peer);
    size_t idle = h2_held_bytes(peer->h2);
    assert_true(idle > sizeof(void *));
    peer_post(peer, 1, "query");
    uint32_t exchange = peer_expect(peer, "query");
    size_t asked = h2_held_bytes(peer->h2);
    assert_true(asked > idle);
    peer_reply(peer, exchange, 10000);
    assert_true(h2_held_bytes(peer->h2) >= asked + 10000);
    peer_collect(peer);
    peer_expect_none(peer);
    /* The tables of header fields have grown, and room for a reply stays. */
    assert_true(h2_held_bytes(peer->h2) < asked + 2048);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_PEER(test_messages_come_from_both_methods),
        WITH_PEER(test_replies_leave_in_any_order_with_their_age),
        WITH_PEER(test_requests_without_a_message_get_a_status),
        WITH_PEER(test_unusual_requests_are_read_too),
        WITH_PEER(test_a_message_that_is_no_query_gets_a_status),
        WITH_PEER(test_a_query_without_an_answer_ends_with_a_reset),
        WITH_PEER(test_a_longer_body_is_refused_before_its_end),
        WITH_PEER(test_a_longer_message_in_the_path_is_refused),
        WITH_PEER(test_a_cancelled_exchange_gets_no_reply),
        WITH_PEER(test_a_message_that_is_cancelled_before_its_turn_is_dropped),
        WITH_PEER(test_a_second_reply_has_no_effect),
        WITH_PEER(test_an_announced_end_still_takes_requests),
        WITH_PEER(test_the_end_names_the_queries_that_may_be_repeated),
        WITH_PEER(test_memory_is_counted_and_given_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
