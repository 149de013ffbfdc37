/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* A server gets other options and addresses while it serves. */
#include "serve/cookie.h"
#include "serve/listener.h"
#include "serve/session.h"
#include "unit/serve/harness.h"

static struct server_options
    *next; /* the options of the next reload, which frees the previous ones */
static struct addr next_listens[3];
static unsigned ended, drained;

static void on_ended(void *context)
{
    assert_ptr_equal(context, &ended);
    ended++;
}

static void on_drained(void *context)
{
    assert_ptr_equal(context, &drained);
    drained++;
}

/* Copies the current options, for the test to change. */
static void begin_next(void)
{
    next = malloc(sizeof(*next));
    *next = options;
    next->access = prefix_set_new();
}

static void allow(const char *text, enum server_access access)
{
    struct prefix prefix;
    assert_int_equal(prefix_parse(&prefix, text), ERR_OK);
    assert_int_equal(prefix_set_add(next->access, &prefix, (int)access), ERR_OK);
}

static void allow_all(void)
{
    allow("127.0.0.0/8", SERVER_ALLOW);
    allow("::1", SERVER_ALLOW);
}

static void listen_at(const char *first, const char *second)
{
    next->listen = next_listens;
    next->listen_count = 0;
    if (first)
        next_listens[next->listen_count++] = fake_addr(first);
    if (second)
        next_listens[next->listen_count++] = fake_addr(second);
}

/* Reloads, then frees the old options and the old quota, so that a reference to them shows. */
static void reload(void)
{
    size_t which;
    struct prefix_set *old_access = options.access;
    struct server_quota *old_quota = quota;
    static struct server_options *held;
    assert_int_equal(prefix_set_freeze(next->access), ERR_OK);
    quota = server_quota_new(next, old_quota);
    assert_int_equal(listen_sockets_prepare(sockets, next, &which), ERR_OK);
    struct listen_share *share = listen_sockets_take(sockets, 0);
    listen_sockets_commit(sockets);
    ended = 0;
    server_reload(server, next, &share, quota, on_ended, &ended);
    assert_null(share);
    assert_int_equal(server_quota_waiting(old_quota), 0);
    assert_int_equal(server_quota_clients(old_quota), 0);
    server_quota_free(old_quota);
    prefix_set_free(old_access);
    /* at the first reload these are the harness's options */
    memset(&options, 0xee, sizeof(options));
    free(held);
    held = next;
    options = *next;
    next = NULL;
}

static void reload_addresses(const char *first, const char *second)
{
    begin_next();
    allow_all();
    listen_at(first, second);
    reload();
}

static void on_arrived(void *first)
{
    reload_addresses(first, NULL);
}

/* The reload ends in the turn in which the bytes arrive, before the next turn reads them. */
static void reload_before_they_are_read(const char *first)
{
    fake_net_after(net, 0, on_arrived, first, strlen(first) + 1);
    fake_loop_settle(loop);
}

static int setup(void **state)
{
    ended = drained = 0;
    return harness_setup(state);
}

static struct fake_conn *open_client(void)
{
    struct fake_conn *conn = fake_client_tcp_open(net, &here, &me);
    fake_loop_settle(loop);
    return conn;
}

static void make_keepalive_query(const char *name, uint16_t id)
{
    struct canned_query query = {name, id, RRTYPE_A, HEADER_RD, 1232, false, true, false};
    sent_len = canned_query(sent, &query);
}

static void tcp_ask(struct fake_conn *conn, const char *name, uint16_t id)
{
    make_keepalive_query(name, id);
    fake_conn_send_message(conn, span_of(sent, sent_len));
    fake_loop_settle(loop);
}

static bool tcp_got(struct fake_conn *conn)
{
    struct span message;
    fake_loop_settle(loop);
    if (!fake_conn_next_message(conn, &message))
        return false;
    got_message(message);
    return true;
}

/* Returns the idle time in the last answer, in units of 100 ms; -1: none. */
static int told(void)
{
    struct edns_keepalive keepalive;
    return edns_find_keepalive(&got.edns, &keepalive) == EDNS_FOUND ? keepalive.timeout_100ms : -1;
}

static bool udp_is_answered(const char *at)
{
    here = fake_addr(at);
    udp_ask("hit.example", 1);
    return udp_got();
}

