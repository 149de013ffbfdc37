/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* A peer that attacks with HTTP/2 reaches a bound of net/h2.h. */

#include "h2_peer.h"

static void test_cancelled_requests_do_not_come_without_end(void **state)
{
    struct peer *peer = *state;
    uint32_t stream = 1;
    peer_preface(peer);
    for (; !peer->err && stream < 100000; stream += 2) {
        peer_post(peer, stream, "query");
        peer_reset(peer, stream);
        peer_collect(peer);
    }
    peer_expect_end(peer, ERR_HTTP_FLOOD, NGHTTP2_ENHANCE_YOUR_CALM);
    assert_true(stream / 2 < H2_SPARE_FRAMES_MAX);
}

static void test_cancelled_requests_that_were_taken_are_not_a_flood(void **state)
{
    struct peer *peer = *state;
    peer_preface(peer);
    for (uint32_t stream = 1; stream < 4000; stream += 2) {
        peer_post(peer, stream, "query");
        uint32_t exchange = peer_expect(peer, "query");
        peer_reset(peer, stream);
        peer_reply(peer, exchange, 10);
    }
    assert_int_equal(peer->err, ERR_OK);
    assert_int_equal(h2_unsent(peer->h2), 0);
}

static void test_continuations_have_a_bound(void **state)
{
    uint8_t block[256];
    struct peer *peer = *state;
    size_t len = peer_add_head(block, "GET", "/dns-query", NULL), count = 0;
    peer_preface(peer);
    peer_frame(peer, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_STREAM, 1, span_of(block, len));
    len = peer_add_field(block, "x", "y");
    for (; !peer->err && count < 100000; count++)
        peer_frame(peer, NGHTTP2_CONTINUATION, 0, 1, span_of(block, len));
    assert_true(peer->err == ERR_HTTP_FLOOD || peer->err == ERR_HTTP);
    assert_true(count <= H2_SPARE_FRAMES_MAX);
}

static void test_a_long_head_is_refused(void **state)
{
    static uint8_t block[20 * 1024];
    static char value[4000];
    struct peer *peer = *state;
    memset(value, 'v', sizeof(value) - 1);
    size_t len = peer_add_head(block, "GET", "/dns-query?dns=cXVlcnk", NULL);
    for (int i = 0; i < 3; i++)
        len += peer_add_field(block + len, "x", value);
    peer_preface(peer);
    peer_frame(peer, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_STREAM, 1, span_of(block, len));
    len = 0;
    for (int i = 0; i < 3; i++)
        len += peer_add_field(block + len, "x", value);
    peer_frame(peer, NGHTTP2_CONTINUATION, NGHTTP2_FLAG_END_HEADERS, 1, span_of(block, len));
    peer_expect_status(peer, 1, "431");
    peer_expect_none(peer);
}

/* A field of 3 KB enters the table, and each byte after it repeats it. */
static void test_a_bomb_of_header_fields_costs_little(void **state)
{
    static uint8_t block[16 * 1024];
    static char value[3000];
    struct peer *peer = *state;
    memset(value, 'v', sizeof(value) - 1);
    size_t len = peer_add_head(block, "GET", "/dns-query?dns=cXVlcnk", NULL), at = len;
    len += peer_add_field(block + len, "x", value);
    block[at] = 0x40; /* with indexing */
    memset(block + len, 0x80 | 62, sizeof(block) - len);
    peer_preface(peer);
    peer_collect(peer);
    size_t before = h2_held_bytes(peer->h2);
    peer_frame(peer, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM, 1,
               span_of(block, sizeof(block)));
    assert_true(h2_held_bytes(peer->h2) < before + 32 * 1024);
    peer_expect_end(peer, ERR_HTTP_FLOOD, NGHTTP2_ENHANCE_YOUR_CALM);
}

/* Each request repeats the field ten times in ten bytes: 30 KB of fields are too many. */
static void test_small_bombs_have_a_bound_although_queries_come_between(void **state)
{
    static uint8_t block[4096];
    static char value[3000];
    struct peer *peer = *state;
    memset(value, 'v', sizeof(value) - 1);
    size_t head = peer_add_head(block, "GET", "/dns-query?dns=cXVlcnk", NULL), len = head;
    len += peer_add_field(block + len, "x", value);
    block[head] = 0x40; /* with indexing */
    peer_preface(peer);
    peer_frame(peer, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM, 1,
               span_of(block, len));
    memset(block + head, 0x80 | 62, 30);
    uint32_t stream = 3;
    for (; !peer->err && stream < 400; stream += 4) {
        peer_frame(peer, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM,
                   stream, span_of(block, head + 30));
        peer_collect(peer);
        if (peer->err)
            break;
        peer_post(peer, stream + 2, "query");
        uint32_t exchange;
        struct span message;
        while (h2_next(peer->h2, &exchange, &message))
            peer_reply(peer, exchange, 10);
        peer_collect(peer);
    }
    peer_expect_end(peer, ERR_HTTP_FLOOD, NGHTTP2_ENHANCE_YOUR_CALM);
    assert_true(stream < 40);
}

