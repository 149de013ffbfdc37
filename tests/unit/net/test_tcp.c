/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* TCP connections and acceptors against plain sockets on loopback. */

#include "real_net.h"

#include <stdlib.h>
#include <sys/resource.h>

#include "net/acceptor.h"
#include "net/socket.h"
#include "net/outgoing_files.h"
#include "net/tcp.h"
#include "net/udp_query.h"

struct end {
    struct seen seen; /* must be first, because callbacks get it as their owner */
    struct tcp *tcp;
    struct acceptor *acceptor;
    const char *close_on; /* the callback with this word closes the connection */
    size_t largest_read;
};

static void happened(struct end *end, const char *word, struct span detail)
{
    if (end->close_on && strcmp(end->close_on, word) == 0)
        tcp_close(&end->tcp);
    see(&end->seen, word, detail);
}

static void on_connected(void *owner)
{
    happened(owner, "connected", text(""));
}

static void on_bytes(void *owner, struct span bytes)
{
    struct end *end = owner;
    end->largest_read = MAX(end->largest_read, bytes.len);
    happened(owner, "bytes:", bytes);
}

static void on_writable(void *owner)
{
    happened(owner, "writable", text(""));
}

static void on_peer_closed(void *owner)
{
    happened(owner, "fin", text(""));
}

static void on_failed(void *owner, enum err why)
{
    happened(owner, "failed:", text(err_str(why)));
}

static const struct tcp_handler events = {
    .on_connected = on_connected,
    .on_bytes = on_bytes,
    .on_writable = on_writable,
    .on_peer_closed = on_peer_closed,
    .on_failed = on_failed,
};

static void on_accept(void *owner, struct tcp *tcp)
{
    struct end *end = owner;

    assert_null(end->tcp);
    end->tcp = tcp;
    tcp_start(tcp, &events, end);
    see(&end->seen, "accepted", text(""));
}

static int set_up(void **state)
{
    struct end *end = calloc(1, sizeof(*end));
    seen_init(&end->seen, loop_new());
    *state = end;
    return 0;
}

static int tear_down(void **state)
{
    struct end *end = *state;

    if (end->tcp)
        tcp_close(&end->tcp);
    if (end->acceptor)
        acceptor_close(&end->acceptor);
    loop_free(end->seen.loop);
    free(end);
    return 0;
}

/* Dials a plain listener. Returns the accepted plain socket. */
static int dial_plain(struct end *end, const struct tcp_options *options)
{
    struct addr addr;
    int listener = plain_listener(&addr), fd;

    assert_int_equal(tcp_dial(&end->tcp, end->seen.loop, &addr, options, &events, end), ERR_OK);
    assert_string_equal(end->seen.words, "");
    run_until_seen(&end->seen, 1);
    fd = accept(listener, NULL, NULL);
    assert_true(fd >= 0);
    close(listener);
    return fd;
}

static const struct tcp_options no_options;

static void test_a_dial_connects_and_bytes_flow(void **state)
{
    struct end *end = *state;
    int fd = dial_plain(end, &no_options);
    size_t written;
    char got[10];

    assert_int_equal(tcp_write(end->tcp, text("hello"), &written), ERR_OK);
    assert_int_equal(written, 5);
    assert_int_equal(plain_read(fd, got, sizeof(got)), 5);
    assert_int_equal(send(fd, "world", 5, 0), 5);
    run_until_seen(&end->seen, 1);
    close(fd);
    run_until_seen(&end->seen, 1);
    assert_string_equal(end->seen.words, "connected bytes:world fin");
}

static void test_a_connection_is_stranded_only_without_its_address(void **state)
{
    struct end *end = *state;
    struct addr gone = addr_of("192.0.2.77@53"), here = addr_of("127.0.0.5@53");
    struct addr far = addr_of("2001:db8::77@53");
    int fd = dial_plain(end, &no_options);

    assert_false(tcp_is_stranded(end->tcp));
    assert_true(socket_address_is_gone(&gone));
    assert_true(socket_address_is_gone(&far));
    /* the address is still there, although its port may be in use */
    assert_false(socket_address_is_gone(&here));
    close(fd);
}

