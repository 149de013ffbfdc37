/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Makes certificates. Each has a random serial number, so that files of two runs are not mistaken
 * for each other. tls_server.c decides which certificate a listener shows.
 */

#include "tls_certificate.h"

#include <fcntl.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"

enum { DAY_S = 86400, YEAR_DAYS = 365, SERIAL_BYTES = 16 };

static bool set_serial(X509 *certificate)
{
    unsigned char bytes[SERIAL_BYTES];
    if (RAND_bytes(bytes, sizeof(bytes)) != 1)
        return false;
    bytes[0] = (bytes[0] & 0x7f) | 1; /* a positive number of full length */
    BIGNUM *number = BN_bin2bn(bytes, sizeof(bytes), NULL);
    bool ok = number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate));
    BN_free(number);
    return ok;
}

static bool set_subject(X509 *certificate, const char *name)
{
    return X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8,
                                      (const unsigned char *)name, -1, -1, 0) == 1;
}

static bool set_days(X509 *certificate, int from_days, int to_days)
{
    return X509_gmtime_adj(X509_getm_notBefore(certificate), (long)from_days * DAY_S) &&
           X509_gmtime_adj(X509_getm_notAfter(certificate), (long)to_days * DAY_S);
}

static bool add_extension(X509 *certificate, X509 *issuer, int kind, const char *value)
{
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, kind, value);
    bool ok = extension && X509_add_ext(certificate, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return ok;
}

static X509 *certificate_new(EVP_PKEY *key, const char *name, int from_days, int to_days)
{
    X509 *certificate = X509_new();
    if (certificate && X509_set_version(certificate, X509_VERSION_3) && set_serial(certificate) &&
        set_subject(certificate, name) && set_days(certificate, from_days, to_days) &&
        X509_set_pubkey(certificate, key))
        return certificate;
    X509_free(certificate);
    return NULL;
}

static bool sign(X509 *certificate, X509 *issuer, EVP_PKEY *issuer_key)
{
    return X509_set_issuer_name(certificate, X509_get_subject_name(issuer)) &&
           add_extension(certificate, issuer, NID_authority_key_identifier, "keyid") &&
           X509_sign(certificate, issuer_key, EVP_sha256()) > 0;
}

bool tls_authority_make(struct tls_pair *out)
{
    *out = (struct tls_pair){.key = EVP_EC_gen("P-256")};
    if (out->key)
        out->certificate = certificate_new(out->key, "nailup-bench test authority", -1, YEAR_DAYS);
    X509 *made = out->certificate;
    if (made && add_extension(made, made, NID_basic_constraints, "critical,CA:TRUE") &&
        add_extension(made, made, NID_key_usage, "critical,keyCertSign,cRLSign") &&
        add_extension(made, made, NID_subject_key_identifier, "hash") && sign(made, made, out->key))
        return true;
    tls_pair_deinit(out);
    return false;
}

static bool add_name(GENERAL_NAMES *names, int kind, const void *bytes, size_t len)
{
    GENERAL_NAME *name = GENERAL_NAME_new();
    ASN1_STRING *value = kind == GEN_IPADD ? ASN1_OCTET_STRING_new() : ASN1_IA5STRING_new();
    if (!name || !value || !ASN1_STRING_set(value, bytes, (int)len)) {
        GENERAL_NAME_free(name);
        ASN1_STRING_free(value);
        return false;
    }
    GENERAL_NAME_set0_value(name, kind, value);
    if (sk_GENERAL_NAME_push(names, name))
        return true;
    GENERAL_NAME_free(name);
    return false;
}

static bool add_names(X509 *certificate, const char *name, const struct addr *addrs, size_t count)
{
    GENERAL_NAMES *names = sk_GENERAL_NAME_new_null();
    bool ok = names && add_name(names, GEN_DNS, name, strlen(name));
    for (size_t i = 0; ok && i < count; i++) {
        size_t len;
        const uint8_t *bytes = addr_bytes(&addrs[i], &len);
        ok = add_name(names, GEN_IPADD, bytes, len);
    }
    ok = ok && X509_add1_ext_i2d(certificate, NID_subject_alt_name, names, 0, 0) == 1;
    sk_GENERAL_NAME_pop_free(names, GENERAL_NAME_free);
    return ok;
}

