/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Listeners of the fake network (every symbol of src/net/udp_server.c and src/net/acceptor.c), and
 * their clients.
 *
 * Invariant: arrived datagrams wait in inbox until the next turn reads them as a batch; connections
 * wait in backlog until they are accepted.
 */

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "net/acceptor.h"
#include "net/listen_socket.h"
#include "net/udp_server.h"
#include "support/fake_inside.h"

enum { BATCH = 32, ACCEPT_PAUSE_US = 100 * 1000 };

struct udp_server {
    struct list node;
    struct fake_net *net;
    struct listen_socket socket;
    struct addr local;
    const struct udp_server_handler *handler;
    void *owner;
    struct list inbox;
    struct fake_event readable;
    struct list replies; /* committed, not sent */
    unsigned reply_count;
    uint8_t *slot; /* a new block per reserve: ASan detects a wrong write */
    struct turn_end turn_end;
    bool in_batch, closed;
    bool is_left;                  /* the socket stays shared, but this server no longer reads it */
    void (*on_quiet)(void *owner); /* set by udp_server_end() */
    struct fake_event end;
    uint64_t dropped;
};

struct acceptor {
    struct list node;
    struct fake_net *net;
    struct listen_socket socket;
    struct addr local;
    acceptor_fn on_accept;
    void *owner;
    struct list backlog;
    struct fake_event acceptable;
    bool accepting, closed;
    void (*on_ended)(void *owner); /* set by acceptor_end() */
    struct fake_event end;
};

static bool listens_at(const struct addr *local, const struct addr *asked, bool wildcard)
{
    if (!wildcard)
        return addr_equal(local, asked);
    return addr_is_any(local) && addr_family(local) == addr_family(asked) &&
           addr_port(local) == addr_port(asked);
}

/* ---------------------------------------------------------------- UDP: replies */

static void on_reply_arrived(struct fake_event *event)
{
    struct packet *packet = CONTAINER_OF(event, struct packet, event);

    list_remove(&packet->node);
    list_append(&packet->net->replies, &packet->node);
}

static void flush(struct udp_server *server)
{
    struct fake_net *net = server->net;

    for (struct list *node; (node = list_take_first(&server->replies)) != NULL;) {
        struct packet *packet = LIST_ITEM(node, struct packet, node);
        list_append(&net->packets, &packet->node);
        packet->sent_at = loop_now(net->loop);
        packet->turn = fake_loop_turns(net->loop);
        if (net->drop_replies > 0) {
            net->drop_replies--;
            server->dropped++;
            packet_free(packet);
        } else {
            fake_event_schedule(net->loop, &packet->event, net->client_latency_us);
        }
    }
    server->reply_count = 0;
}

static void on_turn_end(struct turn_end *end)
{
    flush(CONTAINER_OF(end, struct udp_server, turn_end));
}

uint8_t *udp_server_reserve(struct udp_server *server)
{
    if (server->reply_count == BATCH)
        flush(server);
    free(server->slot);
    server->slot = malloc(UDP_REPLY_MAX);
    MUST(server->slot);
    return server->slot;
}

void udp_server_commit(struct udp_server *server, size_t len, const struct udp_path *path)
{
    struct packet *packet;

    MUST(server->slot && len <= UDP_REPLY_MAX);
    packet = packet_new(server->net, span_of(server->slot, len), on_reply_arrived);
    packet->from = addr_family(&path->local) ? path->local : server->local;
    packet->to = *udp_path_receiver(path);
    addr_set_port(&packet->from, addr_port(&server->local));
    free(server->slot);
    server->slot = NULL;
    list_remove(&packet->node);
    list_append(&server->replies, &packet->node);
    server->reply_count++;
    if (!server->in_batch)
        loop_at_turn_end(server->net->loop, &server->turn_end);
}

/* ---------------------------------------------------------------- UDP: datagrams */

static void udp_server_free(struct udp_server *server)
{
    packet_free_all(&server->inbox);
    packet_free_all(&server->replies);
    list_remove(&server->node);
    free(server->slot);
    free(server);
}