/* The peer reads nothing. Each query gives it credit for more requests above the limit, whose
 * resets wait. */
static void test_unread_frames_have_a_bound(void **state)
{
    struct peer *peer = *state;
    peer_preface(peer);
    peer_collect(peer);
    uint32_t stream = 1, rounds = 0;
    for (; stream < 2 * H2_STREAMS_MAX - 1; stream += 2)
        peer_post(peer, stream, "query");
    size_t before = h2_held_bytes(peer->h2);
    for (; !peer->err && rounds < 1000; rounds++) {
        uint32_t exchange;
        struct span message;
        while (h2_next(peer->h2, &exchange, &message))
            ;
        peer_post(peer, stream, "query");
        for (uint32_t i = 1; i <= 8; i++)
            peer_get(peer, stream + 2 * i, "/dns-query?dns=cXVlcnk");
        peer_reset(peer, stream);
        stream += 18;
    }
    assert_int_equal(peer->err, ERR_HTTP_FLOOD);
    assert_true(rounds < H2_FRAMES_WAITING_MAX / 8 + 2);
    assert_true(h2_held_bytes(peer->h2) < before + 256 * 1024);
}

/* curl 7.88 shows no status if a reset follows it. */
static void test_a_refused_body_is_read_to_its_end(void **state)
{
    struct peer *peer = *state;
    peer_preface(peer);
    peer_head(peer, 1, 0, "POST", "/dns-query", "text/plain");
    peer_expect_status(peer, 1, "415");
    peer_data(peer, 1, NGHTTP2_FLAG_END_STREAM, "x", 1);
    peer_collect(peer);
    assert_null(peer_find(peer, NGHTTP2_RST_STREAM, 1));
    assert_int_equal(peer->err, ERR_OK);
}

/* Sends such frames until the connection ends, and returns their number. */
static size_t flood(struct peer *peer, uint8_t type, uint32_t stream, struct span payload)
{
    size_t count = 0;
    peer_preface(peer);
    peer_collect(peer);
    size_t before = h2_held_bytes(peer->h2);
    for (; !peer->err && count < 100000; count++)
        peer_frame(peer, type, 0, stream, payload);
    assert_true(h2_held_bytes(peer->h2) < before + 64 * 1024);
    return count;
}

static void test_pings_have_a_bound_while_nothing_leaves(void **state)
{
    struct peer *peer = *state;
    assert_true(flood(peer, NGHTTP2_PING, 0, span_of("01234567", 8)) <= H2_ACKS_MAX + 2);
    assert_int_equal(peer->err, ERR_HTTP_FLOOD);
}

static void test_settings_have_a_bound_while_nothing_leaves(void **state)
{
    struct peer *peer = *state;
    assert_true(flood(peer, NGHTTP2_SETTINGS, 0, span_of(NULL, 0)) <= H2_ACKS_MAX + 2);
    assert_int_equal(peer->err, ERR_HTTP_FLOOD);
}

static void test_pings_have_a_bound_while_all_are_answered(void **state)
{
    struct peer *peer = *state;
    size_t count = 0;
    peer_preface(peer);
    for (; !peer->err && count < 100000; count++) {
        peer_frame(peer, NGHTTP2_PING, 0, 0, span_of("01234567", 8));
        peer_collect(peer);
    }
    peer_expect_end(peer, ERR_HTTP_FLOOD, NGHTTP2_ENHANCE_YOUR_CALM);
    assert_true(count <= H2_SPARE_FRAMES_MAX);
}

static void test_unknown_frames_have_a_bound(void **state)
{
    struct peer *peer = *state;
    size_t count = flood(peer, 0x77, 0, span_of("x", 1));
    assert_int_equal(peer->err, ERR_HTTP_FLOOD);
    assert_true(count <= H2_SPARE_BYTES_MAX / 10 + 1);
}

static void test_priorities_have_a_bound(void **state)
{
    struct peer *peer = *state;
    flood(peer, NGHTTP2_PRIORITY, 1, span_of("\0\0\0\0\1", 5));
    assert_int_equal(peer->err, ERR_HTTP_FLOOD);
}

