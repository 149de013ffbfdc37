/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Checks of a certificate, during a handshake and of an earlier one. During a handshake they run
 * where OpenSSL wants its chain verified: before our Finished leaves, and with an alert that fits
 * when they fail.
 */
#include "tls/tls_verify.h"

#include <arpa/inet.h>
#include <openssl/sha.h>
#include <openssl/x509v3.h>

enum { HOST_FLAGS = X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT };

static bool tls_verify_has_name(const struct tls_peer_options *options)
{
    return options->auth_name && options->auth_name[0];
}

static bool has_pins(const struct tls_peer_options *options)
{
    return options->pins && options->pins->count > 0;
}

static bool needs_chain(const struct tls_peer_options *options)
{
    return tls_verify_has_name(options) || !has_pins(options);
}

static bool tls_verify_is_address(const char *name)
{
    uint8_t bytes[sizeof(struct in6_addr)];

    return inet_pton(AF_INET, name, bytes) == 1 || inet_pton(AF_INET6, name, bytes) == 1;
}

/* SSL_set1_host() would take "010.0.2.7" for the address 10.0.2.7. */
static bool expect_name(struct tls *tls, const char *name)
{
    X509_VERIFY_PARAM *param = SSL_get0_param(tls->ssl);

    if (tls_verify_is_address(name)) /* RFC 6066 section 3: never told to the server */
        return X509_VERIFY_PARAM_set1_ip_asc(param, name) == 1;
    return X509_VERIFY_PARAM_set1_host(param, name, 0) == 1 &&
           SSL_set_tlsext_host_name(tls->ssl, name) == 1;
}

bool tls_verify_prepare(struct tls *tls)
{
    const uint8_t *bytes;
    size_t len;

    SSL_set_hostflags(tls->ssl, HOST_FLAGS);
    if (tls_verify_has_name(tls->peer.options))
        return expect_name(tls, tls->peer.options->auth_name);
    bytes = addr_bytes(tls->peer.addr, &len);
    return X509_VERIFY_PARAM_set1_ip(SSL_get0_param(tls->ssl), bytes, len) == 1;
}

static bool tls_verify_key_hash(X509 *certificate, uint8_t hash[TLS_PIN_BYTES])
{
    uint8_t *der = NULL;
    int len = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &der);

    if (len <= 0)
        return false;
    SHA256(der, (size_t)len, hash);
    OPENSSL_free(der);
    return true;
}

static bool tls_verify_is_pinned(const struct tls_pins *pins, X509 *certificate)
{
    uint8_t hash[TLS_PIN_BYTES];

    if (!tls_verify_key_hash(certificate, hash))
        return false;
    for (size_t i = 0; i < pins->count; i++)
        if (memcmp(pins->sha256[i], hash, sizeof(hash)) == 0)
            return true;
    return false;
}

static enum err err_of_chain(int code)
{
    switch (code) {
    case X509_V_OK:
        return ERR_OK;
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
        return ERR_TLS_EXPIRED;
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
        return ERR_TLS_NAME;
    case X509_V_ERR_OUT_OF_MEM:
        return ERR_NO_MEMORY;
    default:
        return ERR_TLS_UNTRUSTED;
    }
}

static enum err check_chain(X509_STORE_CTX *store, const char **detail)
{
    if (X509_verify_cert(store) == 1)
        return ERR_OK;
    /* Not every failure says which it was. */
    if (X509_STORE_CTX_get_error(store) == X509_V_OK)
        X509_STORE_CTX_set_error(store, X509_V_ERR_UNSPECIFIED);
    int code = X509_STORE_CTX_get_error(store);
    *detail = X509_verify_cert_error_string(code);
    return err_of_chain(code);
}

/* Leaves in store what OpenSSL makes the alert of, and remembers in the session. */
static enum err tls_verify_check(const struct tls_peer_options *options, X509_STORE_CTX *store,
                                 const char **detail)
{
    X509_STORE_CTX_set_error(store, X509_V_OK);
    if (has_pins(options) &&
        !tls_verify_is_pinned(options->pins, X509_STORE_CTX_get0_cert(store))) {
        X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED);
        return ERR_TLS_PIN;
    }
    if (needs_chain(options))
        return check_chain(store, detail);
    /* What is remembered in the session must not read as if the chain were good. */
    X509_STORE_CTX_set_error(store, X509_V_ERR_UNSPECIFIED);
    return ERR_OK;
}

int tls_on_certificate(X509_STORE_CTX *store, void *unused)
{
    SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    struct tls *tls = SSL_get_app_data(ssl);

    (void)unused;
    enum err err = tls_verify_check(tls->peer.options, store, &tls->detail);
    tls->authenticated = err == ERR_OK;
    /* It would be kept with the connection, thousands of times. */
    X509_STORE_CTX_set0_verified_chain(store, NULL);
    if (tls->peer.options->profile == TLS_OPPORTUNISTIC)
        return 1;
    tls->err = err;
    return err == ERR_OK;
}

static enum err check_time(X509 *certificate, int64_t now_s)
{
    time_t now = (time_t)now_s;

    /* X509_cmp_time() is 0 for an instant it cannot read. */
    bool is_over = X509_cmp_time(X509_get0_notAfter(certificate), &now) <= 0;
    bool is_early = X509_cmp_time(X509_get0_notBefore(certificate), &now) >= 0;
    return is_over || is_early ? ERR_TLS_EXPIRED : ERR_OK;
}

static enum err tls_verify_check_name(const struct tls *tls, X509 *certificate)
{
    const char *name = tls->peer.options->auth_name;
    size_t len;
    int matches;

    if (!tls_verify_has_name(tls->peer.options)) {
        const uint8_t *bytes = addr_bytes(tls->peer.addr, &len);
        matches = X509_check_ip(certificate, bytes, len, 0);
    } else if (tls_verify_is_address(name)) {
        matches = X509_check_ip_asc(certificate, name, 0);
    } else {
        matches = X509_check_host(certificate, name, 0, HOST_FLAGS, NULL);
    }
    return matches == 1 ? ERR_OK : ERR_TLS_NAME;
}

enum err tls_verify_session(const struct tls *tls, int64_t now_s)
{
    const struct tls_peer_options *options = tls->peer.options;
    X509 *certificate = SSL_SESSION_get0_peer(SSL_get_session(tls->ssl));

    if (!certificate)
        return ERR_TLS_UNTRUSTED;
    if (has_pins(options) && !tls_verify_is_pinned(options->pins, certificate))
        return ERR_TLS_PIN;
    if (!needs_chain(options))
        return ERR_OK;
    /* What the chain was found to be when it was shown, by the same authorities. */
    enum err err = err_of_chain((int)SSL_get_verify_result(tls->ssl));
    if (!err)
        err = check_time(certificate, now_s);
    return err ? err : tls_verify_check_name(tls, certificate);
}