static void hand_out(struct udp_server *server, struct packet *packet, struct udp_path *path)
{
    *path = (struct udp_path){.peer = packet->from};
    if (addr_is_any(&server->local))
        path->local = packet->to;
    server->handler->on_datagram(server->owner,
                                 span_of(packet->data, MIN(packet->len, UDP_QUERY_MAX)), path);
}

static void on_udp_readable(struct fake_event *event)
{
    struct udp_server *server = CONTAINER_OF(event, struct udp_server, readable);
    const struct udp_server_handler *handler = server->handler;
    void *owner = server->owner;
    struct udp_path paths[BATCH]; /* valid during the batch, like the datagrams */
    struct list delivered;

    list_init(&delivered);
    server->net->counts.udp_batches++;
    server->in_batch = true;
    if (handler->on_batch_begin)
        handler->on_batch_begin(owner);
    for (int i = 0; i < BATCH && !server->closed && !list_is_empty(&server->inbox); i++) {
        struct packet *packet = LIST_ITEM(list_first(&server->inbox), struct packet, node);
        list_remove(&packet->node);
        list_append(&delivered, &packet->node);
        hand_out(server, packet, &paths[i]);
    }
    if (handler->on_batch_end)
        handler->on_batch_end(owner);
    packet_free_all(&delivered);
    server->in_batch = false;
    if (server->closed) {
        udp_server_free(server);
        return;
    }
    flush(server);
    if (!list_is_empty(&server->inbox))
        fake_event_schedule(server->net->loop, &server->readable, 0);
}

static void on_udp_end(struct fake_event *event)
{
    struct udp_server *server = CONTAINER_OF(event, struct udp_server, end);

    if (list_is_empty(&server->inbox))
        server->on_quiet(server->owner);
    else
        fake_event_schedule(server->net->loop, event, 1);
}

enum err udp_server_open(struct udp_server **out, struct loop *loop, struct listen_socket *socket,
                         const struct udp_server_handler *handler, void *owner)
{
    struct fake_net *net = fake_net_of(loop);
    struct udp_server *server = calloc(1, sizeof(*server));

    MUST(server && socket->fd >= 0 && socket->type == LISTEN_UDP);
    server->net = net;
    server->socket = *socket;
    server->local = socket->local;
    server->handler = handler;
    server->owner = owner;
    list_init(&server->inbox);
    list_init(&server->replies);
    fake_event_init(&server->readable, on_udp_readable);
    fake_event_init(&server->end, on_udp_end);
    turn_end_init(&server->turn_end, on_turn_end);
    list_append(&net->udp_servers, &server->node);
    net->counts.open_listeners++;
    *socket = LISTEN_SOCKET_NONE;
    *out = server;
    return ERR_OK;
}

uint64_t udp_server_age_us(const struct udp_server *server)
{
    return server->net->datagram_age_us;
}

void udp_server_end(struct udp_server *server, void (*on_quiet)(void *owner))
{
    MUST(!server->on_quiet);
    server->on_quiet = on_quiet;
    fake_event_schedule(server->net->loop, &server->end, UDP_SERVER_END_US);
}

void udp_server_leave(struct udp_server *server)
{
    MUST(server->socket.is_shared && !server->in_batch && !server->on_quiet);
    server->is_left = true;
    fake_event_cancel(&server->readable);
}

void udp_server_close(struct udp_server **server)
{
    struct udp_server *closing = *server;

    *server = NULL;
    flush(closing);
    turn_end_cancel(&closing->turn_end);
    fake_event_cancel(&closing->readable);
    fake_event_cancel(&closing->end);
    listen_socket_close(&closing->socket);
    closing->net->counts.open_listeners--;
    closing->closed = true;
    list_remove(&closing->node);
    if (!closing->in_batch)
        udp_server_free(closing);
}

const struct addr *udp_server_local(const struct udp_server *server)
{
    return &server->local;
}

uint64_t udp_server_dropped(const struct udp_server *server)
{
    return server->dropped;
}

struct udp_server_queue udp_server_look(const struct udp_server *server)
{
    return (struct udp_server_queue){server->net->datagrams_lost, false};
}

