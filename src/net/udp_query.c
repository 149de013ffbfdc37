/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * UDP queries (udp_query.h) and the sockets that they leave from. The owner checks answers,
 * retransmits and keeps deadlines.
 *
 * Each port is drawn at random (RFC 5452 section 9.2). A port outside the system's range needs a
 * new socket, which is bound to it. A port in the system's range reuses an idle socket, because
 * making, watching and closing a socket costs more than the rest of a query: disconnecting a socket
 * gives its port back, and connecting it again draws a fresh one. The first reuses check that the
 * kernel does so.
 *
 * A query joins the port of another one to the same server if that one left at most UDP_JOIN_US ago
 * and still waits (udp_query_path.queries_per_port bounds the queries of a port). So only a burst
 * shares ports, and each of its queries then makes two system calls, send and recv. A forger gains
 * nothing: no id leaves twice from a port, each forged datagram still has to match the port, the id
 * and the name of one query, and no port stays open longer than the queries that left within those
 * microseconds.
 *
 * Invariant: an idle socket is not connected and has no port, so nothing can arrive at it. It
 * serves no query before the datagrams that had arrived are discarded, after the next look at the
 * loop's sockets. If more sockets are ready than one look reports, some datagrams may stay: the
 * next query recognises such a datagram as a stray by its id, and such an error as the previous
 * query's.
 */

#include "net/udp_query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "base/list.h"
#include "base/log.h"
#include "base/stats.h"
#include "loop/loop.h"
#include "loop/timer.h"
#include "loop/watch.h"
#include "net/file_count.h"
#include "net/outgoing_ports.h"
#include "net/read_max.h"
#include "net/socket.h"
#include "net/stock.h"

enum {
    WAIT_AFTER_GIVE_US = 1000, /* a socket is reusable two looks after it was given back */
    WAIT_US = 10 * 1000,       /* without an idle socket: others may free descriptors at any time */
    LOOKS = 3,                 /* reuses whose ports are checked */
    TURNS_TO_DRAIN = 2,        /* polls of the sockets: the first one reports earlier arrivals */
    DRAIN_MAX = 16,            /* datagrams discarded at an idle socket before it is closed */
    JOIN_PLACES = 64,          /* a power of two */
};

enum { FAMILY_V4, FAMILY_V6, FAMILIES };

struct udp_socket {
    struct watch watch;
    struct stock *stock;
    struct list node; /* idle */
    uint64_t idle_turn;
    int family;
    bool is_reusable; /* the kernel chose its port by itself */

    /* While it has a port: */
    struct addr peer, source;
    struct list queries; /* struct udp_query, the oldest first; empty: idle */
    unsigned open_count; /* their number */
    unsigned sent_count; /* queries that ever left from this port */
    uint16_t sent_ids[UDP_PORT_QUERIES_MAX];
    uint64_t opened_at;
    unsigned strays;     /* udp_query_note_stray() */
    bool has_failed;     /* no further query may use the socket */
    enum err lost_error; /* an ICMP error that a send met: it belongs to the earlier queries */
    bool is_reading;     /* its queries' callbacks run: it is given back after them */
};

struct udp_query {
    struct udp_socket *socket; /* NULL: it waits for a descriptor */
    struct list node;          /* of its socket's queries, or of the line of waiting ones */
    struct letter *letter;     /* sent when there is a descriptor */
    struct stock *stock;
    const struct udp_query_handler *handler;
    void *owner;
    uint16_t id; /* the first two bytes of the datagram, as they are */
};

/* The datagram of a query that waits for a descriptor. */
struct letter {
    struct addr peer, source;
    bool is_foreign;
    size_t len;
    uint8_t datagram[];
};

