/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Contexts of OpenSSL with what is the same for all connections of a role (tls_context.h). */
#include "tls/tls_context.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tls/tls_alpn.h"
#include "tls/tls_inside.h"
#include "tls/tls_issue.h"
#include "tls/tls_key_updates.h"
#include "tls/tls_pem.h"
#include "tls/tls_system.h"
#include "tls/tls_words.h"

static bool tls_context_is_given(const char *text)
{
    return text && text[0];
}

/* 112 bits: no RSA below 2048, no signatures of SHA-1. OpenSSL's own default depends on who built
 * it. "@SECLEVEL=1" among the ciphers goes below. */
enum { SECURITY_LEVEL_MIN = 2 };

/* The configuration file of OpenSSL may be stricter; laxer than this it makes us not. */
static bool set_floor(SSL_CTX *ctx)
{
    long max = SSL_CTX_get_max_proto_version(ctx);

    if (SSL_CTX_get_security_level(ctx) < SECURITY_LEVEL_MIN)
        SSL_CTX_set_security_level(ctx, SECURITY_LEVEL_MIN);
    if (max != 0 && max < TLS1_2_VERSION)
        return false;
    return SSL_CTX_get_min_proto_version(ctx) > TLS1_2_VERSION ||
           SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) == 1;
}

/* What both roles share. */
static enum err set_common(SSL_CTX *ctx, const char *ciphers, const char *groups,
                           char why[TLS_WHY_MAX])
{
    SSL_CTX_set_options(ctx, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
    /* Thousands of idle connections: their 34 KiB of buffers are theirs only while they read. */
    SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
    tls_key_log_attach(ctx);
    tls_key_updates_watch(ctx);
    if (!set_floor(ctx))
        return tls_why(why, ERR_INVALID, "OpenSSL here does not speak TLS 1.2");
    enum err err = tls_words_ciphers(ctx, ciphers, why);
    return err ? err : tls_words_groups(ctx, groups, why);
}

static struct tls_context *context_new(const SSL_METHOD *method)
{
    struct tls_context *context = calloc(1, sizeof(*context));

    if (!context)
        return NULL;
    context->ctx = SSL_CTX_new(method);
    if (context->ctx)
        return context;
    free(context);
    return NULL;
}

void tls_context_free(struct tls_context *context)
{
    if (!context)
        return;
    SSL_CTX_free(context->ctx);
    free(context);
}

/* Hands the context out, or frees it. */
static enum err tls_context_finish(struct tls_context **out, struct tls_context *context,
                                   enum err err)
{
    if (err) {
        tls_context_free(context);
        context = NULL;
    }
    *out = context;
    return err;
}

static enum err tls_context_no_memory(struct tls_context **out, char why[TLS_WHY_MAX])
{
    *out = NULL;
    return tls_why(why, ERR_NO_MEMORY, "out of memory");
}

/* ---------------------------------------------------------------- client */

static enum err trust(SSL_CTX *ctx, const char *bundle, char why[TLS_WHY_MAX])
{
    char *text;
    size_t len;

    if (!tls_context_is_given(bundle)) {
        bool is_done = tls_system_trust(ctx);
        return is_done ? ERR_OK : tls_why(why, ERR_NO_MEMORY, "out of memory");
    }
    enum err err = tls_read_file(bundle, &text, &len, why);
    if (err)
        return err;
    err = tls_pem_trust(ctx, (struct tls_pem){span_of(text, len), bundle}, why);
    tls_file_free(&text, len);
    return err;
}

static enum err use_files(SSL_CTX *ctx, const char *certificate, const char *key,
                          char why[TLS_WHY_MAX])
{
    char *certificate_text, *key_text;
    size_t certificate_len, key_len;
    enum err err = tls_read_file(certificate, &certificate_text, &certificate_len, why);

    if (err)
        return err;
    err = tls_read_file(key, &key_text, &key_len, why);
    if (!err)
        err = tls_pem_own(ctx,
                          (struct tls_pem){span_of(certificate_text, certificate_len), certificate},
                          (struct tls_pem){span_of(key_text, key_len), key}, why);
    tls_file_free(&certificate_text, certificate_len);
    tls_file_free(&key_text, key_len);
    return err;
}

/* Who we are, for peers that ask. One file may hold both. */
static enum err tls_context_identify(SSL_CTX *ctx, const struct tls_peer_options *options,
                                     char why[TLS_WHY_MAX])
{
    if (tls_context_is_given(options->certificate))
        return use_files(ctx, options->certificate,
                         tls_context_is_given(options->key) ? options->key : options->certificate,
                         why);
    if (tls_context_is_given(options->key))
        return tls_why(why, ERR_INVALID, "the key %s has no certificate", options->key);
    return ERR_OK;
}

static enum err set_client(SSL_CTX *ctx, const struct tls_peer_options *options,
                           char why[TLS_WHY_MAX])
{
    enum err err = set_common(ctx, options->ciphers, options->groups, why);

    if (!err)
        err = trust(ctx, options->ca_bundle, why);
    if (!err)
        err = tls_context_identify(ctx, options, why);
    if (err)
        return err;
    /* With the opportunistic profile too: tls_on_certificate() lets those pass. */
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_cert_verify_callback(ctx, tls_on_certificate, NULL);
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(ctx, tls_on_ticket);
    if (!tls_alpn_offer(ctx))
        return tls_why(why, ERR_NO_MEMORY, "out of memory");
    return ERR_OK;
}

static enum err tls_context_add_file(EVP_MD_CTX *digest, const char *path, char why[TLS_WHY_MAX])
{
    char *text = NULL;
    size_t len = 0;
    enum err err = tls_context_is_given(path) ? tls_read_file(path, &text, &len, why) : ERR_OK;

    if (err)
        return err;
    if (EVP_DigestUpdate(digest, &len, sizeof(len)) != 1 ||
        (len > 0 && EVP_DigestUpdate(digest, text, len) != 1))
        err = tls_why(why, ERR_NO_MEMORY, "out of memory");
    tls_file_free(&text, len);
    return err;
}

static enum err digest_files(uint8_t out[TLS_FILES_ID_BYTES],
                             const struct tls_peer_options *options, char why[TLS_WHY_MAX])
{
    EVP_MD_CTX *digest = EVP_MD_CTX_new();
    enum err err = ERR_OK;

    if (!digest || EVP_DigestInit_ex(digest, EVP_sha256(), NULL) != 1)
        err = tls_why(why, ERR_NO_MEMORY, "out of memory");
    if (!err)
        err = tls_context_add_file(digest, options->ca_bundle, why);
    if (!err)
        err = tls_context_add_file(digest, options->certificate, why);
    if (!err && EVP_DigestFinal_ex(digest, out, NULL) != 1)
        err = tls_why(why, ERR_NO_MEMORY, "out of memory");
    EVP_MD_CTX_free(digest);
    return err;
}

struct span tls_context_files_id(const struct tls_context *context)
{
    return span_of(context->files, sizeof(context->files));
}

bool tls_context_files_changed(const struct tls_context *context,
                               const struct tls_peer_options *options)
{
    uint8_t now[TLS_FILES_ID_BYTES];
    char why[TLS_WHY_MAX];

    return digest_files(now, options, why) || memcmp(now, context->files, sizeof(now)) != 0;
}

enum err tls_context_client(struct tls_context **out, const struct tls_peer_options *options,
                            char why[TLS_WHY_MAX])
{
    struct tls_context *context = context_new(TLS_client_method());

    if (!context)
        return tls_context_no_memory(out, why);
    enum err err = set_client(context->ctx, options, why);
    if (!err)
        err = digest_files(context->files, options, why);
    return tls_context_finish(out, context, err);
}

/* ---------------------------------------------------------------- server */

static enum err own_certificate(SSL_CTX *ctx, const struct tls_server_options *options,
                                char why[TLS_WHY_MAX])
{
    const struct tls_pem certificate = {
        options->certificate,
        tls_context_is_given(options->certificate_name) ? options->certificate_name
                                                        : "the certificate file",
    };
    const struct tls_pem key = {
        options->key,
        tls_context_is_given(options->key_name) ? options->key_name : "the key file",
    };

    return tls_pem_own(ctx, certificate, key, why);
}

static enum err tls_context_set_server(SSL_CTX *ctx, const struct tls_server_options *options,
                                       char why[TLS_WHY_MAX])
{
    enum err err = set_common(ctx, options->ciphers, options->groups, why);

    if (!err)
        err = own_certificate(ctx, options, why);
    if (err)
        return err;
    SSL_CTX_set_options(ctx, SSL_OP_CIPHER_SERVER_PREFERENCE);
    tls_alpn_demand(ctx);
    if (!tls_issue_tickets(ctx, options->ticket_keys))
        return tls_why(why, ERR_NO_MEMORY, "out of memory");
    return ERR_OK;
}

enum err tls_context_server(struct tls_context **out, const struct tls_server_options *options,
                            char why[TLS_WHY_MAX])
{
    struct tls_context *context = context_new(TLS_server_method());

    if (!context)
        return tls_context_no_memory(out, why);
    return tls_context_finish(out, context, tls_context_set_server(context->ctx, options, why));
}

int64_t tls_context_ends_at_s(const struct tls_context *context)
{
    const X509 *certificate = SSL_CTX_get0_certificate(context->ctx);
    struct tm ends_at;

    if (!certificate || ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &ends_at) != 1)
        return INT64_MAX;
    return timegm(&ends_at);
}
