/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Sessions over HTTPS: queries find their answers, and each bound of a session holds. */
#include "serve/listener.h"
#include "unit/serve/doh_client.h"

enum { WIDE = 1024 * 1024 };

static unsigned drained;

static void on_drained(void *context)
{
    (void)context;
    drained++;
}

static void test_queries_over_https_get_their_answers(void **state)
{
    (void)state;
    doh_open(WIDE);
    struct doh_request *slow = doh_ask("slow.example", 7);
    struct doh_request *hit = doh_ask("hit.example", 0);
    doh_expect_answer(hit, 0);
    char age[32];
    snprintf(age, sizeof(age), "private, max-age=%u", (unsigned)ttl_of_answer(&got));
    assert_string_equal(hit->age, age);
    assert_false(slow->is_closed);
    stub_answer(false);
    doh_settle();
    doh_expect_answer(slow, 7);
    assert_int_equal(stats.queries_https, 2);
    assert_int_equal(stats.questions_a_https, 2);
    assert_int_equal(stats.queries_tls, 0);
}

/* Clients of HTTP caches use the id 0 for all queries (RFC 8484 section 4.1). */
static void test_queries_with_one_id_keep_their_answers_apart(void **state)
{
    (void)state;
    struct doh_request *requests[3];
    static const char *const names[] = {"one.example", "two.example", "three.example"};
    doh_open(WIDE);
    for (unsigned i = 0; i < 3; i++)
        requests[i] = doh_ask(names[i], 0);
    for (unsigned i = 0; i < 3; i++)
        stub_answer(false);
    doh_settle();
    for (unsigned i = 0; i < 3; i++) {
        uint8_t name[NAME_WIRE_MAX];
        struct question question = canned_question(names[i], RRTYPE_A, name);
        doh_expect_answer(requests[i], 0);
        assert_true(name_equal(got.question.name, question.name));
    }
}

static void test_a_client_that_offers_only_dot_is_refused(void **state)
{
    (void)state;
    struct dot_client *client = &clients[client_count++];
    dot_begin(client, doh_connect(), 0, NULL);
    dot_settle(client, loop);
    assert_false(client->is_secured);
}

static void test_a_message_that_is_no_query_gets_status_400(void **state)
{
    (void)state;
    doh_open(WIDE);
    struct doh_request *request = doh_submit(span_of("too short", 9));
    doh_settle();
    assert_string_equal(request->status, "400");
    make_query("hit.example", 1);
    sent[2] |= 0x80; /* an answer */
    request = doh_submit(span_of(sent, sent_len));
    doh_settle();
    assert_string_equal(request->status, "400");
    assert_int_equal(stats.http_refused, 2);
    doh_expect_answer(doh_ask("hit.example", 3), 3);
}

static void test_answers_over_https_have_no_idle_time(void **state)
{
    (void)state;
    struct canned_query query = {.name = "hit.example",
                                 .type = RRTYPE_A,
                                 .flags = HEADER_RD,
                                 .edns_size = 1232,
                                 .keepalive = true};
    doh_open(WIDE);
    sent_len = canned_query(sent, &query);
    struct doh_request *request = doh_submit(span_of(sent, sent_len));
    doh_settle();
    doh_expect_answer(request, 0);
    struct edns_keepalive keepalive;
    assert_int_not_equal(edns_find_keepalive(&got.edns, &keepalive), EDNS_FOUND);
}

/* ---- bounds ---- */

/* A client opens and cancels requests (CVE-2023-44487). */
static void test_cancelled_queries_count_until_they_are_answered(void **state)
{
    (void)state;
    doh_open(WIDE);
    for (unsigned i = 0; i < SESSION_IN_FLIGHT_MAX + 100; i++) {
        make_query("slow.example", 0);
        doh_submit(span_of(sent, sent_len));
        doh_settle();
        nghttp2_submit_rst_stream(doh.session, 0, (int32_t)(2 * i + 1), NGHTTP2_CANCEL);
        doh_settle();
    }
    assert_int_equal(stub.waiting, SESSION_IN_FLIGHT_MAX);
    while (stub_answer(false))
        continue;
    doh_settle();
    doh_expect_answer(doh_ask("hit.example", 3), 3);
}

