/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * A netlink socket: asks once what there is, and is told of changes from then on. What its messages
 * mean is network_facts.c's, when it is told network_gather.c's.
 *
 * Invariant: nothing is told of what was there at the start, nor of what is found again after
 * messages were lost; that they were is a change by itself.
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
    DATAGRAM_MAX = 64 * 1024, /* the kernel's answers have at most half of that */
    READS_A_TURN = 16,
};

/* What is asked, one after the other: the kernel takes one such question at a time. */
static const uint16_t questions[] = {RTM_GETLINK, RTM_GETADDR};

struct network_watch {
    int fd;
    struct fd_watch *watch;
    struct sleep_watch *sleep; /* NULL: cannot be watched */
    size_t asked;              /* of questions; all: what comes now is news */
    struct network_facts facts;
    struct network_gather gather;
    alignas(struct nlmsghdr) uint8_t datagram[DATAGRAM_MAX];
};

/* ---- asking ---- */

static bool is_asking(const struct network_watch *watch)
{
    return watch->asked < ARRAY_LEN(questions);
}

static bool network_watch_ask(struct network_watch *watch)
{
    struct {
        struct nlmsghdr head;
        struct rtgenmsg body;
    } question = {
        .head = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct rtgenmsg)),
                 .nlmsg_type = questions[watch->asked],
                 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
        .body = {.rtgen_family = AF_UNSPEC},
    };
    return send(watch->fd, &question, question.head.nlmsg_len, MSG_NOSIGNAL) >= 0;
}

/* A question that cannot be asked is passed over: what it would have told is news later. */
static void ask_next(struct network_watch *watch)
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
        ask_next(watch);
}

/* ---- what comes ---- */

static void network_watch_take(struct network_watch *watch, struct span datagram)
{
    struct network_news news = network_facts_read(&watch->facts, datagram);

    if (news.changed && !is_asking(watch))
        network_gather_note(&watch->gather, NETWORK_CHANGED);
    if (news.ended && is_asking(watch))
        ask_next(watch);
}

/* Other processes may write to the socket too; what they say is passed over. */
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
        if (errno == ENOBUFS) { /* there was more than the socket holds: some of it is lost */
            network_gather_note(&watch->gather, NETWORK_CHANGED);
            network_watch_ask_all(watch);
        }
        return;
    }
}

static void on_woke(void *context, uint64_t slept_us)
{
    struct network_watch *watch = context;

    LOG(LOG_NOTICE, "daemon", "this machine slept for %llu s",
        (unsigned long long)(slept_us / US_PER_S));
    network_gather_note(&watch->gather, NETWORK_RESUMED);
}

/* ---- opening ---- */

/* Routes other than default ones stay in the kernel: a router has a million, and they change all
 * day. */
static bool leave_out_routes(int fd)
{
    enum { TYPE_AT = offsetof(struct nlmsghdr, nlmsg_type) };
    enum { LEN_AT = sizeof(struct nlmsghdr) + offsetof(struct rtmsg, rtm_dst_len) };
    const uint16_t new_route = RTM_NEWROUTE, del_route = RTM_DELROUTE;
    uint8_t bytes[2][2]; /* a filter reads numbers as the network writes them */
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
    if (leave_out_routes(fd) && bind(fd, (const struct sockaddr *)&name, sizeof(name)) == 0)
        return fd;
    close(fd);
    return -1;
}

static void open_links(struct network_watch *watch, struct loop *loop)
{
    watch->fd = network_watch_open_socket();
    if (watch->fd >= 0 &&
        !fd_watch_start(&watch->watch, loop, watch->fd, (struct fd_events){.readable = true},
                        network_watch_on_readable, watch))
        network_watch_ask_all(watch);
    else
        LOG(LOG_WARNING, "daemon",
            "changes of the network cannot be watched: %s; allow netlink sockets, or set "
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
    open_links(watch, loop);
    enum err err = sleep_watch_open(&watch->sleep, loop, on_woke, watch);
    if (err)
        LOG(LOG_WARNING, "daemon", "that this machine slept will not be noticed: %s", err_str(err));
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
