/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * A UDP socket for clients (udp_server.h): batches of BATCH datagrams in and out, without an
 * allocation per datagram. The owner reads the datagrams and controls access.
 *
 * Invariant: replies[0, reply_count) are complete and leave at the end of the turn at the latest. A
 * server that is closed while it delivers datagrams is freed afterwards.
 */

#include "net/udp_server.h"

#include <errno.h>
#include <linux/sock_diag.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/log.h"
#include "loop/loop.h"
#include "loop/timer.h"
#include "loop/watch.h"
#include "net/listen_socket.h"
#include "net/socket.h"
#include "net/stock.h"
#include "net/udp_filter.h"

enum {
    BATCH = 32,
    BATCHES_PER_TURN = 4, /* other sockets and the turn-end hooks come next */
    /* While the kernel stamps datagrams: the owner drops old ones cheaply, so more are read. */
    BATCHES_PER_STAMPED_TURN = 64,
    /* The time limit of a turn: misses are expensive, and answers from upstreams must not wait. */
    READ_MAX_US = 2 * 1000,
    FULL_TURNS = 4, /* after so many full turns in succession, stamping begins */
    CONTROL_BYTES = CMSG_SPACE(sizeof(struct in6_pktinfo)) + /* the larger of both families */
                    CMSG_SPACE(sizeof(struct timespec)),
};

/* Control messages are accessed as structs, which need alignment. */
union control {
    struct cmsghdr align;
    uint8_t bytes[CONTROL_BYTES];
};

/* The kernel writes datagrams to one of them, and reads replies from another. */
struct batch {
    struct mmsghdr headers[BATCH];
    struct iovec parts[BATCH];
    struct addr peers[BATCH];
    union control controls[BATCH];
};

struct udp_server {
    struct watch watch;
    struct stock *stock;
    const struct udp_server_handler *handler;
    void *owner;
    struct addr local;
    bool is_shared;
    bool is_wildcard;              /* each datagram carries its destination */
    bool is_in_batch;              /* delivers datagrams: replies leave right afterwards */
    bool is_closed;                /* within a batch, which frees it */
    bool is_emptied;               /* the server ends: each turn reads until nothing is left */
    bool is_deaf;                  /* it ends, and nothing new arrives */
    void (*on_quiet)(void *owner); /* set by udp_server_end() */
    struct timer end;
    unsigned reply_count;
    struct turn_end turn_end;
    uint64_t dropped;
    bool is_stamped;     /* the kernel stamps arrivals */
    unsigned full_turns; /* successive turns that left datagrams unread */
    uint64_t full_at;    /* the last of them */
    uint64_t age_us;     /* the age of the batch's first datagram */
    struct batch in, out;
    struct udp_path paths[BATCH]; /* without detours */
    uint8_t queries[BATCH][UDP_QUERY_MAX];
    uint8_t replies[BATCH][UDP_REPLY_MAX];
};

/* ---------------------------------------------------------------- replies */

/* An error of one datagram costs that datagram. A full socket or device costs the rest of the
 * batch, because waiting would delay the answers to other clients too. */
static bool is_kernel_full(int number)
{
    return number == EAGAIN || number == ENOBUFS || number == ENOMEM;
}

static void flush(struct udp_server *server)
{
    unsigned next = 0;

    while (next < server->reply_count) {
        int sent = sendmmsg(server->watch.fd, &server->out.headers[next],
                            server->reply_count - next, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent > 0) {
            next += (unsigned)sent;
        } else if (sent == 0 || is_kernel_full(errno)) {
            server->dropped += server->reply_count - next;
            break;
        } else if (errno != EINTR) {
            server->dropped++;
            next++;
        }
    }
    server->reply_count = 0;
}

static void udp_server_on_turn_end(struct turn_end *end)
{
    flush(CONTAINER_OF(end, struct udp_server, turn_end));
}