static void test_a_flood_of_cancelled_requests_ends_the_session(void **state)
{
    (void)state;
    doh_open(WIDE);
    for (unsigned i = 0; i < DOH_REQUESTS_MAX - 1 && doh.goaways == 0; i++) {
        make_query("slow.example", 0);
        doh_submit(span_of(sent, sent_len));
        doh_settle();
        nghttp2_submit_rst_stream(doh.session, 0, (int32_t)(2 * i + 1), NGHTTP2_CANCEL);
        doh_settle();
    }
    assert_int_equal(doh.code, NGHTTP2_ENHANCE_YOUR_CALM);
    assert_int_equal(stats.http_flooded, 1);
    assert_true(fake_conn_was_closed(doh.dot->conn));
    expect_orphans(SESSION_IN_FLIGHT_MAX);
}

/* The answers of 60 KB fill the session, and the client never opens its windows. */
static void test_a_client_with_closed_windows_is_reset(void **state)
{
    (void)state;
    stub.records = 40;
    stub.rdata_len = 1500;
    doh_open(0);
    doh_ask_many("hit.example", 100);
    assert_true((int64_t)stats.stream_memory_bytes < 512 * 1024);
    fake_loop_advance(loop, SESSION_STALL_US - US_PER_S);
    assert_int_equal(stats.client_resets_stalled, 0);
    fake_loop_advance(loop, 2 * US_PER_S);
    assert_int_equal(stats.client_resets_stalled, 1);
    assert_int_equal(server_quota_clients(quota), 0);
}

static void test_a_full_session_goes_on_when_its_requests_are_cancelled(void **state)
{
    (void)state;
    stub.records = 40;
    stub.rdata_len = 1500;
    doh_open(0);
    doh_ask_many("hit.example", 5);
    for (int i = 0; i < 5; i++)
        nghttp2_submit_rst_stream(doh.session, 0, 2 * i + 1, NGHTTP2_CANCEL);
    doh_settle();
    stub.records = 1;
    assert_string_equal(doh_ask("hit.example", 3)->status, "200");
}

static void test_a_full_session_goes_on_when_its_windows_open(void **state)
{
    (void)state;
    stub.records = 40;
    stub.rdata_len = 1500;
    doh_open(0);
    doh_ask_many("hit.example", 5);
    assert_int_equal(doh.requests[0].len, 0);
    doh_window(WIDE);
    doh_settle();
    for (int i = 0; i < 5; i++) {
        assert_true(doh.requests[i].is_closed);
        assert_true(doh.requests[i].len > 60000);
    }
    fake_loop_advance(loop, 2 * SESSION_STALL_US);
    assert_int_equal(stats.client_resets_stalled, 0);
}

/* Three queries wait, and a large answer fills the session. */
static void open_with_parked_queries(void)
{
    doh_open(0);
    stub.records = 40;
    stub.rdata_len = 1500;
    for (unsigned i = 0; i < 3; i++)
        doh_ask("slow.example", (uint16_t)(10 + i));
    doh_ask_many("hit.example", 1);
}

static void test_parked_answers_go_to_their_own_requests(void **state)
{
    (void)state;
    open_with_parked_queries();
    for (unsigned i = 0; i < 3; i++)
        stub_answer(true);
    stub.records = 1;
    stub.rdata_len = 4;
    doh_window(WIDE);
    doh_settle();
    while (stub_answer(false))
        continue;
    doh_settle();
    for (unsigned i = 0; i < 3; i++)
        doh_expect_answer(&doh.requests[i], (uint16_t)(10 + i));
}