/* The answers to a prefix arrive by a route, so the address is not on this machine at any time. */
static void test_a_connection_from_a_prefix_is_not_stranded(void **state)
{
    struct end *end = *state;
    struct addr peer = addr_of("::1@53");
    struct tcp_options options = {.source = addr_of("2001:db8::77@0"), .is_foreign = true};

    assert_true(socket_address_is_gone(&options.source));
    assert_int_equal(tcp_dial(&end->tcp, end->seen.loop, &peer, &options, &events, end), ERR_OK);
    assert_true(addr_equal_ip(tcp_local(end->tcp), &options.source));
    assert_false(tcp_is_stranded(end->tcp));
}

static void test_options_reach_the_socket(void **state)
{
    struct end *end = *state;
    struct tcp_options options = {.source = addr_of("127.0.0.5@0"),
                                  .keepalive_idle_s = 30,
                                  .keepalive_interval_s = 10,
                                  .keepalive_count = 3,
                                  .user_timeout_ms = 5000};
    int fd = dial_plain(end, &options);
    struct addr peer;
    socklen_t len = sizeof(peer);
    char ip[ADDR_TEXT_MAX];

    assert_int_equal(getpeername(fd, &peer.sa, &len), 0);
    assert_string_equal(addr_format_ip(&peer, ip), "127.0.0.5");
    assert_true(addr_equal(tcp_local(end->tcp), &peer));
    assert_int_equal(tcp_local(end->tcp)->sa.sa_family, AF_INET);
    close(fd);
}

static void test_a_refused_dial_fails_without_a_connection(void **state)
{
    struct end *end = *state;
    struct addr addr = closed_port(SOCK_STREAM);
    enum err err = tcp_dial(&end->tcp, end->seen.loop, &addr, &no_options, &events, end);

    if (err == ERR_OK) {
        run_until_seen(&end->seen, 1);
        assert_string_equal(end->seen.words, "failed:connection refused");
    } else {
        assert_int_equal(err, ERR_REFUSED);
        end->tcp = NULL;
    }
}

static void test_a_foreign_source_address_fails_at_once(void **state)
{
    struct end *end = *state;
    struct tcp_options options = {.source = addr_of("192.0.2.1@0")};
    struct addr addr = closed_port(SOCK_STREAM);

    assert_int_equal(tcp_dial(&end->tcp, end->seen.loop, &addr, &options, &events, end),
                     ERR_ADDRESS_UNKNOWN);
    end->tcp = NULL;
}

static void test_a_dial_without_files_fails_at_once(void **state)
{
    struct end *end = *state;
    struct addr addr = closed_port(SOCK_STREAM);
    struct rlimit limit, none;

    close(dial_plain(end, &no_options)); /* the loop opens the files that it needs */
    tcp_close(&end->tcp);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = limit;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    assert_int_equal(tcp_dial(&end->tcp, end->seen.loop, &addr, &no_options, &events, end),
                     ERR_NO_FILES);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    end->tcp = NULL;
}

static void test_dials_stop_at_the_limit_of_files(void **state)
{
    struct end *end = *state;
    struct addr addr = closed_port(SOCK_STREAM);

    outgoing_files_limit(end->seen.loop, 1);
    close(dial_plain(end, &no_options));
    struct tcp *first = end->tcp;
    end->seen.words[0] = '\0';
    assert_int_equal(tcp_dial(&end->tcp, end->seen.loop, &addr, &no_options, &events, end),
                     ERR_NO_FILES);
    tcp_close(&first);
    for (int i = 0; i < 3; i++) { /* each connection gives its file back */
        close(dial_plain(end, &no_options));
        tcp_close(&end->tcp);
        end->seen.words[0] = '\0';
    }
}

static void on_nothing(void *owner, struct span datagram)
{
    (void)owner;
    (void)datagram;
}

static void on_no_failure(void *owner, enum err why)
{
    (void)owner;
    (void)why;
}