/* Sets the source address of a reply. */
static void put_source(struct msghdr *header, union control *control, const struct udp_path *path)
{
    struct cmsghdr *cmsg = &control->align;

    header->msg_control = control;
    if (addr_family(&path->local) == AF_INET) {
        struct in_pktinfo info = {.ipi_spec_dst = path->local.in.sin_addr};
        info.ipi_ifindex = (int)path->interface_index;
        cmsg->cmsg_level = IPPROTO_IP;
        cmsg->cmsg_type = IP_PKTINFO;
        cmsg->cmsg_len = CMSG_LEN(sizeof(info));
        header->msg_controllen = CMSG_SPACE(sizeof(info));
        memcpy(CMSG_DATA(cmsg), &info, sizeof(info));
    } else {
        struct in6_pktinfo info = {.ipi6_addr = path->local.in6.sin6_addr};
        info.ipi6_ifindex = path->interface_index;
        cmsg->cmsg_level = IPPROTO_IPV6;
        cmsg->cmsg_type = IPV6_PKTINFO;
        cmsg->cmsg_len = CMSG_LEN(sizeof(info));
        header->msg_controllen = CMSG_SPACE(sizeof(info));
        memcpy(CMSG_DATA(cmsg), &info, sizeof(info));
    }
}

uint8_t *udp_server_reserve(struct udp_server *server)
{
    if (server->reply_count == BATCH)
        flush(server);
    return server->replies[server->reply_count];
}

void udp_server_commit(struct udp_server *server, size_t len, const struct udp_path *path)
{
    unsigned slot = server->reply_count;
    struct msghdr *header = &server->out.headers[slot].msg_hdr;
    const struct addr *receiver = udp_path_receiver(path);

    MUST(len <= UDP_REPLY_MAX && slot < BATCH);
    server->out.peers[slot] = *receiver;
    server->out.parts[slot].iov_len = len;
    header->msg_namelen = addr_len(receiver);
    header->msg_control = NULL;
    header->msg_controllen = 0;
    if (addr_family(&path->local) != 0)
        put_source(header, &server->out.controls[slot], path);
    server->reply_count++;
    if (!server->is_in_batch)
        loop_at_turn_end(stock_loop(server->stock), &server->turn_end);
}

/* ---------------------------------------------------------------- datagrams */

/* An answer to a link-local address must leave by the interface of its query. Routes decide about
 * all others. */
static bool needs_interface(const struct addr *peer)
{
    return addr_family(peer) == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&peer->in6.sin6_addr);
}

static void read_destination(struct udp_path *path, struct msghdr *header, uint16_t port)
{
    for (struct cmsghdr *cmsg = CMSG_FIRSTHDR(header); cmsg; cmsg = CMSG_NXTHDR(header, cmsg)) {
        if (cmsg->cmsg_level == IPPROTO_IP && cmsg->cmsg_type == IP_PKTINFO) {
            struct in_pktinfo info;
            memcpy(&info, CMSG_DATA(cmsg), sizeof(info));
            path->local.in = (struct sockaddr_in){
                .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = info.ipi_spec_dst};
        } else if (cmsg->cmsg_level == IPPROTO_IPV6 && cmsg->cmsg_type == IPV6_PKTINFO) {
            struct in6_pktinfo info;
            memcpy(&info, CMSG_DATA(cmsg), sizeof(info));
            path->local.in6 = (struct sockaddr_in6){
                .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = info.ipi6_addr};
            if (needs_interface(&path->peer))
                path->interface_index = info.ipi6_ifindex;
        }
    }
}

static void udp_server_deliver(struct udp_server *server, unsigned slot)
{
    struct mmsghdr *received = &server->in.headers[slot];
    struct udp_path *path = &server->paths[slot];

    /* No answer can reach port 0, so only a forger uses it. */
    if (addr_port(&server->in.peers[slot]) == 0)
        return;
    path->peer = server->in.peers[slot];
    path->local.sa.sa_family = 0;
    path->interface_index = 0;
    if (server->is_wildcard)
        read_destination(path, &received->msg_hdr, addr_port(&server->local));
    server->handler->on_datagram(server->owner, span_of(server->queries[slot], received->msg_len),
                                 path);
}

