/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Application-layer protocol negotiation. Newer OpenSSL refuses by itself a protocol that was not
 * offered, but calls that a bad extension like any other; older does not look. So a client looks at
 * the extension when it comes, and at the result in the end.
 */
#include "tls/tls_alpn.h"

#include <string.h>

#include "tls/tls_inside.h"

/* A list of one, each with its length before it; a server's answer has the length of the list
 * before that. */
static const uint8_t offer[] = {3, 'd', 'o', 't'};
static const uint8_t answer[] = {0, sizeof(offer), 3, 'd', 'o', 't'};

static void on_extension(SSL *ssl, int from_server, int type, const unsigned char *data, int len,
                         void *unused)
{
    struct tls *tls = SSL_get_app_data(ssl);

    (void)from_server, (void)unused;
    if (type != TLSEXT_TYPE_application_layer_protocol_negotiation)
        return;
    if (len != sizeof(answer) || memcmp(data, answer, sizeof(answer)) != 0)
        tls->err = ERR_TLS_ALPN;
}

bool tls_alpn_offer(SSL_CTX *ctx)
{
    return SSL_CTX_set_alpn_protos(ctx, offer, sizeof(offer)) == 0;
}

void tls_alpn_watch(SSL *ssl)
{
    SSL_set_tlsext_debug_callback(ssl, on_extension);
}

/* Called only for clients that offer protocols. */
static int on_offer(SSL *ssl, const unsigned char **out, unsigned char *out_len,
                    const unsigned char *offered, unsigned offered_len, void *unused)
{
    unsigned char *chosen;
    int result =
        SSL_select_next_proto(&chosen, out_len, offer, sizeof(offer), offered, offered_len);

    (void)ssl, (void)unused;
    *out = chosen;
    return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

void tls_alpn_demand(SSL_CTX *ctx)
{
    SSL_CTX_set_alpn_select_cb(ctx, on_offer, NULL);
}

bool tls_alpn_is_ours(const SSL *ssl)
{
    const unsigned char *name;
    unsigned len;

    SSL_get0_alpn_selected(ssl, &name, &len);
    return len == 0 || (len == offer[0] && memcmp(name, offer + 1, len) == 0);
}