/* ---- addresses ---- */

static void test_an_address_that_stays_keeps_its_sessions_and_queries(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client();
    udp_ask("slow.example", 1);
    tcp_ask(conn, "slower.example", 2);
    reload_addresses("::1@53", "127.0.0.1@53"); /* the order changes */
    assert_int_equal(ended, 1);
    stub_answer(false);
    assert_true(udp_got());
    stub_answer(false);
    assert_true(tcp_got(conn));
    tcp_ask(conn, "hit.example", 3);
    assert_true(tcp_got(conn));
    assert_int_equal(told(), 300);
    assert_true(udp_is_answered("127.0.0.1@53"));
}

static void test_a_new_address_begins(void **state)
{
    (void)state;
    reload_addresses("127.0.0.1@53", "127.0.0.2@53");
    assert_true(udp_is_answered("127.0.0.2@53"));
    struct fake_conn *conn = open_client();
    tcp_ask(conn, "hit.example", 1);
    assert_true(tcp_got(conn));
}

static void test_queries_sent_to_an_address_before_its_removal_are_answered(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) { /* the queries wait in the socket */
        make_query("hit.example", (uint16_t)i);
        fake_client_udp_send(net, &here, &me, span_of(sent, sent_len));
    }
    reload_before_they_are_read("::1@53");
    assert_int_equal(ended, 0);
    fake_loop_advance(loop, US_PER_S * 2);
    for (int i = 0; i < 100; i++)
        assert_true(udp_got());
    assert_int_equal(ended, 1);
    assert_false(udp_is_answered("127.0.0.1@53"));
    assert_true((me = fake_addr("::1@4000"), udp_is_answered("::1@53")));
}

static void test_queries_that_wait_at_a_removed_address_are_answered_from_there(void **state)
{
    (void)state;
    struct fake_reply reply;
    struct addr gone = here;
    udp_ask("slow.example", 1);
    reload_addresses("::1@53", NULL);
    fake_loop_advance(loop, 60 * US_PER_S);
    assert_int_equal(ended, 0);
    stub_answer(false);
    fake_loop_settle(loop);
    assert_true(fake_client_udp_next(net, NULL, &reply));
    assert_true(addr_equal(&reply.from, &gone));
    assert_int_equal(ended, 1);
}

static void test_a_waiting_connection_is_accepted_when_the_address_is_removed(void **state)
{
    (void)state;
    struct fake_conn *conn = fake_client_tcp_open(net, &here, &me);
    reload_before_they_are_read("::1@53");
    tcp_ask(conn, "hit.example", 1);
    assert_true(tcp_got(conn));
    assert_int_equal(told(), 0);
    struct fake_conn *late = open_client();
    assert_int_equal(fake_conn_state(late), FAKE_CONN_FAILED);
}

static void test_sessions_of_a_removed_address_are_asked_to_close(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client();
    tcp_ask(conn, "hit.example", 1);
    assert_true(tcp_got(conn));
    assert_int_equal(told(), 300);
    reload_addresses("::1@53", NULL);
    tcp_ask(conn, "hit.example", 2);
    assert_true(tcp_got(conn));
    assert_int_equal(told(), 0);
    assert_false(fake_conn_was_closed(conn)); /* it is the client's turn to close */
    fake_conn_close(conn);
    fake_loop_advance(loop, US_PER_S * 2);
    assert_int_equal(ended, 1);
}

static void test_a_client_without_keepalive_is_asked_to_close_too(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client();
    reload_addresses("::1@53", NULL);
    make_query("hit.example", 2);
    fake_conn_send_message(conn, span_of(sent, sent_len));
    assert_true(tcp_got(conn));
    assert_int_equal(told(), 0);
}

static void test_sessions_that_do_not_close_are_finished(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client(), *waiting = open_client();
    reload_addresses("::1@53", NULL);
    fake_loop_advance(loop, LISTENER_END_US - 2000);
    tcp_ask(conn, "hit.example", 1); /* such sessions are served until they end */
    assert_true(tcp_got(conn));
    tcp_ask(waiting, "slow.example", 2);
    fake_loop_advance(loop, 3000);
    assert_true(fake_conn_was_closed(conn));
    assert_false(fake_conn_was_closed(waiting));
    assert_int_equal(ended, 0);
    stub_answer(false);
    assert_true(tcp_got(waiting));
    fake_loop_advance(loop, US_PER_S);
    assert_true(fake_conn_was_closed(waiting));
    assert_int_equal(ended, 1);
}