/* ---------------------------------------------------------------- arrivals */

/* The kernel stamps by the wall clock. A step of that clock makes one age wrong. */
static uint64_t udp_server_age_of(struct msghdr *header)
{
    struct timespec came = {0}, now;

    for (struct cmsghdr *cmsg = CMSG_FIRSTHDR(header); cmsg; cmsg = CMSG_NXTHDR(header, cmsg))
        if (cmsg->cmsg_level == SOL_SOCKET && cmsg->cmsg_type == SCM_TIMESTAMPNS)
            memcpy(&came, CMSG_DATA(cmsg), sizeof(came));
    MUST(clock_gettime(CLOCK_REALTIME, &now) == 0);
    int64_t age_us = (int64_t)(now.tv_sec - came.tv_sec) * (int64_t)US_PER_S +
                     (now.tv_nsec - came.tv_nsec) / 1000;
    return came.tv_sec && age_us > 0 ? (uint64_t)age_us : 0;
}

/* The first slot of a batch gets the oldest datagram, so its stamp is enough. */
static void set_stamped(struct udp_server *server, bool stamped)
{
    struct msghdr *first = &server->in.headers[0].msg_hdr;

    server->is_stamped =
        socket_set(server->watch.fd, SOL_SOCKET, SO_TIMESTAMPNS, stamped) && stamped;
    if (!server->is_wildcard)
        first->msg_control = server->is_stamped ? &server->in.controls[0] : NULL;
    first->msg_controllen = first->msg_control ? CONTROL_BYTES : 0;
}

/* Runs after a turn. Without stamps all ages are unknown, so the owner does not mistake a burst for
 * an overload. */
static void note_turn(struct udp_server *server, bool is_full)
{
    server->full_turns = is_full ? server->full_turns + 1 : 0;
    if (!is_full && !server->is_stamped)
        return;
    uint64_t now = loop_now(stock_loop(server->stock));
    if (is_full)
        server->full_at = now;
    if (!server->is_stamped && server->full_turns >= FULL_TURNS)
        set_stamped(server, true);
    else if (server->is_stamped && now - server->full_at > UDP_SERVER_STAMPED_US)
        set_stamped(server, false);
}

/* ---------------------------------------------------------------- the kernel's queue */

struct udp_server_queue udp_server_look(const struct udp_server *server)
{
    uint32_t figures[SK_MEMINFO_VARS] = {0};
    socklen_t len = sizeof(figures);

    if (getsockopt(server->watch.fd, SOL_SOCKET, SO_MEMINFO, figures, &len) != 0)
        return (struct udp_server_queue){0};
    return (struct udp_server_queue){
        .lost = figures[SK_MEMINFO_DROPS],
        .is_half_full = figures[SK_MEMINFO_RMEM_ALLOC] > figures[SK_MEMINFO_RCVBUF] / 2,
    };
}

bool udp_server_thin(struct udp_server *server, const struct udp_thinned *thinned, unsigned count)
{
    struct sock_filter steps[UDP_FILTER_STEPS_MAX];
    struct sock_fprog program = {.filter = steps};

    if (server->is_shared)
        return false;
    if (count == 0)
        return socket_set(server->watch.fd, SOL_SOCKET, SO_DETACH_FILTER, 0);
    program.len =
        (unsigned short)udp_filter_build(steps, addr_family(&server->local), thinned, count);
    if (setsockopt(server->watch.fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) == 0)
        return true;
    LOG_LIMITED(LOG_WARNING, "net",
                "the kernel refuses a filter for a UDP socket (%s): under overload, small clients "
                "lose queries as large ones do",
                strerror(errno));
    return false;
}

