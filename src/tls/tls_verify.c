/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Checks the certificate of a handshake or of an earlier session (tls_verify.h). The check of a
 * handshake runs where OpenSSL wants its chain verified: before our Finished message leaves, so
 * that a failure sends the alert that fits.
 */
#include "tls/tls_verify.h"

#include <arpa/inet.h>
#include <openssl/sha.h>
#include <openssl/x509v3.h>

enum { HOST_FLAGS = X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT };

static bool expects_name(const struct tls_peer_options *options)
{
    return options->auth_name && options->auth_name[0];
}

static bool has_pins(const struct tls_peer_options *options)
{
    return options->pins && options->pins->count > 0;
}

static bool needs_chain(const struct tls_peer_options *options)
{
    return expects_name(options) || !has_pins(options);
}

static bool names_address(const char *name)
{
    uint8_t bytes[sizeof(struct in6_addr)];

    return inet_pton(AF_INET, name, bytes) == 1 || inet_pton(AF_INET6, name, bytes) == 1;
}

/* SSL_set1_host() would read "010.0.2.7" as the address 10.0.2.7. */
static bool expect_name(SSL *ssl, const char *name)
{
    X509_VERIFY_PARAM *param = SSL_get0_param(ssl);

    if (names_address(name)) /* RFC 6066 section 3: SNI holds no addresses */
        return X509_VERIFY_PARAM_set1_ip_asc(param, name) == 1;
    return X509_VERIFY_PARAM_set1_host(param, name, 0) == 1 &&
           SSL_set_tlsext_host_name(ssl, name) == 1;
}

bool tls_verify_prepare(SSL *ssl, const struct tls_peer *peer)
{
    const uint8_t *bytes;
    size_t len;

    SSL_set_hostflags(ssl, HOST_FLAGS);
    if (expects_name(peer->options))
        return expect_name(ssl, peer->options->auth_name);
    bytes = addr_bytes(peer->addr, &len);
    return X509_VERIFY_PARAM_set1_ip(SSL_get0_param(ssl), bytes, len) == 1;
}

static bool hash_key(X509 *certificate, uint8_t hash[TLS_PIN_BYTES])
{
    uint8_t *der = NULL;
    int len = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &der);

    if (len <= 0)
        return false;
    SHA256(der, (size_t)len, hash);
    OPENSSL_free(der);
    return true;
}

static bool is_pinned(const struct tls_pins *pins, X509 *certificate)
{
    uint8_t hash[TLS_PIN_BYTES];

    if (!hash_key(certificate, hash))
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
    /* Some failures set no code. */
    if (X509_STORE_CTX_get_error(store) == X509_V_OK)
        X509_STORE_CTX_set_error(store, X509_V_ERR_UNSPECIFIED);
    int code = X509_STORE_CTX_get_error(store);
    *detail = X509_verify_cert_error_string(code);
    return err_of_chain(code);
}

enum err tls_verify_shown(const struct tls_peer_options *options, X509_STORE_CTX *store,
                          const char **detail)
{
    X509_STORE_CTX_set_error(store, X509_V_OK);
    if (has_pins(options) && !is_pinned(options->pins, X509_STORE_CTX_get0_cert(store))) {
        X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED);
        return ERR_TLS_PIN;
    }
    if (needs_chain(options))
        return check_chain(store, detail);
    /* The session keeps this code. It must not claim that the chain was verified. */
    X509_STORE_CTX_set_error(store, X509_V_ERR_UNSPECIFIED);
    return ERR_OK;
}

static enum err check_time(X509 *certificate, int64_t now_s)
{
    time_t now = (time_t)now_s;

    /* X509_cmp_time() returns 0 for an instant that it cannot parse. */
    bool is_over = X509_cmp_time(X509_get0_notAfter(certificate), &now) <= 0;
    bool is_early = X509_cmp_time(X509_get0_notBefore(certificate), &now) >= 0;
    return is_over || is_early ? ERR_TLS_EXPIRED : ERR_OK;
}

static enum err check_names(const struct tls_peer *peer, X509 *certificate)
{
    const char *name = peer->options->auth_name;
    size_t len;
    int matches;

    if (!expects_name(peer->options)) {
        const uint8_t *bytes = addr_bytes(peer->addr, &len);
        matches = X509_check_ip(certificate, bytes, len, 0);
    } else if (names_address(name)) {
        matches = X509_check_ip_asc(certificate, name, 0);
    } else {
        matches = X509_check_host(certificate, name, 0, HOST_FLAGS, NULL);
    }
    return matches == 1 ? ERR_OK : ERR_TLS_NAME;
}

enum err tls_verify_session(SSL *ssl, const struct tls_peer *peer, int64_t now_s)
{
    const struct tls_peer_options *options = peer->options;
    X509 *certificate = SSL_SESSION_get0_peer(SSL_get_session(ssl));

    if (!certificate)
        return ERR_TLS_UNTRUSTED;
    if (has_pins(options) && !is_pinned(options->pins, certificate))
        return ERR_TLS_PIN;
    if (!needs_chain(options))
        return ERR_OK;
    /* The session keeps the verdict on the chain. The same authorities gave it. */
    enum err err = err_of_chain((int)SSL_get_verify_result(ssl));
    if (!err)
        err = check_time(certificate, now_s);
    return err ? err : check_names(peer, certificate);
}