static void test_a_second_reload_takes_over(void **state)
{
    (void)state;
    udp_ask("slow.example", 1);
    reload_addresses("::1@53", "127.0.0.2@53");
    fake_loop_advance(loop, 10 * US_PER_S);
    assert_int_equal(ended, 0);
    reload_addresses("127.0.0.2@53", NULL);
    fake_loop_advance(loop, 10 * US_PER_S);
    assert_int_equal(ended, 0); /* the query of the first reload still waits */
    stub_answer(false);
    assert_true(udp_got());
    assert_int_equal(ended, 1);
}

static void test_an_address_may_come_back_before_it_is_gone(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client();
    udp_ask("slow.example", 1);
    reload_addresses("::1@53", NULL);
    reload_addresses("127.0.0.1@53", NULL);
    assert_true(udp_is_answered("127.0.0.1@53"));
    stub_answer(false);
    assert_true(udp_got());
    tcp_ask(open_client(), "hit.example", 1);
    fake_conn_close(conn);
    fake_loop_advance(loop, 10 * US_PER_S);
    assert_int_equal(ended, 1);
    assert_true(udp_is_answered("127.0.0.1@53"));
}

static void test_a_server_may_lose_all_its_addresses(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client();
    reload_addresses(NULL, NULL);
    fake_loop_advance(loop, LISTENER_END_US + US_PER_S);
    assert_true(fake_conn_was_closed(conn));
    assert_int_equal(ended, 1);
    assert_int_equal(fake_net_open_sockets(net), 0);
    reload_addresses("127.0.0.1@53", NULL);
    assert_true(udp_is_answered("127.0.0.1@53"));
}

/* ---- draining and ending meanwhile ---- */

static void test_a_server_drains_while_addresses_go(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client();
    udp_ask("slow.example", 1);
    reload_addresses("::1@53", NULL);
    fake_loop_advance(loop, SESSION_NEW_US);
    server_drain(server, on_drained, &drained);
    fake_loop_advance(loop, 100);
    assert_true(fake_conn_was_closed(conn)); /* it has no query that waits */
    assert_int_equal(drained, 0);
    fake_loop_advance(loop, US_PER_S);
    stub_answer(false);
    assert_true(udp_got());
    fake_loop_advance(loop, UDP_SERVER_END_US);
    assert_int_equal(ended, 1);
    assert_int_equal(drained, 1);
}

static void test_a_reload_while_draining_changes_no_address(void **state)
{
    (void)state;
    udp_ask("slow.example", 1);
    server_drain(server, on_drained, &drained);
    reload_addresses("127.0.0.2@53", NULL);
    assert_int_equal(ended, 1);
    assert_false(udp_is_answered("127.0.0.2@53"));
    assert_true(udp_is_answered("127.0.0.1@53"));
    assert_int_equal(drained, 0);
    stub_answer(false);
    assert_true(udp_got());
    fake_loop_advance(loop, UDP_SERVER_END_US);
    assert_int_equal(drained, 1);
}

static void test_a_server_may_be_freed_while_addresses_go(void **state)
{
    (void)state;
    open_client();
    udp_ask("slow.example", 1);
    fake_client_tcp_open(net, &here, &me);
    reload_before_they_are_read("::1@53");
    harness_end_server();
    assert_int_equal(ended, 0);
    assert_int_equal(stub.leaves, 1);
}

/* ---- the other options ---- */