static void test_an_idle_udp_socket_makes_room_for_a_dial(void **state)
{
    static const struct udp_query_handler handler = {on_nothing, on_no_failure};
    static const struct addr any;
    struct end *end = *state;
    struct udp_query *query;
    struct addr server;
    int fd = plain_socket(SOCK_DGRAM, "127.0.0.1@0", &server);

    outgoing_files_limit(end->seen.loop, 1);
    const struct udp_query_path path = {&server, &any, .queries_per_port = 1};
    assert_int_equal(udp_query_open(&query, end->seen.loop, &path, text("query"), &handler, end),
                     ERR_OK);
    udp_query_close(&query);
    close(dial_plain(end, &no_options));
    tcp_close(&end->tcp);
    close(fd);
}

static void test_a_reset_fails_the_connection(void **state)
{
    struct end *end = *state;
    size_t written;

    plain_reset(dial_plain(end, &no_options));
    run_until_seen(&end->seen, 1);
    assert_string_equal(end->seen.words, "connected failed:connection reset by the peer");
    assert_int_equal(tcp_write(end->tcp, text("x"), &written), ERR_RESET);
}

static void test_a_reset_is_noticed_also_while_paused(void **state)
{
    struct end *end = *state;
    int fd = dial_plain(end, &no_options);

    tcp_pause(end->tcp);
    assert_int_equal(send(fd, "unread", 6, 0), 6);
    run_some_turns(end->seen.loop);
    assert_string_equal(end->seen.words, "connected");
    plain_reset(fd);
    run_until_seen(&end->seen, 1);
    assert_string_equal(end->seen.words, "connected failed:connection reset by the peer");
}

static void test_a_paused_connection_reads_on_when_resumed(void **state)
{
    struct end *end = *state;
    int fd = dial_plain(end, &no_options);

    tcp_pause(end->tcp);
    assert_int_equal(send(fd, "later", 5, 0), 5);
    run_some_turns(end->seen.loop);
    assert_string_equal(end->seen.words, "connected");
    tcp_resume(end->tcp);
    run_until_seen(&end->seen, 1);
    assert_string_equal(end->seen.words, "connected bytes:later");
    close(fd);
}

static bool refuse_to_read(void *owner)
{
    struct end *end = owner;

    tcp_pause(end->tcp);
    see(&end->seen, "readable", text(""));
    return false;
}

static void test_bytes_that_may_not_be_read_stay_in_the_kernel(void **state)
{
    struct end *end = *state;
    struct tcp_handler asks = events;
    struct addr addr;
    int listener = plain_listener(&addr), fd;

    asks.may_read = refuse_to_read;
    assert_int_equal(tcp_dial(&end->tcp, end->seen.loop, &addr, &no_options, &asks, end), ERR_OK);
    run_until_seen(&end->seen, 1);
    fd = accept(listener, NULL, NULL);
    close(listener);
    assert_int_equal(send(fd, "later", 5, 0), 5);
    run_until_seen(&end->seen, 1);
    run_some_turns(end->seen.loop);
    assert_string_equal(end->seen.words, "connected readable");
    assert_true(tcp_has_unread(end->tcp));
    asks.may_read = NULL;
    tcp_resume(end->tcp);
    run_until_seen(&end->seen, 1);
    assert_string_equal(end->seen.words, "connected readable bytes:later");
    close(fd);
}

static void test_a_fin_behind_unread_bytes_shows(void **state)
{
    struct end *end = *state;
    int fd = dial_plain(end, &no_options);

    tcp_pause(end->tcp);
    assert_int_equal(send(fd, "unread", 6, 0), 6);
    run_some_turns(end->seen.loop);
    assert_false(tcp_peer_has_left(end->tcp));
    close(fd);
    run_some_turns(end->seen.loop);
    assert_true(tcp_peer_has_left(end->tcp));
    assert_string_equal(end->seen.words, "connected");
}

