/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "fuzz/worker/clients.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "fuzz/worker/stage.h"
#include "support/fake_tls.h"

enum { UDP_PORT = 4000, UDP_SIZE = 1232, ODD_ID = 0xff00 };

static struct addr here(uint16_t port)
{
    struct addr addr = fake_addr("127.0.0.1@53");
    addr_set_port(&addr, port);
    return addr;
}

static struct addr client_addr(unsigned client)
{
    char text[40];
    const char *net = client == CLIENT_REFUSED  ? "127.66"
                      : client == CLIENT_DENIED ? "127.67"
                                                : "127.0";
    snprintf(text, sizeof(text), "%s.0.%u@%u", net, 10 + client / 2, UDP_PORT + client);
    return fake_addr(text);
}

/* ---- messages ---- */

static size_t put_edns(uint8_t *out, const struct wish *wish, uint16_t client)
{
    static const uint8_t fixed[11] = {0, 0, RRTYPE_OPT, UDP_SIZE >> 8, UDP_SIZE & 255};
    memcpy(out, fixed, sizeof(fixed));
    out[7] = wish->wants_dnssec ? 0x80 : 0;
    if (!wish->has_cookie)
        return sizeof(fixed);
    memset(out + sizeof(fixed), (int)client + 1, 12);
    put_u16(out + sizeof(fixed), 10);
    put_u16(out + sizeof(fixed) + 2, 8);
    out[10] = 12;
    return sizeof(fixed) + 12;
}

static size_t put_query(uint8_t *out, uint16_t id, struct name name, const struct wish *wish,
                        uint16_t client)
{
    size_t len = HEADER_LEN;
    memset(out, 0, HEADER_LEN);
    header_set_id(out, id);
    header_set_flags(out, wish->recurses ? HEADER_RD : 0);
    put_u16(out + 4, 1);
    memcpy(out + len, name.wire, name.len);
    len += name.len;
    put_u16(out + len, wish->type);
    put_u16(out + len + 2, RRCLASS_IN);
    len += 4;
    if (!wish->has_edns)
        return len;
    put_u16(out + 10, 1);
    return len + put_edns(out + len, wish, client);
}

/* Enters the question into the ledger, and builds its message. */
static size_t build(struct stage *stage, const struct wish *wish, struct fake_conn *conn,
                    unsigned client, bool is_allowed, bool is_calm, uint8_t *out, uint16_t *id)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct asked *asked = ledger_ask(stage, id);
    asked->conn = conn;
    asked->client = (uint16_t)client;
    asked->type = wish->type;
    asked->zone = (uint8_t)wish->zone;
    asked->number = (uint8_t)wish->number;
    asked->is_deep = wish->is_deep;
    asked->is_upper = wish->is_upper;
    asked->is_plain = is_allowed && !wish->is_odd && wish->recurses;
    asked->is_calm = is_calm;
    asked->wants_dnssec = wish->wants_dnssec;
    asked->udp_size = wish->has_edns ? UDP_SIZE : MESSAGE_UDP_MAX;
    struct name name = ledger_name(asked, wire);
    if (wish->is_odd && wish->type == RRTYPE_NS)
        name = truth_zone_name(wish->zone);
    STAGE_TRACE(stage, "client %u asks %u: zone %d number %u type %u", client, *id, wish->zone,
                wish->number, wish->type);
    return put_query(out, *id, name, wish, (uint16_t)client);
}

/* ---- UDP ---- */

void clients_ask_udp(struct stage *stage, unsigned client, const struct wish *wish)
{
    struct clients *clients = &stage->clients;
    struct addr to = here(53), from = client_addr(client);
    bool is_allowed = client < CLIENT_REFUSED;
    clients->last_len =
        build(stage, wish, NULL, client, is_allowed, is_allowed, clients->last, &clients->last_id);
    clients->last_client = client;
    fake_client_udp_send(stage->net, &to, &from, span_of(clients->last, clients->last_len));
}

/* An attacker or an impatient stub resolver repeats datagrams, so the answer may come once or
 * twice. */
void clients_repeat_udp(struct stage *stage)
{
    struct clients *clients = &stage->clients;
    struct asked *asked = &stage->ledger.asked[clients->last_id];
    struct addr to = here(53), from = client_addr(clients->last_client);
    if (clients->last_len == 0 || asked->copies > 100)
        return;
    asked->copies++;
    fake_client_udp_send(stage->net, &to, &from, span_of(clients->last, clients->last_len));
}

void clients_send_garbage(struct stage *stage, unsigned client, struct span bytes)
{
    uint8_t message[CLIENTS_HALF_MAX];
    struct addr to = here(53), from = client_addr(client);
    size_t len = MIN(bytes.len, sizeof(message));
    memcpy(message, bytes.data, len);
    if (len >= 2)
        put_u16(message, ODD_ID);
    fake_client_udp_send(stage->net, &to, &from, span_of(message, len));
}

/* ---- streams ---- */

static void forget(struct stage *stage, struct stream_client *client)
{
    ledger_release(stage, client->conn);
    memset(client, 0, sizeof(*client));
}