static void test_the_new_access_list_applies_to_connected_clients(void **state)
{
    (void)state;
    struct fake_conn *allowed = open_client(), *dropped;
    me = fake_addr("127.0.0.10@4000");
    dropped = open_client();
    begin_next();
    allow("127.0.0.9", SERVER_REFUSE);
    allow("127.0.0.10", SERVER_DROP);
    allow("127.0.0.11", SERVER_ALLOW);
    reload();
    tcp_ask(allowed, "hit.example", 1);
    assert_true(tcp_got(allowed));
    assert_int_equal(message_rcode(&got), RCODE_REFUSED);
    assert_int_equal(told(), 0);
    tcp_ask(dropped, "hit.example", 1);
    assert_false(tcp_got(dropped));
    fake_loop_advance(loop, US_PER_S);
    assert_true(fake_conn_was_closed(allowed));
    assert_true(fake_conn_was_closed(dropped));
    me = fake_addr("127.0.0.9@4000");
    udp_ask("hit.example", 1);
    assert_true(udp_got());
    assert_int_equal(message_rcode(&got), RCODE_REFUSED);
    me = fake_addr("127.0.0.11@4000");
    udp_ask("hit.example", 1);
    assert_true(udp_got());
    assert_int_equal(message_rcode(&got), RCODE_NOERROR);
}

static void test_a_formerly_refused_client_may_be_allowed(void **state)
{
    (void)state;
    me = fake_addr("192.0.2.7@4000");
    struct fake_conn *conn = open_client();
    begin_next();
    allow("0.0.0.0/0", SERVER_ALLOW);
    reload();
    tcp_ask(conn, "hit.example", 1);
    assert_true(tcp_got(conn));
    assert_int_equal(message_rcode(&got), RCODE_NOERROR);
    assert_int_equal(told(), 300);
}

/* Idle clients that the new list refuses must give their places to others. */
static void test_newly_refused_clients_leave_their_places_to_allowed_ones(void **state)
{
    (void)state;
    struct fake_conn *refused[SERVER_QUOTA_REFUSED_EACH_MAX + 1];
    for (size_t i = 0; i <= SERVER_QUOTA_REFUSED_EACH_MAX; i++)
        refused[i] = open_client();
    begin_next();
    allow("127.0.0.9", SERVER_REFUSE);
    allow("127.0.0.11", SERVER_ALLOW);
    next->max_clients = 1;
    reload();
    fake_loop_settle(loop);
    /* this client has no place */
    assert_true(fake_conn_was_closed(refused[SERVER_QUOTA_REFUSED_EACH_MAX]));
    assert_int_equal(server_quota_clients(quota), SERVER_QUOTA_REFUSED_EACH_MAX);
    me = fake_addr("127.0.0.11@4000");
    assert_true(fake_conn_is_held(open_client()));
    fake_loop_advance(loop, SESSION_REFUSED_US + US_PER_MS);
    assert_int_equal(server_quota_clients(quota), 1);
}

static void reload_idle(uint64_t timeout_us)
{
    begin_next();
    allow_all();
    next->client_idle_timeout_us = timeout_us;
    reload();
}

static void test_a_shorter_idle_time_holds_from_the_next_query_on(void **state)
{
    (void)state;
    struct fake_conn *idle = open_client(), *asking = open_client();
    reload_idle(5 * US_PER_S);
    tcp_ask(asking, "hit.example", 1);
    assert_true(tcp_got(asking));
    assert_int_equal(told(), 50);
    fake_loop_advance(loop, 20 * US_PER_S);
    assert_false(fake_conn_was_closed(idle)); /* the client has been promised 30 s */
    fake_loop_advance(loop, 11 * US_PER_S);
    assert_true(fake_conn_was_closed(idle));
    assert_true(fake_conn_was_closed(asking));
}

static void test_a_longer_idle_time_holds_from_the_next_query_on(void **state)
{
    (void)state;
    struct fake_conn *idle = open_client(), *asking = open_client();
    reload_idle(90 * US_PER_S);
    tcp_ask(asking, "hit.example", 1);
    assert_true(tcp_got(asking));
    assert_int_equal(told(), 900);
    fake_loop_advance(loop, 31 * US_PER_S);
    assert_true(fake_conn_was_closed(idle));
    fake_loop_advance(loop, 58 * US_PER_S);
    assert_false(fake_conn_was_closed(asking));
    fake_loop_advance(loop, 2 * US_PER_S);
    assert_true(fake_conn_was_closed(asking));
}

