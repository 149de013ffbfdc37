/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Sockets of UDP queries, used again with a fresh port each time (udp_sockets.h).
 *
 * Invariant: an idle socket is connected to nobody and has no port, so nothing can arrive at it. It
 * is not used again before what had arrived has been thrown away, after the next look at the loop's
 * sockets. Where more are ready than one look names some may stay: the next query then takes a
 * datagram for a stray, by its id, and udp_query.c an error for the last one's.
 */

#include "net/udp_sockets.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "base/log.h"
#include "base/stats.h"
#include "loop/loop.h"
#include "loop/timer.h"
#include "net/file_count.h"
#include "net/outgoing_ports.h"
#include "net/socket.h"

enum {
    WAIT_AFTER_GIVE_US = 1000, /* a socket that was given back is used again two looks later */
    WAIT_US = 10 * 1000,       /* without one: others may free files at any time */
    LOOKS = 3,                 /* reuses of which the ports are compared */
    TURNS_TO_DRAIN = 2,        /* looks at the sockets: with the first one comes what had arrived */
    DRAIN_MAX = 16, /* datagrams thrown away at an idle socket, until it is closed instead */
};

enum { FAMILY_V4, FAMILY_V6, FAMILIES };

struct udp_sockets {
    struct stock_tenant tenant;
    struct list idle[FAMILIES]; /* the longest idle first */
    unsigned count[FAMILIES];
    struct list waiting; /* struct udp_waiter: there are no files */
    unsigned waiting_count;
    struct timer again;
    struct stock *stock;
    unsigned looks; /* ports compared so far, each time found to differ */
    bool is_off;    /* this kernel keeps the port: each query gets a new socket */
    bool has_ports; /* else the system draws all of them */
    struct outgoing_ports ports;
    uint64_t *fallbacks; /* NULL unless has_ports */
};

static unsigned udp_sockets_place_of(int family)
{
    return family == AF_INET6 ? FAMILY_V6 : FAMILY_V4;
}

static void socket_free(struct udp_socket *socket)
{
    watch_close(stock_loop(socket->stock), &socket->watch);
    file_count_give(stock_files(socket->stock), FILE_UDP);
    free(socket);
}

static void on_loop_closing(struct stock_tenant *tenant)
{
    struct udp_sockets *sockets = CONTAINER_OF(tenant, struct udp_sockets, tenant);

    for (unsigned place = 0; place < FAMILIES; place++)
        for (struct list *node; (node = list_take_first(&sockets->idle[place]));)
            socket_free(LIST_ITEM(node, struct udp_socket, node));
    timer_stop(&sockets->again);
    free(sockets);
}

static void on_again(struct timer *timer);

static struct udp_sockets *sockets_of(struct stock *stock)
{
    struct stock_tenant *tenant = stock_tenant(stock);
    if (tenant)
        return CONTAINER_OF(tenant, struct udp_sockets, tenant);
    struct udp_sockets *sockets = calloc(1, sizeof(*sockets));
    if (!sockets)
        return NULL;
    for (unsigned place = 0; place < FAMILIES; place++)
        list_init(&sockets->idle[place]);
    list_init(&sockets->waiting);
    timer_init(&sockets->again, on_again);
    sockets->stock = stock;
    sockets->tenant.close = on_loop_closing;
    stock_set_tenant(stock, &sockets->tenant);
    return sockets;
}

/* ---- idle ones ---- */

static struct udp_socket *take_idle(struct udp_sockets *sockets, struct stock *stock, int family)
{
    unsigned place = udp_sockets_place_of(family);
    struct list *node = list_first(&sockets->idle[place]);
    if (!node)
        return NULL;
    struct udp_socket *socket = LIST_ITEM(node, struct udp_socket, node);
    if (watch_turns(stock_loop(stock)) - socket->idle_turn < TURNS_TO_DRAIN)
        return NULL;
    list_remove(node);
    sockets->count[place]--;
    return socket;
}

static void drop_idle(struct udp_socket *socket)
{
    list_remove(&socket->node);
    sockets_of(socket->stock)->count[udp_sockets_place_of(socket->family)]--;
    socket_free(socket);
}

/* What came for the query before, or an ICMP error about it. */
static void udp_sockets_drain(struct udp_socket *socket)
{
    uint8_t byte;
    for (unsigned i = 0; i < DRAIN_MAX; i++)
        if (recv(socket->watch.fd, &byte, sizeof(byte), MSG_DONTWAIT) < 0 && errno == EAGAIN)
            return;
    drop_idle(socket);
}

static void udp_sockets_on_ready(struct watch *watch, uint32_t events)
{
    struct udp_socket *socket = CONTAINER_OF(watch, struct udp_socket, watch);

    (void)events;
    if (socket->on_ready)
        socket->on_ready(socket, socket->owner);
    else
        udp_sockets_drain(socket);
}

