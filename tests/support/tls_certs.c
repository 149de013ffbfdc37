/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Certificates for tests (tls_certs.h), with OpenSSL. */
#include "support/tls_certs.h"

#include <arpa/inet.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"

enum { DAY_S = 86400, SUBJECT_ALT_MAX = 512 };

struct tls_certs {
    X509 *certificate;
    EVP_PKEY *key;
    char *pem;
};

/* Returns the text in bio, and frees bio. */
static char *take_text(BIO *bio)
{
    char *data;
    long len = BIO_get_mem_data(bio, &data);
    char *text = strndup(data, (size_t)len);

    MUST(text);
    BIO_free(bio);
    return text;
}

static BIO *new_text(void)
{
    BIO *bio = BIO_new(BIO_s_mem());
    MUST(bio);
    return bio;
}

static EVP_PKEY *new_key(void)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    MUST(key);
    return key;
}

static void add_extension(X509 *certificate, X509 *issuer, int which, const char *value)
{
    X509V3_CTX context;
    X509_EXTENSION *extension;

    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    extension = X509V3_EXT_conf_nid(NULL, &context, which, value);
    MUST(extension && X509_add_ext(certificate, extension, -1) == 1);
    X509_EXTENSION_free(extension);
}

static void set_serial(X509 *certificate)
{
    uint64_t number;

    MUST(RAND_bytes((uint8_t *)&number, sizeof(number)) == 1);
    MUST(ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), number >> 1 | 1) == 1);
}

/* Makes everything except the extensions and the signature. issuer NULL: itself. */
static X509 *new_certificate(const char *subject, EVP_PKEY *key, X509 *issuer, int64_t from_s,
                             int64_t until_s)
{
    X509 *certificate = X509_new();
    X509_NAME *name;

    MUST(certificate && X509_set_version(certificate, X509_VERSION_3) == 1);
    set_serial(certificate);
    name = X509_get_subject_name(certificate);
    MUST(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, (const uint8_t *)subject, -1, -1,
                                    0) == 1);
    MUST(X509_set_issuer_name(certificate, issuer ? X509_get_subject_name(issuer) : name) == 1);
    MUST(X509_gmtime_adj(X509_getm_notBefore(certificate), from_s));
    MUST(X509_gmtime_adj(X509_getm_notAfter(certificate), until_s));
    MUST(X509_set_pubkey(certificate, key) == 1);
    return certificate;
}

static void sign(X509 *certificate, EVP_PKEY *key)
{
    MUST(X509_sign(certificate, key, EVP_sha256()) > 0);
}

static struct tls_certs *new_authority(const char *name, const struct tls_certs *above)
{
    struct tls_certs *ca = calloc(1, sizeof(*ca));
    BIO *text = new_text();
    MUST(ca);

    ca->key = new_key();
    ca->certificate = new_certificate(name, ca->key, above ? above->certificate : NULL, -DAY_S,
                                      365 * (int64_t)DAY_S);
    X509 *issuer = above ? above->certificate : ca->certificate;
    add_extension(ca->certificate, issuer, NID_basic_constraints, "critical,CA:TRUE");
    add_extension(ca->certificate, issuer, NID_key_usage, "critical,keyCertSign,cRLSign");
    add_extension(ca->certificate, issuer, NID_subject_key_identifier, "hash");
    sign(ca->certificate, above ? above->key : ca->key);
    MUST(PEM_write_bio_X509(text, ca->certificate) == 1);
    ca->pem = take_text(text);
    return ca;
}

struct tls_certs *tls_certs_authority(const char *name)
{
    return new_authority(name, NULL);
}

void tls_certs_free(struct tls_certs *ca)
{
    if (!ca)
        return;
    X509_free(ca->certificate);
    EVP_PKEY_free(ca->key);
    free(ca->pem);
    free(ca);
}

const char *tls_certs_pem(const struct tls_certs *ca)
{
    return ca->pem;
}

static void set_pin(uint8_t pin[32], X509 *certificate)
{
    uint8_t *der = NULL;
    int len = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &der);

    MUST(len > 0);
    SHA256(der, (size_t)len, pin);
    OPENSSL_free(der);
}

void tls_certs_ca_pin(const struct tls_certs *ca, uint8_t pin[32])
{
    set_pin(pin, ca->certificate);
}