static void test_empty_data_has_a_bound(void **state)
{
    struct peer *peer = *state;
    peer_preface(peer);
    peer_head(peer, 1, 0, "POST", "/dns-query", "application/dns-message");
    for (size_t i = 0; !peer->err && i < 100000; i++)
        peer_data(peer, 1, 0, "", 0);
    assert_int_equal(peer->err, ERR_HTTP_FLOOD);
}

static void test_a_wrong_preface_ends_the_connection(void **state)
{
    struct peer *peer = *state;
    peer_send_bytes(peer, "GET / HTTP/1.1\r\n\r\n", 18);
    assert_int_equal(peer->err, ERR_HTTP);
}

static void test_a_broken_rule_ends_the_connection_with_its_reason(void **state)
{
    struct peer *peer = *state;
    peer_preface(peer);
    peer_frame(peer, NGHTTP2_SETTINGS, 0, 0, span_of("xxxxx", 5));
    peer_expect_end(peer, ERR_HTTP, NGHTTP2_FRAME_SIZE_ERROR);
}

static void test_a_body_after_the_end_of_its_request_is_no_message(void **state)
{
    struct peer *peer = *state;
    peer_preface(peer);
    peer_post(peer, 1, "query");
    peer_expect(peer, "query");
    peer_data(peer, 1, NGHTTP2_FLAG_END_STREAM, "more", 4);
    peer_collect(peer);
    peer_expect_none(peer);
    assert_true(peer->err == ERR_HTTP || peer_find(peer, NGHTTP2_RST_STREAM, 1));
}

static void test_a_head_without_a_path_is_no_message(void **state)
{
    uint8_t block[64];
    struct peer *peer = *state;
    size_t len = peer_add_field(block, ":method", "GET");
    peer_preface(peer);
    peer_frame(peer, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM, 1,
               span_of(block, len));
    peer_expect_reset(peer, 1, NGHTTP2_PROTOCOL_ERROR);
    peer_expect_none(peer);
}

static void test_more_requests_than_allowed_are_refused(void **state)
{
    struct peer *peer = *state;
    peer_preface(peer);
    peer_collect(peer);
    for (uint32_t i = 0; i < H2_STREAMS_MAX; i++)
        peer_post(peer, 2 * i + 1, "query");
    peer_post(peer, 2 * H2_STREAMS_MAX + 1, "beyond");
    peer_collect(peer);
    for (uint32_t i = 0; i < H2_STREAMS_MAX; i++)
        peer_expect(peer, "query");
    peer_expect_none(peer);
    peer_expect_reset(peer, 2 * H2_STREAMS_MAX + 1, NGHTTP2_REFUSED_STREAM);
}

/* The window of the connection bounds what unfinished requests hold together. */
static void test_unfinished_bodies_share_one_window(void **state)
{
    static const char body[PEER_MESSAGE_MAX];
    struct peer *peer = *state;
    peer_preface(peer);
    peer_collect(peer);
    size_t before = h2_held_bytes(peer->h2);
    uint32_t count = 0;
    for (; !peer->err && count < 2 * H2_STREAMS_MAX; count++) {
        peer_head(peer, 2 * count + 1, 0, "POST", "/dns-query", "application/dns-message");
        peer_data(peer, 2 * count + 1, 0, body, sizeof(body));
        peer_collect(peer);
    }
    assert_true(h2_held_bytes(peer->h2) < before + 65535 * 2 + H2_STREAMS_MAX * 1024);
    assert_null(peer_find(peer, NGHTTP2_WINDOW_UPDATE, 0));
}

/* Messages in paths take up no window. */
static void test_messages_of_unfinished_requests_have_a_bound(void **state)
{
    static char path[PEER_MESSAGE_MAX * 4 / 3 + 64];
    struct peer *peer = *state;
    unsigned refused = 0;
    strcpy(path, "/dns-query?dns=");
    memset(path + strlen(path), 'A', PEER_MESSAGE_MAX * 4 / 3 / 4 * 4);
    peer_preface(peer);
    peer_collect(peer);
    size_t before = h2_held_bytes(peer->h2);
    for (uint32_t i = 0; i < H2_STREAMS_MAX; i++) {
        peer_head(peer, 2 * i + 1, 0, "GET", path, NULL);
        peer_collect(peer);
        const struct peer_frame *head = peer_find(peer, NGHTTP2_HEADERS, 2 * i + 1);
        refused += head && strcmp(head->status, "503") == 0;
    }
    assert_true(refused > 0);
    assert_true(h2_held_bytes(peer->h2) < before + H2_MESSAGES_BYTES + H2_STREAMS_MAX * 1024);
}

