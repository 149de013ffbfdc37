/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * A client opens its socket for its first query and closes it when nothing has been in flight for
 * a while, as a stub resolver does (RFC 7766 section 6.2.3). The server may close it earlier; then
 * the next query opens it again.
 *
 * Invariant: a client is in replay->opening exactly while REPLAY_OPENING, and in replay->idle
 * exactly while REPLAY_OPEN without queries in flight.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/check.h"
#include "base/span.h"
#include "clock.h"
#include "proxy_header.h"
#include "replay.h"

enum {
    HEADER_ROOM = 16,
    CLIENT_PORT = 40000, /* the port in PROXY headers */
};

static void client_set_idle(struct replay_client *client)
{
    list_remove(&client->node);
    client->since_ns = clock_now_ns();
    if (client->state == REPLAY_OPEN && client->in_flight == 0)
        list_append(&client->replay->idle, &client->node);
}

/* ---- queries in flight ---- */

static struct replay_query *query_add(struct replay_client *client, uint64_t due_ns)
{
    struct replay *replay = client->replay;
    struct replay_query *query = calloc(1, sizeof(*query));
    if (!query)
        return NULL;
    query->client = client;
    query->due_ns = due_ns;
    query->id = client->next_id++;
    query->is_cold = client->state != REPLAY_OPEN;
    list_append(&client->queries, &query->of_client);
    list_append(&replay->in_flight, &query->of_all);
    client->in_flight++;
    replay->in_flight_count++;
    if (client->state == REPLAY_OPEN)
        list_remove(&client->node);
    return query;
}

static void query_remove(struct replay_query *query)
{
    struct replay_client *client = query->client;
    list_remove(&query->of_client);
    list_remove(&query->of_all);
    free(query);
    client->replay->in_flight_count--;
    if (--client->in_flight == 0 && client->state == REPLAY_OPEN)
        client_set_idle(client);
}

/* Answers mostly have the order of their queries, so the search begins with the oldest. */
static struct replay_query *query_find(struct replay_client *client, uint16_t id)
{
    for (struct list *node = client->queries.next; node != &client->queries; node = node->next) {
        struct replay_query *query = LIST_ITEM(node, struct replay_query, of_client);
        if (query->id == id)
            return query;
    }
    return NULL;
}

void replay_client_on_answer(struct replay_client *client, const uint8_t *header, uint64_t now_ns)
{
    struct replay *replay = client->replay;
    uint16_t flags = get_u16(header + 2);
    struct replay_query *query = query_find(client, get_u16(header));
    if (!query || !(flags & WIRE_QR)) {
        replay->counters.unexpected++;
        return;
    }
    uint64_t took_ns = now_ns > query->due_ns ? now_ns - query->due_ns : 0;
    replay->counters.answered++;
    replay->counters.rcodes[flags & 15]++;
    replay->counters.truncated += (flags & WIRE_TC) != 0;
    latency_record(&replay->latency, took_ns);
    if (!query->is_cold)
        latency_record(&replay->warm, took_ns);
    query_remove(query);
}

/* ---- sockets ---- */

void replay_client_close(struct replay_client *client)
{
    struct list *node;
    if (client->state == REPLAY_CLOSED)
        return;
    client->replay->open_count -= client->state == REPLAY_OPEN;
    client->state = REPLAY_CLOSED;
    list_remove(&client->node);
    replay_stream_close(client);
    close(client->watch.fd);
    client->watch.fd = -1;
    while ((node = list_first(&client->queries))) {
        client->replay->counters.lost_by_close++;
        query_remove(LIST_ITEM(node, struct replay_query, of_client));
    }
}

void replay_client_fail(struct replay_client *client, const char *why)
{
    struct replay *replay = client->replay;
    if (client->state == REPLAY_OPEN) {
        replay->counters.closed_by_server++;
    } else {
        replay->counters.failed++;
        snprintf(replay->why, sizeof(replay->why), "%s", why);
    }
    replay_client_close(client);
}

void replay_client_on_open(struct replay_client *client)
{
    struct replay *replay = client->replay;
    client->state = REPLAY_OPEN;
    client->has_connected = true;
    replay->counters.opened++;
    replay->open_count++;
    replay->open_most = MAX(replay->open_most, replay->open_count);
    if (client->stream)
        latency_record(&replay->shakes, clock_now_ns() - client->since_ns);
    client_set_idle(client);
}

