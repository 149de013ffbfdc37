/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The fake network (fake_net.h): its life, faults, counters and registered servers. Connections,
 * queries and listeners have separate files.
 */

#include "support/fake_net.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "support/fake_inside.h"

enum { DEFAULT_LATENCY_US = 1000, FIRST_PORT = 20000, LAST_PORT = 59999 };

struct fake_net *fake_net_of(struct loop *loop)
{
    struct fake_net **place = fake_loop_net(loop);
    struct fake_net *net = *place;

    if (net)
        return net;
    net = calloc(1, sizeof(*net));
    MUST(net);
    net->loop = loop;
    net->last_port = FIRST_PORT;
    list_init(&net->servers);
    list_init(&net->memory);
    list_init(&net->conns);
    list_init(&net->packets);
    list_init(&net->udp_servers);
    list_init(&net->acceptors);
    list_init(&net->replies);
    for (int i = 0; i < QUERY_BUCKETS; i++)
        list_init(&net->queries[i]);
    *place = net;
    return net;
}

void fake_net_free(struct fake_net *net)
{
    if (!net)
        return;
    fake_listen_free_all(net);
    fake_net_fail_listen(net, &(struct addr){0}, ERR_OK);
    fake_udp_free_all(net);
    fake_tcp_free_all(net);
    fake_tls_free_net(net);
    packet_free_all(&net->packets);
    packet_free_all(&net->replies);
    for (struct list *node; (node = list_take_first(&net->servers)) != NULL;) {
        struct fake_server *server = LIST_ITEM(node, struct fake_server, node);
        free(server->conns);
        free(server);
    }
    for (struct list *node; (node = list_take_first(&net->memory)) != NULL;)
        free(node);
    free(net);
}

void *fake_net_take(struct fake_net *net, size_t size)
{
    size_t head = sizeof(max_align_t) * ((sizeof(struct list) - 1) / sizeof(max_align_t) + 1);
    uint8_t *memory = calloc(1, head + size);

    MUST(memory);
    list_append(&net->memory, (struct list *)memory);
    return memory + head;
}

struct loop *fake_net_loop(struct fake_net *net)
{
    return net->loop;
}

struct addr fake_addr(const char *text)
{
    struct addr addr;
    MUST(addr_parse(&addr, text, 53) == ERR_OK);
    return addr;
}

/* ---------------------------------------------------------------- packets */

struct packet *packet_new(struct fake_net *net, struct span data,
                          void (*run)(struct fake_event *event))
{
    struct packet *packet = calloc(1, sizeof(*packet) + data.len);

    MUST(packet);
    fake_event_init(&packet->event, run);
    packet->net = net;
    packet->sent_at = loop_now(net->loop);
    packet->len = data.len;
    if (data.len)
        memcpy(packet->data, data.data, data.len);
    list_append(&net->packets, &packet->node);
    return packet;
}

void packet_free(struct packet *packet)
{
    fake_event_cancel(&packet->event);
    list_remove(&packet->node);
    free(packet);
}

void packet_free_all(struct list *packets)
{
    for (struct list *node; (node = list_first(packets)) != NULL;)
        packet_free(LIST_ITEM(node, struct packet, node));
}

struct span packet_bytes(const struct packet *packet)
{
    return span_of(packet->data, packet->len);
}

static void on_after(struct fake_event *event)
{
    struct packet *packet = CONTAINER_OF(event, struct packet, event);

    packet->after(packet->data);
    packet_free(packet);
}

void fake_net_after(struct fake_net *net, uint64_t delay_us, void (*run)(void *copy),
                    const void *data, size_t size)
{
    struct packet *packet = packet_new(net, span_of(data, size), on_after);

    packet->after = run;
    fake_event_schedule(net->loop, &packet->event, delay_us);
}

/* ---------------------------------------------------------------- counters and faults */

struct fake_net_counts fake_net_counts(const struct fake_net *net)
{
    return net->counts;
}

size_t fake_net_open_sockets(const struct fake_net *net)
{
    return net->counts.open_conns + net->counts.open_queries + net->counts.open_listeners;
}

void fake_net_note_open(struct fake_net *net)
{
    struct fake_net_counts *counts = &net->counts;

    counts->most_open_conns = MAX(counts->most_open_conns, counts->open_conns);
    counts->most_open_queries = MAX(counts->most_open_queries, counts->open_queries);
}

void fake_net_fail_opens(struct fake_net *net, unsigned count, enum err why)
{
    net->fail_opens = count;
    net->fail_why = why;
}

void fake_net_set_file_limit(struct fake_net *net, size_t sockets)
{
    net->file_limit = sockets;
}

bool fake_net_has_file(const struct fake_net *net)
{
    return net->file_limit == 0 || fake_net_open_sockets(net) < net->file_limit;
}

enum err fake_net_open_fault(struct fake_net *net)
{
    if (net->fail_opens > 0) {
        net->fail_opens--;
        return net->fail_why;
    }
    return fake_net_has_file(net) ? ERR_OK : ERR_NO_FILES;
}

void fake_net_lose_address(struct fake_net *net)
{
    net->address_lost_at = net->counts.dials;
}

void fake_net_drop_replies(struct fake_net *net, unsigned count)
{
    net->drop_replies = count;
}