/* ---------------------------------------------------------------- leaves */

static void add_names(X509 *certificate, X509 *issuer, const struct tls_cert_wish *wish)
{
    char text[SUBJECT_ALT_MAX];

    if (!wish->name && !wish->ip)
        return;
    snprintf(text, sizeof(text), "%s%s%s%s%s", wish->name ? "DNS:" : "",
             wish->name ? wish->name : "", wish->name && wish->ip ? "," : "", wish->ip ? "IP:" : "",
             wish->ip ? wish->ip : "");
    add_extension(certificate, issuer, NID_subject_alt_name, text);
}

static X509 *new_leaf(const struct tls_cert_wish *wish, EVP_PKEY *key, const struct tls_certs *ca)
{
    bool is_default = wish->from_s == 0 && wish->until_s == 0;
    X509 *certificate = new_certificate(
        wish->subject ? wish->subject : "test", key, ca ? ca->certificate : NULL,
        is_default ? -DAY_S : wish->from_s, is_default ? 30 * (int64_t)DAY_S : wish->until_s);
    X509 *issuer = ca ? ca->certificate : certificate;

    add_extension(certificate, issuer, NID_basic_constraints, "critical,CA:FALSE");
    add_extension(certificate, issuer, NID_key_usage, "critical,digitalSignature");
    add_extension(certificate, issuer, NID_ext_key_usage,
                  wish->client ? "clientAuth" : "serverAuth");
    add_names(certificate, issuer, wish);
    sign(certificate, ca ? ca->key : key);
    return certificate;
}

static struct tls_cert *make_with_key(const struct tls_cert_wish *wish, EVP_PKEY *key)
{
    struct tls_certs *between = wish->intermediate ? new_authority("Between", wish->ca) : NULL;
    struct tls_cert *cert = calloc(1, sizeof(*cert));
    X509 *certificate = new_leaf(wish, key, between ? between : wish->ca);
    BIO *chain = new_text(), *key_text = new_text();

    MUST(cert && PEM_write_bio_X509(chain, certificate) == 1);
    if (between)
        MUST(PEM_write_bio_X509(chain, between->certificate) == 1);
    MUST(PEM_write_bio_PrivateKey(key_text, key, NULL, NULL, 0, NULL, NULL) == 1);
    cert->certificate = take_text(chain);
    cert->key = take_text(key_text);
    set_pin(cert->pin, certificate);
    X509_free(certificate);
    tls_certs_free(between);
    return cert;
}

struct tls_cert *tls_certs_make(const struct tls_cert_wish *wish)
{
    EVP_PKEY *key = new_key();
    struct tls_cert *cert = make_with_key(wish, key);

    EVP_PKEY_free(key);
    return cert;
}

struct tls_cert *tls_certs_renew(const struct tls_cert *old, const struct tls_cert_wish *wish)
{
    BIO *text = BIO_new_mem_buf(old->key, -1);
    EVP_PKEY *key = text ? PEM_read_bio_PrivateKey(text, NULL, NULL, NULL) : NULL;

    MUST(key);
    struct tls_cert *cert = make_with_key(wish, key);
    EVP_PKEY_free(key);
    BIO_free(text);
    return cert;
}

void tls_certs_free_cert(struct tls_cert *cert)
{
    if (!cert)
        return;
    if (cert->path)
        unlink(cert->path);
    free(cert->path);
    free(cert->certificate);
    free(cert->key);
    free(cert);
}

/* ---------------------------------------------------------------- files */

char *tls_certs_file(const char *text)
{
    const char *folder = getenv("TMPDIR");
    size_t len = strlen(text);
    char *path;

    MUST(asprintf(&path, "%s/nailup-test-XXXXXX", folder ? folder : "/tmp") > 0);
    int fd = mkstemp(path);
    MUST(fd >= 0 && write(fd, text, len) == (ssize_t)len);
    MUST(close(fd) == 0);
    return path;
}

const char *tls_certs_write(struct tls_cert *cert)
{
    char *both;

    if (cert->path)
        return cert->path;
    MUST(asprintf(&both, "%s%s", cert->certificate, cert->key) > 0);
    cert->path = tls_certs_file(both);
    free(both);
    return cert->path;
}