static void test_a_half_closed_connection_may_be_written_to(void **state)
{
    struct end *end = *state;
    int fd = dial_plain(end, &no_options);
    size_t written;
    char got[10];

    assert_int_equal(shutdown(fd, SHUT_WR), 0);
    run_until_seen(&end->seen, 1);
    run_some_turns(end->seen.loop); /* the FIN is reported once */
    assert_int_equal(tcp_write(end->tcp, text("still"), &written), ERR_OK);
    assert_int_equal(plain_read(fd, got, sizeof(got)), 5);
    assert_string_equal(end->seen.words, "connected fin");
    close(fd);
}

/* Writes until the kernel takes no more, lets the peer read, and continues. */
static void test_a_peer_that_does_not_read_makes_writes_partial(void **state)
{
    enum { BIG = 16 * 1024 * 1024 };
    struct end *end = *state;
    int fd = dial_plain(end, &no_options);
    uint8_t *big = calloc(1, BIG);
    size_t written, total = 0, got = 0;

    assert_int_equal(tcp_write(end->tcp, span_of(big, BIG), &written), ERR_OK);
    assert_true(written > 0 && written < BIG);
    for (total = written; total < BIG; total += written) {
        while (got < total)
            got += plain_read(fd, big, BIG);
        run_until_seen(&end->seen, 1);
        assert_int_equal(tcp_write(end->tcp, span_of(big, BIG - total), &written), ERR_OK);
    }
    while (got < BIG)
        got += plain_read(fd, big, BIG);
    assert_int_equal(got, BIG);
    assert_non_null(strstr(end->seen.words, "writable"));
    free(big);
    close(fd);
}

enum { BIG = 3 * NET_READ_MAX + 17 };

/* Sends from the far end to the code under test at full speed. */
static void read_whole_stream(struct end *end, int fd)
{
    uint8_t *big = calloc(1, BIG);

    for (size_t sent = 0; sent < BIG;) {
        ssize_t len = send(fd, big, BIG - sent, MSG_DONTWAIT);
        if (len > 0)
            sent += (size_t)len;
        else
            run_until_seen(&end->seen, 1);
    }
    while (end->seen.bytes < BIG)
        run_until_seen(&end->seen, 1);
    assert_int_equal(end->seen.bytes, BIG);
    free(big);
    close(fd);
}

static void test_a_large_stream_is_read_whole(void **state)
{
    struct end *end = *state;
    read_whole_stream(end, dial_plain(end, &no_options));
    assert_in_range(end->largest_read, 1, NET_READ_MAX);
}

static void test_closing_is_allowed_in_every_callback(void **state)
{
    struct end *end = *state;
    struct addr addr = closed_port(SOCK_STREAM);
    int fd;

    end->close_on = "connected";
    close(dial_plain(end, &no_options));
    assert_null(end->tcp);
    end->seen.words[0] = '\0';
    end->close_on = "bytes:";
    fd = dial_plain(end, &no_options);
    assert_int_equal(send(fd, "x", 1, 0), 1);
    run_until_seen(&end->seen, 1);
    assert_null(end->tcp);
    close(fd);
    end->seen.words[0] = '\0';
    end->close_on = "fin";
    close(dial_plain(end, &no_options));
    run_until_seen(&end->seen, 1);
    assert_null(end->tcp);
    end->seen.words[0] = '\0';
    end->close_on = "failed:";
    if (tcp_dial(&end->tcp, end->seen.loop, &addr, &no_options, &events, end) == ERR_OK)
        run_until_seen(&end->seen, 1);
    assert_null(end->tcp);
}

static void test_bytes_written_before_a_close_arrive(void **state)
{
    struct end *end = *state;
    int fd = dial_plain(end, &no_options);
    size_t written;
    char got[10];

    /* unread bytes must not turn the FIN into a RST */
    assert_int_equal(send(fd, "unread", 6, 0), 6);
    run_some_turns(end->seen.loop);
    assert_int_equal(tcp_write(end->tcp, text("last"), &written), ERR_OK);
    tcp_close(&end->tcp);
    assert_int_equal(plain_read(fd, got, sizeof(got)), 4);
    assert_int_equal(plain_read(fd, got, sizeof(got)), 0);
    close(fd);
}

/* ---------------------------------------------------------------- acceptors */

