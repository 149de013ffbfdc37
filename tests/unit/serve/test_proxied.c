/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Clients behind proxies, over UDP, TCP and TLS. Some hosts only pretend to be proxies. */
#include "unit/serve/harness_tls.h"
#include "unit/serve/proxied.h"

#include "base/prefix.h"
#include "serve/proxy_header.h"

static struct prefix_set *proxies;
static struct addr proxy; /* 127.0.0.77 */
static uint8_t wire[PROXY_HEADER_MAX + 4096];
static size_t wire_len;

static void open_proxied(enum server_proxy_tls where)
{
    struct prefix prefix;
    begin();
    proxy = fake_addr("127.0.0.77@6000");
    proxies = prefix_set_new();
    assert_int_equal(prefix_parse(&prefix, "127.0.0.77"), ERR_OK);
    assert_int_equal(prefix_set_add(proxies, &prefix, 0), ERR_OK);
    assert_int_equal(prefix_set_freeze(proxies), ERR_OK);
    options.proxies = proxies;
    options.proxy_tls = where;
    harness_access("203.0.113.0/24", SERVER_ALLOW);
    harness_access("203.0.113.66", SERVER_REFUSE);
    harness_access("127.0.0.77", SERVER_REFUSE);
    open_server();
}

static int setup_outside(void **state)
{
    (void)state;
    open_proxied(PROXY_OUTSIDE_TLS);
    return 0;
}

static int setup_inside(void **state)
{
    (void)state;
    open_proxied(PROXY_INSIDE_TLS);
    return 0;
}

static int end(void **state)
{
    int result = teardown(state);
    prefix_set_free(proxies);
    return result;
}

/* ---- headers and queries ---- */

static void put_header_of(const char *client)
{
    wire_len = proxied_header(wire, 0x21, 0x12, client, "198.51.100.1@53", 0);
}

static void put_local(void)
{
    wire_len = proxied_header(wire, 0x20, 0x00, NULL, NULL, 0);
}

static void put_query(const char *name, uint16_t id)
{
    make_query(name, id);
    memcpy(wire + wire_len, sent, sent_len);
    wire_len += sent_len;
}

static void put_framed(const char *name, uint16_t id)
{
    make_query(name, id);
    put_u16(wire + wire_len, (uint16_t)sent_len);
    memcpy(wire + wire_len + 2, sent, sent_len);
    wire_len += 2 + sent_len;
}

static void send_datagram(const struct addr *from)
{
    fake_client_udp_send(net, &here, from, span_of(wire, wire_len));
    fake_loop_settle(loop);
}

/* ---- datagrams ---- */

static void test_the_answer_leaves_to_the_proxy(void **state)
{
    (void)state;
    struct fake_reply reply;
    put_header_of("203.0.113.5@4711");
    put_query("hit.example", 7);
    send_datagram(&proxy);
    assert_true(fake_client_udp_next(net, NULL, &reply));
    assert_true(addr_equal(&reply.to, &proxy));
    got_message(reply.datagram);
    assert_int_equal(got.id, 7);
    assert_int_equal(message_rcode(&got), RCODE_NOERROR);
    assert_int_equal(stats.proxy_accepted, 1);
}

static void test_a_late_answer_leaves_to_the_proxy(void **state)
{
    (void)state;
    struct fake_reply reply;
    put_header_of("203.0.113.5@4711");
    put_query("miss.example", 8);
    send_datagram(&proxy);
    assert_false(fake_client_udp_next(net, NULL, &reply));
    assert_true(stub_answer(true));
    fake_loop_settle(loop);
    assert_true(fake_client_udp_next(net, NULL, &reply));
    assert_true(addr_equal(&reply.to, &proxy));
}

/* Each datagram of a batch has its own header. */
static void test_neighbours_behind_one_proxy_do_not_mix(void **state)
{
    (void)state;
    static const char *const from[] = {"203.0.113.5@1", "203.0.113.66@2", "192.0.2.66@3"};
    for (uint16_t i = 0; i < 60; i++) {
        put_header_of(from[i % 3]);
        put_query("hit.example", i);
        fake_client_udp_send(net, &here, &proxy, span_of(wire, wire_len));
    }
    fake_loop_settle(loop);
    for (uint16_t i = 0; i < 60; i++) {
        if (i % 3 == 2) /* the access list drops this client */
            continue;
        assert_true(udp_got());
        assert_int_equal(got.id, i);
        assert_int_equal(message_rcode(&got), i % 3 ? RCODE_REFUSED : RCODE_NOERROR);
    }
    assert_false(udp_got());
    assert_int_equal(stats.dropped_acl, 20);
}