bool udp_server_thin(struct udp_server *server, const struct udp_thinned *thinned, unsigned count)
{
    MUST(count <= UDP_THINNED_MAX);
    if (server->socket.is_shared)
        return false;
    if (count > 0)
        memcpy(server->net->thinned, thinned, count * sizeof(*thinned));
    server->net->thinned_count = count;
    return true;
}

/* ---------------------------------------------------------------- UDP: clients */

static struct udp_server *find_udp_server(struct fake_net *net, const struct addr *to)
{
    for (int wildcard = 0; wildcard <= 1; wildcard++) {
        LIST_EACH(node, &net->udp_servers)
        {
            struct udp_server *server = LIST_ITEM(node, struct udp_server, node);
            if (!server->on_quiet && listens_at(&server->local, to, wildcard))
                return server;
        }
    }
    return NULL;
}

static void on_datagram_arrived(struct fake_event *event)
{
    struct packet *packet = CONTAINER_OF(event, struct packet, event);
    struct udp_server *server = find_udp_server(packet->net, &packet->to);

    if (!server) {
        packet_free(packet);
        return;
    }
    list_remove(&packet->node);
    list_append(&server->inbox, &packet->node);
    if (!server->is_left && !list_is_linked(&server->readable.node))
        fake_event_schedule(packet->net->loop, &server->readable, 0);
}

void fake_client_udp_send(struct fake_net *net, const struct addr *to, const struct addr *from,
                          struct span datagram)
{
    struct packet *packet = packet_new(net, datagram, on_datagram_arrived);

    packet->to = *to;
    packet->from = *from;
    fake_event_schedule(net->loop, &packet->event, net->client_latency_us);
}

bool fake_client_udp_next(struct fake_net *net, const struct addr *to, struct fake_reply *reply)
{
    if (net->last_reply)
        packet_free(net->last_reply);
    net->last_reply = NULL;
    LIST_EACH(node, &net->replies)
    {
        struct packet *packet = LIST_ITEM(node, struct packet, node);
        if (to && !addr_equal(&packet->to, to))
            continue;
        list_remove(&packet->node);
        net->last_reply = packet;
        *reply = (struct fake_reply){.from = packet->from,
                                     .to = packet->to,
                                     .at_us = packet->sent_at,
                                     .turn = packet->turn,
                                     .datagram = packet_bytes(packet)};
        return true;
    }
    return false;
}

size_t fake_client_udp_waiting(const struct fake_net *net)
{
    size_t count = 0;

    LIST_EACH(node, &net->replies)
    {
        count++;
    }
    return count;
}

/* ---------------------------------------------------------------- TCP: acceptors */

static void on_acceptable(struct fake_event *event)
{
    struct acceptor *acceptor = CONTAINER_OF(event, struct acceptor, acceptable);
    struct list *node;

    acceptor->accepting = true;
    while (!acceptor->closed && (node = list_first(&acceptor->backlog)) != NULL) {
        if (!fake_net_has_file(acceptor->net)) {
            fake_event_schedule(acceptor->net->loop, &acceptor->acceptable, ACCEPT_PAUSE_US);
            break;
        }
        list_remove(node);
        acceptor->on_accept(acceptor->owner, fake_conn_accept(fake_conn_of_backlog_node(node)));
    }
    acceptor->accepting = false;
    if (acceptor->closed)
        free(acceptor);
}

static void on_acceptor_end(struct fake_event *event)
{
    struct acceptor *acceptor = CONTAINER_OF(event, struct acceptor, end);

    if (list_is_empty(&acceptor->backlog))
        acceptor->on_ended(acceptor->owner);
    else
        fake_event_schedule(acceptor->net->loop, event, 1);
}

enum err acceptor_open(struct acceptor **out, struct loop *loop, struct listen_socket *socket,
                       acceptor_fn on_accept, void *owner)
{
    struct fake_net *net = fake_net_of(loop);
    struct acceptor *acceptor = calloc(1, sizeof(*acceptor));

    MUST(acceptor && socket->fd >= 0 && socket->type == LISTEN_TCP);
    acceptor->net = net;
    acceptor->socket = *socket;
    acceptor->local = socket->local;
    acceptor->on_accept = on_accept;
    acceptor->owner = owner;
    list_init(&acceptor->backlog);
    fake_event_init(&acceptor->acceptable, on_acceptable);
    fake_event_init(&acceptor->end, on_acceptor_end);
    list_append(&net->acceptors, &acceptor->node);
    net->counts.open_listeners++;
    *socket = LISTEN_SOCKET_NONE;
    *out = acceptor;
    return ERR_OK;
}