static EVP_PKEY *choose_key(const struct tls_pair *shared, enum tls_identity identity)
{
    if (!shared || identity == TLS_IDENTITY_OTHER_KEY)
        return EVP_EC_gen("P-256");
    return EVP_PKEY_up_ref(shared->key) ? shared->key : NULL;
}

bool tls_leaf_make(struct tls_pair *out, const struct tls_pair *authority,
                   const struct tls_pair *shared, enum tls_identity identity, const char *name,
                   const struct addr *addrs, size_t count)
{
    int from = identity == TLS_IDENTITY_FUTURE ? 2 : identity == TLS_IDENTITY_EXPIRED ? -30 : -1;
    int to = identity == TLS_IDENTITY_EXPIRED ? -2 : YEAR_DAYS;
    if (identity == TLS_IDENTITY_OTHER_NAME) {
        name = "other.invalid";
        count = 0;
    }
    *out = (struct tls_pair){.key = choose_key(shared, identity)};
    if (out->key)
        out->certificate = certificate_new(out->key, name, from, to);
    X509 *made = out->certificate;
    const struct tls_pair *signer = identity == TLS_IDENTITY_SELF_SIGNED ? out : authority;
    if (made && add_extension(made, made, NID_basic_constraints, "critical,CA:FALSE") &&
        add_extension(made, made, NID_key_usage, "critical,digitalSignature") &&
        add_extension(made, made, NID_ext_key_usage, "serverAuth") &&
        add_extension(made, made, NID_subject_key_identifier, "hash") &&
        add_names(made, name, addrs, count) && sign(made, signer->certificate, signer->key))
        return true;
    tls_pair_deinit(out);
    return false;
}

bool tls_client_leaf_make(struct tls_pair *out, const struct tls_pair *authority)
{
    *out = (struct tls_pair){.key = EVP_EC_gen("P-256")};
    if (out->key)
        out->certificate = certificate_new(out->key, "client.test", -1, YEAR_DAYS);
    X509 *made = out->certificate;
    if (made && add_extension(made, made, NID_key_usage, "critical,digitalSignature") &&
        add_extension(made, made, NID_ext_key_usage, "clientAuth") &&
        add_extension(made, made, NID_subject_key_identifier, "hash") &&
        sign(made, authority->certificate, authority->key))
        return true;
    tls_pair_deinit(out);
    return false;
}

static void *read_pem(const char *path, bool is_key)
{
    FILE *in = fopen(path, "re");
    if (!in)
        return NULL;
    void *made = is_key ? (void *)PEM_read_PrivateKey(in, NULL, NULL, NULL)
                        : (void *)PEM_read_X509(in, NULL, NULL, NULL);
    fclose(in);
    ERR_clear_error();
    return made;
}

bool tls_pair_read(struct tls_pair *out, const char *certificate_path, const char *key_path)
{
    out->certificate = read_pem(certificate_path, false);
    out->key = read_pem(key_path, true);
    if (out->certificate && out->key && X509_check_private_key(out->certificate, out->key) == 1)
        return true;
    ERR_clear_error();
    tls_pair_deinit(out);
    return false;
}

void tls_pair_deinit(struct tls_pair *pair)
{
    EVP_PKEY_free(pair->key);
    X509_free(pair->certificate);
    *pair = (struct tls_pair){0};
}

bool tls_pair_write(const struct tls_pair *pair, const char *path, bool with_key)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, with_key ? 0600 : 0644);
    FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!out) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    bool ok = PEM_write_X509(out, pair->certificate) == 1;
    if (ok && with_key)
        ok = PEM_write_PKCS8PrivateKey(out, pair->key, NULL, NULL, 0, NULL, NULL) == 1;
    return fclose(out) == 0 && ok;
}

bool tls_pin(const struct x509_st *certificate, char out[TLS_PIN_MAX])
{
    unsigned char digest[EVP_MAX_MD_SIZE], *bytes = NULL;
    unsigned digest_len = 0;
    int len = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &bytes);
    bool ok = len > 0 && EVP_Digest(bytes, (size_t)len, digest, &digest_len, EVP_sha256(), NULL);
    OPENSSL_free(bytes);
    if (ok)
        EVP_EncodeBlock((unsigned char *)out, digest, (int)digest_len);
    return ok;
}