static void test_the_client_takes_the_places_and_not_the_proxy(void **state)
{
    (void)state;
    put_header_of("203.0.113.5@4711");
    put_query("miss.example", 8);
    send_datagram(&proxy);
    struct addr client = fake_addr("203.0.113.5@1");
    assert_int_equal(server_quota_waiting_of(quota, server_quota_client(quota, &client)), 1);
    assert_int_equal(server_quota_waiting_of(quota, server_quota_client(quota, &proxy)), 0);
    assert_true(stub_answer(true));
    fake_loop_settle(loop);
}

/* The proxy may use the same port and id for two clients. */
static void test_two_clients_are_no_repeat(void **state)
{
    (void)state;
    put_header_of("203.0.113.5@4711");
    put_query("miss.example", 8);
    send_datagram(&proxy);
    put_header_of("203.0.113.6@4711");
    put_query("miss.example", 8);
    send_datagram(&proxy);
    assert_int_equal(server_quota_waiting(quota), 2);
    send_datagram(&proxy); /* this query is a repeat */
    assert_int_equal(server_quota_waiting(quota), 2);
    assert_int_equal(stats.dropped_repeat, 1);
    while (stub_answer(true))
        continue;
    fake_loop_settle(loop);
}

/* Two proxies send the same client's query, and each expects an answer. */
static void test_two_proxies_are_no_repeat(void **state)
{
    (void)state;
    struct addr other = fake_addr("127.0.0.77@6001");
    put_header_of("203.0.113.5@4711");
    put_query("miss.example", 8);
    send_datagram(&proxy);
    send_datagram(&other);
    assert_int_equal(server_quota_waiting(quota), 2);
    while (stub_answer(true))
        continue;
    fake_loop_settle(loop);
}

static void test_local_makes_the_proxy_the_client(void **state)
{
    (void)state;
    put_local();
    put_query("hit.example", 9);
    send_datagram(&proxy);
    assert_true(udp_got());
    /* the access list refuses the proxy itself */
    assert_int_equal(message_rcode(&got), RCODE_REFUSED);
}

static void test_a_proxy_without_a_header_gets_nothing(void **state)
{
    (void)state;
    wire_len = 0;
    put_query("hit.example", 9);
    send_datagram(&proxy);
    assert_false(udp_got());
    assert_int_equal(stats.proxy_absent, 1);
    assert_int_equal(stub.finds, 0);
}

static void test_a_malformed_header_gets_nothing(void **state)
{
    (void)state;
    put_header_of("203.0.113.5@4711");
    put_query("hit.example", 9);
    for (size_t i = 0; i < 28; i++) { /* cut headers */
        fake_client_udp_send(net, &here, &proxy, span_of(wire, i));
        fake_loop_settle(loop);
    }
    assert_int_equal(stats.proxy_malformed, 28);
    wire[13] = 0x00; /* a proxy whose client is unknown must not become the client */
    send_datagram(&proxy);
    wire[13] = 0x31;
    send_datagram(&proxy);
    wire[13] = 0x12;
    wire[12] = 0x22;
    send_datagram(&proxy);
    wire_len = proxied_header(wire, 0x21, 0x12, "203.0.113.5@4711", "198.51.100.1@53",
                              PROXY_HEADER_MAX - 27);
    put_query("hit.example", 9);
    send_datagram(&proxy);
    assert_int_equal(stats.proxy_malformed, 32);
    assert_int_equal(stats.proxy_accepted, 0);
    assert_false(udp_got());
}

static void test_a_header_of_another_client_is_malformed(void **state)
{
    (void)state;
    put_header_of("203.0.113.5@4711");
    put_query("hit.example", 9);
    send_datagram(&me);
    assert_false(udp_got());
    assert_int_equal(stats.dropped_malformed, 1);
    assert_int_equal(stats.proxy_accepted, 0);
}

