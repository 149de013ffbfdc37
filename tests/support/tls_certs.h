/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_SUPPORT_TLS_CERTS_H
#define NAILUP_TESTS_SUPPORT_TLS_CERTS_H

/*
 * Certificates for tests, made in memory with fresh P-256 keys. A failure stops the test.
 *
 *     struct tls_certs *ca = tls_certs_authority("Test CA");
 *     struct tls_cert_wish wish = {.ca = ca, .name = "dns.test"};
 *     struct tls_cert *cert = tls_certs_make(&wish);
 *     ... cert->certificate, cert->key, cert->pin, tls_certs_pem(ca) ...
 *     tls_certs_free_cert(cert);
 *     tls_certs_free(ca);
 *
 * One thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"

/* A certificate authority. */
struct tls_certs;

struct tls_certs *tls_certs_authority(const char *name);
void tls_certs_free(struct tls_certs *ca); /* ca may be NULL */

/* Returns the authority's certificate as PEM; borrowed. */
const char *tls_certs_pem(const struct tls_certs *ca);

/* Writes the SHA-256 of the authority's SubjectPublicKeyInfo. */
void tls_certs_ca_pin(const struct tls_certs *ca, uint8_t pin[32]);

/* The properties of a new certificate. All zero: no name, valid, self-signed. */
struct tls_cert_wish {
    const struct tls_certs *ca; /* NULL: self-signed */
    const char *name;           /* host name in subjectAltName, or NULL */
    const char *ip;             /* "192.0.2.1" or "2001:db8::1" in subjectAltName, or NULL */
    const char *subject;        /* the common name, or NULL: "test" */
    int64_t from_s, until_s;    /* validity, from now; both 0: yesterday to next month */
    bool intermediate; /* an intermediate authority, which ca signs, signs this certificate */
    bool client;       /* a certificate for clients (extendedKeyUsage clientAuth) */
};

struct tls_cert {
    char *certificate; /* PEM: the certificate, then the intermediate one */
    char *key;         /* PEM */
    uint8_t pin[32];   /* SHA-256 of its SubjectPublicKeyInfo */
    char *path;        /* tls_certs_write(): certificate and key in one file; else NULL */
};

struct tls_cert *tls_certs_make(const struct tls_cert_wish *wish);
/* Makes a certificate with the same key as an earlier one. */
struct tls_cert *tls_certs_renew(const struct tls_cert *old, const struct tls_cert_wish *wish);
void tls_certs_free_cert(struct tls_cert *cert); /* removes its file; cert may be NULL */

/* Expired an hour ago; valid in an hour. */
#define TLS_CERTS_EXPIRED .from_s = -86400, .until_s = -3600
#define TLS_CERTS_NOT_YET .from_s = 3600, .until_s = 86400

static inline struct span tls_certs_certificate(const struct tls_cert *cert)
{
    return span_of(cert->certificate, strlen(cert->certificate));
}

static inline struct span tls_certs_key(const struct tls_cert *cert)
{
    return span_of(cert->key, strlen(cert->key));
}

/* Writes text into a new file (mode 0600) below TMPDIR or /tmp. The caller unlinks the file and
 * frees the name. */
char *tls_certs_file(const char *text);

/* Writes certificate and key to one new file, at the first call. Returns cert->path. */
const char *tls_certs_write(struct tls_cert *cert);

#endif
