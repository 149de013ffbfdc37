/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Two files in memory with a reference count. tls_context knows what they mean.
 *
 * Invariant: every certificate with a reference has made a context once.
 */

#include "daemon/certificate.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "base/log.h"

struct certificate {
    atomic_uint refs;
    char *chain, *key;
    size_t chain_len, key_len;
    int64_t ends_at_s;
};

static enum err certificate_read_files(struct certificate *certificate,
                                       const struct server_options *options, char why[TLS_WHY_MAX])
{
    enum err err =
        tls_read_file(options->tls_certificate, &certificate->chain, &certificate->chain_len, why);

    if (err)
        return err;
    return tls_read_file(options->tls_key, &certificate->key, &certificate->key_len, why);
}

static enum err certificate_make_context_once(struct certificate *certificate,
                                              const struct server_options *options,
                                              char why[TLS_WHY_MAX])
{
    struct tls_context *context;
    enum err err = certificate_context(&context, certificate, options, NULL, why);

    if (err)
        return err;
    certificate->ends_at_s = tls_context_ends_at_s(context);
    tls_context_free(context);
    return ERR_OK;
}

enum err certificate_load(struct certificate **out, const struct server_options *options,
                          char why[TLS_WHY_MAX])
{
    struct certificate *certificate = calloc(1, sizeof(*certificate));

    strcpy(why, "out of memory");
    if (!certificate)
        return ERR_NO_MEMORY;
    atomic_init(&certificate->refs, 1);
    enum err err = certificate_read_files(certificate, options, why);
    if (!err)
        err = certificate_make_context_once(certificate, options, why);
    if (err) {
        certificate_unref(certificate);
        return err;
    }
    *out = certificate;
    return ERR_OK;
}

struct certificate *certificate_ref(struct certificate *certificate)
{
    atomic_fetch_add_explicit(&certificate->refs, 1, memory_order_relaxed);
    return certificate;
}

void certificate_unref(struct certificate *certificate)
{
    if (!certificate || atomic_fetch_sub(&certificate->refs, 1) > 1)
        return;
    if (certificate->key)
        explicit_bzero(certificate->key, certificate->key_len);
    free(certificate->key);
    free(certificate->chain);
    free(certificate);
}

uint64_t certificate_ends_at_s(const struct certificate *certificate)
{
    bool is_known = certificate && certificate->ends_at_s != INT64_MAX;

    return is_known ? (uint64_t)MAX(certificate->ends_at_s, 0) : 0;
}

void certificate_warn_expired(const struct certificate *certificate,
                              const struct server_options *options, int64_t now_s)
{
    char text[sizeof("-9223372036854775808-12-31 23:59:59")];
    time_t ends_at = certificate->ends_at_s;
    struct tm utc;

    if (now_s <= certificate->ends_at_s || !gmtime_r(&ends_at, &utc) ||
        strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &utc) == 0)
        return;
    LOG(LOG_WARNING, "daemon",
        "the certificate for TLS clients was valid until %s UTC: clients that check it "
        "refuse to connect; put a new one into %s and send SIGHUP",
        text, options->tls_certificate);
}

enum err certificate_context(struct tls_context **out, const struct certificate *certificate,
                             const struct server_options *options,
                             struct tls_ticket_keys *ticket_keys, char why[TLS_WHY_MAX])
{
    const struct tls_server_options server = {
        .certificate = span_of(certificate->chain, certificate->chain_len),
        .key = span_of(certificate->key, certificate->key_len),
        .certificate_name = options->tls_certificate,
        .key_name = options->tls_key,
        .ciphers = options->tls_ciphers,
        .groups = options->tls_groups,
        .ticket_keys = ticket_keys,
    };
    return tls_context_server(out, &server, why);
}
