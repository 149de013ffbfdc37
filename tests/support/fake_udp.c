/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* UDP queries of the fake network: every symbol of src/net/udp_query.c, and the far end. */

#include <stdlib.h>

#include "base/check.h"
#include "net/outgoing_ports.h"
#include "net/udp_query.h"
#include "support/fake_inside.h"

struct udp_query {
    struct list node;
    struct fake_net *net;
    uint64_t number;
    struct addr from;
    unsigned strays;
    bool is_waiting;
    const struct udp_query_handler *handler;
    void *owner;
};

static struct udp_query *find(struct fake_net *net, uint64_t number)
{
    LIST_EACH(node, &net->queries[number % QUERY_BUCKETS])
    {
        struct udp_query *query = LIST_ITEM(node, struct udp_query, node);
        if (query->number == number)
            return query;
    }
    return NULL;
}

static void on_icmp_arrived(struct fake_event *event)
{
    struct packet *packet = CONTAINER_OF(event, struct packet, event);
    struct udp_query *query = find(packet->net, packet->number);
    enum err why = packet->why;

    packet_free(packet);
    if (query)
        query->handler->on_failed(query->owner, why);
}

static void send_icmp(struct fake_net *net, uint64_t number, enum err why, uint64_t delay_us)
{
    struct packet *packet = packet_new(net, span_of(NULL, 0), on_icmp_arrived);

    packet->number = number;
    packet->why = why;
    fake_event_schedule(net->loop, &packet->event, delay_us);
}

static void deliver_to_server(struct packet *packet, struct fake_server *server)
{
    struct fake_query query = {.server = server,
                               .number = packet->number,
                               .from = packet->from,
                               .sent_at = packet->sent_at};

    server->datagrams++;
    if (server->handler && server->handler->on_datagram)
        server->handler->on_datagram(server->owner, &query, packet_bytes(packet));
}

static void on_arrived_at_server(struct fake_event *event)
{
    struct packet *packet = CONTAINER_OF(event, struct packet, event);
    struct fake_server *server = packet->target;
    uint64_t back_us = fake_latency(server);

    if (!server)
        send_icmp(packet->net, packet->number, ERR_REFUSED, back_us);
    else if (server->lose > 0)
        server->lose--;
    else if (server->udp == FAKE_UDP_REFUSE)
        send_icmp(packet->net, packet->number, ERR_REFUSED, back_us);
    else if (server->udp == FAKE_UDP_UNREACHABLE)
        send_icmp(packet->net, packet->number, ERR_UNREACHABLE, back_us);
    else if (server->udp == FAKE_UDP_DELIVER)
        deliver_to_server(packet, server);
    packet_free(packet);
}

static enum err fault(struct fake_net *net, const struct fake_server *server)
{
    enum err err = fake_net_open_fault(net);

    if (!err && server && server->udp == FAKE_UDP_FAIL_NOW)
        err = ERR_UNREACHABLE;
    if (err)
        net->counts.udp_errors++;
    return err;
}

static void send_query(struct fake_net *net, const struct udp_query *query,
                       struct fake_server *server, struct span datagram)
{
    struct packet *packet = packet_new(net, datagram, on_arrived_at_server);

    packet->number = query->number;
    packet->from = query->from;
    packet->target = server;
    fake_event_schedule(net->loop, &packet->event, fake_latency(server));
}

/* The query leaves the line. */
static void on_left_line(struct fake_event *event)
{
    struct packet *packet = CONTAINER_OF(event, struct packet, event);
    struct udp_query *query = find(packet->net, packet->number);
    enum err err = ERR_OK;

    if (query) {
        query->is_waiting = false;
        err = fake_net_source_fault(packet->net, &query->from);
        if (!err)
            send_query(packet->net, query, packet->target, packet_bytes(packet));
    }
    packet_free(packet);
    if (err)
        query->handler->on_failed(query->owner, err);
}

static void put_in_line(struct fake_net *net, struct udp_query *query, struct fake_server *server,
                        struct span datagram)
{
    struct packet *packet = packet_new(net, datagram, on_left_line);

    net->queued_queries--;
    query->is_waiting = true;
    packet->number = query->number;
    packet->target = server;
    fake_event_schedule(net->loop, &packet->event, net->queued_us);
}

enum err udp_query_open(struct udp_query **out, struct loop *loop,
                        const struct udp_query_path *path, struct span datagram,
                        const struct udp_query_handler *handler, void *owner)
{
    struct fake_net *net = fake_net_of(loop);
    struct fake_server *server = fake_server_at(net, path->peer);
    struct udp_query *query;
    enum err err = fault(net, server);

    if (!err && net->queued_queries == 0)
        err = fake_net_source_fault(net, path->source);
    if (err)
        return err;
    query = calloc(1, sizeof(*query));
    MUST(query);
    query->net = net;
    query->number = ++net->last_query;
    query->from = fake_net_source(net, path->source, addr_family(path->peer));
    query->handler = handler;
    query->owner = owner;
    list_append(&net->queries[query->number % QUERY_BUCKETS], &query->node);
    net->counts.udp_queries++;
    net->counts.open_queries++;
    fake_net_note_open(net);
    if (net->queued_queries > 0)
        put_in_line(net, query, server, datagram);
    else
        send_query(net, query, server, datagram);
    *out = query;
    return ERR_OK;
}

bool udp_query_is_waiting(const struct udp_query *query)
{
    return query->is_waiting;
}

void udp_query_local(const struct udp_query *query, struct addr *out)
{
    *out = query->from;
}

unsigned udp_query_note_stray(struct udp_query *query)
{
    return ++query->strays;
}

void udp_query_close(struct udp_query **query)
{
    struct udp_query *closing = *query;

    *query = NULL;
    closing->net->counts.open_queries--;
    list_remove(&closing->node);
    free(closing);
}

/* ---------------------------------------------------------------- the far end */

static void on_reply_arrived(struct fake_event *event)
{
    struct packet *packet = CONTAINER_OF(event, struct packet, event);
    struct udp_query *query = find(packet->net, packet->number);

    if (query)
        query->handler->on_datagram(query->owner, packet_bytes(packet));
    else
        packet->net->counts.late_datagrams++;
    packet_free(packet);
}

/* The fake network draws ports itself, so the set of ports has no effect. */
void outgoing_ports_use(struct loop *loop, const struct outgoing_ports *ports, uint64_t *fallbacks)
{
    (void)loop, (void)ports, (void)fallbacks;
}

void fake_query_reply(const struct fake_query *query, struct span datagram, uint64_t delay_us)
{
    struct fake_net *net = query->server->net;
    struct packet *packet = packet_new(net, datagram, on_reply_arrived);

    packet->number = query->number;
    fake_event_schedule(net->loop, &packet->event, delay_us + query->server->latency_us);
}

void fake_query_spoof(const struct fake_query *query, struct span datagram)
{
    (void)datagram;
    query->server->spoofed++;
}

void fake_query_icmp(const struct fake_query *query, enum err why, uint64_t delay_us)
{
    send_icmp(query->server->net, query->number, why, delay_us + query->server->latency_us);
}

bool fake_query_is_open(const struct fake_query *query)
{
    return find(query->server->net, query->number) != NULL;
}

void fake_udp_free_all(struct fake_net *net)
{
    for (int i = 0; i < QUERY_BUCKETS; i++) {
        for (struct list *node; (node = list_take_first(&net->queries[i])) != NULL;)
            free(LIST_ITEM(node, struct udp_query, node));
    }
}