static void test_parked_queries_that_fail_get_their_own_errors(void **state)
{
    (void)state;
    open_with_parked_queries();
    while (stub_answer(false))
        continue;
    stub.result = RESOLVER_NO_ROUTE;
    doh_window(WIDE);
    doh_settle();
    for (unsigned i = 0; i < 3; i++)
        doh_expect_answer(&doh.requests[i], (uint16_t)(10 + i));
}

/* ---- ends ---- */

/* Waiting queries make the session busy, so the messages behind them wait too. */
static void test_queries_before_a_fin_are_answered_although_the_session_is_busy(void **state)
{
    (void)state;
    doh_open(WIDE);
    for (unsigned i = 0; i < SESSION_IN_FLIGHT_MAX; i++) {
        make_query("slow.example", 0);
        doh_submit(span_of(sent, sent_len));
        doh_settle();
        nghttp2_submit_rst_stream(doh.session, 0, (int32_t)(2 * i + 1), NGHTTP2_CANCEL);
        doh_settle();
    }
    struct doh_request *last = doh_ask("hit.example", 9);
    assert_false(last->is_closed);
    fake_conn_close(doh.dot->conn);
    fake_loop_settle(loop);
    while (stub_answer(false))
        continue;
    fake_loop_advance(loop, US_PER_S);
    doh_settle();
    doh_expect_answer(last, 9);
}

static void test_a_client_that_has_not_asked_may_do_so_in_a_drain(void **state)
{
    (void)state;
    drained = 0;
    doh_open(WIDE);
    server_drain(server, on_drained, NULL);
    doh_settle();
    assert_int_equal(doh.goaways, 1);
    assert_int_equal(doh.last, INT32_MAX);
    fake_loop_advance(loop, 10 * US_PER_S);
    assert_int_equal(drained, 1);
}

/* The last frames leave before the end of TLS. */
static void test_a_drain_right_after_an_answer_ends_in_order(void **state)
{
    (void)state;
    drained = 0;
    doh_open(WIDE);
    doh_expect_answer(doh_ask("hit.example", 1), 1);
    size_t before = doh.dot->records;
    server_drain(server, on_drained, NULL);
    for (int i = 0; i < 10; i++) {
        fake_loop_advance(loop, 1000);
        dot_settle(doh.dot, loop);
    }
    assert_true(doh.dot->records > before);
    assert_true(doh.dot->got_notify);
    assert_false(doh.dot->has_failed);
    fake_loop_advance(loop, 10 * US_PER_S);
    assert_int_equal(drained, 1);
}

static void on_ended(void *context)
{
    (void)context;
}

/* The server goes on with these addresses, but without the one of HTTPS. */
static void test_a_removed_address_asks_its_clients_to_go(void **state)
{
    (void)state;
    static struct server_options next;
    size_t which;
    doh_open(WIDE);
    doh_expect_answer(doh_ask("hit.example", 1), 1);
    next = options;
    next.listen_https_count = 0;
    assert_int_equal(listen_sockets_prepare(sockets, &next, &which), ERR_OK);
    struct listen_share *share = listen_sockets_take(sockets, 0);
    listen_sockets_commit(sockets);
    server_reload(server, &next, &share, quota, on_ended, NULL);
    doh_settle();
    assert_int_equal(doh.goaways, 1);
    assert_int_equal(doh.last, INT32_MAX);
    fake_loop_advance(loop, LISTENER_END_US + US_PER_S);
    assert_true(fake_conn_was_closed(doh.dot->conn));
}

static void test_an_idle_session_ends_with_a_goaway(void **state)
{
    (void)state;
    doh_open(WIDE);
    doh_expect_answer(doh_ask("hit.example", 1), 1);
    fake_loop_advance(loop, options.client_idle_timeout_us + US_PER_S);
    doh_settle();
    assert_int_equal(doh.goaways, 1);
    assert_int_equal(doh.last, 1);
    assert_int_equal(doh.code, NGHTTP2_NO_ERROR);
    assert_true(fake_conn_was_closed(doh.dot->conn));
}