static void test_a_second_header_is_malformed(void **state)
{
    (void)state;
    put_header_of("203.0.113.5@4711");
    memmove(wire + wire_len, wire, wire_len);
    wire_len *= 2;
    put_query("hit.example", 9);
    send_datagram(&proxy);
    assert_false(udp_got());
    assert_int_equal(stats.dropped_malformed, 1);
}

static void test_a_header_alone_is_dropped(void **state)
{
    (void)state;
    put_header_of("203.0.113.5@4711");
    send_datagram(&proxy);
    assert_false(udp_got());
    assert_int_equal(stats.dropped_malformed, 1);
}

static void test_other_clients_need_no_header(void **state)
{
    (void)state;
    udp_ask("hit.example", 3);
    assert_true(udp_got());
    assert_int_equal(message_rcode(&got), RCODE_NOERROR);
}

/* ---- connections ---- */

static struct fake_conn *open_tcp(const char *from)
{
    struct addr client = fake_addr(from);
    struct fake_conn *conn = fake_client_tcp_open(net, &here, &client);
    fake_loop_settle(loop);
    return conn;
}

static struct fake_conn *send_stream(const char *from, size_t piece)
{
    struct fake_conn *conn = open_tcp(from);
    fake_conn_send_pieces(conn, span_of(wire, wire_len), piece, 0);
    fake_loop_settle(loop);
    return conn;
}

static void expect_tcp(struct fake_conn *conn, uint16_t id, int rcode)
{
    struct span message;
    fake_loop_settle(loop);
    assert_true(fake_conn_next_message(conn, &message));
    got_message(message);
    assert_int_equal(got.id, id);
    assert_int_equal(message_rcode(&got), rcode);
}

static void test_a_stream_belongs_to_its_client(void **state)
{
    (void)state;
    for (size_t piece = 1; piece < 80; piece += 13) {
        put_header_of("203.0.113.5@4711");
        put_framed("hit.example", 1);
        put_framed("hit.example", 2);
        struct fake_conn *conn = send_stream("127.0.0.77@6000", piece);
        expect_tcp(conn, 1, RCODE_NOERROR);
        expect_tcp(conn, 2, RCODE_NOERROR);
        assert_int_equal(server_quota_clients(quota), 1);
        fake_conn_close(conn);
        fake_loop_settle(loop);
        assert_int_equal(server_quota_clients(quota), 0);
    }
}

static void test_a_refused_client_gets_one_refused(void **state)
{
    (void)state;
    put_header_of("203.0.113.66@4711");
    put_framed("hit.example", 1);
    struct fake_conn *conn = send_stream("127.0.0.77@6000", 100);
    expect_tcp(conn, 1, RCODE_REFUSED);
    assert_true(closes_within(conn, SESSION_LINGER_US));
}

static void test_a_dropped_client_is_closed(void **state)
{
    (void)state;
    put_header_of("192.0.2.66@4711");
    put_framed("hit.example", 1);
    struct fake_conn *conn = send_stream("127.0.0.77@6000", 100);
    assert_true(fake_conn_was_closed(conn));
    assert_int_equal(fake_conn_received(conn).len, 0);
    assert_int_equal(stats.clients_refused_acl, 1);
}

static void test_a_slow_header_has_a_deadline(void **state)
{
    (void)state;
    put_header_of("203.0.113.5@4711");
    struct fake_conn *conn = open_tcp("127.0.0.77@6000");
    fake_conn_send_pieces(conn, span_of(wire, wire_len), 1, 100 * US_PER_MS);
    assert_false(closes_within(conn, SESSION_HEADER_US - 1000));
    assert_int_equal(server_quota_clients(quota), 1);
    assert_true(closes_within(conn, 2000));
    assert_int_equal(stats.proxy_late, 1);
    assert_int_equal(server_quota_clients(quota), 0);
}

static void test_a_silent_proxy_is_closed(void **state)
{
    (void)state;
    struct fake_conn *conn = open_tcp("127.0.0.77@6000");
    assert_false(closes_within(conn, SESSION_HEADER_US - 1000));
    assert_true(closes_within(conn, 2000));
    assert_int_equal(stats.proxy_late, 1);
}