static struct addr open_acceptor(struct end *end, const char *listen)
{
    struct addr addr = addr_of(listen);
    struct listen_socket socket = listen_at(LISTEN_TCP, &addr);

    assert_int_equal(acceptor_open(&end->acceptor, end->seen.loop, &socket, on_accept, end),
                     ERR_OK);
    assert_int_equal(socket.fd, -1);
    return *acceptor_local(end->acceptor);
}

/* Returns how many bytes the kernel holds for closed connections of this address, from its table of
 * connections. */
static size_t queued_at(const struct addr *local)
{
    char line[512];
    size_t queued = 0;
    FILE *table = fopen("/proc/net/tcp", "r");

    assert_non_null(table);
    while (fgets(line, sizeof(line), table)) {
        unsigned port, state;
        unsigned long sends;
        if (sscanf(line, " %*d: %*8x:%x %*8x:%*x %x %lx:", &port, &state, &sends) == 3 &&
            port == addr_port(local) && state != 10 /* LISTEN */)
            queued += sends;
    }
    fclose(table);
    return queued;
}

/* Makes an accepted client that has sent a query and reads nothing. Returns the client's socket. */
static int accept_silent(struct end *end, struct addr *at)
{
    static const uint8_t answers[4 * 1024 * 1024];
    struct addr any = addr_of("127.0.0.1@0");
    struct listen_socket socket = listen_at(LISTEN_TCP, &any);
    int few = 4096, fd = plain_socket(SOCK_STREAM, "127.0.0.1@0", &any);
    size_t written;

    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &few, sizeof(few));
    assert_int_equal(acceptor_open(&end->acceptor, end->seen.loop, &socket, on_accept, end),
                     ERR_OK);
    *at = *acceptor_local(end->acceptor);
    assert_int_equal(connect(fd, &at->sa, addr_len(at)), 0);
    run_until_seen(&end->seen, 1);
    for (int i = 0; i < 100; i++)
        assert_int_equal(tcp_write(end->tcp, span_of(answers, sizeof(answers)), &written), ERR_OK);
    return fd;
}

static void test_the_kernel_holds_little_for_a_client_that_does_not_read(void **state)
{
    struct end *end = *state;
    struct addr at;
    int fd = accept_silent(end, &at);

    assert_true(tcp_unacknowledged(end->tcp) > 0);
    assert_in_range(queued_at(&at), 1, LISTEN_SOCKET_SEND_BYTES);
    assert_false(tcp_is_delivered(end->tcp));
    close(fd);
}

static void test_a_reset_leaves_nothing_in_the_kernel_and_a_close_does(void **state)
{
    struct end *end = *state;
    struct addr at;
    int fd = accept_silent(end, &at);

    tcp_reset(&end->tcp);
    assert_null(end->tcp);
    assert_int_equal(queued_at(&at), 0);
    close(fd);
    acceptor_close(&end->acceptor);
    fd = accept_silent(end, &at);
    tcp_close(&end->tcp);
    assert_true(queued_at(&at) > 0);
    close(fd); /* closing with unread bytes is a reset, which ends the orphaned connection */
}

static void test_a_client_that_reset_leaves_nothing_in_the_kernel(void **state)
{
    struct end *end = *state;
    struct addr at;
    int fd = accept_silent(end, &at);

    tcp_finish(end->tcp);
    assert_false(tcp_is_delivered(end->tcp));
    plain_reset(fd);
    assert_true(tcp_is_delivered(end->tcp));
}

static void test_a_connection_with_both_fins_is_quiet(void **state)
{
    struct end *end = *state;
    struct addr any = addr_of("127.0.0.1@0"), at;
    struct listen_socket socket = listen_at(LISTEN_TCP, &any);
    char end_of_stream;

    assert_int_equal(acceptor_open(&end->acceptor, end->seen.loop, &socket, on_accept, end),
                     ERR_OK);
    at = *acceptor_local(end->acceptor);
    int fd = plain_connect(&at);
    run_until_seen(&end->seen, 1);
    shutdown(fd, SHUT_WR);
    run_until_seen(&end->seen, 1);
    tcp_finish(end->tcp);
    assert_int_equal(plain_read(fd, &end_of_stream, 1), 0);
    run_some_turns(end->seen.loop);
    assert_string_equal(end->seen.words, "accepted fin");
    assert_true(tcp_is_delivered(end->tcp));
    close(fd);
}

