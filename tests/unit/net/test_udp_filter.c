/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* The kernel thins datagrams, on real sockets on loopback. */

#include "real_net.h"

#include <stdlib.h>

#include "net/udp_filter.h"
#include "net/udp_server.h"

enum { SENT = 400 };

struct end {
    struct seen seen; /* must be first, because callbacks get it as their owner */
    struct udp_server *server;
    struct addr listen;
    unsigned got;
};

static void on_datagram(void *owner, struct span datagram, const struct udp_path *path)
{
    struct end *end = owner;
    (void)datagram, (void)path;
    end->got++;
}

static const struct udp_server_handler events = {.on_datagram = on_datagram};

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
    udp_server_close(&end->server);
    loop_free(end->seen.loop);
    free(end);
    return 0;
}

static void open_at(struct end *end, const char *listen)
{
    struct addr addr = addr_of(listen);
    struct listen_socket socket = listen_at(LISTEN_UDP, &addr);
    assert_int_equal(udp_server_open(&end->server, end->seen.loop, &socket, &events, end), ERR_OK);
    end->listen = *udp_server_local(end->server);
}

/* Sends datagrams from an address. Returns how many arrived, because on loopback the kernel has
 * handled each datagram when the call returns. */
static unsigned arrivals_from(struct end *end, const char *from)
{
    struct addr bound;
    int fd = plain_socket(SOCK_DGRAM, from, &bound);
    uint32_t lost = udp_server_look(end->server).lost;
    end->got = 0;
    for (int i = 0; i < SENT; i++)
        assert_int_equal(sendto(fd, "x", 1, 0, &end->listen.sa, addr_len(&end->listen)), 1);
    close(fd);
    lost = udp_server_look(end->server).lost - lost;
    while (end->got + lost < SENT)
        run_some_turns(end->seen.loop);
    return end->got;
}

static struct udp_thinned thinned_of(const char *prefix, uint8_t bits, uint32_t keep)
{
    return (struct udp_thinned){addr_of(prefix), bits, keep};
}

static void test_the_kernel_keeps_a_share_of_a_prefix(void **state)
{
    struct end *end = *state;
    struct udp_thinned thinned[] = {
        thinned_of("127.0.66.77@0", 24, 0),
        thinned_of("127.0.67.1@0", 32, UDP_THINNED_WHOLE / 2),
    };
    open_at(end, "127.0.0.1@0");
    assert_int_equal(arrivals_from(end, "127.0.66.1@0"), SENT);
    assert_true(udp_server_thin(end->server, thinned, 2));
    assert_int_equal(arrivals_from(end, "127.0.66.1@0"), 0);
    assert_int_equal(arrivals_from(end, "127.0.66.255@0"), 0);
    assert_in_range(arrivals_from(end, "127.0.67.1@0"), SENT / 4, SENT * 3 / 4);
    assert_int_equal(arrivals_from(end, "127.0.67.2@0"), SENT);
    assert_int_equal(arrivals_from(end, "127.0.65.77@0"), SENT);
    assert_true(udp_server_thin(end->server, NULL, 0));
    assert_int_equal(arrivals_from(end, "127.0.66.1@0"), SENT);
}

static void test_a_prefix_of_ipv6(void **state)
{
    struct end *end = *state;
    struct udp_thinned others[] = {
        thinned_of("2001:db8::1@0", 56, 0),
        thinned_of("::2@0", 128, 0),
        thinned_of("::1:0:0:1@0", 96, 0),
        thinned_of("::1:0:0:0:1@0", 64, 0),
    };
    struct udp_thinned exact = thinned_of("::1@0", 128, 0), wide = thinned_of("::ffff@0", 56, 0);
    needs_ipv6();
    open_at(end, "::1@0");
    assert_true(udp_server_thin(end->server, others, 4));
    assert_int_equal(arrivals_from(end, "::1@0"), SENT);
    assert_true(udp_server_thin(end->server, &exact, 1));
    assert_int_equal(arrivals_from(end, "::1@0"), 0);
    assert_true(udp_server_thin(end->server, &wide, 1));
    assert_int_equal(arrivals_from(end, "::1@0"), 0);
}

/* The longest program has long jumps, which must reach, and the kernel must accept it. */
static void test_the_largest_number_of_prefixes_is_thinned(void **state)
{
    struct end *end = *state;
    struct udp_thinned thinned[UDP_THINNED_MAX];
    for (unsigned i = 0; i < UDP_THINNED_MAX; i++) {
        thinned[i] = thinned_of("2001:db8::@0", 128, 0);
        thinned[i].prefix.in6.sin6_addr.s6_addr[15] = (uint8_t)i;
    }
    thinned[UDP_THINNED_MAX - 1] = thinned_of("::1@0", 128, 0);
    needs_ipv6();
    open_at(end, "::1@0");
    assert_true(udp_server_thin(end->server, thinned, UDP_THINNED_MAX));
    assert_int_equal(arrivals_from(end, "::1@0"), 0);
    assert_true(udp_server_thin(end->server, thinned, UDP_THINNED_MAX - 1));
    assert_int_equal(arrivals_from(end, "::1@0"), SENT);
}

static void test_all_addresses_may_be_one_prefix(void **state)
{
    struct end *end = *state;
    struct udp_thinned all = thinned_of("10.0.0.1@0", 0, 0);
    open_at(end, "127.0.0.1@0");
    assert_true(udp_server_thin(end->server, &all, 1));
    assert_int_equal(arrivals_from(end, "127.0.66.1@0"), 0);
}

/* The socket's other owners want all datagrams. */
static void test_a_shared_socket_is_not_thinned(void **state)
{
    struct end *end = *state;
    struct addr addr = addr_of("127.0.0.1@0");
    struct listen_socket socket = listen_at(LISTEN_UDP, &addr);
    struct udp_thinned thinned = thinned_of("127.0.66.1@0", 32, 0);
    socket.is_shared = true;
    assert_int_equal(udp_server_open(&end->server, end->seen.loop, &socket, &events, end), ERR_OK);
    end->listen = *udp_server_local(end->server);
    assert_false(udp_server_thin(end->server, &thinned, 1));
    assert_int_equal(arrivals_from(end, "127.0.66.1@0"), SENT);
}

static void test_an_unread_queue_gets_full(void **state)
{
    struct end *end = *state;
    struct addr bound;
    open_at(end, "127.0.0.1@0");
    int fd = plain_socket(SOCK_DGRAM, "127.0.66.1@0", &bound);
    assert_false(udp_server_look(end->server).is_half_full);
    while (udp_server_look(end->server).lost == 0)
        for (int i = 0; i < SENT; i++)
            assert_int_equal(sendto(fd, "x", 1, 0, &end->listen.sa, addr_len(&end->listen)), 1);
    assert_true(udp_server_look(end->server).is_half_full);
    close(fd);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_kernel_keeps_a_share_of_a_prefix),
        TEST(test_a_prefix_of_ipv6),
        TEST(test_the_largest_number_of_prefixes_is_thinned),
        TEST(test_all_addresses_may_be_one_prefix),
        TEST(test_a_shared_socket_is_not_thinned),
        TEST(test_an_unread_queue_gets_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