static void test_a_header_that_ends_early_is_refused(void **state)
{
    (void)state;
    put_header_of("203.0.113.5@4711");
    wire_len = 20;
    struct fake_conn *conn = send_stream("127.0.0.77@6000", 100);
    fake_conn_close(conn);
    fake_loop_settle(loop);
    assert_int_equal(stats.proxy_malformed, 1);
    conn = open_tcp("127.0.0.77@6000");
    fake_conn_reset(conn);
    fake_loop_settle(loop);
    assert_int_equal(stats.proxy_malformed, 2);
}

static void test_a_stream_without_a_header_is_closed(void **state)
{
    (void)state;
    wire_len = 0;
    put_framed("hit.example", 1);
    struct fake_conn *conn = send_stream("127.0.0.77@6000", 100);
    assert_true(fake_conn_was_closed(conn));
    assert_int_equal(fake_conn_received(conn).len, 0);
    assert_int_equal(stats.proxy_absent, 1);
}

static void test_a_huge_header_is_refused_at_once(void **state)
{
    (void)state;
    put_header_of("203.0.113.5@4711");
    put_u16(wire + 14, 65535);
    struct fake_conn *conn = send_stream("127.0.0.77@6000", 100);
    assert_true(fake_conn_was_closed(conn));
    assert_int_equal(stats.proxy_malformed, 1);
}

static void test_a_stream_with_two_headers_is_closed(void **state)
{
    (void)state;
    put_header_of("203.0.113.5@4711");
    memmove(wire + wire_len, wire, wire_len);
    wire_len *= 2;
    struct fake_conn *conn = send_stream("127.0.0.77@6000", 100);
    assert_true(fake_conn_was_closed(conn));
    assert_int_equal(stats.proxy_malformed, 1);
}

/* The header's first bytes announce a long DNS query, which never comes. */
static void test_another_client_with_a_header_gets_no_answer(void **state)
{
    (void)state;
    put_header_of("203.0.113.5@4711");
    put_framed("hit.example", 1);
    struct fake_conn *conn = send_stream("127.0.0.9@4000", 100);
    assert_int_equal(fake_conn_received(conn).len, 0);
    assert_true(closes_within(conn, 31 * US_PER_S));
    assert_int_equal(fake_conn_received(conn).len, 0);
    assert_int_equal(stats.proxy_accepted, 0);
}

static void test_a_local_stream_belongs_to_the_proxy(void **state)
{
    (void)state;
    put_local();
    put_framed("hit.example", 1);
    expect_tcp(send_stream("127.0.0.77@6000", 5), 1, RCODE_REFUSED);
}

static void test_each_client_has_its_own_bound(void **state)
{
    (void)state;
    struct fake_conn *conns[60];
    for (unsigned i = 0; i < 60; i++) { /* more than max_clients_per_address, which is 50 */
        put_header_of(i < 50 ? "203.0.113.5@4711" : "203.0.113.6@4711");
        put_framed("hit.example", 1);
        conns[i] = send_stream("127.0.0.77@6000", 100);
        expect_tcp(conns[i], 1, RCODE_NOERROR);
    }
    assert_int_equal(server_quota_clients(quota), 60);
    put_header_of("203.0.113.5@4711");
    struct fake_conn *conn = send_stream("127.0.0.77@6000", 100);
    assert_true(fake_conn_was_closed(conn));
    assert_int_equal(stats.clients_refused_full, 1);
}

static void test_headers_that_never_come_take_no_places_of_clients(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 150; i++) /* more than max_clients, which is 100 */
        open_tcp("127.0.0.77@6000");
    assert_int_equal(server_quota_clients(quota), 150);
    put_header_of("203.0.113.5@4711");
    put_framed("hit.example", 1);
    expect_tcp(send_stream("127.0.0.77@6000", 100), 1, RCODE_NOERROR);
    fake_loop_advance(loop, SESSION_HEADER_US + 2000);
    assert_int_equal(server_quota_clients(quota), 1);
}

/* ---- TLS ---- */

