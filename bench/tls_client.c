/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The client side of TLS. The server may send tickets at any time, and a callback takes them. At
 * most TLS_TICKETS_MAX are kept.
 */

#include "tls_client.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

/* Takes the reference, or leaves it with the caller if there is no room. */
static bool ticket_push(struct tls_client *client, SSL_SESSION *session)
{
    if (client->ticket_count == client->ticket_cap) {
        size_t cap = client->ticket_cap ? client->ticket_cap * 2 : 16;
        SSL_SESSION **tickets =
            cap <= TLS_TICKETS_MAX ? realloc(client->tickets, cap * sizeof(SSL_SESSION *)) : NULL;
        if (!tickets)
            return false;
        client->tickets = tickets;
        client->ticket_cap = cap;
    }
    client->tickets[client->ticket_count++] = session;
    return true;
}

static int on_session(SSL *ssl, SSL_SESSION *session)
{
    struct tls_client *client = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
    if (!SSL_SESSION_is_resumable(session))
        return 0;
    client->tickets_received++;
    return ticket_push(client, session);
}

static bool tls_client_set_versions(SSL_CTX *context, int version)
{
    int min = version == 13 ? TLS1_3_VERSION : TLS1_2_VERSION;
    int max = version == 12 ? TLS1_2_VERSION : TLS1_3_VERSION;
    return SSL_CTX_set_min_proto_version(context, min) &&
           SSL_CTX_set_max_proto_version(context, max);
}

static bool set_trust(SSL_CTX *context, const struct tls_client_options *options)
{
    if (!options->ca_file && !options->name)
        return true;
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    return options->ca_file ? SSL_CTX_load_verify_file(context, options->ca_file)
                            : SSL_CTX_set_default_verify_paths(context);
}

bool tls_client_init(struct tls_client *client, const struct tls_client_options *options,
                     char why[TLS_TEXT_MAX])
{
    static const unsigned char dot[] = "\3dot";
    *client = (struct tls_client){.options = *options, .context = SSL_CTX_new(TLS_client_method())};
    SSL_CTX *context = client->context;
    snprintf(why, TLS_TEXT_MAX, "TLS cannot be set up");
    if (!context || !tls_client_set_versions(context, options->version))
        return false;
    if (!set_trust(context, options)) {
        snprintf(why, TLS_TEXT_MAX, "no certificates in %.200s",
                 options->ca_file ? options->ca_file : "the system's store");
        ERR_clear_error();
        return false;
    }
    SSL_CTX_set_app_data(context, client);
    SSL_CTX_set_options(context, SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(context,
                                   SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL_STORE);
    SSL_CTX_sess_set_new_cb(context, on_session);
    if (SSL_CTX_set_alpn_protos(context, dot, sizeof(dot) - 1))
        return false;
    why[0] = '\0';
    return true;
}

void tls_client_deinit(struct tls_client *client)
{
    while (client->ticket_count)
        SSL_SESSION_free(client->tickets[--client->ticket_count]);
    free(client->tickets);
    SSL_CTX_free(client->context);
    *client = (struct tls_client){0};
}

static bool set_peer(const struct tls_client *client, SSL *ssl, const struct addr *server)
{
    char text[ADDR_TEXT_MAX];
    if (client->options.name)
        return SSL_set_tlsext_host_name(ssl, client->options.name) == 1 &&
               SSL_set1_host(ssl, client->options.name) == 1;
    if (!client->options.ca_file)
        return true;
    return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), addr_format_ip(server, text)) == 1;
}

struct tls_stream *tls_client_open(struct tls_client *client, const struct addr *server,
                                   bool resume)
{
    struct tls_stream *stream = tls_stream_new(client->context, TLS_CLIENT);
    if (!stream)
        return NULL;
    if (!set_peer(client, stream->ssl, server)) {
        tls_stream_free(stream);
        return NULL;
    }
    if (resume && client->ticket_count) {
        SSL_SESSION *session = client->tickets[--client->ticket_count];
        SSL_set_session(stream->ssl, session);
        SSL_SESSION_free(session);
    }
    return stream;
}

bool tls_client_may_send_early(const struct tls_client *client)
{
    return client->ticket_count &&
           SSL_SESSION_get_max_early_data(client->tickets[client->ticket_count - 1]) > 0;
}

void tls_client_on_open(struct tls_client *client, const struct tls_stream *stream)
{
    bool is_resumed = tls_stream_is_resumed(stream);
    *(is_resumed ? &client->resumed : &client->full) += 1;
    if (!is_resumed || tls_stream_version(stream) != 12)
        return;
    SSL_SESSION *session = SSL_get1_session(stream->ssl);
    if (session && !ticket_push(client, session))
        SSL_SESSION_free(session);
}