void acceptor_end(struct acceptor *acceptor, void (*on_ended)(void *owner))
{
    MUST(!acceptor->on_ended);
    acceptor->on_ended = on_ended;
    fake_event_schedule(acceptor->net->loop, &acceptor->end, ACCEPTOR_END_US);
}

void acceptor_close(struct acceptor **acceptor)
{
    struct acceptor *closing = *acceptor;

    *acceptor = NULL;
    for (struct list *node; (node = list_first(&closing->backlog)) != NULL;)
        fake_conn_refuse(fake_conn_of_backlog_node(node));
    fake_event_cancel(&closing->acceptable);
    fake_event_cancel(&closing->end);
    listen_socket_close(&closing->socket);
    list_remove(&closing->node);
    closing->net->counts.open_listeners--;
    closing->closed = true;
    if (!closing->accepting)
        free(closing);
}

void acceptor_finish(struct acceptor **acceptor)
{
    struct acceptor *finishing = *acceptor;

    MUST(!finishing->accepting && !finishing->socket.is_shared);
    for (struct list *node; (node = list_take_first(&finishing->backlog)) != NULL;)
        finishing->on_accept(finishing->owner, fake_conn_accept(fake_conn_of_backlog_node(node)));
    acceptor_close(acceptor);
}

const struct addr *acceptor_local(const struct acceptor *acceptor)
{
    return &acceptor->local;
}

/* ---------------------------------------------------------------- TCP: clients */

static struct acceptor *find_acceptor(struct fake_net *net, const struct addr *to)
{
    for (int wildcard = 0; wildcard <= 1; wildcard++) {
        LIST_EACH(node, &net->acceptors)
        {
            struct acceptor *acceptor = LIST_ITEM(node, struct acceptor, node);
            if (!acceptor->on_ended && listens_at(&acceptor->local, to, wildcard))
                return acceptor;
        }
    }
    return NULL;
}

static void on_client_connects(struct fake_event *event)
{
    struct packet *packet = CONTAINER_OF(event, struct packet, event);
    struct fake_conn *conn = packet->target;
    struct acceptor *acceptor = find_acceptor(packet->net, &packet->to);

    if (!acceptor) {
        fake_conn_refuse(conn);
    } else {
        list_append(&acceptor->backlog, fake_conn_backlog_node(conn));
        if (!list_is_linked(&acceptor->acceptable.node))
            fake_event_schedule(packet->net->loop, &acceptor->acceptable, 0);
    }
    packet_free(packet);
}

struct fake_conn *fake_client_tcp_open(struct fake_net *net, const struct addr *to,
                                       const struct addr *from)
{
    struct fake_conn *conn = fake_conn_new(net, NULL);
    struct packet *packet = packet_new(net, span_of(NULL, 0), on_client_connects);

    fake_conn_set_client(conn, net->client_conns++);
    fake_conn_set_ends(conn, to, from);
    packet->target = conn;
    packet->to = *to;
    fake_event_schedule(net->loop, &packet->event, net->client_latency_us);
    return conn;
}

/* ---------------------------------------------------------------- the end */

void fake_listen_free_all(struct fake_net *net)
{
    for (struct list *node; (node = list_take_first(&net->udp_servers)) != NULL;) {
        struct udp_server *server = LIST_ITEM(node, struct udp_server, node);
        listen_socket_close(&server->socket);
        udp_server_free(server);
    }
    for (struct list *node; (node = list_take_first(&net->acceptors)) != NULL;) {
        struct acceptor *acceptor = LIST_ITEM(node, struct acceptor, node);
        listen_socket_close(&acceptor->socket);
        free(acceptor);
    }
    if (net->last_reply)
        packet_free(net->last_reply);
}