static void test_tls_follows_the_header(void **state)
{
    (void)state;
    struct dot_client *client = begin_client("127.0.0.77@6000", 0, NULL);
    put_header_of("203.0.113.5@4711");
    fake_conn_send_pieces(client->conn, span_of(wire, wire_len), 9, 0);
    fake_loop_settle(loop);
    dot_settle(client, loop);
    assert_true(client->is_secured);
    tls_ask(client, "hit.example", 4);
    assert_true(tls_got(client));
    assert_int_equal(got.id, 4);
    assert_int_equal(stats.proxy_accepted, 1);
}

/* One read brings the header and the start of the handshake. */
static void test_the_handshake_may_come_with_the_header(void **state)
{
    (void)state;
    struct dot_client *client = begin_client("127.0.0.77@6000", 0, NULL);
    char *hello;
    SSL_do_handshake(client->ssl);
    long len = BIO_get_mem_data(SSL_get_wbio(client->ssl), &hello);
    put_header_of("203.0.113.5@4711");
    memcpy(wire + wire_len, hello, (size_t)len);
    wire_len += (size_t)len;
    BIO_reset(SSL_get_wbio(client->ssl));
    fake_conn_send(client->conn, span_of(wire, wire_len));
    fake_loop_settle(loop);
    dot_settle(client, loop);
    assert_true(client->is_secured);
    tls_ask(client, "hit.example", 4);
    assert_true(tls_got(client));
}

/* Many handshakes behind headers wait for their turns, as others do. */
static void test_handshakes_behind_headers_wait_for_their_turns(void **state)
{
    (void)state;
    struct dot_client *many[CLIENTS_MAX];
    for (unsigned i = 0; i < CLIENTS_MAX; i++)
        many[i] = begin_client("127.0.0.77@6000", 0, NULL);
    for (unsigned i = 0; i < CLIENTS_MAX; i++) { /* all in one turn */
        char *hello;
        SSL_do_handshake(many[i]->ssl);
        long len = BIO_get_mem_data(SSL_get_wbio(many[i]->ssl), &hello);
        put_header_of("203.0.113.5@4711");
        memcpy(wire + wire_len, hello, (size_t)len);
        BIO_reset(SSL_get_wbio(many[i]->ssl));
        fake_conn_send(many[i]->conn, span_of(wire, wire_len + (size_t)len));
    }
    fake_loop_settle(loop);
    for (unsigned i = 0; i < CLIENTS_MAX; i++) {
        dot_settle(many[i], loop);
        assert_true(many[i]->is_secured);
        tls_ask(many[i], "hit.example", (uint16_t)i);
        assert_true(tls_got(many[i]));
    }
    assert_true(stats.client_tls_waited > 0);
}

static void test_tls_without_a_header_is_closed(void **state)
{
    (void)state;
    struct dot_client *client = begin_client("127.0.0.77@6000", 0, NULL);
    dot_settle(client, loop);
    assert_false(client->is_secured);
    assert_true(fake_conn_was_closed(client->conn));
    assert_int_equal(stats.proxy_absent, 1);
}

static void test_a_refused_client_gets_no_handshake(void **state)
{
    (void)state;
    struct dot_client *client = begin_client("127.0.0.77@6000", 0, NULL);
    put_header_of("203.0.113.66@4711");
    fake_conn_send(client->conn, span_of(wire, wire_len));
    fake_loop_settle(loop);
    assert_true(fake_conn_was_closed(client->conn));
    assert_int_equal(stats.clients_refused_acl, 1);
    assert_int_equal(stats.client_tls_full, 0);
}

static void test_the_header_is_inside_tls(void **state)
{
    (void)state;
    struct dot_client *client = begin_client("127.0.0.77@6000", 0, NULL);
    dot_settle(client, loop);
    assert_true(client->is_secured);
    put_header_of("203.0.113.5@4711");
    put_framed("hit.example", 4);
    dot_send(client, span_of(wire, 11)); /* the header comes in two records */
    dot_send(client, span_of(wire + 11, wire_len - 11));
    assert_true(tls_got(client));
    assert_int_equal(got.id, 4);
    assert_int_equal(message_rcode(&got), RCODE_NOERROR);
    tls_ask(client, "hit.example", 5);
    assert_true(tls_got(client));
}

