/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_REAL_NET_H
#define NAILUP_TESTS_REAL_NET_H

/*
 * For tests of src/net on real sockets: a loop that runs until it has seen a number of events, and
 * plain blocking sockets for the other side. All addresses are loopback.
 */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/addr.h"
#include "base/check.h"
#include "base/span.h"
#include "loop/loop.h"
#include "loop/timer.h"
#include "net/listen_socket.h"

enum { GUARD_S = 20 }; /* the test fails if an event takes longer */

/* The callbacks so far, with a word for each. */
struct seen {
    struct loop *loop;
    char words[8192];
    unsigned count, wanted;
    size_t bytes; /* the bytes of all events */
    struct timer guard;
};

static inline struct span text(const char *string)
{
    return span_of(string, strlen(string));
}

static inline void on_guard(struct timer *timer)
{
    struct seen *seen = CONTAINER_OF(timer, struct seen, guard);
    fail_msg("only saw: %s", seen->words);
}

static inline void seen_init(struct seen *seen, struct loop *loop)
{
    *seen = (struct seen){.loop = loop};
    timer_init(&seen->guard, on_guard);
}

static inline void see(struct seen *seen, const char *word, struct span detail)
{
    size_t at = strlen(seen->words);

    seen->bytes += detail.len;
    if (detail.len < 100)
        snprintf(seen->words + at, sizeof(seen->words) - at, "%s%s%.*s", at ? " " : "", word,
                 (int)detail.len, (const char *)detail.data);
    if (++seen->count >= seen->wanted)
        loop_stop(seen->loop);
}

/* Runs the loop until it has seen count more events. */
static inline void run_until_seen(struct seen *seen, unsigned count)
{
    seen->wanted = seen->count + count;
    timer_start(seen->loop, &seen->guard, loop_clock(seen->loop) + GUARD_S * US_PER_S);
    loop_run(seen->loop);
    timer_stop(&seen->guard);
    assert_true(seen->count >= seen->wanted);
}

/* Runs the loop for a few turns, with or without events. */
struct nudge {
    struct mail mail;
    struct loop *loop;
    unsigned left;
    bool done;
};

static inline void on_nudge(struct mail *mail)
{
    struct nudge *nudge = CONTAINER_OF(mail, struct nudge, mail);

    nudge->done = nudge->left-- == 0;
    if (nudge->done)
        loop_stop(nudge->loop);
    else
        loop_post(nudge->loop, mail);
}

static inline void run_some_turns(struct loop *loop)
{
    struct nudge nudge = {.mail = {.run = on_nudge}, .loop = loop, .left = 5};
    loop_post(loop, &nudge.mail);
    while (!nudge.done) /* an event stops the loop as well */
        loop_run(loop);
}

static inline struct addr addr_of(const char *string)
{
    struct addr addr;
    assert_int_equal(addr_parse(&addr, string, 0), ERR_OK);
    return addr;
}

/* Skips a test that needs IPv6 on a machine without it. */
static inline void needs_ipv6(void)
{
    struct addr addr = addr_of("::1@0");
    int fd = socket(AF_INET6, SOCK_DGRAM, 0);
    bool has = fd >= 0 && bind(fd, &addr.sa, addr_len(&addr)) == 0;

    if (fd >= 0)
        close(fd);
    if (!has)
        skip();
}

/* Makes a plain socket bound to the address; *bound has the port. */
static inline int plain_socket(int type, const char *string, struct addr *bound)
{
    struct addr addr = addr_of(string);
    socklen_t len = sizeof(*bound);
    int fd = socket(addr_family(&addr), type, 0);

    assert_true(fd >= 0);
    assert_int_equal(bind(fd, &addr.sa, addr_len(&addr)), 0);
    assert_int_equal(getsockname(fd, &bound->sa, &len), 0);
    return fd;
}

/* Makes a listening socket as the code under test does. */
static inline struct listen_socket listen_at(enum listen_type type, const struct addr *addr)
{
    struct listen_wish wish = {.addr = *addr, .type = type, .is_beside_ours = true};
    struct listen_socket made;
    assert_int_equal(listen_socket_open(&made, &wish), ERR_OK);
    return made;
}

static inline int plain_listener(struct addr *bound)
{
    int fd = plain_socket(SOCK_STREAM, "127.0.0.1@0", bound);
    assert_int_equal(listen(fd, 16), 0);
    return fd;
}

/* Returns an address without a listener. */
static inline struct addr closed_port(int type)
{
    struct addr addr;
    close(plain_socket(type, "127.0.0.1@0", &addr));
    return addr;
}

static inline int plain_connect(const struct addr *peer)
{
    int fd = socket(addr_family(peer), SOCK_STREAM, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, &peer->sa, addr_len(peer)), 0);
    return fd;
}

/* Closes the socket with a RST. */
static inline void plain_reset(int fd)
{
    struct linger linger = {1, 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
    close(fd);
}

static inline size_t plain_read(int fd, void *out, size_t len)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    ssize_t got;

    assert_int_equal(poll(&wait, 1, GUARD_S * 1000), 1);
    got = recv(fd, out, len, 0);
    assert_true(got >= 0);
    return (size_t)got;
}

#endif