static void test_finished_bodies_give_their_window_back(void **state)
{
    static const char body[PEER_MESSAGE_MAX];
    struct peer *peer = *state;
    peer_preface(peer);
    for (uint32_t stream = 1; stream < 1000; stream += 2) {
        peer_head(peer, stream, 0, "POST", "/dns-query", "application/dns-message");
        peer_data(peer, stream, NGHTTP2_FLAG_END_STREAM, body, sizeof(body));
        uint32_t exchange;
        struct span message;
        assert_true(h2_next(peer->h2, &exchange, &message));
        peer_reply(peer, exchange, 10);
        peer_collect(peer);
    }
    assert_int_equal(peer->err, ERR_OK);
}

/* Answers may take long; meanwhile the messages that were taken take up no window. */
static void test_taken_bodies_give_their_window_back(void **state)
{
    static const char body[1000];
    struct peer *peer = *state;
    uint32_t exchange;
    struct span message;
    peer_preface(peer);
    for (uint32_t i = 0; i < 40; i++) {
        peer_head(peer, 2 * i + 1, 0, "POST", "/dns-query", "application/dns-message");
        peer_data(peer, 2 * i + 1, NGHTTP2_FLAG_END_STREAM, body, sizeof(body));
        assert_true(h2_next(peer->h2, &exchange, &message));
        peer_collect(peer);
    }
    assert_int_equal(peer->err, ERR_OK);
    assert_non_null(peer_find(peer, NGHTTP2_WINDOW_UPDATE, 0));
}

static void test_refused_and_cancelled_bodies_give_their_window_back(void **state)
{
    static const char body[600];
    struct peer *peer = *state;
    peer_preface(peer);
    for (uint32_t stream = 1; stream < 400; stream += 2) {
        bool is_refused = stream % 4 == 1;
        peer_head(peer, stream, 0, "POST", is_refused ? "/x" : "/dns-query",
                  "application/dns-message");
        peer_data(peer, stream, 0, body, sizeof(body));
        if (!is_refused)
            peer_reset(peer, stream);
        peer_collect(peer);
    }
    assert_int_equal(peer->err, ERR_OK);
    assert_non_null(peer_find(peer, NGHTTP2_WINDOW_UPDATE, 0));
}

/* ---- windows of the peer ---- */

/* A reply of 3,000 bytes waits for a window. */
static void stall_reply(struct peer *peer)
{
    peer_preface(peer);
    peer_setting(peer, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0);
    peer_post(peer, 1, "query");
    peer_reply(peer, peer_expect(peer, "query"), 3000);
    peer_collect(peer);
}

static void test_closed_windows_stall_replies_until_they_open(void **state)
{
    struct peer *peer = *state;
    stall_reply(peer);
    assert_true(h2_is_stalled(peer->h2));
    assert_int_equal(h2_unsent(peer->h2), 3000 + H2_REPLY_HEAD_BYTES);
    peer_u32(peer, NGHTTP2_WINDOW_UPDATE, 1, 1000);
    assert_false(h2_is_stalled(peer->h2));
    peer_collect(peer);
    assert_int_equal(peer->body_len, 1000);
    assert_true(h2_is_stalled(peer->h2));
    peer_u32(peer, NGHTTP2_WINDOW_UPDATE, 1, 5000);
    peer_collect(peer);
    assert_int_equal(peer->body_len, 3000);
    assert_int_equal(h2_unsent(peer->h2), 0);
    assert_false(h2_is_stalled(peer->h2));
}

static void test_cancelled_replies_are_no_longer_unsent(void **state)
{
    struct peer *peer = *state;
    stall_reply(peer);
    peer_reset(peer, 1);
    peer_collect(peer);
    assert_int_equal(h2_unsent(peer->h2), 0);
}

static void test_tiny_windows_have_a_bound(void **state)
{
    struct peer *peer = *state;
    peer_preface(peer);
    peer_setting(peer, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0);
    peer_post(peer, 1, "query");
    peer_reply(peer, peer_expect(peer, "query"), 60000);
    for (size_t i = 0; !peer->err && i < 60000; i++) {
        peer_u32(peer, NGHTTP2_WINDOW_UPDATE, 1, 1);
        peer_collect(peer);
    }
    peer_expect_end(peer, ERR_HTTP_FLOOD, NGHTTP2_ENHANCE_YOUR_CALM);
    assert_true(peer->body_len <= H2_SPARE_FRAMES_MAX);
}