static void test_a_header_inside_tls_has_a_deadline(void **state)
{
    (void)state;
    struct dot_client *client = begin_client("127.0.0.77@6000", 0, NULL);
    dot_settle(client, loop);
    assert_true(client->is_secured);
    assert_false(closes_within(client->conn, SESSION_HEADER_US - 1000));
    assert_true(closes_within(client->conn, 2000));
    assert_int_equal(stats.proxy_late, 1);
}

static void test_a_query_inside_tls_without_a_header_gets_nothing(void **state)
{
    (void)state;
    struct dot_client *client = begin_client("127.0.0.77@6000", 0, NULL);
    dot_settle(client, loop);
    tls_ask(client, "hit.example", 4);
    assert_false(tls_got(client));
    assert_int_equal(stats.proxy_absent, 1);
    assert_int_equal(stub.finds, 0);
}

/* A header outside TLS, where the handshake is expected, is not a handshake. */
static void test_a_header_on_the_wrong_side_of_tls_is_refused(void **state)
{
    (void)state;
    struct dot_client *client = begin_client("127.0.0.77@6000", 0, NULL);
    put_header_of("203.0.113.5@4711");
    fake_conn_send(client->conn, span_of(wire, wire_len));
    fake_loop_settle(loop);
    assert_true(fake_conn_was_closed(client->conn));
    assert_int_equal(stats.client_tls_failed, 1);
}

/* ---- reloads ---- */

static void note_ended(void *context)
{
    *(bool *)context = true;
}

static struct prefix_set *set_of(const char *text, int number)
{
    struct prefix prefix;
    struct prefix_set *set = prefix_set_new();
    assert_int_equal(prefix_parse(&prefix, text), ERR_OK);
    assert_int_equal(prefix_set_add(set, &prefix, number), ERR_OK);
    assert_int_equal(prefix_set_freeze(set), ERR_OK);
    return set;
}

static void reload_to(const struct server_options *next)
{
    struct server_quota *before = quota;
    size_t which;
    bool has_ended = false;
    quota = server_quota_new(next, before);
    assert_int_equal(listen_sockets_prepare(sockets, next, &which), ERR_OK);
    struct listen_share *share = listen_sockets_take(sockets, 0);
    listen_sockets_commit(sockets);
    server_reload(server, next, &share, quota, note_ended, &has_ended);
    assert_true(has_ended);
    server_quota_free(before);
}

/* The views from before the reload are gone, with their configuration. */
static void test_a_header_after_a_reload_is_judged_by_the_new_views(void **state)
{
    (void)state;
    struct server_options next = options;
    struct server_view view = {.name = "few", .access = set_of("203.0.113.5", SERVER_REFUSE)};
    struct server_view_listener listener = {.views = set_of("203.0.113.5", 1)};
    struct fake_conn *conn = open_tcp("127.0.0.77@6000");
    next.views = &view;
    next.view_count = 1;
    next.view_listeners = &listener;
    next.view_listener_count = 1;
    reload_to(&next);
    put_header_of("203.0.113.5@4711");
    put_framed("hit.example", 1);
    fake_conn_send(conn, span_of(wire, wire_len));
    expect_tcp(conn, 1, RCODE_REFUSED);
    reload_to(&options);
    prefix_set_free(view.access);
    prefix_set_free(listener.views);
}

/* The place of a connection's header is decided when the connection is accepted. */
static void test_a_handshake_after_a_reload_has_its_deadline(void **state)
{
    (void)state;
    struct server_options next = options;
    struct fake_conn *conn = connect_from("127.0.0.77@6000");
    next.proxy_tls = PROXY_INSIDE_TLS;
    reload_to(&next);
    put_header_of("203.0.113.5@4711");
    fake_conn_send(conn, span_of(wire, wire_len));
    fake_loop_settle(loop);
    assert_false(closes_within(conn, SESSION_SECURE_US - 1000));
    assert_true(closes_within(conn, 2000));
    assert_int_equal(stats.client_tls_timeout, 1);
    reload_to(&options);
}

