/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Reads PEM (RFC 7468). Text around the certificates is skipped, as people write names there. */
#include "tls/tls_pem.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <string.h>

static const char *tls_pem_reason(void)
{
    const char *text = ERR_reason_error_string(ERR_peek_last_error());
    return text ? text : "unknown reason";
}

/* OpenSSL would ask on the terminal. */
static int no_password(char *out, int max, int writing, void *unused)
{
    (void)out, (void)max, (void)writing, (void)unused;
    return -1;
}

static BIO *open_text(struct tls_pem pem)
{
    ERR_clear_error();
    return BIO_new_mem_buf(pem.text.data, (int)pem.text.len);
}

static bool has_reason(int pem_reason)
{
    unsigned long code = ERR_peek_last_error();
    return ERR_GET_LIB(code) == ERR_LIB_PEM && ERR_GET_REASON(code) == pem_reason;
}

static bool has_label(struct tls_pem pem, const char *label)
{
    return memmem(pem.text.data, pem.text.len, label, strlen(label)) != NULL;
}

/* Calls take with each certificate; take owns it. The count, or -1 with why. */
static int each_certificate(struct tls_pem pem,
                            bool (*take)(SSL_CTX *ctx, X509 *certificate, int i), SSL_CTX *ctx,
                            char why[TLS_WHY_MAX])
{
    BIO *bio = open_text(pem);
    X509 *certificate;
    int count = 0;

    while (bio && (certificate = PEM_read_bio_X509_AUX(bio, NULL, no_password, NULL))) {
        if (!take(ctx, certificate, count))
            break;
        count++;
    }
    /* The end of the text, and not a certificate that is torn? */
    bool is_whole = has_reason(PEM_R_NO_START_LINE);
    BIO_free(bio);
    if (is_whole && count > 0)
        return count;
    if (is_whole)
        (void)tls_why(why, ERR_INVALID, "%s has no certificate in it", pem.name);
    else
        (void)tls_why(why, ERR_INVALID, "certificate %d of %s cannot be used: %s", count + 1,
                      pem.name, tls_pem_reason());
    return -1;
}

/* ---------------------------------------------------------------- our own */

static bool add_own(SSL_CTX *ctx, X509 *certificate, int i)
{
    if (i > 0 && SSL_CTX_add0_chain_cert(ctx, certificate) == 1)
        return true;
    bool is_taken = i == 0 && SSL_CTX_use_certificate(ctx, certificate) == 1;
    X509_free(certificate);
    return is_taken;
}

static enum err use_key(SSL_CTX *ctx, EVP_PKEY *key, struct tls_pem text,
                        const char *certificate_name, char why[TLS_WHY_MAX])
{
    if (!key && has_reason(PEM_R_BAD_PASSWORD_READ))
        return tls_why(why, ERR_INVALID, "the key in %s is encrypted: it must not be", text.name);
    if (!key && !has_label(text, "PRIVATE KEY-----"))
        return tls_why(why, ERR_INVALID, "%s has no private key in it", text.name);
    if (!key)
        return tls_why(why, ERR_INVALID, "the key in %s cannot be used: %s", text.name,
                       tls_pem_reason());
    if (SSL_CTX_use_PrivateKey(ctx, key) != 1 || SSL_CTX_check_private_key(ctx) != 1)
        return tls_why(why, ERR_INVALID, "the key in %s is not that of the certificate in %s",
                       text.name, certificate_name);
    return ERR_OK;
}

enum err tls_pem_own(SSL_CTX *ctx, struct tls_pem certificate, struct tls_pem key,
                     char why[TLS_WHY_MAX])
{
    if (each_certificate(certificate, add_own, ctx, why) < 0)
        return ERR_INVALID;
    BIO *bio = open_text(key);
    EVP_PKEY *private = bio ? PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL) : NULL;
    enum err err = use_key(ctx, private, key, certificate.name, why);
    EVP_PKEY_free(private);
    BIO_free(bio);
    return err;
}

/* ---------------------------------------------------------------- authorities */

static bool add_authority(SSL_CTX *ctx, X509 *certificate, int i)
{
    (void)i;
    bool is_taken = X509_STORE_add_cert(SSL_CTX_get_cert_store(ctx), certificate) == 1;
    X509_free(certificate);
    return is_taken;
}

enum err tls_pem_trust(SSL_CTX *ctx, struct tls_pem authorities, char why[TLS_WHY_MAX])
{
    X509_STORE_set_flags(SSL_CTX_get_cert_store(ctx), X509_V_FLAG_PARTIAL_CHAIN);
    return each_certificate(authorities, add_authority, ctx, why) < 0 ? ERR_INVALID : ERR_OK;
}
