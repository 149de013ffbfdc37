/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Blocking sockets, one question at a time. Timeouts are the socket's own (SO_RCVTIMEO), as a
 * poll before each read would be one system call more than a plain client makes.
 */

#include "transport_client.h"

#include <netinet/tcp.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "clock.h"
#include "wire.h"

enum { MESSAGE_MAX = 65535 };

static const struct {
    const char *name, *sentence;
} transports[] = {
    [TRANSPORT_UDP] = {"udp", "UDP"},
    [TRANSPORT_UDP_KEPT] = {"udp-kept", "UDP, one socket"},
    [TRANSPORT_TCP] = {"tcp", "TCP, a connection per query"},
    [TRANSPORT_TCP_KEPT] = {"tcp-kept", "TCP, kept open"},
};

const char *transport_name(enum transport transport)
{
    return transports[transport].name;
}

const char *transport_sentence(enum transport transport)
{
    return transports[transport].sentence;
}

static bool is_stream(const struct transport_client *client)
{
    return client->transport == TRANSPORT_TCP || client->transport == TRANSPORT_TCP_KEPT;
}

static bool is_kept(const struct transport_client *client)
{
    return client->transport == TRANSPORT_TCP_KEPT || client->transport == TRANSPORT_UDP_KEPT;
}

void transport_client_init(struct transport_client *client, enum transport transport,
                           const struct addr *server, int timeout_ms)
{
    *client = (struct transport_client){
        .transport = transport, .server = *server, .timeout_ms = timeout_ms, .fd = -1};
}

void transport_client_deinit(struct transport_client *client)
{
    if (client->fd >= 0)
        close(client->fd);
    client->fd = -1;
}

static bool client_open(struct transport_client *client)
{
    int on = 1, kind = is_stream(client) ? SOCK_STREAM : SOCK_DGRAM;
    struct timeval timeout = {.tv_sec = client->timeout_ms / 1000,
                              .tv_usec = client->timeout_ms % 1000 * 1000};
    client->fd = socket(addr_family(&client->server), kind | SOCK_CLOEXEC, 0);
    if (client->fd < 0)
        return false;
    setsockopt(client->fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
    setsockopt(client->fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
    if (is_stream(client))
        setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (connect(client->fd, &client->server.sa, addr_len(&client->server))) {
        transport_client_deinit(client);
        return false;
    }
    client->opened++;
    return true;
}

static bool is_answer_to(struct span answer, const uint8_t *query, size_t len)
{
    size_t end = wire_question_end(answer);
    if (end == 0 || end > len || answer.data[0] != query[0] || answer.data[1] != query[1])
        return false;
    return answer.data[2] & 0x80 && memcmp(answer.data + 12, query + 12, end - 12) == 0;
}

static bool read_all(int fd, uint8_t *out, size_t len)
{
    while (len) {
        ssize_t n = recv(fd, out, len, 0);
        if (n <= 0)
            return false;
        out += n;
        len -= (size_t)n;
    }
    return true;
}

/* One message; its length, 0 on failure. */
static size_t read_message(const struct transport_client *client, uint8_t *out)
{
    if (!is_stream(client)) {
        ssize_t n = recv(client->fd, out, MESSAGE_MAX, 0);
        return n > 0 ? (size_t)n : 0;
    }
    uint8_t head[2];
    if (!read_all(client->fd, head, 2) || !read_all(client->fd, out, get_u16(head)))
        return 0;
    return get_u16(head);
}

/* Passes over what answers an earlier query that had been given up. */
static bool await_answer(const struct transport_client *client, const uint8_t *query, size_t len)
{
    static uint8_t message[MESSAGE_MAX];
    uint64_t give_up_at = clock_now_us() + (uint64_t)client->timeout_ms * 1000;
    do {
        size_t got = read_message(client, message);
        if (got == 0)
            return false;
        if (is_answer_to(span_of(message, got), query, len)) {
            unsigned rcode = message[3] & 15;
            return rcode == RCODE_NOERROR || rcode == RCODE_NXDOMAIN;
        }
    } while (clock_now_us() < give_up_at);
    return false;
}

static bool send_query(const struct transport_client *client, const uint8_t *query, size_t len)
{
    uint8_t framed[2 + WIRE_QUERY_MAX];
    if (!is_stream(client))
        return send(client->fd, query, len, 0) == (ssize_t)len;
    put_u16(framed, (uint16_t)len); /* RFC 7766 section 8: length and message in one segment */
    memcpy(framed + 2, query, len);
    return send(client->fd, framed, len + 2, MSG_NOSIGNAL) == (ssize_t)len + 2;
}

/* Sees the FIN or RST that came while nobody asked. */
static bool is_closed_by_peer(const struct transport_client *client)
{
    uint8_t byte;
    return is_stream(client) && recv(client->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

bool transport_client_ask(struct transport_client *client, const uint8_t *query, size_t len)
{
    if (client->fd < 0 && !client_open(client))
        return false;
    bool ok = send_query(client, query, len) && await_answer(client, query, len);
    if (!ok && is_kept(client) && is_closed_by_peer(client)) {
        transport_client_deinit(client);
        ok = client_open(client) && send_query(client, query, len) &&
             await_answer(client, query, len);
    }
    if (!is_kept(client) || (!ok && is_stream(client)))
        transport_client_deinit(client);
    return ok;
}
