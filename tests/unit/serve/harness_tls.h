/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_UNIT_SERVE_HARNESS_TLS_H
#define NAILUP_TESTS_UNIT_SERVE_HARNESS_TLS_H

/* The harness with a TLS listener added. Its TLS clients are freed with the test. */

#include "unit/serve/harness.h"

#include <stdio.h>

#include "serve/session.h"
#include "tls/tls_ticket_keys.h"
#include "unit/serve/dot_client.h"

enum { CLIENTS_MAX = 16 };

static struct addr tls_listen[1];
static struct tls_cert *cert;
static struct tls_ticket_keys *keys;
static struct tls_ticket_keys *keys_before[2]; /* freed after their connections */
static struct dot_client clients[CLIENTS_MAX];
static size_t client_count;

static inline void use_certificate(const struct tls_cert *which)
{
    struct tls_context *context = dot_make_context(which, keys);
    server_set_tls(server, &context);
    assert_null(context);
}

static inline void begin(void)
{
    harness_begin();
    tls_listen[0] = fake_addr("127.0.0.1@853");
    options.listen_tls = tls_listen;
    options.listen_tls_count = 1;
    keys = tls_ticket_keys_new(0);
    client_count = 0;
}

static inline void open_server(void)
{
    harness_open();
    use_certificate(cert);
}

static inline int setup(void **state)
{
    (void)state;
    begin();
    open_server();
    return 0;
}

static inline int teardown(void **state)
{
    for (size_t i = 0; i < client_count; i++)
        dot_free(&clients[i]);
    int result = harness_teardown(state);
    tls_ticket_keys_free(keys);
    for (size_t i = 0; i < 2; i++)
        tls_ticket_keys_free(keys_before[i]);
    memset(keys_before, 0, sizeof(keys_before));
    log_set_sink(NULL);
    return result;
}

static inline int make_certificate(void **state)
{
    (void)state;
    cert = tls_certs_make(&(struct tls_cert_wish){.name = "localhost"});
    return 0;
}

static inline int free_certificate(void **state)
{
    (void)state;
    tls_certs_free_cert(cert);
    return 0;
}

/* ---- clients ---- */

static inline struct fake_conn *connect_from(const char *from)
{
    struct addr client = fake_addr(from);
    struct fake_conn *conn = fake_client_tcp_open(net, &tls_listen[0], &client);
    fake_loop_settle(loop);
    return conn;
}

static inline struct dot_client *begin_client(const char *from, int version, SSL_SESSION *session)
{
    assert_in_range(client_count, 0, CLIENTS_MAX - 1);
    struct dot_client *client = &clients[client_count++];
    dot_begin(client, connect_from(from), version, session);
    return client;
}

static inline struct dot_client *open_client_with(int version, SSL_SESSION *session)
{
    struct dot_client *client = begin_client("127.0.0.9@4000", version, session);
    dot_settle(client, loop);
    assert_true(client->is_secured);
    return client;
}

static inline struct dot_client *open_client(void)
{
    return open_client_with(0, NULL);
}

static inline void tls_ask(struct dot_client *client, const char *name, uint16_t id)
{
    make_query(name, id);
    dot_send_message(client, span_of(sent, sent_len));
    dot_settle(client, loop);
}

static inline bool tls_got(struct dot_client *client)
{
    struct span message;
    dot_settle(client, loop);
    if (!dot_next_message(client, &message))
        return false;
    got_message(message);
    return true;
}

/* Sends this many queries in as few TLS records as possible. */
static inline void send_many(struct dot_client *client, const char *name, unsigned count)
{
    uint8_t *bytes = malloc(count * 512u);
    size_t len = 0;
    for (unsigned i = 0; i < count; i++) {
        make_query(name, (uint16_t)i);
        put_u16(bytes + len, (uint16_t)sent_len);
        memcpy(bytes + len + 2, sent, sent_len);
        len += 2 + sent_len;
    }
    dot_send(client, span_of(bytes, len));
    free(bytes);
}

static inline bool closes_within(struct fake_conn *conn, uint64_t us)
{
    fake_loop_advance(loop, us);
    return fake_conn_was_closed(conn);
}

#endif