static void client_read_datagrams(struct watch *watch, uint32_t events)
{
    struct replay_client *client = CONTAINER_OF(watch, struct replay_client, watch);
    uint8_t bytes[HEADER_ROOM];
    (void)events;
    ssize_t n = 0;
    do {
        n = recv(watch->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
        if (n >= WIRE_HEADER_BYTES)
            replay_client_on_answer(client, bytes, clock_now_ns());
    } while (n >= 0 && client->in_flight);
}

/* Adds the client's number to the host part of the prefix, which wraps. */
static struct addr client_source(const struct replay_client *client)
{
    const struct prefix *prefix = &client->replay->options.sources;
    size_t number = (size_t)(client - client->replay->clients);
    struct addr source = prefix->addr;
    bool is_ipv4 = addr_family(&source) == AF_INET;
    uint8_t *bytes = is_ipv4 ? (uint8_t *)&source.in.sin_addr : source.in6.sin6_addr.s6_addr;
    unsigned host_bits = MIN((is_ipv4 ? 32u : 128u) - prefix->length, 32u);
    uint32_t mask = host_bits == 32 ? UINT32_MAX : (1u << host_bits) - 1;
    uint8_t *last = bytes + (is_ipv4 ? 0 : 12);
    put_u32(last, (get_u32(last) & ~mask) | ((uint32_t)(number % mask + 1) & mask));
    return source;
}

static bool client_bind(const struct replay_client *client)
{
    int on = 1;
    if (!client->replay->options.has_sources)
        return true;
    struct addr source = client_source(client);
    setsockopt(client->watch.fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
    return bind(client->watch.fd, &source.sa, addr_len(&source)) == 0;
}

static enum err client_connect(struct replay_client *client)
{
    struct replay *replay = client->replay;
    const struct addr *server = &replay->options.server;
    if (!client_bind(client))
        return err_from_errno(errno);
    if (connect(client->watch.fd, &server->sa, addr_len(server)) && errno != EINPROGRESS)
        return err_from_errno(errno);
    if (replay->options.is_stream)
        return replay_stream_open(client);
    return poller_add(replay->poller, &client->watch, EPOLLIN);
}

static void client_open(struct replay_client *client)
{
    struct replay *replay = client->replay;
    bool is_stream = replay->options.is_stream;
    int kind = (is_stream ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC | SOCK_NONBLOCK;
    int fd = socket(addr_family(&replay->options.server), kind, 0);
    client->watch = (struct watch){
        .fd = fd, .on_ready = is_stream ? replay_stream_on_ready : client_read_datagrams};
    enum err err = fd < 0 ? err_from_errno(errno) : ERR_OK;
    if (fd >= 0) {
        client->state = REPLAY_OPENING;
        client->since_ns = clock_now_ns();
        list_append(&replay->opening, &client->node);
        err = client_connect(client);
    }
    if (err && fd < 0) {
        replay->counters.failed++;
        snprintf(replay->why, sizeof(replay->why), "%s", err_str(err));
    } else if (err) {
        replay_client_fail(client, err_str(err));
    } else if (!is_stream) {
        replay_client_on_open(client);
    }
}

/* ---- sending ---- */

struct addr replay_client_named(const struct replay_client *client)
{
    const struct replay *replay = client->replay;
    struct addr named = replay->capture.clients[client - replay->clients];
    addr_set_port(&named, CLIENT_PORT);
    return named;
}

static enum err client_send_datagram(const struct replay_client *client, struct span query,
                                     uint16_t id)
{
    uint8_t head[PROXY_HEADER_MAX], bytes[WIRE_QUERY_MAX];
    size_t head_len = 0;
    if (client->replay->options.proxy) {
        struct addr named = replay_client_named(client);
        head_len = proxy_header_write(head, &named, &client->replay->options.server, false);
    }
    memcpy(bytes, query.data, query.len);
    put_u16(bytes, id);
    struct iovec parts[] = {{head, head_len}, {bytes, query.len}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    ssize_t sent = sendmsg(client->watch.fd, &message, MSG_DONTWAIT);
    if (sent < 0 && errno == ECONNREFUSED) /* an earlier query caused this error */
        sent = sendmsg(client->watch.fd, &message, MSG_DONTWAIT);
    return sent < 0 ? err_from_errno(errno) : ERR_OK;
}

void replay_client_ask(struct replay_client *client, uint32_t number, uint64_t due_ns)
{
    struct replay *replay = client->replay;
    if (client->state == REPLAY_CLOSED)
        client_open(client);
    struct replay_query *query = NULL;
    if (client->state != REPLAY_CLOSED && client->in_flight < REPLAY_IN_FLIGHT_MAX)
        query = query_add(client, due_ns);
    if (!query) {
        replay->counters.unsent++;
        return;
    }
    struct span bytes = query_file_at(&replay->capture.queries, number);
    enum err err = client->stream ? replay_stream_add(client, bytes, query->id)
                                  : client_send_datagram(client, bytes, query->id);
    if (err) {
        replay->counters.unsent++;
        query_remove(query);
        return;
    }
    uint64_t now_ns = clock_now_ns();
    replay->counters.sent++;
    latency_record(&replay->lag, now_ns > due_ns ? now_ns - due_ns : 0);
}

/* ---- all clients ---- */

void replay_clients_sweep(struct replay *replay, uint64_t now_ns)
{
    uint64_t timeout_ns = replay->options.timeout_ms * 1000000;
    uint64_t idle_ns = replay->options.idle_ms * 1000000;
    struct list *node;
    while ((node = list_first(&replay->in_flight))) {
        struct replay_query *query = LIST_ITEM(node, struct replay_query, of_all);
        if (now_ns < query->due_ns + timeout_ns)
            break;
        replay->counters.lost++;
        query_remove(query);
    }
    while ((node = list_first(&replay->opening))) {
        struct replay_client *client = LIST_ITEM(node, struct replay_client, node);
        if (now_ns < client->since_ns + timeout_ns)
            break;
        replay_client_fail(client, "not open in time");
    }
    while ((node = list_first(&replay->idle))) {
        struct replay_client *client = LIST_ITEM(node, struct replay_client, node);
        if (now_ns < client->since_ns + idle_ns)
            break;
        replay->counters.closed_idle++;
        replay_client_close(client);
    }
}

enum err replay_clients_make(struct replay *replay)
{
    replay->clients = calloc(replay->capture.client_count, sizeof(*replay->clients));
    if (!replay->clients)
        return ERR_NO_MEMORY;
    for (size_t i = 0; i < replay->capture.client_count; i++) {
        struct replay_client *client = &replay->clients[i];
        client->watch.fd = -1;
        client->replay = replay;
        list_init(&client->node);
        list_init(&client->queries);
    }
    return ERR_OK;
}

void replay_clients_free(struct replay *replay)
{
    for (size_t i = 0; replay->clients && i < replay->capture.client_count; i++)
        replay_client_close(&replay->clients[i]);
    free(replay->clients);
    replay->clients = NULL;
}
