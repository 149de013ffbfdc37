/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Listening sockets: shared addresses, owners, and the end of their readers. */
#include "real_net.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "net/acceptor.h"
#include "net/tcp.h"
#include "net/udp_server.h"

static struct seen seen;
static struct udp_server *udp;
static struct acceptor *acceptor;

static enum err try_open(struct listen_socket *out, const char *addr, enum listen_type type,
                         bool is_beside_ours)
{
    struct listen_wish wish = {
        .addr = addr_of(addr), .type = type, .is_beside_ours = is_beside_ours};
    return listen_socket_open(out, &wish);
}

static struct listen_socket first_at(const char *addr, enum listen_type type)
{
    struct listen_socket made;
    assert_int_equal(try_open(&made, addr, type, false), ERR_OK);
    return made;
}

static enum err open_beside(const struct listen_socket *first, bool is_ours)
{
    struct listen_wish wish = {
        .addr = first->local, .type = first->type, .is_beside_ours = is_ours};
    struct listen_socket second;
    enum err err = listen_socket_open(&second, &wish);
    if (!err)
        listen_socket_close(&second);
    return err;
}

/* ---- addresses ---- */

static void test_our_sockets_share_an_address_and_a_second_instance_is_detected(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct listen_socket first = first_at("127.0.0.1@0", i ? LISTEN_TCP : LISTEN_UDP);
        assert_int_not_equal(addr_port(&first.local), 0);
        assert_int_equal(open_beside(&first, true), ERR_OK);
        assert_int_equal(open_beside(&first, false), ERR_ADDRESS_IN_USE);
        listen_socket_close(&first);
        assert_int_equal(first.fd, -1);
        assert_int_equal(
            open_beside(&(struct listen_socket){.local = first.local, .type = i}, false), ERR_OK);
    }
}

static void test_a_socket_without_reuseport_is_detected(void **state)
{
    (void)state;
    struct listen_socket other = {.type = LISTEN_UDP};
    other.fd = plain_socket(SOCK_DGRAM, "127.0.0.1@0", &other.local);
    assert_int_equal(open_beside(&other, true), ERR_ADDRESS_IN_USE);
    assert_int_equal(open_beside(&other, false), ERR_ADDRESS_IN_USE);
    other.type = LISTEN_TCP; /* no other socket uses the port of the other transport */
    assert_int_equal(open_beside(&other, false), ERR_OK);
    close(other.fd);
}

static void test_a_missing_address_needs_freebind(void **state)
{
    (void)state;
    static const char *const addrs[] = {"192.0.2.1@0", "2001:db8::1@0"};
    needs_ipv6();
    for (int i = 0; i < 4; i++) {
        struct listen_wish wish = {.addr = addr_of(addrs[i / 2]), .type = i % 2};
        struct listen_socket made;
        assert_int_equal(listen_socket_open(&made, &wish), ERR_ADDRESS_UNKNOWN);
        wish.freebind = true;
        assert_int_equal(listen_socket_open(&made, &wish), ERR_OK);
        listen_socket_close(&made);
    }
}

static void test_sockets_can_be_given_to_another_user(void **state)
{
    (void)state;
    struct stat before, after;
    struct listen_socket made = first_at("127.0.0.1@0", LISTEN_UDP);
    assert_int_equal(fstat(made.fd, &before), 0);
    listen_socket_chown(&made, before.st_uid + (geteuid() == 0));
    assert_int_equal(fstat(made.fd, &after), 0);
    assert_int_equal(after.st_uid, before.st_uid + (geteuid() == 0));
    listen_socket_close(&made);
}

/* ---- sockets from another process ---- */

static void refuse(int fd, const char *because)
{
    char why[LISTEN_SOCKET_WHY_MAX] = "";
    struct listen_socket adopted;
    assert_int_equal(listen_socket_adopt(&adopted, fd, why), ERR_INVALID);
    if (!strstr(why, because))
        fail_msg("it says: %s", why);
    close(fd);
}

static void test_a_socket_of_another_process_is_taken_as_it_is(void **state)
{
    (void)state;
    char why[LISTEN_SOCKET_WHY_MAX];
    struct addr bound;
    struct listen_socket adopted, again;
    int fd = plain_listener(&bound);
    assert_int_equal(listen_socket_adopt(&adopted, fd, why), ERR_OK);
    assert_int_equal(adopted.type, LISTEN_TCP);
    assert_true(adopted.is_shared);
    assert_true(addr_equal(&adopted.local, &bound));
    assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(listen_socket_dup(&again, &adopted), ERR_OK);
    assert_int_not_equal(again.fd, adopted.fd);
    assert_true(fcntl(again.fd, F_GETFD) & FD_CLOEXEC);
    assert_true(again.is_shared);
    listen_socket_close(&adopted);
    listen_socket_close(&again);
}