/* Each message brings back fewer frames than its windows need. */
static void test_windows_for_many_large_replies_are_no_flood(void **state)
{
    struct peer *peer = *state;
    peer_preface(peer);
    for (uint32_t stream = 1; stream < 200; stream += 2) {
        peer_post(peer, stream, "query");
        peer_reply(peer, peer_expect(peer, "query"), 60000);
        for (int i = 0; i < 20; i++)
            peer_u32(peer, NGHTTP2_WINDOW_UPDATE, 0, 3000);
        peer->body_len = 0;
        peer_collect(peer);
        assert_int_equal(peer->body_len, 60000);
    }
    assert_int_equal(peer->err, ERR_OK);
}

static void test_a_window_that_overflows_ends_the_reply(void **state)
{
    struct peer *peer = *state;
    peer_preface(peer);
    peer_post(peer, 1, "query");
    uint32_t exchange = peer_expect(peer, "query");
    peer_u32(peer, NGHTTP2_WINDOW_UPDATE, 1, INT32_MAX);
    peer_expect_reset(peer, 1, NGHTTP2_FLOW_CONTROL_ERROR);
    peer_reply(peer, exchange, 10); /* has no effect */
    peer_u32(peer, NGHTTP2_WINDOW_UPDATE, 0, INT32_MAX);
    peer_expect_end(peer, ERR_HTTP, NGHTTP2_FLOW_CONTROL_ERROR);
}

static void test_every_cut_of_a_stream_gives_the_same_messages(void **state)
{
    (void)state;
    uint8_t bytes[1024], block[256];
    size_t len = NGHTTP2_CLIENT_MAGIC_LEN;
    memcpy(bytes, NGHTTP2_CLIENT_MAGIC, len);
    memcpy(bytes + len, "\0\0\0\4\0\0\0\0\0", 9);
    len += 9;
    size_t head = peer_add_head(block, "POST", "/dns-query", "application/dns-message");
    put_u32(bytes + len, (uint32_t)head << 8 | NGHTTP2_HEADERS);
    memcpy(bytes + len + 4, "\4\0\0\0\1", 5);
    memcpy(bytes + len + 9, block, head);
    len += 9 + head;
    memcpy(bytes + len, "\0\0\5\0\1\0\0\0\1query", 14);
    len += 14;
    for (size_t cut = 1; cut < len; cut++) {
        void *one;
        peer_set_up(&one);
        struct peer *peer = one;
        for (size_t at = 0; at < len; at += cut)
            peer_send_bytes(peer, bytes + at, MIN(cut, len - at));
        peer_expect(peer, "query");
        assert_int_equal(peer->err, ERR_OK);
        peer_tear_down(&one);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_PEER(test_cancelled_requests_do_not_come_without_end),
        WITH_PEER(test_cancelled_requests_that_were_taken_are_not_a_flood),
        WITH_PEER(test_continuations_have_a_bound),
        WITH_PEER(test_a_long_head_is_refused),
        WITH_PEER(test_a_bomb_of_header_fields_costs_little),
        WITH_PEER(test_small_bombs_have_a_bound_although_queries_come_between),
        WITH_PEER(test_unread_frames_have_a_bound),
        WITH_PEER(test_a_refused_body_is_read_to_its_end),
        WITH_PEER(test_pings_have_a_bound_while_nothing_leaves),
        WITH_PEER(test_settings_have_a_bound_while_nothing_leaves),
        WITH_PEER(test_pings_have_a_bound_while_all_are_answered),
        WITH_PEER(test_unknown_frames_have_a_bound),
        WITH_PEER(test_priorities_have_a_bound),
        WITH_PEER(test_empty_data_has_a_bound),
        WITH_PEER(test_a_wrong_preface_ends_the_connection),
        WITH_PEER(test_a_broken_rule_ends_the_connection_with_its_reason),
        WITH_PEER(test_a_body_after_the_end_of_its_request_is_no_message),
        WITH_PEER(test_a_head_without_a_path_is_no_message),
        WITH_PEER(test_more_requests_than_allowed_are_refused),
        WITH_PEER(test_unfinished_bodies_share_one_window),
        WITH_PEER(test_messages_of_unfinished_requests_have_a_bound),
        WITH_PEER(test_finished_bodies_give_their_window_back),
        WITH_PEER(test_taken_bodies_give_their_window_back),
        WITH_PEER(test_refused_and_cancelled_bodies_give_their_window_back),
        WITH_PEER(test_closed_windows_stall_replies_until_they_open),
        WITH_PEER(test_cancelled_replies_are_no_longer_unsent),
        WITH_PEER(test_tiny_windows_have_a_bound),
        WITH_PEER(test_windows_for_many_large_replies_are_no_flood),
        WITH_PEER(test_a_window_that_overflows_ends_the_reply),
        cmocka_unit_test(test_every_cut_of_a_stream_gives_the_same_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