static void collect_stream(struct stage *stage, struct stream_client *client)
{
    struct span message;
    while (fake_conn_next_message(client->conn, &message))
        ledger_take(stage, message, client->conn, 0, stage_now(stage));
    if (fake_conn_state(client->conn) == FAKE_CONN_FAILED || fake_conn_was_closed(client->conn))
        forget(stage, client);
}

void clients_connect(struct stage *stage, unsigned place, unsigned kind)
{
    struct stream_client *client = &stage->clients.streams[place];
    static const struct fake_tls_client_options tls13 = {.only = FAKE_TLS_1_3, .alpn = "dot"};
    static const struct fake_tls_client_options tls12 = {.only = FAKE_TLS_1_2};
    bool is_tls = (kind == 1 || kind == 2) && stage->plan->serves_tls;
    bool is_mute = kind == 4 && stage->plan->serves_tls;
    struct addr to = here(is_tls || is_mute ? 853 : 53);
    struct addr from = client_addr(kind == 3 ? CLIENT_REFUSED : place % 8);
    if (client->conn) {
        fake_conn_reset(client->conn);
        forget(stage, client);
    }
    addr_set_port(&from, (uint16_t)(UDP_PORT + 1000 + place));
    const struct fake_tls_client_options *tls = kind == 1 ? &tls13 : &tls12;
    client->conn = is_tls ? fake_client_tls_open(stage->net, &to, &from, tls)
                          : fake_client_tcp_open(stage->net, &to, &from);
    client->is_allowed = kind != 3;
    client->is_calm = true;
    client->has_ended = is_mute;
}

static bool can_ask(const struct stream_client *client)
{
    return client->conn && !client->has_ended;
}

void clients_send_rest(struct stage *stage, unsigned place)
{
    struct stream_client *client = &stage->clients.streams[place];
    if (can_ask(client) && client->half_len > 0)
        fake_conn_send(client->conn, span_of(client->half, client->half_len));
    client->half_len = 0;
}

void clients_ask_stream(struct stage *stage, unsigned place, const struct wish *wish)
{
    clients_send_rest(stage, place);
    clients_ask_half(stage, place, wish, CLIENTS_HALF_MAX);
}

void clients_ask_half(struct stage *stage, unsigned place, const struct wish *wish, size_t first)
{
    struct stream_client *client = &stage->clients.streams[place];
    uint8_t message[CLIENTS_HALF_MAX];
    uint16_t id;
    if (!can_ask(client))
        return;
    clients_send_rest(stage, place);
    bool is_calm = client->is_calm && client->is_allowed && first >= CLIENTS_HALF_MAX;
    size_t len =
        build(stage, wish, client->conn, place, client->is_allowed, is_calm, message + 2, &id);
    put_u16(message, (uint16_t)len);
    len += 2;
    first = MIN(first, len);
    fake_conn_send(client->conn, span_of(message, first));
    client->half_len = len - first;
    memcpy(client->half, message + first, len - first);
}

/* Sends bytes that are no message, with or without framing. */
void clients_send_stream_garbage(struct stage *stage, unsigned place, struct span bytes)
{
    struct stream_client *client = &stage->clients.streams[place];
    uint8_t message[CLIENTS_HALF_MAX];
    size_t len = MIN(bytes.len, sizeof(message));
    if (!can_ask(client) || len == 0)
        return;
    clients_send_rest(stage, place);
    client->is_calm = false; /* the server may close the connection for this */
    ledger_disturb(stage, client->conn);
    memcpy(message, bytes.data, len);
    if (len >= 2)
        put_u16(message, ODD_ID);
    fake_conn_send_message(client->conn, span_of(message, len));
}

void clients_act(struct stage *stage, unsigned place, enum stream_act act, unsigned window)
{
    struct stream_client *client = &stage->clients.streams[place];
    if (!client->conn)
        return;
    client->is_calm = false;
    ledger_disturb(stage, client->conn);
    switch (act) {
    case STREAM_CLOSE:
        if (!client->has_ended)
            fake_conn_close(client->conn);
        client->has_ended = true;
        break;
    case STREAM_RESET:
        fake_conn_reset(client->conn);
        forget(stage, client);
        break;
    case STREAM_STOP:
        fake_conn_stop_reading(client->conn, window);
        break;
    case STREAM_START:
        fake_conn_start_reading(client->conn);
        break;
    case STREAM_DARK:
        fake_conn_go_dark(client->conn);
        break;
    default:
        break;
    }
}

void clients_collect(struct stage *stage)
{
    struct fake_reply reply;
    while (fake_client_udp_next(stage->net, NULL, &reply)) {
        unsigned client = (unsigned)(addr_port(&reply.to) - UDP_PORT);
        ledger_take(stage, reply.datagram, NULL, (uint16_t)client, reply.at_us);
    }
    for (unsigned i = 0; i < CLIENTS_STREAM; i++)
        if (stage->clients.streams[i].conn)
            collect_stream(stage, &stage->clients.streams[i]);
}

void clients_close_all(struct stage *stage)
{
    for (unsigned i = 0; i < CLIENTS_STREAM; i++) {
        struct stream_client *client = &stage->clients.streams[i];
        if (client->conn && !client->has_ended)
            fake_conn_close(client->conn);
        client->has_ended = true;
    }
}