static void test_an_unsuitable_socket_is_refused_with_its_remedy(void **state)
{
    (void)state;
    struct addr bound;
    needs_ipv6();
    refuse(open("/dev/null", O_RDONLY), "it is not a socket");
    refuse(socket(AF_UNIX, SOCK_STREAM, 0), "it is neither UDP nor TCP");
    refuse(plain_socket(SOCK_STREAM, "127.0.0.1@0", &bound), "it does not listen; set Accept=no");
    refuse(plain_socket(SOCK_DGRAM, "::@0", &bound), "set BindIPv6Only=ipv6-only");
}

/* ---- the end ---- */

static void on_datagram(void *owner, struct span datagram, const struct udp_path *path)
{
    struct span answer = text("answer");
    (void)owner;
    memcpy(udp_server_reserve(udp), answer.data, answer.len);
    udp_server_commit(udp, answer.len, path);
    see(&seen, "got:", datagram);
}

static const struct udp_server_handler events = {.on_datagram = on_datagram};

static void on_quiet(void *owner)
{
    (void)owner;
    see(&seen, "quiet", text(""));
}

static void serve_udp(struct listen_socket *socket)
{
    seen_init(&seen, loop_new());
    assert_int_equal(udp_server_open(&udp, seen.loop, socket, &events, NULL), ERR_OK);
}

static void end_udp(void)
{
    udp_server_close(&udp);
    loop_free(seen.loop);
}

static int client_of(const struct addr *addr)
{
    int fd = socket(addr_family(addr), SOCK_DGRAM, 0);
    assert_int_equal(connect(fd, &addr->sa, addr_len(addr)), 0);
    return fd;
}

static void expect_answer(int fd)
{
    char answer[10];
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    assert_int_equal(poll(&ready, 1, GUARD_S * 1000), 1);
    assert_int_equal(recv(fd, answer, sizeof(answer), 0), 6);
}

static void end_at(const char *addr, const char *asked)
{
    struct listen_socket socket = first_at(addr, LISTEN_UDP);
    struct addr at = addr_of(asked);
    addr_set_port(&at, addr_port(&socket.local));
    int fd = client_of(&at), late;
    serve_udp(&socket);
    assert_int_equal(send(fd, "before", 6, 0), 6);
    udp_server_end(udp, on_quiet);
    late = client_of(&at);
    assert_int_equal(send(late, "after", 5, 0), 5);
    run_until_seen(&seen, 2);
    assert_string_equal(seen.words, "got:before quiet");
    expect_answer(fd);
    assert_int_equal(recv(late, &at, 1, MSG_DONTWAIT), -1);
    assert_int_equal(errno, ECONNREFUSED); /* without a wait */
    close(fd);
    close(late);
    end_udp();
}

static void test_datagrams_before_the_end_are_delivered_and_later_ones_refused(void **state)
{
    (void)state;
    end_at("127.0.0.1@0", "127.0.0.1");
    end_at("0.0.0.0@0", "127.0.0.3");
    needs_ipv6();
    end_at("::1@0", "::1");
    end_at("::@0", "::1");
}

