/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Blocking sockets, one question at a time. Timeouts are those of the socket (SO_RCVTIMEO): a poll
 * before each read would cost one system call more than a plain client makes.
 */

#include "transport_client.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "clock.h"
#include "transport_tls.h"
#include "wire.h"

enum { MESSAGE_MAX = 65535 };

static const struct {
    const char *name, *sentence;
    bool is_stream, is_kept, resumes;
    int tls; /* the TLS version; 0: no TLS */
    bool any_version;
} transports[] = {
    [TRANSPORT_UDP] = {.name = "udp", .sentence = "UDP"},
    [TRANSPORT_UDP_KEPT] = {.name = "udp-kept", .sentence = "UDP, one socket", .is_kept = true},
    [TRANSPORT_TCP] = {.name = "tcp", .sentence = "TCP, a connection per query", .is_stream = true},
    [TRANSPORT_TCP_KEPT] = {.name = "tcp-kept",
                            .sentence = "TCP, kept open",
                            .is_stream = true,
                            .is_kept = true},
    [TRANSPORT_DOT12] = {.name = "dot12",
                         .sentence = "DoT, TLS 1.2 full per query",
                         .is_stream = true,
                         .tls = 12},
    [TRANSPORT_DOT13] = {.name = "dot13",
                         .sentence = "DoT, TLS 1.3 full per query",
                         .is_stream = true,
                         .tls = 13},
    [TRANSPORT_DOT12_RESUMED] = {.name = "dot12-resumed",
                                 .sentence = "DoT, TLS 1.2 resumed per query",
                                 .is_stream = true,
                                 .resumes = true,
                                 .tls = 12},
    [TRANSPORT_DOT13_RESUMED] = {.name = "dot13-resumed",
                                 .sentence = "DoT, TLS 1.3 resumed per query",
                                 .is_stream = true,
                                 .resumes = true,
                                 .tls = 13},
    [TRANSPORT_DOT13_EARLY] = {.name = "dot13-early",
                               .sentence = "DoT, TLS 1.3 early data",
                               .is_stream = true,
                               .resumes = true,
                               .tls = 13},
    [TRANSPORT_DOT_KEPT] = {.name = "dot-kept",
                            .sentence = "DoT, kept open",
                            .is_stream = true,
                            .is_kept = true,
                            .tls = 13,
                            .any_version = true},
};

bool transport_is_tls(enum transport transport)
{
    return transports[transport].tls != 0;
}

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
    return transports[client->transport].is_stream;
}

static bool is_kept(const struct transport_client *client)
{
    return transports[client->transport].is_kept;
}

static bool is_early(const struct transport_client *client)
{
    return client->transport == TRANSPORT_DOT13_EARLY;
}

void transport_client_init(struct transport_client *client, enum transport transport,
                           const struct addr *server, int timeout_ms)
{
    *client = (struct transport_client){
        .transport = transport, .server = *server, .timeout_ms = timeout_ms, .fd = -1};
}

bool transport_client_set_tls(struct transport_client *client,
                              const struct tls_client_options *options)
{
    struct tls_client_options own = *options;
    own.version = transports[client->transport].any_version ? 0 : transports[client->transport].tls;
    client->tls = calloc(1, sizeof(*client->tls));
    return client->tls && tls_client_init(client->tls, &own, client->why);
}

static void transport_client_close(struct transport_client *client)
{
    if (client->stream)
        transport_tls_end(client->fd, client->stream);
    tls_stream_free(client->stream);
    client->stream = NULL;
    if (client->fd >= 0)
        close(client->fd);
    client->fd = -1;
}

void transport_client_deinit(struct transport_client *client)
{
    transport_client_close(client);
    if (client->tls)
        tls_client_deinit(client->tls);
    free(client->tls);
    client->tls = NULL;
}

static size_t frame(uint8_t *out, const uint8_t *query, size_t len)
{
    put_u16(out, (uint16_t)len); /* RFC 7766 section 8: length and message belong in one segment */
    memcpy(out + 2, query, len);
    return len + 2;
}