void fake_net_set_write_max(struct fake_net *net, size_t bytes)
{
    net->write_max = bytes;
}

void fake_net_set_client_latency(struct fake_net *net, uint64_t one_way_us)
{
    net->client_latency_us = one_way_us;
}

void fake_net_set_datagram_age(struct fake_net *net, uint64_t age_us)
{
    net->datagram_age_us = age_us;
}

void fake_net_lose_datagrams(struct fake_net *net, uint32_t count)
{
    net->datagrams_lost += count;
}

unsigned fake_net_thinned(const struct fake_net *net, const struct udp_thinned **thinned)
{
    *thinned = net->thinned;
    return net->thinned_count;
}

void fake_net_break_source(struct fake_net *net, const struct addr *source, enum err why)
{
    unsigned i = 0;

    while (i < net->broken_count && !addr_equal_ip(&net->broken_sources[i], source))
        i++;
    MUST(i < FAKE_NET_SOURCES_MAX);
    net->broken_sources[i] = *source;
    net->broken_why[i] = why;
    net->broken_count = MAX(net->broken_count, i + 1);
}

void fake_net_queue_queries(struct fake_net *net, unsigned count, uint64_t wait_us)
{
    net->queued_queries = count;
    net->queued_us = wait_us;
}

enum err fake_net_source_fault(const struct fake_net *net, const struct addr *source)
{
    for (unsigned i = 0; i < net->broken_count; i++)
        if (addr_equal_ip(&net->broken_sources[i], source))
            return net->broken_why[i];
    return ERR_OK;
}

struct addr fake_net_source(struct fake_net *net, const struct addr *source, int family)
{
    struct addr addr;

    if (source && addr_family(source) != 0)
        addr = *source;
    else
        addr = fake_addr(family == AF_INET6 ? "::1@0" : "127.0.0.1@0");
    if (addr_port(&addr) == 0) {
        net->last_port = net->last_port == LAST_PORT ? FIRST_PORT : net->last_port + 1;
        addr_set_port(&addr, net->last_port);
    }
    return addr;
}

/* ---------------------------------------------------------------- servers */

struct fake_server *fake_server_at(struct fake_net *net, const struct addr *addr)
{
    LIST_EACH(node, &net->servers)
    {
        struct fake_server *server = LIST_ITEM(node, struct fake_server, node);
        bool is_more = server->has_prefix && addr_port(addr) == addr_port(&server->addr) &&
                       prefix_contains(&server->prefix, addr);
        if (is_more || addr_equal(&server->addr, addr))
            return server;
    }
    return NULL;
}

struct fake_server *fake_server_new(struct fake_net *net, const struct addr *addr,
                                    const struct fake_server_handler *handler, void *owner)
{
    struct fake_server *server = calloc(1, sizeof(*server));

    MUST(server && !fake_server_at(net, addr));
    server->net = net;
    server->addr = *addr;
    server->handler = handler;
    server->owner = owner;
    server->latency_us = DEFAULT_LATENCY_US;
    list_append(&net->servers, &server->node);
    return server;
}

void fake_server_take_prefix(struct fake_server *server, const struct prefix *prefix)
{
    server->prefix = *prefix;
    server->has_prefix = true;
}

const struct addr *fake_server_addr(const struct fake_server *server)
{
    return &server->addr;
}

void *fake_server_owner(const struct fake_server *server)
{
    return server->owner;
}

uint64_t fake_latency(const struct fake_server *server)
{
    return server ? server->latency_us : DEFAULT_LATENCY_US;
}

void fake_server_set_latency(struct fake_server *server, uint64_t one_way_us)
{
    server->latency_us = one_way_us;
}

void fake_server_set_dial(struct fake_server *server, enum fake_dial how)
{
    server->dial = how;
}

void fake_server_set_accept_delay(struct fake_server *server, uint64_t us)
{
    server->accept_delay_us = us;
}

void fake_server_set_udp(struct fake_server *server, enum fake_udp how)
{
    server->udp = how;
}

void fake_server_lose_datagrams(struct fake_server *server, unsigned count)
{
    server->lose = count;
}

uint64_t fake_server_datagrams(const struct fake_server *server)
{
    return server->datagrams;
}

uint64_t fake_server_spoofed(const struct fake_server *server)
{
    return server->spoofed;
}

size_t fake_server_dials(const struct fake_server *server)
{
    return server->conn_count;
}

struct fake_conn *fake_server_conn(const struct fake_server *server, size_t number)
{
    return number < server->conn_count ? server->conns[number] : NULL;
}

size_t fake_server_open_conns(const struct fake_server *server)
{
    size_t count = 0;

    for (size_t i = 0; i < server->conn_count; i++)
        count += fake_conn_state(server->conns[i]) == FAKE_CONN_OPEN;
    return count;
}

void fake_server_reset_all(struct fake_server *server)
{
    for (size_t i = 0; i < server->conn_count; i++) {
        if (fake_conn_state(server->conns[i]) == FAKE_CONN_OPEN)
            fake_conn_reset(server->conns[i]);
    }
}

void fake_server_close_all(struct fake_server *server)
{
    for (size_t i = 0; i < server->conn_count; i++) {
        if (fake_conn_state(server->conns[i]) == FAKE_CONN_OPEN)
            fake_conn_close(server->conns[i]);
    }
}