static void test_pings_do_not_keep_a_session(void **state)
{
    (void)state;
    doh_open(WIDE);
    for (unsigned s = 0; s <= options.client_idle_timeout_us / US_PER_S; s++) {
        nghttp2_submit_ping(doh.session, 0, NULL);
        doh_settle();
        fake_loop_advance(loop, US_PER_S);
    }
    assert_true(fake_conn_was_closed(doh.dot->conn));
}

static void test_a_drain_answers_all_queries(void **state)
{
    (void)state;
    drained = 0;
    doh_open(WIDE);
    struct doh_request *slow = doh_ask("slow.example", 1);
    server_drain(server, on_drained, NULL);
    doh_settle();
    assert_true(doh.goaways > 0);
    assert_int_equal(drained, 0);
    stub_answer(false);
    doh_settle();
    doh_expect_answer(slow, 1);
    assert_int_equal(doh.code, NGHTTP2_NO_ERROR);
    fake_loop_advance(loop, 10 * US_PER_S);
    assert_int_equal(drained, 1);
}

static void test_a_half_closed_client_gets_its_answer(void **state)
{
    (void)state;
    doh_open(WIDE);
    struct doh_request *slow = doh_ask("slow.example", 1);
    dot_end(doh.dot);
    doh_settle();
    stub_answer(false);
    dot_settle(doh.dot, loop);
    size_t len = doh.dot->plain_end - doh.dot->plain_start;
    assert_true(len > 0);
    nghttp2_session_mem_recv(doh.session, doh.dot->plain + doh.dot->plain_start, len);
    doh_expect_answer(slow, 1);
    assert_true(closes_within(doh.dot->conn, 10 * US_PER_S));
}

static void test_a_broken_client_is_counted(void **state)
{
    (void)state;
    doh_open(WIDE);
    dot_send(doh.dot, span_of("\0\0\1\4\0\0\0\0\0x", 10));
    doh_settle();
    assert_int_equal(doh.code, NGHTTP2_FRAME_SIZE_ERROR);
    assert_int_equal(stats.http_failed, 1);
    assert_true(fake_conn_was_closed(doh.dot->conn));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DOH_TEST(test_queries_over_https_get_their_answers),
        DOH_TEST(test_queries_with_one_id_keep_their_answers_apart),
        DOH_TEST(test_a_client_that_offers_only_dot_is_refused),
        DOH_TEST(test_a_message_that_is_no_query_gets_status_400),
        DOH_TEST(test_answers_over_https_have_no_idle_time),
        DOH_TEST(test_cancelled_queries_count_until_they_are_answered),
        DOH_TEST(test_a_flood_of_cancelled_requests_ends_the_session),
        DOH_TEST(test_a_client_with_closed_windows_is_reset),
        DOH_TEST(test_a_full_session_goes_on_when_its_requests_are_cancelled),
        DOH_TEST(test_a_full_session_goes_on_when_its_windows_open),
        DOH_TEST(test_parked_answers_go_to_their_own_requests),
        DOH_TEST(test_parked_queries_that_fail_get_their_own_errors),
        DOH_TEST(test_queries_before_a_fin_are_answered_although_the_session_is_busy),
        DOH_TEST(test_a_client_that_has_not_asked_may_do_so_in_a_drain),
        DOH_TEST(test_a_drain_right_after_an_answer_ends_in_order),
        DOH_TEST(test_a_removed_address_asks_its_clients_to_go),
        DOH_TEST(test_an_idle_session_ends_with_a_goaway),
        DOH_TEST(test_pings_do_not_keep_a_session),
        DOH_TEST(test_a_drain_answers_all_queries),
        DOH_TEST(test_a_half_closed_client_gets_its_answer),
        DOH_TEST(test_a_broken_client_is_counted),
    };
    return cmocka_run_group_tests(tests, make_certificate, free_certificate);
}