/* ---------------------------------------------------------------- batches */

/* The kernel has overwritten the lengths of the slots that it used. */
static void renew_slot(struct udp_server *server, unsigned slot)
{
    struct msghdr *header = &server->in.headers[slot].msg_hdr;

    header->msg_namelen = sizeof(struct addr);
    header->msg_controllen = header->msg_control ? CONTROL_BYTES : 0;
}

static void run_batch(struct udp_server *server, unsigned count)
{
    const struct udp_server_handler *handler = server->handler;

    server->age_us = server->is_stamped ? udp_server_age_of(&server->in.headers[0].msg_hdr) : 0;
    server->is_in_batch = true;
    if (handler->on_batch_begin)
        handler->on_batch_begin(server->owner);
    for (unsigned slot = 0; slot < count; slot++) {
        if (!server->is_closed)
            udp_server_deliver(server, slot);
        renew_slot(server, slot);
    }
    if (handler->on_batch_end)
        handler->on_batch_end(server->owner);
    server->is_in_batch = false;
    if (!server->is_closed)
        flush(server);
}

/* Polls the socket in each turn after a full batch, and waits for it again after a turn without
 * datagrams. A socket that cannot be waited for stays polled. */
static void note_load(struct udp_server *server, int batch, int count)
{
    struct loop *loop = stock_loop(server->stock);
    if (count == BATCH)
        watch_set_busy(loop, &server->watch);
    else if (count <= 0 && batch == 0 && watch_set_calm(loop, &server->watch))
        LOG_LIMITED(LOG_WARNING, "net", "a UDP socket cannot be waited for: it is polled");
}

static void report_quiet(struct udp_server *server)
{
    void (*on_quiet)(void *owner) = server->on_quiet;
    timer_stop(&server->end);
    server->is_emptied = false;
    server->on_quiet = NULL;
    on_quiet(server->owner);
}

/* Whether this turn may read another batch. */
static bool may_read_on(const struct udp_server *server, int batches)
{
    struct loop *loop = stock_loop(server->stock);

    if (batches >= (server->is_stamped ? BATCHES_PER_STAMPED_TURN : BATCHES_PER_TURN))
        return false;
    return loop_clock(loop) - loop_now(loop) < READ_MAX_US;
}

/* Whether the socket may have more datagrams. READ_CLOSED: the server may be gone. */
enum reading { READ_ALL, READ_FULL_BATCH, READ_CLOSED };

static enum reading read_batch(struct udp_server *server, int batch)
{
    int count = recvmmsg(server->watch.fd, server->in.headers, BATCH, MSG_DONTWAIT, NULL);

    note_load(server, batch, count);
    if (count <= 0 && batch == 0 && server->is_emptied) {
        report_quiet(server);
        return READ_CLOSED;
    }
    if (count <= 0)
        return READ_ALL; /* EAGAIN, or an error that reading has cleared */
    run_batch(server, (unsigned)count);
    if (server->is_closed) {
        free(server);
        return READ_CLOSED;
    }
    return count == BATCH ? READ_FULL_BATCH : READ_ALL;
}

static void udp_server_on_ready(struct watch *watch, uint32_t events)
{
    struct udp_server *server = CONTAINER_OF(watch, struct udp_server, watch);
    enum reading reading;
    int batches = 0;

    (void)events;
    do {
        reading = read_batch(server, batches++);
    } while (reading == READ_FULL_BATCH && may_read_on(server, batches));
    if (reading != READ_CLOSED)
        note_turn(server, reading == READ_FULL_BATCH);
}

/* ---------------------------------------------------------------- ending */

/* Connects the socket to itself, so that the kernel delivers new datagrams elsewhere. Returns false
 * if that fails, for example because the machine no longer has the address. */
static bool stop_hearing(struct udp_server *server)
{
    return connect(server->watch.fd, &server->local.sa, addr_len(&server->local)) == 0;
}

