/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Application-layer protocol negotiation. Newer OpenSSL refuses by itself a protocol that was not
 * offered, but calls that a bad extension like any other; older does not look. So a client looks at
 * the extension when it comes, and at the result in the end.
 */
#include "tls/tls_alpn.h"

#include <string.h>

#include "base/transport.h"
#include "tls/tls_inside.h"

/* A list of one protocol, with its length in front. */
static const uint8_t *offer(size_t *len)
{
    const char *alpn = transport_alpn(TRANSPORT_TLS);
    *len = strlen(alpn);
    return (const uint8_t *)alpn;
}

/* A server's answer has the length of the list in front, in two bytes. */
static bool is_expected_answer(const uint8_t *data, size_t len)
{
    size_t offer_len;
    const uint8_t *offered = offer(&offer_len);
    return len == 2 + offer_len && data[0] == 0 && data[1] == offer_len &&
           memcmp(data + 2, offered, offer_len) == 0;
}

static void on_extension(SSL *ssl, int from_server, int type, const unsigned char *data, int len,
                         void *unused)
{
    struct tls *tls = SSL_get_app_data(ssl);

    (void)from_server, (void)unused;
    if (type != TLSEXT_TYPE_application_layer_protocol_negotiation)
        return;
    if (!is_expected_answer(data, (size_t)len))
        tls->err = ERR_TLS_ALPN;
}

bool tls_alpn_offer(SSL_CTX *ctx)
{
    size_t len;
    const uint8_t *protocols = offer(&len);
    return SSL_CTX_set_alpn_protos(ctx, protocols, (unsigned)len) == 0;
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
    size_t len;
    const uint8_t *ours = offer(&len);
    int result = SSL_select_next_proto(&chosen, out_len, ours, (unsigned)len, offered, offered_len);

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
    size_t offer_len;
    const uint8_t *ours = offer(&offer_len);

    SSL_get0_alpn_selected(ssl, &name, &len);
    return len == 0 || (len == ours[0] && memcmp(name, ours + 1, len) == 0);
}
