/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * A netlink socket. It asks once for the current state and hears of changes from then on.
 * network_facts.c reads its messages; network_gather.c decides when to report.
 *
 * Invariant: the state at the start, and the state read again after messages were lost, do not
 * count as changes. The loss itself counts as one change.
 */

#include "daemon/network_watch.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "base/log.h"
#include "daemon/network_facts.h"
#include "daemon/network_gather.h"
#include "daemon/sleep_watch.h"
#include "loop/fd_watch.h"

enum {
    DATAGRAM_MAX = 64 * 1024, /* the kernel's answers are at most half as long */
    READS_A_TURN = 16,
};

/* The requests, sent one after the other: the kernel takes one at a time. */
static const uint16_t requests[] = {RTM_GETLINK, RTM_GETADDR};

struct network_watch {
    int fd;
    struct fd_watch *watch;
    struct sleep_watch *sleep; /* NULL: not available */
    size_t asked;              /* requests asked; with all asked, messages are news */
    struct network_facts facts;
    struct network_gather gather;
    alignas(struct nlmsghdr) uint8_t datagram[DATAGRAM_MAX];
};

/* ---- asking ---- */

static bool is_asking(const struct network_watch *watch)
{
    return watch->asked < ARRAY_LEN(requests);
}

static bool network_watch_ask(struct network_watch *watch)
{
    struct {
        struct nlmsghdr head;
        struct rtgenmsg body;
    } request = {
        .head = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct rtgenmsg)),
                 .nlmsg_type = requests[watch->asked],
                 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
        .body = {.rtgen_family = AF_UNSPEC},
    };
    return send(watch->fd, &request, request.head.nlmsg_len, MSG_NOSIGNAL) >= 0;
}

/* Skips a request that cannot be sent: its facts become news later. */
static void network_watch_ask_next(struct network_watch *watch)
{
    do {
        watch->asked++;
    } while (is_asking(watch) && !network_watch_ask(watch));
}

static void network_watch_ask_all(struct network_watch *watch)
{
    network_facts_clear(&watch->facts);
    watch->asked = 0;
    if (!network_watch_ask(watch))
        network_watch_ask_next(watch);
}

/* ---- what comes ---- */

static void network_watch_take(struct network_watch *watch, struct span datagram)
{
    struct network_news news = network_facts_read(&watch->facts, datagram);

    if (news.changed && !is_asking(watch))
        network_gather_note(&watch->gather, NETWORK_CHANGED);
    if (news.ended && is_asking(watch))
        network_watch_ask_next(watch);
}

/* Other processes may write to the socket too. Their messages are ignored. */
static ssize_t network_watch_receive(struct network_watch *watch, bool *is_kernel)
{
    struct sockaddr_nl from = {0};
    socklen_t len = sizeof(from);
    ssize_t got =
        recvfrom(watch->fd, watch->datagram, DATAGRAM_MAX, 0, (struct sockaddr *)&from, &len);

    *is_kernel = len == sizeof(from) && from.nl_pid == 0;
    return got;
}

static void network_watch_on_readable(void *owner, struct fd_events events)
{
    struct network_watch *watch = owner;

    (void)events;
    for (int i = 0; i < READS_A_TURN; i++) {
        bool is_kernel;
        ssize_t got = network_watch_receive(watch, &is_kernel);
        if (got > 0 && is_kernel)
            network_watch_take(watch, span_of(watch->datagram, (size_t)got));
        if (got >= 0 || errno == EINTR)
            continue;
        if (errno == ENOBUFS) { /* the socket overflowed, so messages are lost */
            network_gather_note(&watch->gather, NETWORK_CHANGED);
            network_watch_ask_all(watch);
        }
        return;
    }
}

static void network_watch_on_woke(void *context, uint64_t slept_us)
{
    struct network_watch *watch = context;

    LOG(LOG_NOTICE, "daemon", "this machine slept for %llu s",
        (unsigned long long)(slept_us / US_PER_S));
    network_gather_note(&watch->gather, NETWORK_RESUMED);
}

/* ---- opening ---- */

/* Filters all routes but default routes out in the kernel: a router has a million, and they change
 * all day. */
static bool network_watch_filter_routes(int fd)
{
    enum { TYPE_AT = offsetof(struct nlmsghdr, nlmsg_type) };
    enum { LEN_AT = sizeof(struct nlmsghdr) + offsetof(struct rtmsg, rtm_dst_len) };
    const uint16_t new_route = RTM_NEWROUTE, del_route = RTM_DELROUTE;
    uint8_t bytes[2][2]; /* a filter reads numbers in network byte order */
    memcpy(bytes[0], &new_route, 2);
    memcpy(bytes[1], &del_route, 2);
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, TYPE_AT),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, get_u16(bytes[0]), 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, get_u16(bytes[1]), 0, 2),
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, LEN_AT),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };
    struct sock_fprog filter = {.len = ARRAY_LEN(code), .filter = code};
    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)) == 0;
}

static int network_watch_open_socket(void)
{
    const struct sockaddr_nl name = {
        .nl_family = AF_NETLINK,
        .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE |
                     RTMGRP_IPV6_ROUTE,
    };
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE);

    if (fd < 0)
        return -1;
    if (network_watch_filter_routes(fd) &&
        bind(fd, (const struct sockaddr *)&name, sizeof(name)) == 0)
        return fd;
    close(fd);
    return -1;
}

static void network_watch_open_links(struct network_watch *watch, struct loop *loop)
{
    watch->fd = network_watch_open_socket();
    if (watch->fd >= 0 &&
        !fd_watch_start(&watch->watch, loop, watch->fd, (struct fd_events){.readable = true},
                        network_watch_on_readable, watch))
        network_watch_ask_all(watch);
    else
        LOG(LOG_WARNING, "daemon",
            "cannot watch the network for changes: %s; allow netlink sockets, or set "
            "upstream.follow-network: no",
            strerror(errno));
}

enum err network_watch_open(struct network_watch **out, struct loop *loop,
                            void (*on_changed)(void *context, enum network_change change),
                            void *context)
{
    struct network_watch *watch = calloc(1, sizeof(*watch));

    *out = watch;
    if (!watch)
        return ERR_NO_MEMORY;
    network_gather_init(&watch->gather, loop, on_changed, context);
    network_watch_open_links(watch, loop);
    enum err err = sleep_watch_open(&watch->sleep, loop, network_watch_on_woke, watch);
    if (err)
        LOG(LOG_WARNING, "daemon", "cannot notice when this machine sleeps: %s", err_str(err));
    return ERR_OK;
}

void network_watch_close(struct network_watch **watch)
{
    struct network_watch *closing = *watch;

    *watch = NULL;
    if (!closing)
        return;
    network_gather_deinit(&closing->gather);
    sleep_watch_close(&closing->sleep);
    fd_watch_stop(&closing->watch);
    if (closing->fd >= 0)
        close(closing->fd);
    free(closing);
}