/* ---- connecting ---- */

static in_port_t udp_sockets_port_of(int fd)
{
    struct addr addr = {0};
    socklen_t len = sizeof(addr);
    return getsockname(fd, &addr.sa, &len) == 0 ? addr_port(&addr) : 0;
}

static bool disconnect(int fd)
{
    const struct sockaddr nobody = {.sa_family = AF_UNSPEC};
    return connect(fd, &nobody, sizeof(nobody)) == 0;
}

/* Some kernels may keep the port of a disconnected socket: one port for all queries would be easy
 * to guess. The first reuses say which kind this is; no port at all is the sign. */
static void udp_sockets_look(struct udp_sockets *sockets, int fd)
{
    if (udp_sockets_port_of(fd) == 0) {
        sockets->looks++;
        return;
    }
    sockets->is_off = true;
    LOG(LOG_NOTICE, "net", "UDP queries get a new socket each: a disconnected one keeps its port");
}

static enum err new_watched_socket(struct udp_socket **out, struct stock *stock, int family)
{
    int fd;
    enum err err = socket_open(&fd, family, SOCK_DGRAM);
    if (err)
        return err;
    struct udp_socket *socket = calloc(1, sizeof(*socket));
    if (!socket) {
        close(fd);
        return ERR_NO_MEMORY;
    }
    list_init(&socket->node);
    socket->stock = stock;
    socket->family = family;
    socket->watch.on_ready = udp_sockets_on_ready;
    err = watch_start(stock_loop(stock), &socket->watch, fd, EPOLLIN);
    if (err) {
        close(fd);
        free(socket);
        return err;
    }
    *out = socket;
    return ERR_OK;
}

static enum err new_socket(struct udp_socket **out, struct stock *stock, int family)
{
    struct file_count *files = stock_files(stock);
    if (!file_count_take(files, FILE_UDP))
        return ERR_NO_FILES;
    enum err err = new_watched_socket(out, stock, family);
    if (err)
        file_count_give(files, FILE_UDP);
    return err;
}

/* Another socket has the port, or this process may not have it. */
static bool is_taken(enum err err)
{
    return err == ERR_ADDRESS_IN_USE || err == ERR_PERMISSION;
}

/* Binds to the port, or to others drawn at random while they are taken. */
static enum err bind_random(struct udp_sockets *sockets, struct udp_socket *socket,
                            const struct addr *source, uint16_t port)
{
    struct addr local = {.sa.sa_family = (sa_family_t)socket->family}; /* the wildcard */

    if (addr_family(source) != 0)
        local = *source;
    for (unsigned i = 0; i < OUTGOING_PORT_DRAWS_MAX; i++) {
        addr_set_port(&local, port);
        enum err err = socket_bind_source(socket->watch.fd, &local);
        if (!is_taken(err))
            return err;
        port = outgoing_ports_draw(&sockets->ports);
        if (port == OUTGOING_PORT_SYSTEM)
            break;
    }
    if (port != OUTGOING_PORT_SYSTEM)
        stats_write(sockets->fallbacks, stats_read(sockets->fallbacks) + 1);
    return addr_family(source) ? socket_bind_source(socket->watch.fd, source) : ERR_OK;
}

static enum err connect_from(struct udp_sockets *sockets, struct udp_socket *socket,
                             const struct addr *peer, const struct addr *source, uint16_t port)
{
    enum err err = ERR_OK;

    if (port != OUTGOING_PORT_SYSTEM)
        err = bind_random(sockets, socket, source, port);
    else if (addr_family(source) != 0)
        err = socket_bind_source(socket->watch.fd, source);
    if (err)
        return err;
    socket->reusable = port == OUTGOING_PORT_SYSTEM && addr_family(source) == 0;
    return connect(socket->watch.fd, &peer->sa, addr_len(peer)) == 0 ? ERR_OK
                                                                     : err_from_errno(errno);
}

/* ---- waiting for a file ---- */

static bool has_idle(const struct udp_sockets *sockets)
{
    return sockets->count[FAMILY_V4] + sockets->count[FAMILY_V6] > 0;
}

static void look_again(struct udp_sockets *sockets, uint64_t delay_us)
{
    struct loop *loop = stock_loop(sockets->stock);
    if (!list_is_empty(&sockets->waiting))
        timer_start(loop, &sockets->again, loop_now(loop) + delay_us);
}

static void on_again(struct timer *timer)
{
    struct udp_sockets *sockets = CONTAINER_OF(timer, struct udp_sockets, again);
    bool was_served = true;

    while (was_served && !list_is_empty(&sockets->waiting)) {
        struct udp_waiter *waiter =
            LIST_ITEM(list_take_first(&sockets->waiting), struct udp_waiter, node);
        sockets->waiting_count--;
        was_served = waiter->on_turn(waiter);
        if (was_served)
            continue;
        list_prepend(&sockets->waiting, &waiter->node);
        sockets->waiting_count++;
    }
    look_again(sockets, has_idle(sockets) ? WAIT_AFTER_GIVE_US : WAIT_US);
}