static void test_a_client_is_accepted_and_its_bytes_arrive(void **state)
{
    struct end *end = *state;
    struct addr addr = open_acceptor(end, "127.0.0.1@0"), client;
    socklen_t len = sizeof(client);
    int fd = plain_connect(&addr);

    assert_int_equal(send(fd, "early", 5, 0), 5);
    run_until_seen(&end->seen, 2);
    assert_string_equal(end->seen.words, "accepted bytes:early");
    assert_int_equal(getsockname(fd, &client.sa, &len), 0);
    assert_true(addr_equal(tcp_peer(end->tcp), &client));
    assert_true(addr_equal(tcp_local(end->tcp), &addr));
    close(fd);
}

static void test_one_read_takes_no_more_than_a_clients_share(void **state)
{
    struct end *end = *state;
    struct addr addr = open_acceptor(end, "127.0.0.1@0");
    int fd = plain_connect(&addr);

    run_until_seen(&end->seen, 1);
    read_whole_stream(end, fd);
    assert_in_range(end->largest_read, 1, LISTEN_SOCKET_RECEIVE_BYTES);
}

/* ---- concurrent clients ---- */

enum { CLIENTS = 4 };

struct client {
    struct seen *seen;
    const char *name;
    struct tcp *tcp;
};

static struct client clients[CLIENTS];
static unsigned client_count;

static void on_client_bytes(void *owner, struct span bytes)
{
    struct client *client = owner;
    (void)bytes;
    see(client->seen, client->name, text(""));
}

static const struct tcp_handler client_events = {.on_bytes = on_client_bytes};

static void on_accept_client(void *owner, struct tcp *tcp)
{
    static const char *const names[CLIENTS] = {"first", "second", "third", "polite"};
    struct end *end = owner;
    struct client *client = &clients[client_count];
    *client = (struct client){&end->seen, names[client_count++], tcp};
    tcp_start(tcp, &client_events, client);
    see(&end->seen, "accepted", text(""));
}

static int connect_client(struct end *end, const struct addr *addr)
{
    int fd = plain_connect(addr);
    run_until_seen(&end->seen, 1);
    return fd;
}

static void test_a_client_is_read_before_greedy_ones(void **state)
{
    static const uint8_t bytes[6 * NET_READ_PATIENT_MAX];
    struct end *end = *state;
    struct addr addr = addr_of("127.0.0.1@0");
    struct listen_socket socket = listen_at(LISTEN_TCP, &addr);
    int fds[CLIENTS];

    assert_int_equal(acceptor_open(&end->acceptor, end->seen.loop, &socket, on_accept_client, end),
                     ERR_OK);
    client_count = 0;
    for (unsigned i = 0; i < CLIENTS; i++)
        fds[i] = connect_client(end, acceptor_local(end->acceptor));
    for (unsigned i = 0; i < CLIENTS - 1; i++)
        assert_int_equal(send(fds[i], bytes, sizeof(bytes), 0), sizeof(bytes));
    run_until_seen(&end->seen, CLIENTS - 1);
    assert_int_equal(send(fds[CLIENTS - 1], "x", 1, 0), 1);
    end->seen.words[0] = '\0';
    run_until_seen(&end->seen, 1);
    assert_memory_equal(end->seen.words, "polite", 6);
    for (unsigned i = 0; i < CLIENTS; i++) {
        close(fds[i]);
        tcp_close(&clients[i].tcp);
    }
}

static void test_an_acceptor_listens_on_ipv6(void **state)
{
    struct end *end = *state;
    struct addr addr;
    int fd;

    needs_ipv6();
    addr = open_acceptor(end, "::1@0");
    fd = plain_connect(&addr);
    run_until_seen(&end->seen, 1);
    close(fd);
}