/* Datagrams that were on their way through the kernel have arrived. */
static void udp_server_on_end_due(struct timer *timer)
{
    struct udp_server *server = CONTAINER_OF(timer, struct udp_server, end);
    struct loop *loop = stock_loop(server->stock);

    if (server->is_emptied) { /* datagrams still arrive, so it may never become empty */
        report_quiet(server);
        return;
    }
    server->is_emptied = true;
    watch_set_busy(loop, &server->watch);
    if (!server->is_deaf)
        timer_start(loop, timer, loop_now(loop) + UDP_SERVER_END_MAX_US);
}

void udp_server_end(struct udp_server *server, void (*on_quiet)(void *owner))
{
    struct loop *loop = stock_loop(server->stock);

    MUST(!server->on_quiet);
    server->on_quiet = on_quiet;
    server->is_deaf = !server->is_shared && stop_hearing(server);
    timer_start(loop, &server->end, loop_now(loop) + UDP_SERVER_END_US);
}

void udp_server_leave(struct udp_server *server)
{
    MUST(server->is_shared && !server->is_in_batch && !server->on_quiet);
    watch_stop(stock_loop(server->stock), &server->watch);
}

/* ---------------------------------------------------------------- life */

static void prepare_batches(struct udp_server *server)
{
    for (unsigned slot = 0; slot < BATCH; slot++) {
        struct msghdr *in = &server->in.headers[slot].msg_hdr;
        struct msghdr *out = &server->out.headers[slot].msg_hdr;

        server->in.parts[slot] = (struct iovec){server->queries[slot], UDP_QUERY_MAX};
        in->msg_name = &server->in.peers[slot];
        in->msg_iov = &server->in.parts[slot];
        in->msg_iovlen = 1;
        if (server->is_wildcard)
            in->msg_control = &server->in.controls[slot];
        renew_slot(server, slot);
        server->out.parts[slot] = (struct iovec){server->replies[slot], 0};
        out->msg_name = &server->out.peers[slot];
        out->msg_iov = &server->out.parts[slot];
        out->msg_iovlen = 1;
    }
}

enum err udp_server_open(struct udp_server **out, struct loop *loop, struct listen_socket *socket,
                         const struct udp_server_handler *handler, void *owner)
{
    struct stock *stock = stock_of(loop);
    struct udp_server *server = stock ? calloc(1, sizeof(*server)) : NULL;

    if (!server)
        return ERR_NO_MEMORY;
    server->stock = stock;
    server->handler = handler;
    server->owner = owner;
    server->local = socket->local;
    server->is_shared = socket->is_shared;
    server->is_wildcard = addr_is_any(&socket->local);
    server->watch.on_ready = udp_server_on_ready;
    turn_end_init(&server->turn_end, udp_server_on_turn_end);
    timer_init(&server->end, udp_server_on_end_due);
    prepare_batches(server);
    enum err err = watch_start(loop, &server->watch, socket->fd, EPOLLIN);
    if (err) {
        free(server);
        return err;
    }
    *socket = LISTEN_SOCKET_NONE;
    *out = server;
    return ERR_OK;
}

void udp_server_close(struct udp_server **server)
{
    struct udp_server *closing = *server;

    *server = NULL;
    flush(closing); /* sends complete answers */
    turn_end_cancel(&closing->turn_end);
    timer_stop(&closing->end);
    if (closing->is_shared) /* a close leaves it in the set while others have it open */
        watch_stop(stock_loop(closing->stock), &closing->watch);
    watch_close(stock_loop(closing->stock), &closing->watch);
    closing->is_closed = true;
    if (!closing->is_in_batch)
        free(closing);
}

const struct addr *udp_server_local(const struct udp_server *server)
{
    return &server->local;
}

uint64_t udp_server_dropped(const struct udp_server *server)
{
    return server->dropped;
}

uint64_t udp_server_age_us(const struct udp_server *server)
{
    return server->age_us;
}