static void test_another_socket_of_the_address_gets_later_datagrams(void **state)
{
    (void)state;
    struct listen_socket socket = first_at("127.0.0.1@0", LISTEN_UDP);
    struct addr at = socket.local;
    struct listen_socket other = listen_at(LISTEN_UDP, &at);
    char bytes[8];
    int heard = 0;
    serve_udp(&socket);
    udp_server_end(udp, on_quiet);
    /* each from a different port, so that the kernel would spread them over the sockets */
    for (int i = 0; i < 50; i++) {
        int fd = client_of(&at);
        assert_int_equal(send(fd, "late", 4, 0), 4);
        close(fd);
    }
    while (recv(other.fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
        heard++;
    assert_int_equal(heard, 50);
    listen_socket_close(&other);
    run_until_seen(&seen, 1);
    assert_string_equal(seen.words, "quiet");
    end_udp();
}

static void test_leaving_a_shared_socket_does_not_change_it(void **state)
{
    (void)state;
    char why[LISTEN_SOCKET_WHY_MAX], bytes[8];
    struct addr at;
    struct listen_socket adopted, ours;
    int given = plain_socket(SOCK_DGRAM, "127.0.0.1@0", &at);
    assert_int_equal(listen_socket_adopt(&adopted, given, why), ERR_OK);
    assert_int_equal(listen_socket_dup(&ours, &adopted), ERR_OK);
    int fd = client_of(&at);
    serve_udp(&ours);
    assert_int_equal(send(fd, "ours", 4, 0), 4);
    udp_server_end(udp, on_quiet);
    run_until_seen(&seen, 2);
    assert_string_equal(seen.words, "got:ours quiet");
    udp_server_close(&udp);
    assert_int_equal(send(fd, "theirs", 6, 0), 6);
    run_some_turns(seen.loop); /* the server has left the socket, which is still open */
    assert_int_equal(recv(given, bytes, sizeof(bytes), 0), 6);
    close(fd);
    listen_socket_close(&adopted);
    loop_free(seen.loop);
}

static void on_accept(void *owner, struct tcp *tcp)
{
    (void)owner;
    tcp_close(&tcp);
    see(&seen, "accepted", text(""));
}

static void on_acceptor_ended(void *owner)
{
    (void)owner;
    see(&seen, "ended", text(""));
}

static int begin_connecting(const struct addr *addr)
{
    int fd = socket(addr_family(addr), SOCK_STREAM | SOCK_NONBLOCK, 0);
    (void)connect(fd, &addr->sa, addr_len(addr)); /* the connection is still in progress */
    return fd;
}

static bool is_connected(int fd)
{
    struct pollfd ready = {.fd = fd, .events = POLLOUT};
    return poll(&ready, 1, 0) == 1;
}

static void test_the_backlog_is_accepted_and_later_connections_are_refused(void **state)
{
    (void)state;
    struct listen_socket socket = first_at("127.0.0.1@0", LISTEN_TCP);
    struct addr at = socket.local;
    seen_init(&seen, loop_new());
    int first = plain_connect(&at), second = plain_connect(&at);
    assert_int_equal(acceptor_open(&acceptor, seen.loop, &socket, on_accept, NULL), ERR_OK);
    acceptor_end(acceptor, on_acceptor_ended);
    int late = begin_connecting(&at);
    assert_false(is_connected(late));
    run_until_seen(&seen, 3);
    assert_string_equal(seen.words, "accepted accepted ended");
    acceptor_close(&acceptor);
    close(first);
    close(second);
    close(late);
    loop_free(seen.loop);
}

static void test_a_shared_listener_is_left_with_its_backlog(void **state)
{
    (void)state;
    char why[LISTEN_SOCKET_WHY_MAX];
    struct addr at;
    struct listen_socket adopted, ours;
    int given = plain_listener(&at), late;
    assert_int_equal(listen_socket_adopt(&adopted, given, why), ERR_OK);
    assert_int_equal(listen_socket_dup(&ours, &adopted), ERR_OK);
    seen_init(&seen, loop_new());
    assert_int_equal(acceptor_open(&acceptor, seen.loop, &ours, on_accept, NULL), ERR_OK);
    acceptor_end(acceptor, on_acceptor_ended);
    late = begin_connecting(&at);
    run_until_seen(&seen, 1);
    assert_string_equal(seen.words, "ended");
    acceptor_close(&acceptor);
    run_some_turns(seen.loop);
    assert_true(is_connected(late));
    int accepted = accept(given, NULL, NULL);
    assert_true(accepted >= 0);
    close(accepted);
    close(late);
    listen_socket_close(&adopted);
    loop_free(seen.loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_our_sockets_share_an_address_and_a_second_instance_is_detected),
        cmocka_unit_test(test_a_socket_without_reuseport_is_detected),
        cmocka_unit_test(test_a_missing_address_needs_freebind),
        cmocka_unit_test(test_sockets_can_be_given_to_another_user),
        cmocka_unit_test(test_a_socket_of_another_process_is_taken_as_it_is),
        cmocka_unit_test(test_an_unsuitable_socket_is_refused_with_its_remedy),
        cmocka_unit_test(test_datagrams_before_the_end_are_delivered_and_later_ones_refused),
        cmocka_unit_test(test_another_socket_of_the_address_gets_later_datagrams),
        cmocka_unit_test(test_leaving_a_shared_socket_does_not_change_it),
        cmocka_unit_test(test_the_backlog_is_accepted_and_later_connections_are_refused),
        cmocka_unit_test(test_a_shared_listener_is_left_with_its_backlog),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