/* Makes the handshake. It includes the query if the transport sends early data. */
static bool open_tls(struct transport_client *client, const uint8_t *query, size_t len)
{
    uint8_t framed[2 + WIRE_QUERY_MAX];
    client->stream =
        tls_client_open(client->tls, &client->server, transports[client->transport].resumes);
    if (!client->stream)
        return false;
    if (is_early(client))
        (void)tls_stream_write_early(client->stream, span_of(framed, frame(framed, query, len)));
    if (transport_tls_shake(client->fd, client->stream)) {
        tls_client_on_open(client->tls, client->stream);
        return true;
    }
    snprintf(client->why, TLS_TEXT_MAX, "%s",
             client->stream->why[0] ? client->stream->why : "no TLS handshake in time");
    return false;
}

static bool connect_socket(struct transport_client *client)
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
    return connect(client->fd, &client->server.sa, addr_len(&client->server)) == 0;
}

static bool transport_client_open(struct transport_client *client, const uint8_t *query, size_t len)
{
    client->why[0] = '\0';
    if (!connect_socket(client)) {
        snprintf(client->why, TLS_TEXT_MAX, "%s", err_str(err_from_errno(errno)));
        transport_client_close(client);
        return false;
    }
    if (client->tls && !open_tls(client, query, len)) {
        transport_client_close(client);
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

static bool read_all(const struct transport_client *client, uint8_t *out, size_t len)
{
    if (client->stream)
        return transport_tls_read(client->fd, client->stream, out, len);
    while (len) {
        ssize_t n = recv(client->fd, out, len, 0);
        if (n <= 0)
            return false;
        out += n;
        len -= (size_t)n;
    }
    return true;
}

/* Reads one message. Returns its length, or 0 on failure. */
static size_t read_message(const struct transport_client *client, uint8_t *out)
{
    if (!is_stream(client)) {
        ssize_t n = recv(client->fd, out, MESSAGE_MAX, 0);
        return n > 0 ? (size_t)n : 0;
    }
    uint8_t head[2];
    if (!read_all(client, head, 2) || !read_all(client, out, get_u16(head)))
        return 0;
    return get_u16(head);
}

/* Skips answers to earlier queries that were given up. */
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
    size_t framed_len = frame(framed, query, len);
    if (client->stream)
        return transport_tls_send(client->fd, client->stream, framed, framed_len);
    return send(client->fd, framed, framed_len, MSG_NOSIGNAL) == (ssize_t)framed_len;
}

/* Detects a FIN or RST that arrived between two queries. */
static bool is_closed_by_peer(const struct transport_client *client)
{
    uint8_t byte;
    if (client->stream)
        return client->stream->status != TLS_OPEN ||
               recv(client->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
    return is_stream(client) && recv(client->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

static bool transport_client_exchange(struct transport_client *client, const uint8_t *query,
                                      size_t len)
{
    bool went_early =
        client->stream && client->stream->has_early && tls_stream_early_accepted(client->stream);
    client->early += went_early;
    return (went_early || send_query(client, query, len)) && await_answer(client, query, len);
}

bool transport_client_ask(struct transport_client *client, const uint8_t *query, size_t len)
{
    if (client->fd < 0 && !transport_client_open(client, query, len))
        return false;
    bool ok = transport_client_exchange(client, query, len);
    if (!ok && is_kept(client) && is_closed_by_peer(client)) {
        transport_client_close(client);
        ok = transport_client_open(client, query, len) &&
             transport_client_exchange(client, query, len);
    }
    if (!is_kept(client) || (!ok && is_stream(client)))
        transport_client_close(client);
    return ok;
}

/* Sends one query to get a ticket. The counters do not change. */
static void fetch_ticket(struct transport_client *client, const uint8_t *query, size_t len)
{
    uint64_t opened = client->opened, early = client->early;
    uint64_t full = client->tls->full, resumed = client->tls->resumed;
    bool ok = transport_client_ask(client, query, len);
    client->opened = opened;
    client->early = early;
    client->tls->full = full;
    client->tls->resumed = resumed;
    if (!client->why[0] && !ok)
        snprintf(client->why, TLS_TEXT_MAX, "no answer");
    else if (!client->why[0] && client->tls->ticket_count == 0)
        snprintf(client->why, TLS_TEXT_MAX, "the server gives no ticket");
}

bool transport_client_prepare(struct transport_client *client, const uint8_t *query, size_t len)
{
    if (!transports[client->transport].resumes || client->tls->ticket_count)
        return true;
    fetch_ticket(client, query, len);
    if (!client->why[0] && is_early(client) && !tls_client_may_send_early(client->tls))
        snprintf(client->why, TLS_TEXT_MAX, "the server takes no early data");
    return client->why[0] == '\0';
}