struct udp_sockets {
    struct stock_tenant tenant;
    struct list idle[FAMILIES]; /* the longest idle first */
    unsigned count[FAMILIES];
    struct list waiting; /* struct udp_query: no descriptor was free */
    unsigned waiting_count;
    struct timer again;
    struct stock *stock;
    unsigned looks;        /* ports checked so far */
    bool has_sticky_ports; /* this kernel keeps a port: each query gets a new socket */
    bool has_ports;        /* false: the system draws all ports */
    struct outgoing_ports ports;
    uint64_t *fallbacks;                      /* NULL unless has_ports */
    struct udp_socket *joinable[JOIN_PLACES]; /* the port drawn last for each hash of a peer */
};

static unsigned place_of(int family)
{
    return family == AF_INET6 ? FAMILY_V6 : FAMILY_V4;
}

static void socket_free(struct udp_socket *socket)
{
    watch_close(stock_loop(socket->stock), &socket->watch);
    file_count_give(stock_files(socket->stock), FILE_UDP);
    free(socket);
}

static void udp_sockets_on_loop_closing(struct stock_tenant *tenant)
{
    struct udp_sockets *sockets = CONTAINER_OF(tenant, struct udp_sockets, tenant);

    for (unsigned place = 0; place < FAMILIES; place++)
        for (struct list *node; (node = list_take_first(&sockets->idle[place]));)
            socket_free(LIST_ITEM(node, struct udp_socket, node));
    timer_stop(&sockets->again);
    free(sockets);
}

static void udp_sockets_on_again(struct timer *timer);

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
    timer_init(&sockets->again, udp_sockets_on_again);
    sockets->stock = stock;
    sockets->tenant.close = udp_sockets_on_loop_closing;
    stock_set_tenant(stock, &sockets->tenant);
    return sockets;
}

/* ---------------------------------------------------------------- idle sockets */

static struct udp_socket *take_idle(struct udp_sockets *sockets, struct stock *stock, int family)
{
    unsigned place = place_of(family);
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
    sockets_of(socket->stock)->count[place_of(socket->family)]--;
    socket_free(socket);
}

/* Discards late datagrams of the previous query and ICMP errors about it. */
static void udp_sockets_drain(struct udp_socket *socket)
{
    uint8_t byte;
    for (unsigned i = 0; i < DRAIN_MAX; i++)
        if (recv(socket->watch.fd, &byte, sizeof(byte), MSG_DONTWAIT) < 0 && errno == EAGAIN)
            return;
    drop_idle(socket);
}

static void udp_socket_read(struct udp_socket *socket);

static void udp_sockets_on_ready(struct watch *watch, uint32_t events)
{
    struct udp_socket *socket = CONTAINER_OF(watch, struct udp_socket, watch);

    (void)events;
    if (list_is_empty(&socket->queries))
        udp_sockets_drain(socket);
    else
        udp_socket_read(socket);
}

/* ---------------------------------------------------------------- connecting */

static in_port_t local_port_of(int fd)
{
    struct addr addr = {0};
    socklen_t len = sizeof(addr);
    return getsockname(fd, &addr.sa, &len) == 0 ? addr_port(&addr) : 0;
}

static bool disconnect(int fd)
{
    const struct sockaddr none = {.sa_family = AF_UNSPEC};
    return connect(fd, &none, sizeof(none)) == 0;
}

/* Checks that a disconnected socket has no port. If some kernel keeps it, all queries would leave
 * from one port, which is easy to guess. */