static void on_accept_close(void *owner, struct tcp *tcp)
{
    struct end *end = owner;

    tcp_close(&tcp);
    acceptor_close(&end->acceptor);
    see(&end->seen, "closed", text(""));
}

static void test_an_acceptor_may_be_closed_inside_its_callback(void **state)
{
    struct end *end = *state;
    struct addr addr = addr_of("127.0.0.1@0");
    struct listen_socket socket = listen_at(LISTEN_TCP, &addr);
    int first, second;

    assert_int_equal(acceptor_open(&end->acceptor, end->seen.loop, &socket, on_accept_close, end),
                     ERR_OK);
    addr = *acceptor_local(end->acceptor);
    first = plain_connect(&addr);
    second = plain_connect(&addr);
    run_until_seen(&end->seen, 1);
    assert_string_equal(end->seen.words, "closed");
    close(first);
    close(second);
}

static void test_accepting_pauses_without_files_and_goes_on(void **state)
{
    struct end *end = *state;
    struct addr addr = open_acceptor(end, "127.0.0.1@0");
    int fd = plain_connect(&addr);
    struct rlimit limit, none;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = limit;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    run_some_turns(end->seen.loop);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_string_equal(end->seen.words, "");
    run_until_seen(&end->seen, 1);
    assert_string_equal(end->seen.words, "accepted");
    close(fd);
}

static void test_a_connection_in_time_wait_does_not_block_a_restart(void **state)
{
    struct end *end = *state;
    struct addr addr = open_acceptor(end, "127.0.0.1@0");
    int fd = plain_connect(&addr);
    char byte;

    run_until_seen(&end->seen, 1);
    tcp_close(&end->tcp); /* our side closes first, so that it has the TIME_WAIT */
    assert_int_equal(plain_read(fd, &byte, 1), 0);
    close(fd);
    acceptor_close(&end->acceptor);
    struct listen_wish again = {.addr = addr, .type = LISTEN_TCP};
    struct listen_socket socket;
    assert_int_equal(listen_socket_open(&socket, &again), ERR_OK);
    listen_socket_close(&socket);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_dial_connects_and_bytes_flow),
        TEST(test_a_connection_is_stranded_only_without_its_address),
        TEST(test_a_connection_from_a_prefix_is_not_stranded),
        TEST(test_options_reach_the_socket),
        TEST(test_a_refused_dial_fails_without_a_connection),
        TEST(test_a_foreign_source_address_fails_at_once),
        TEST(test_a_dial_without_files_fails_at_once),
        TEST(test_dials_stop_at_the_limit_of_files),
        TEST(test_an_idle_udp_socket_makes_room_for_a_dial),
        TEST(test_a_reset_fails_the_connection),
        TEST(test_a_reset_is_noticed_also_while_paused),
        TEST(test_a_paused_connection_reads_on_when_resumed),
        TEST(test_bytes_that_may_not_be_read_stay_in_the_kernel),
        TEST(test_a_fin_behind_unread_bytes_shows),
        TEST(test_a_half_closed_connection_may_be_written_to),
        TEST(test_a_peer_that_does_not_read_makes_writes_partial),
        TEST(test_a_large_stream_is_read_whole),
        TEST(test_closing_is_allowed_in_every_callback),
        TEST(test_bytes_written_before_a_close_arrive),
        TEST(test_the_kernel_holds_little_for_a_client_that_does_not_read),
        TEST(test_a_reset_leaves_nothing_in_the_kernel_and_a_close_does),
        TEST(test_a_client_that_reset_leaves_nothing_in_the_kernel),
        TEST(test_a_connection_with_both_fins_is_quiet),
        TEST(test_a_client_is_accepted_and_its_bytes_arrive),
        TEST(test_one_read_takes_no_more_than_a_clients_share),
        TEST(test_a_client_is_read_before_greedy_ones),
        TEST(test_an_acceptor_listens_on_ipv6),
        TEST(test_an_acceptor_may_be_closed_inside_its_callback),
        TEST(test_accepting_pauses_without_files_and_goes_on),
        TEST(test_a_connection_in_time_wait_does_not_block_a_restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