static void test_the_largest_datagram_and_the_texts_of_the_server_change(void **state)
{
    (void)state;
    char identity[] = "west-2"; /* the new options borrow this */
    stub.records = 60;
    begin_next();
    allow_all();
    next->max_udp_size = 512;
    next->identity = identity;
    reload();
    udp_ask("hit.example", 1);
    assert_true(udp_got());
    assert_true(got.flags & HEADER_TC);
    assert_int_equal(got.edns.udp_size, 512);
    struct canned_query query = {"id.server", 1, RRTYPE_TXT, HEADER_RD, 1232, false, false, false};
    sent_len = canned_query(sent, &query);
    sent[sent_len - 11 - 1] = RRCLASS_CH; /* the class is just before the OPT record */
    udp_send_from(&me);
    assert_true(udp_got());
    assert_int_equal(message_rcode(&got), RCODE_NOERROR);
    assert_int_equal(got.counts[SECTION_ANSWER], 1);
    begin_next();
    allow_all();
    next->identity = NULL;
    reload();
    udp_send_from(&me);
    assert_true(udp_got());
    assert_int_equal(message_rcode(&got), RCODE_REFUSED);
}

/* ---- bounds ---- */

static void test_taken_places_count_under_the_new_bounds(void **state)
{
    (void)state;
    struct fake_conn *first = open_client();
    for (int i = 0; i < 9; i++)
        open_client();
    for (uint16_t i = 0; i < 5; i++)
        udp_ask("slow.example", i);
    tcp_ask(first, "slow.example", 6);
    fake_conn_close(first); /* its query has no client now */
    fake_loop_advance(loop, SESSION_QUIET_US);
    begin_next();
    allow_all();
    next->max_clients = 5;
    next->max_clients_per_address = 5;
    next->max_waiting = 3;
    next->max_waiting_per_client = 3;
    next->client_prefix_v4 = 24;
    reload();
    assert_int_equal(server_quota_clients(quota), 10); /* no client has to leave */
    assert_int_equal(server_quota_waiting(quota), 6);
    assert_true(fake_conn_was_closed(open_client()));
    udp_ask("slow.example", 7);
    assert_true(udp_got());
    assert_int_equal(message_rcode(&got), RCODE_SERVFAIL);
    for (int i = 0; i < 4; i++)
        stub_answer(false);
    fake_loop_settle(loop);
    while (udp_got())
        continue;
    udp_ask("slow.example", 8);
    assert_false(udp_got());
    assert_int_equal(server_quota_waiting(quota), 3);
    while (stub_answer(false))
        continue;
}

static void test_higher_bounds_let_more_in(void **state)
{
    (void)state;
    begin_next();
    allow_all();
    next->max_clients = next->max_clients_per_address = 1;
    reload();
    open_client();
    assert_true(fake_conn_was_closed(open_client()));
    begin_next();
    allow_all();
    next->max_clients = next->max_clients_per_address = 200;
    reload();
    for (int i = 0; i < 199; i++)
        assert_false(fake_conn_was_closed(open_client()));
    assert_true(fake_conn_was_closed(open_client()));
}

static unsigned ask_often(unsigned times)
{
    unsigned answers = 0;
    while (times--) {
        udp_ask("hit.example", 1);
        answers += udp_got();
    }
    return answers;
}

static void reload_rate(uint32_t queries_per_second, uint32_t clients)
{
    begin_next();
    allow_all();
    next->rate_limit_qps = queries_per_second;
    next->rate_limit_slip = 0;
    next->rate_limit_clients = clients;
    reload();
}

static void test_a_rate_limit_can_be_set_changed_and_taken_away(void **state)
{
    (void)state;
    assert_int_equal(ask_often(50), 50);
    reload_rate(20, 1024);
    assert_int_equal(ask_often(50), 20);
    reload_rate(20, 1024); /* the reload does not begin a new second */
    assert_int_equal(ask_often(50), 0);
    fake_loop_advance(loop, US_PER_S / 2);
    reload_rate(40, 1024); /* half of this second's queries are used */
    assert_int_equal(ask_often(50), 20);
    reload_rate(40, 4096); /* a table of another size starts empty */
    assert_int_equal(ask_often(50), 40);
    reload_rate(0, 4096);
    assert_int_equal(ask_often(50), 50);
}

/* ---- cookies ---- */

static uint8_t cookie[COOKIE_BYTES];