static void check_port_is_gone(struct udp_sockets *sockets, int fd)
{
    if (local_port_of(fd) == 0) {
        sockets->looks++;
        return;
    }
    sockets->has_sticky_ports = true;
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
    list_init(&socket->queries);
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

/* Another socket has the port, or this process may not use it. */
static bool is_port_taken(enum err err)
{
    return err == ERR_ADDRESS_IN_USE || err == ERR_PERMISSION;
}

/* Binds to the port. While it is taken, draws another at random. */
static enum err bind_random(struct udp_sockets *sockets, struct udp_socket *socket,
                            const struct udp_query_path *path, uint16_t port)
{
    const struct addr *source = path->source;
    struct addr local = {.sa.sa_family = (sa_family_t)socket->family}; /* the wildcard */

    if (addr_family(source) != 0)
        local = *source;
    for (unsigned i = 0; i < OUTGOING_PORT_DRAWS_MAX; i++) {
        addr_set_port(&local, port);
        enum err err = socket_bind_source(socket->watch.fd, &local, path->is_foreign);
        if (!is_port_taken(err))
            return err;
        port = outgoing_ports_draw(&sockets->ports);
        if (port == OUTGOING_PORT_SYSTEM)
            break;
    }
    if (port != OUTGOING_PORT_SYSTEM)
        stats_write(sockets->fallbacks, stats_read(sockets->fallbacks) + 1);
    return addr_family(source) ? socket_bind_source(socket->watch.fd, source, path->is_foreign)
                               : ERR_OK;
}

static enum err connect_from(struct udp_sockets *sockets, struct udp_socket *socket,
                             const struct udp_query_path *path, uint16_t port)
{
    const struct addr *peer = path->peer, *source = path->source;
    enum err err = ERR_OK;

    if (port != OUTGOING_PORT_SYSTEM)
        err = bind_random(sockets, socket, path, port);
    else if (addr_family(source) != 0)
        err = socket_bind_source(socket->watch.fd, source, path->is_foreign);
    if (err)
        return err;
    socket->is_reusable = port == OUTGOING_PORT_SYSTEM && addr_family(source) == 0;
    return socket_connect(socket->watch.fd, peer, addr_family(source) != 0);
}

/* ---------------------------------------------------------------- waiting for a descriptor */

static bool has_idle(const struct udp_sockets *sockets)
{
    return sockets->count[FAMILY_V4] + sockets->count[FAMILY_V6] > 0;
}

static void retry_later(struct udp_sockets *sockets, uint64_t delay_us)
{
    struct loop *loop = stock_loop(sockets->stock);
    if (!list_is_empty(&sockets->waiting))
        timer_start(loop, &sockets->again, loop_now(loop) + delay_us);
}

static bool send_letter(struct udp_query *query);

static void udp_sockets_on_again(struct timer *timer)
{
    struct udp_sockets *sockets = CONTAINER_OF(timer, struct udp_sockets, again);
    bool was_served = true;

    while (was_served && !list_is_empty(&sockets->waiting)) {
        struct udp_query *query =
            LIST_ITEM(list_take_first(&sockets->waiting), struct udp_query, node);
        sockets->waiting_count--;
        was_served = send_letter(query); /* the query may be freed */
        if (was_served)
            continue;
        list_prepend(&sockets->waiting, &query->node);
        sockets->waiting_count++;
    }
    retry_later(sockets, has_idle(sockets) ? WAIT_AFTER_GIVE_US : WAIT_US);
}

/* ERR_LIMIT: too many queries wait. */
static enum err wait_in_line(struct udp_query *query)
{
    struct udp_sockets *sockets = sockets_of(query->stock);
    if (!sockets)
        return ERR_NO_MEMORY;
    if (sockets->waiting_count >= UDP_WAITING_MAX)
        return ERR_LIMIT;
    list_append(&sockets->waiting, &query->node);
    sockets->waiting_count++;
    if (!timer_is_armed(&sockets->again))
        retry_later(sockets, has_idle(sockets) ? WAIT_AFTER_GIVE_US : WAIT_US);
    return ERR_OK;
}

static void leave_line(struct udp_query *query)
{
    list_remove(&query->node);
    sockets_of(query->stock)->waiting_count--;
}

bool udp_query_drop_idle(struct stock *stock)
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

/* Opens a socket, and closes idle ones that this query cannot use if no descriptor is free: those
 * of the other family, or all of them if the query binds its socket. They would keep their
 * descriptors for ever. */
static enum err new_socket_for(struct udp_socket **out, struct udp_sockets *sockets, int family,
                               bool is_bound)
{
    enum err err = new_socket(out, sockets->stock, family);
    bool can_use_none = is_bound || sockets->count[place_of(family)] == 0;
    while (err == ERR_NO_FILES && can_use_none && udp_query_drop_idle(sockets->stock))
        err = new_socket(out, sockets->stock, family);
    return err;
}

/* ---------------------------------------------------------------- taking and giving */

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

/* A source address with a port overrides the draw. */
static uint16_t draw_port(const struct udp_sockets *sockets, const struct addr *source)
{
    bool is_named = addr_family(source) != 0 && addr_port(source) != 0;
    return sockets->has_ports && !is_named ? outgoing_ports_draw(&sockets->ports)
                                           : OUTGOING_PORT_SYSTEM;
}

static struct udp_socket **join_place(struct udp_sockets *sockets, const struct addr *peer)
{
    return &sockets->joinable[addr_hash(peer, 0) & (JOIN_PLACES - 1)];
}

static bool has_sent(const struct udp_socket *socket, uint16_t id)
{
    for (unsigned i = 0; i < socket->sent_count; i++)
        if (socket->sent_ids[i] == id)
            return true;
    return false;
}

/* The port of a burst to this peer that the query may join, or NULL. Nothing joins a port at which
 * a datagram arrived that answers no query: a forger may have found it. */
static struct udp_socket *find_joinable(struct udp_sockets *sockets, const struct udp_query *query,
                                        const struct udp_query_path *path)
{
    if (path->queries_per_port <= 1)
        return NULL;
    struct udp_socket *socket = *join_place(sockets, path->peer);
    if (!socket || socket->sent_count >= MIN(path->queries_per_port, UDP_PORT_QUERIES_MAX) ||
        socket->has_failed || socket->strays > 0 || list_is_empty(&socket->queries))
        return NULL;
    if (loop_now(stock_loop(sockets->stock)) - socket->opened_at > UDP_JOIN_US)
        return NULL;
    if (!addr_equal(&socket->peer, path->peer) || !addr_equal(&socket->source, path->source))
        return NULL;
    return has_sent(socket, query->id) ? NULL : socket;
}

static void join_socket(struct udp_query *query, struct udp_socket *socket)
{
    query->socket = socket;
    list_append(&socket->queries, &query->node);
    socket->open_count++;
    socket->sent_ids[socket->sent_count++] = query->id;
}

/* Gives the query a watched socket that is connected to peer on a fresh port. */
static enum err open_port(struct udp_socket **out, struct udp_sockets *sockets,
                          const struct udp_query_path *path)
{
    const struct addr *peer = path->peer, *source = path->source;
    struct udp_socket *socket = NULL;
    uint16_t port = draw_port(sockets, source);
    bool is_bound = port != OUTGOING_PORT_SYSTEM || addr_family(source) != 0;
    if (!is_bound)
        socket = take_idle(sockets, sockets->stock, addr_family(peer));
    enum err err = ERR_OK;
    if (!socket)
        err = new_socket_for(&socket, sockets, addr_family(peer), is_bound);
    if (err)
        return err;
    err = connect_from(sockets, socket, path, port);
    if (err) {
        socket_free(socket);
        return err;
    }
    socket->peer = *peer;
    socket->source = *source;
    socket->sent_count = 0;
    socket->strays = 0;
    socket->opened_at = loop_now(stock_loop(sockets->stock));
    if (path->queries_per_port > 1)
        *join_place(sockets, peer) = socket;
    *out = socket;
    return ERR_OK;
}

static enum err take_socket(struct udp_query *query, const struct udp_query_path *path)
{
    struct udp_sockets *sockets = sockets_of(query->stock);
    if (!sockets)
        return ERR_NO_MEMORY;
    struct udp_socket *socket = find_joinable(sockets, query, path);
    enum err err = socket ? ERR_OK : open_port(&socket, sockets, path);
    if (!err)
        join_socket(query, socket);
    return err;
}

/* Keeps a socket without queries for another one if no error was met on it, else closes it. */
static void give_socket(struct udp_socket *given)
{
    struct udp_sockets *sockets = sockets_of(given->stock);
    struct udp_socket **joinable = join_place(sockets, &given->peer);
    unsigned place = place_of(given->family);

    if (*joinable == given)
        *joinable = NULL;
    bool is_kept = !given->has_failed && given->is_reusable && !sockets->has_sticky_ports &&
                   sockets->count[place] < UDP_IDLE_MAX && disconnect(given->watch.fd);
    if (is_kept && sockets->looks < LOOKS)
        check_port_is_gone(sockets, given->watch.fd);
    if (!is_kept || sockets->has_sticky_ports) {
        socket_free(given);
    } else {
        given->idle_turn = watch_turns(stock_loop(given->stock));
        list_append(&sockets->idle[place], &given->node);
        sockets->count[place]++;
    }
    retry_later(sockets, WAIT_AFTER_GIVE_US);
}

static void leave_socket(struct udp_query *query)
{
    struct udp_socket *socket = query->socket;

    query->socket = NULL;
    list_remove(&query->node);
    if (--socket->open_count == 0 && !socket->is_reading)
        give_socket(socket);
}

/* ---------------------------------------------------------------- queries */

/* An error of the socket concerns all its queries: they have one peer. */
static void fail_all(struct udp_socket *socket, enum err why)
{
    struct list untold;

    socket->has_failed = true;
    list_init(&untold);
    list_splice(&untold, &socket->queries);
    for (struct list *node; (node = list_take_first(&untold));) {
        struct udp_query *query = LIST_ITEM(node, struct udp_query, node);
        list_append(&socket->queries, node);
        query->handler->on_failed(query->owner, why);
    }
}

/* The query with the datagram's id. NULL: that query is closed, and the answer is late or a copy. A
 * datagram with any other id goes to the oldest query, which recognises it as a stray. */
static struct udp_query *addressee_of(struct udp_socket *socket, struct span datagram)
{
    struct udp_query *oldest = LIST_ITEM(list_first(&socket->queries), struct udp_query, node);
    uint16_t id;

    if (socket->sent_count == 1 || datagram.len < sizeof(id))
        return oldest;
    memcpy(&id, datagram.data, sizeof(id));
    LIST_EACH(node, &socket->queries)
    {
        struct udp_query *query = LIST_ITEM(node, struct udp_query, node);
        if (query->id == id)
            return query;
    }
    return has_sent(socket, id) ? NULL : oldest;
}

/* Returns false when there is nothing more to read now. Reading an ICMP error clears it, and the
 * socket stays usable for its queries. */
static bool read_once(struct udp_socket *socket)
{
    uint8_t *buffer = stock_read_buffer(socket->stock);
    ssize_t len = recv(socket->watch.fd, buffer, NET_READ_MAX, MSG_DONTWAIT);

    if (len >= 0) {
        struct span datagram = span_of(buffer, (size_t)len);
        struct udp_query *query = addressee_of(socket, datagram);
        if (query)
            query->handler->on_datagram(query->owner, datagram);
        return true;
    }
    if (errno != EAGAIN && errno != EINTR)
        fail_all(socket, err_from_errno(errno));
    return false;
}

/* Reads at most one datagram for each waiting query. The rest comes in the next turn. */
static void udp_socket_read(struct udp_socket *socket)
{
    unsigned reads = socket->open_count;

    socket->is_reading = true;
    if (socket->lost_error) {
        enum err why = socket->lost_error;
        socket->lost_error = ERR_OK;
        fail_all(socket, why);
    }
    while (reads-- > 0 && socket->open_count > 0 && read_once(socket))
        continue;
    socket->is_reading = false;
    if (socket->open_count == 0)
        give_socket(socket);
}

/* The send met an ICMP error. The earlier queries of the port hear of it in their own turn, because
 * no callback comes while a query is opened. */
static void leave_failed_send(struct udp_query *query, enum err why)
{
    struct udp_socket *socket = query->socket;

    socket->has_failed = true;
    if (socket->open_count > 1 && !socket->lost_error) {
        socket->lost_error = why;
        watch_call(stock_loop(socket->stock), &socket->watch);
    }
    leave_socket(query);
}

/* *is_of_others: the error may belong to an earlier query of the socket. */
static enum err send_once(struct udp_query *query, const struct udp_query_path *path,
                          struct span datagram, bool *is_of_others)
{
    enum err err = take_socket(query, path);
    *is_of_others = false;
    if (err)
        return err;
    if (send(query->socket->watch.fd, datagram.data, datagram.len, MSG_NOSIGNAL) >= 0)
        return ERR_OK;
    err = err_from_errno(errno);
    *is_of_others = err == ERR_REFUSED || query->socket->sent_count > 1;
    leave_failed_send(query, err);
    return err;
}

/* Sends again after an error of other queries: no peer can refuse a query that was never sent, and
 * a firewall that rejects an earlier query of the port says nothing about this machine's routes.
 * That socket is no longer used. */
static enum err udp_query_start(struct udp_query *query, const struct udp_query_path *path,
                                struct span datagram)
{
    bool is_of_others;
    enum err err = send_once(query, path, datagram, &is_of_others);
    return is_of_others ? send_once(query, path, datagram, &is_of_others) : err;
}

/* Sends the datagram of a query at the head of the line; returns false if no descriptor is free
 * yet. */
static bool send_letter(struct udp_query *query)
{
    const struct letter *letter = query->letter;
    const struct udp_query_path path = {&letter->peer, &letter->source, .queries_per_port = 1,
                                        .is_foreign = letter->is_foreign};
    enum err err = udp_query_start(query, &path, span_of(letter->datagram, letter->len));
    if (err == ERR_NO_FILES)
        return false;
    free(query->letter);
    query->letter = NULL;
    if (err)
        query->handler->on_failed(query->owner, err);
    return true;
}

/* Puts the query in line: without free descriptors, many queries share few sockets, one after
 * another. */
static enum err udp_query_wait(struct udp_query *query, const struct udp_query_path *path,
                               struct span datagram)
{
    struct letter *letter = malloc(sizeof(*letter) + datagram.len);
    if (!letter)
        return ERR_NO_MEMORY;
    *letter = (struct letter){.peer = *path->peer,
                              .source = *path->source,
                              .is_foreign = path->is_foreign,
                              .len = datagram.len};
    memcpy(letter->datagram, datagram.data, datagram.len);
    enum err err = wait_in_line(query);
    if (err)
        free(letter);
    else
        query->letter = letter;
    return err;
}

enum err udp_query_open(struct udp_query **out, struct loop *loop,
                        const struct udp_query_path *path, struct span datagram,
                        const struct udp_query_handler *handler, void *owner)
{
    struct stock *stock = stock_of(loop);
    struct udp_query *query = stock ? stock_take(stock, STOCK_UDP_QUERY, sizeof(*query)) : NULL;

    if (!query)
        return ERR_NO_MEMORY;
    *query = (struct udp_query){.stock = stock, .handler = handler, .owner = owner};
    list_init(&query->node);
    memcpy(&query->id, datagram.data, MIN(datagram.len, sizeof(query->id)));
    enum err err = udp_query_start(query, path, datagram);
    if (err == ERR_NO_FILES)
        err = udp_query_wait(query, path, datagram);
    if (err) {
        stock_give(stock, STOCK_UDP_QUERY, query);
        return err;
    }
    *out = query;
    return ERR_OK;
}

bool udp_query_is_waiting(const struct udp_query *query)
{
    return query->letter != NULL;
}

void udp_query_local(const struct udp_query *query, struct addr *out)
{
    if (!query->socket || socket_local(query->socket->watch.fd, out))
        *out = (struct addr){0};
}

unsigned udp_query_note_stray(struct udp_query *query)
{
    MUST(query->socket);
    return ++query->socket->strays;
}

void udp_query_close(struct udp_query **query)
{
    struct udp_query *closing = *query;

    *query = NULL;
    if (closing->socket)
        leave_socket(closing);
    else if (list_is_linked(&closing->node))
        leave_line(closing);
    free(closing->letter);
    stock_give(closing->stock, STOCK_UDP_QUERY, closing);
}