enum err udp_socket_wait(struct stock *stock, struct udp_waiter *waiter)
{
    struct udp_sockets *sockets = sockets_of(stock);
    if (!sockets)
        return ERR_NO_MEMORY;
    if (sockets->waiting_count >= UDP_WAITING_MAX)
        return ERR_LIMIT;
    list_append(&sockets->waiting, &waiter->node);
    sockets->waiting_count++;
    if (!timer_is_armed(&sockets->again))
        look_again(sockets, has_idle(sockets) ? WAIT_AFTER_GIVE_US : WAIT_US);
    return ERR_OK;
}

void udp_socket_leave(struct stock *stock, struct udp_waiter *waiter)
{
    list_remove(&waiter->node);
    sockets_of(stock)->waiting_count--;
}

bool udp_sockets_drop_idle(struct stock *stock)
{
    struct udp_sockets *sockets = sockets_of(stock);
    for (unsigned place = 0; sockets && place < FAMILIES; place++) {
        struct list *node = list_first(&sockets->idle[place]);
        if (!node)
            continue;
        drop_idle(LIST_ITEM(node, struct udp_socket, node));
        return true;
    }
    return false;
}

/* An idle socket of another family is of no use to this query, nor is any when the query binds its
 * socket. Such a socket would keep its file for ever. */
static enum err new_socket_or_other(struct udp_socket **out, struct udp_sockets *sockets,
                                    int family, bool is_bound)
{
    enum err err = new_socket(out, sockets->stock, family);
    bool uses_none = is_bound || sockets->count[udp_sockets_place_of(family)] == 0;
    while (err == ERR_NO_FILES && uses_none && udp_sockets_drop_idle(sockets->stock))
        err = new_socket(out, sockets->stock, family);
    return err;
}

/* ---- the door ---- */

void outgoing_ports_use(struct loop *loop, const struct outgoing_ports *ports, uint64_t *fallbacks)
{
    struct stock *stock = stock_of(loop);
    struct udp_sockets *sockets = stock ? sockets_of(stock) : NULL;

    if (!sockets)
        return;
    sockets->has_ports = true;
    sockets->ports = *ports;
    sockets->fallbacks = fallbacks;
}

/* A source that names a port is bound to that one. */
static uint16_t draw_port(const struct udp_sockets *sockets, const struct addr *source)
{
    bool is_named = addr_family(source) != 0 && addr_port(source) != 0;
    return sockets->has_ports && !is_named ? outgoing_ports_draw(&sockets->ports)
                                           : OUTGOING_PORT_SYSTEM;
}

enum err udp_socket_take(struct udp_socket **out, struct stock *stock, const struct addr *peer,
                         const struct addr *source,
                         void (*on_ready_of)(struct udp_socket *socket, void *owner), void *owner)
{
    struct udp_sockets *sockets = sockets_of(stock);
    if (!sockets)
        return ERR_NO_MEMORY;
    struct udp_socket *socket = NULL;
    uint16_t port = draw_port(sockets, source);
    bool is_bound = port != OUTGOING_PORT_SYSTEM || addr_family(source) != 0;
    if (!is_bound)
        socket = take_idle(sockets, stock, addr_family(peer));
    enum err err = ERR_OK;
    if (!socket)
        err = new_socket_or_other(&socket, sockets, addr_family(peer), is_bound);
    if (err)
        return err;
    err = connect_from(sockets, socket, peer, source, port);
    if (err) {
        socket_free(socket);
        return err;
    }
    socket->on_ready = on_ready_of;
    socket->owner = owner;
    *out = socket;
    return ERR_OK;
}

void udp_socket_give(struct udp_socket **socket, bool healthy)
{
    struct udp_socket *given = *socket;
    struct udp_sockets *sockets = sockets_of(given->stock);
    unsigned place = udp_sockets_place_of(given->family);

    *socket = NULL;
    bool keep = healthy && given->reusable && !sockets->is_off &&
                sockets->count[place] < UDP_SOCKETS_IDLE_MAX && disconnect(given->watch.fd);
    if (keep && sockets->looks < LOOKS)
        udp_sockets_look(sockets, given->watch.fd);
    if (!keep || sockets->is_off) {
        socket_free(given);
    } else {
        given->on_ready = NULL;
        given->idle_turn = watch_turns(stock_loop(given->stock));
        list_append(&sockets->idle[place], &given->node);
        sockets->count[place]++;
    }
    look_again(sockets, WAIT_AFTER_GIVE_US);
}
