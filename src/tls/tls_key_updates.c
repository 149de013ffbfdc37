/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Counts changes of keys as OpenSSL shows its messages (tls_key_updates.h). They end with their
 * record, so what is left of the wire's bytes then can be taken away from OpenSSL. */
#include "tls/tls_key_updates.h"

bool tls_key_updates_are_too_many(const struct tls *tls)
{
    return tls->key_updates > TLS_KEY_UPDATES_MAX + tls->plain_len / TLS_KEY_UPDATE_BYTES;
}

static void tls_key_updates_on_message(int is_written, int version, int type, const void *bytes,
                                       size_t len, SSL *ssl, void *unused)
{
    const uint8_t *message = bytes;

    (void)version, (void)unused;
    if (is_written || type != SSL3_RT_HANDSHAKE || len == 0 || message[0] != SSL3_MT_KEY_UPDATE)
        return;
    struct tls *tls = SSL_get_app_data(ssl);
    tls->key_updates++;
    if (tls_key_updates_are_too_many(tls))
        tls->pipe.in = span_of(NULL, 0);
}

void tls_key_updates_watch(SSL_CTX *ctx)
{
    SSL_CTX_set_msg_callback(ctx, tls_key_updates_on_message);
}