static void test_a_header_inside_tls_after_a_reload_opens_the_session(void **state)
{
    (void)state;
    struct server_options next = options;
    struct dot_client *client = begin_client("127.0.0.77@6000", 0, NULL);
    dot_settle(client, loop);
    assert_true(client->is_secured);
    next.proxy_tls = PROXY_OUTSIDE_TLS;
    reload_to(&next);
    put_header_of("203.0.113.5@4711");
    dot_send(client, span_of(wire, wire_len));
    dot_settle(client, loop);
    assert_false(closes_within(client->conn, SESSION_SECURE_US + 1000));
    tls_ask(client, "hit.example", 4);
    assert_true(tls_got(client));
    reload_to(&options);
}

/* ---- ends ---- */

static void note_drained(void *context)
{
    *(bool *)context = true;
}

static void test_a_drain_waits_for_no_header(void **state)
{
    (void)state;
    struct fake_conn *conn = open_tcp("127.0.0.77@6000");
    bool has_drained = false;
    server_drain(server, note_drained, &has_drained);
    assert_false(has_drained);
    assert_true(closes_within(conn, SESSION_HEADER_US));
    fake_loop_advance(loop, SERVER_LAST_US);
    assert_true(has_drained);
}

#define OUTSIDE(name) cmocka_unit_test_setup_teardown(name, setup_outside, end)
#define INSIDE(name) cmocka_unit_test_setup_teardown(name, setup_inside, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        OUTSIDE(test_the_answer_leaves_to_the_proxy),
        OUTSIDE(test_a_late_answer_leaves_to_the_proxy),
        OUTSIDE(test_neighbours_behind_one_proxy_do_not_mix),
        OUTSIDE(test_the_client_takes_the_places_and_not_the_proxy),
        OUTSIDE(test_two_clients_are_no_repeat),
        OUTSIDE(test_two_proxies_are_no_repeat),
        OUTSIDE(test_local_makes_the_proxy_the_client),
        OUTSIDE(test_a_proxy_without_a_header_gets_nothing),
        OUTSIDE(test_a_malformed_header_gets_nothing),
        OUTSIDE(test_a_header_of_another_client_is_malformed),
        OUTSIDE(test_a_second_header_is_malformed),
        OUTSIDE(test_a_header_alone_is_dropped),
        OUTSIDE(test_other_clients_need_no_header),
        OUTSIDE(test_a_stream_belongs_to_its_client),
        OUTSIDE(test_a_refused_client_gets_one_refused),
        OUTSIDE(test_a_dropped_client_is_closed),
        OUTSIDE(test_a_slow_header_has_a_deadline),
        OUTSIDE(test_a_silent_proxy_is_closed),
        OUTSIDE(test_a_header_that_ends_early_is_refused),
        OUTSIDE(test_a_stream_without_a_header_is_closed),
        OUTSIDE(test_a_header_after_a_reload_is_judged_by_the_new_views),
        OUTSIDE(test_a_handshake_after_a_reload_has_its_deadline),
        INSIDE(test_a_header_inside_tls_after_a_reload_opens_the_session),
        OUTSIDE(test_a_huge_header_is_refused_at_once),
        OUTSIDE(test_a_stream_with_two_headers_is_closed),
        OUTSIDE(test_another_client_with_a_header_gets_no_answer),
        OUTSIDE(test_a_local_stream_belongs_to_the_proxy),
        OUTSIDE(test_each_client_has_its_own_bound),
        OUTSIDE(test_headers_that_never_come_take_no_places_of_clients),
        OUTSIDE(test_tls_follows_the_header),
        OUTSIDE(test_the_handshake_may_come_with_the_header),
        OUTSIDE(test_handshakes_behind_headers_wait_for_their_turns),
        OUTSIDE(test_tls_without_a_header_is_closed),
        OUTSIDE(test_a_refused_client_gets_no_handshake),
        INSIDE(test_the_header_is_inside_tls),
        INSIDE(test_a_header_inside_tls_has_a_deadline),
        INSIDE(test_a_query_inside_tls_without_a_header_gets_nothing),
        INSIDE(test_a_header_on_the_wrong_side_of_tls_is_refused),
        OUTSIDE(test_a_drain_waits_for_no_header),
    };
    return cmocka_run_group_tests(tests, make_certificate, free_certificate);
}