static void set_secrets(struct server_options *of, uint8_t first, uint8_t second)
{
    of->cookie_secrets = (struct cookie_secrets){.count = first ? 1 + (second > 0) : 0};
    memset(of->cookie_secrets.list[0], first, SIPHASH_KEY_BYTES);
    memset(of->cookie_secrets.list[1], second, SIPHASH_KEY_BYTES);
}

static void reload_secrets(uint8_t first, uint8_t second)
{
    begin_next();
    allow_all();
    set_secrets(next, first, second);
    reload();
}

/* Asks with len bytes of the cookie, and keeps the reply's cookie. Returns true if the server
 * accepted it. */
static bool ask_with_cookie(uint16_t len)
{
    uint8_t wire[NAME_WIRE_MAX];
    uint64_t valid = stats.cookies_valid;
    struct question question = canned_question("hit.example", RRTYPE_A, wire);
    struct edns_cookie back;
    struct build build;
    build_init(&build, sent, 512);
    build_header(&build, 7, HEADER_RD);
    build_question(&build, &question);
    build_opt_begin(&build, 1232, 0, 0, false);
    build_option(&build, EDNS_COOKIE, cookie, len);
    build_opt_end(&build);
    sent_len = build_finish(&build);
    udp_send_from(&me);
    assert_true(udp_got());
    assert_int_equal(edns_find_cookie(&got.edns, &back), EDNS_FOUND);
    memcpy(cookie + COOKIE_CLIENT_BYTES, back.server.data, COOKIE_SERVER_BYTES);
    return stats.cookies_valid > valid;
}

static void test_cookies_live_on_as_long_as_their_secret(void **state)
{
    (void)state;
    ask_with_cookie(COOKIE_CLIENT_BYTES);
    assert_true(ask_with_cookie(COOKIE_BYTES));
    reload_secrets(0, 0); /* secrets that the process makes, before and after the reload */
    assert_true(ask_with_cookie(COOKIE_BYTES));
    reload_secrets(1, 0);
    assert_false(ask_with_cookie(COOKIE_BYTES));
    assert_true(ask_with_cookie(COOKIE_BYTES));
    reload_secrets(2, 1); /* the new secret comes first */
    assert_true(ask_with_cookie(COOKIE_BYTES));
    reload_secrets(3, 0); /* an answer may still carry a cookie of the old secret */
    assert_false(ask_with_cookie(COOKIE_BYTES));
    reload_secrets(0, 0);
    assert_false(ask_with_cookie(COOKIE_BYTES));
    assert_true(ask_with_cookie(COOKIE_BYTES));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, harness_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_an_address_that_stays_keeps_its_sessions_and_queries),
        TEST(test_a_new_address_begins),
        TEST(test_queries_sent_to_an_address_before_its_removal_are_answered),
        TEST(test_queries_that_wait_at_a_removed_address_are_answered_from_there),
        TEST(test_a_waiting_connection_is_accepted_when_the_address_is_removed),
        TEST(test_sessions_of_a_removed_address_are_asked_to_close),
        TEST(test_a_client_without_keepalive_is_asked_to_close_too),
        TEST(test_sessions_that_do_not_close_are_finished),
        TEST(test_a_second_reload_takes_over),
        TEST(test_an_address_may_come_back_before_it_is_gone),
        TEST(test_a_server_may_lose_all_its_addresses),
        TEST(test_a_server_drains_while_addresses_go),
        TEST(test_a_reload_while_draining_changes_no_address),
        TEST(test_a_server_may_be_freed_while_addresses_go),
        TEST(test_the_new_access_list_applies_to_connected_clients),
        TEST(test_a_formerly_refused_client_may_be_allowed),
        TEST(test_newly_refused_clients_leave_their_places_to_allowed_ones),
        TEST(test_a_shorter_idle_time_holds_from_the_next_query_on),
        TEST(test_a_longer_idle_time_holds_from_the_next_query_on),
        TEST(test_the_largest_datagram_and_the_texts_of_the_server_change),
        TEST(test_taken_places_count_under_the_new_bounds),
        TEST(test_higher_bounds_let_more_in),
        TEST(test_a_rate_limit_can_be_set_changed_and_taken_away),
        TEST(test_cookies_live_on_as_long_as_their_secret),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
