/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Contexts of OpenSSL (tls_context.h): versions, ciphers, authorities and our certificate. tls.c
 * installs what concerns single connections.
 */
#include "tls/tls_context.h"

#include <ctype.h>
#include <dirent.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "tls/tls.h"
#include "tls/tls_file.h"
#include "tls/tls_key_log.h"
#include "tls/tls_ticket_keys.h"

static bool is_set(const char *text)
{
    return text && text[0];
}

static enum err no_memory(char why[TLS_WHY_MAX])
{
    return tls_why(why, ERR_NO_MEMORY, "out of memory");
}

/* ---------------------------------------------------------------- lists of ciphers and groups
 *
 * OpenSSL ignores an unknown word in a list, so a typing error would silently change the ciphers.
 * check_words() therefore tries each word alone, on a separate context. */

enum { WORD_MAX = 128, WORDS_MAX = 4096 };

static const char default_ciphers[] = "ECDHE+AESGCM:ECDHE+CHACHA20";
/* Appended to every list: a cipher without authentication or encryption is never used. */
static const char never[] = ":!aNULL:!eNULL";

/* OpenSSL also separates words at these characters, where we would see a single word. */
static bool is_several(const char *word)
{
    return strpbrk(word, " ,;") != NULL;
}

/* Takes the next word; returns false at the end. An empty or overlong word counts as unknown. */
static bool take_list_word(const char **rest, char word[WORD_MAX])
{
    if (!*rest)
        return false;
    size_t len = strcspn(*rest, ":");
    const char *end = *rest + len;
    memcpy(word, *rest, MIN(len, WORD_MAX - 1));
    word[MIN(len, WORD_MAX - 1)] = 0;
    *rest = *end ? end + 1 : NULL;
    return true;
}

/* The names of RFC 8446 lack the "WITH" of older suites. */
static bool is_suite_of_13(const char *word)
{
    return strncmp(word, "TLS_", 4) == 0 && !strstr(word, "_WITH_");
}

static bool has_cipher(SSL_CTX *ctx, const char *name)
{
    STACK_OF(SSL_CIPHER) *ciphers = SSL_CTX_get_ciphers(ctx);

    for (int i = 0; i < sk_SSL_CIPHER_num(ciphers); i++)
        if (strcmp(SSL_CIPHER_get_name(sk_SSL_CIPHER_value(ciphers, i)), name) == 0)
            return true;
    return false;
}

/* Widespread lists exclude ciphers that OpenSSL dropped long ago. Such a word is not a typing
 * error. */
static bool is_dropped_cipher(const char *word)
{
    static const char *const dropped[] = {"RC4", "RC2",  "DES",  "3DES",   "EXP",
                                          "LOW", "IDEA", "SEED", "EXPORT", "SSLv2"};

    for (size_t i = 0; i < ARRAY_LEN(dropped); i++)
        if ((word[0] == '!' || word[0] == '-') && strcmp(word + 1, dropped[i]) == 0)
            return true;
    return false;
}

static bool is_known_cipher(SSL_CTX *trial, const char *word)
{
    if (is_suite_of_13(word))
        return SSL_CTX_set_ciphersuites(trial, word) == 1 && has_cipher(trial, word);
    /* "@SECLEVEL=1" alone selects no cipher. */
    if (word[0] == '@') {
        char list[sizeof("ALL:") + WORD_MAX] = "ALL:";
        return SSL_CTX_set_cipher_list(trial, strcat(list, word)) == 1;
    }
    return is_dropped_cipher(word) ||
           SSL_CTX_set_cipher_list(trial, word + strspn(word, "!+-")) == 1;
}

static bool is_known_group(SSL_CTX *trial, const char *word)
{
    return word[0] && SSL_CTX_set1_groups_list(trial, word) == 1;
}

static enum err check_words(const char *words, bool (*is_known)(SSL_CTX *trial, const char *word),
                            const char *what, char why[TLS_WHY_MAX])
{
    SSL_CTX *trial = SSL_CTX_new(TLS_method());
    char word[WORD_MAX];
    enum err err = ERR_OK;

    if (!trial)
        return no_memory(why);
    while (!err && take_list_word(&words, word))
        if (is_several(word) || !is_known(trial, word))
            err = tls_why(why, ERR_INVALID, "\"%s\" is not a %s that OpenSSL knows", word, what);
    SSL_CTX_free(trial);
    ERR_clear_error();
    return err;
}

/* Collects the words for TLS 1.3, or those for TLS 1.2, joined by ':'. */
static void pick_words(const char *words, bool is_for_13, char out[WORDS_MAX])
{
    char word[WORD_MAX];
    size_t len = 0;

    out[0] = 0;
    while (take_list_word(&words, word)) {
        if (is_suite_of_13(word) != is_for_13)
            continue;
        if (len > 0)
            out[len++] = ':';
        strcpy(out + len, word);
        len += strlen(word);
    }
}

/* Sets the ciphers from words joined by ':': names, classes and rules of TLS 1.2 ("ECDHE+AESGCM",
 * "!AES256"), and suites of TLS 1.3 ("TLS_AES_128_GCM_SHA256"). A version without words keeps our
 * defaults, which are forward secret and AEAD. */
static enum err set_ciphers(SSL_CTX *ctx, const char *words, char why[TLS_WHY_MAX])
{
    char picked[WORDS_MAX + sizeof(never)];

    if (is_set(words) && strlen(words) >= WORDS_MAX)
        return tls_why(why, ERR_INVALID, "the list of ciphers is too long");
    if (is_set(words)) {
        enum err err = check_words(words, is_known_cipher, "cipher", why);
        if (err)
            return err;
        pick_words(words, true, picked);
        if (picked[0] && SSL_CTX_set_ciphersuites(ctx, picked) != 1)
            return tls_why(why, ERR_INVALID, "\"%s\" leaves no cipher of TLS 1.3", picked);
    }
    pick_words(is_set(words) ? words : default_ciphers, false, picked);
    if (!picked[0])
        strcpy(picked, default_ciphers);
    strcat(picked, never);
    if (SSL_CTX_set_cipher_list(ctx, picked) != 1)
        return tls_why(why, ERR_INVALID, "\"%s\" leaves no cipher of TLS 1.2", picked);
    return ERR_OK;
}

/* OpenSSL's own callback, the same function for all contexts. */
typedef int security_fn(const SSL *ssl, const SSL_CTX *ctx, int op, int bits, int id, void *other,
                        void *unused);
static _Atomic(security_fn *) usual_security;

/* RFC 7919: groups 0x01xx use finite fields. */
static int refuse_finite_fields(const SSL *ssl, const SSL_CTX *ctx, int op, int bits, int id,
                                void *other, void *unused)
{
    const uint8_t *group = other;

    if (((unsigned)op & SSL_SECOP_OTHER_TYPE) == SSL_SECOP_OTHER_CURVE && group[0] == 1)
        return 0;
    return atomic_load(&usual_security)(ssl, ctx, op, bits, id, other, unused);
}

/* Keeps OpenSSL's defaults, or those of its configuration file, without the groups of finite
 * fields: a kilobyte for the largest of them costs us as much as a hundred handshakes, and
 * OpenSSL 3.0 has them among its defaults. */
static void set_default_groups(SSL_CTX *ctx)
{
    atomic_store(&usual_security, SSL_CTX_get_security_callback(ctx));
    SSL_CTX_set_security_callback(ctx, refuse_finite_fields);
}

/* Sets the groups of the key exchange ("x25519:secp256r1"). Called once for a context. */
static enum err set_key_groups(SSL_CTX *ctx, const char *words, char why[TLS_WHY_MAX])
{
    if (!is_set(words)) {
        set_default_groups(ctx);
        return ERR_OK;
    }
    enum err err = check_words(words, is_known_group, "group", why);
    if (err)
        return err;
    if (SSL_CTX_set1_groups_list(ctx, words) != 1)
        return tls_why(why, ERR_INVALID, "\"%s\" is not a list of groups", words);
    return ERR_OK;
}

/* ---------------------------------------------------------------- certificates and keys as text
 *
 * PEM (RFC 7468). OpenSSL skips text around the certificates, where operators write names. */

struct pem {
    struct span text;
    const char *name; /* the file's name in sentences */
};

static const char *pem_reason_text(void)
{
    const char *text = ERR_reason_error_string(ERR_peek_last_error());
    return text ? text : "unknown reason";
}

/* Without it, OpenSSL would ask on the terminal. */
static int no_password(char *out, int max, int writing, void *unused)
{
    (void)out, (void)max, (void)writing, (void)unused;
    return -1;
}

static BIO *open_pem(struct pem pem)
{
    ERR_clear_error();
    return BIO_new_mem_buf(pem.text.data, (int)pem.text.len);
}

static bool has_pem_reason(int pem_reason)
{
    unsigned long code = ERR_peek_last_error();
    return ERR_GET_LIB(code) == ERR_LIB_PEM && ERR_GET_REASON(code) == pem_reason;
}

static bool has_pem_label(struct pem pem, const char *label)
{
    return memmem(pem.text.data, pem.text.len, label, strlen(label)) != NULL;
}

/* Calls take() with each certificate; take() owns it. Returns the count, or -1 with why. */
static int each_certificate(struct pem pem, bool (*take)(SSL_CTX *ctx, X509 *certificate, int i),
                            SSL_CTX *ctx, char why[TLS_WHY_MAX])
{
    BIO *bio = open_pem(pem);
    X509 *certificate;
    int count = 0;

    while (bio && (certificate = PEM_read_bio_X509_AUX(bio, NULL, no_password, NULL))) {
        if (!take(ctx, certificate, count))
            break;
        count++;
    }
    /* The text ended, and not within a certificate. */
    bool is_whole = has_pem_reason(PEM_R_NO_START_LINE);
    BIO_free(bio);
    if (is_whole && count > 0)
        return count;
    if (is_whole)
        (void)tls_why(why, ERR_INVALID, "%s has no certificate in it", pem.name);
    else
        (void)tls_why(why, ERR_INVALID, "certificate %d of %s cannot be used: %s", count + 1,
                      pem.name, pem_reason_text());
    return -1;
}

static bool add_own(SSL_CTX *ctx, X509 *certificate, int i)
{
    if (i > 0 && SSL_CTX_add0_chain_cert(ctx, certificate) == 1)
        return true;
    bool is_taken = i == 0 && SSL_CTX_use_certificate(ctx, certificate) == 1;
    X509_free(certificate);
    return is_taken;
}

static enum err use_key(SSL_CTX *ctx, EVP_PKEY *key, struct pem text, const char *certificate_name,
                        char why[TLS_WHY_MAX])
{
    if (!key && has_pem_reason(PEM_R_BAD_PASSWORD_READ))
        return tls_why(why, ERR_INVALID, "the key in %s is encrypted: it must not be", text.name);
    if (!key && !has_pem_label(text, "PRIVATE KEY-----"))
        return tls_why(why, ERR_INVALID, "%s has no private key in it", text.name);
    if (!key)
        return tls_why(why, ERR_INVALID, "the key in %s cannot be used: %s", text.name,
                       pem_reason_text());
    if (SSL_CTX_use_PrivateKey(ctx, key) != 1 || SSL_CTX_check_private_key(ctx) != 1)
        return tls_why(why, ERR_INVALID, "the key in %s is not that of the certificate in %s",
                       text.name, certificate_name);
    return ERR_OK;
}

/* Installs our certificate, the chain from it to an authority, and its key. */
static enum err use_own(SSL_CTX *ctx, struct pem certificate, struct pem key, char why[TLS_WHY_MAX])
{
    if (each_certificate(certificate, add_own, ctx, why) < 0)
        return ERR_INVALID;
    BIO *bio = open_pem(key);
    EVP_PKEY *private = bio ? PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL) : NULL;
    enum err err = use_key(ctx, private, key, certificate.name, why);
    EVP_PKEY_free(private);
    BIO_free(bio);
    return err;
}

static bool add_authority(SSL_CTX *ctx, X509 *certificate, int i)
{
    (void)i;
    bool is_taken = X509_STORE_add_cert(SSL_CTX_get_cert_store(ctx), certificate) == 1;
    X509_free(certificate);
    return is_taken;
}

/* Trusts every certificate of the text, even if it is not an authority (X509_V_FLAG_PARTIAL_CHAIN):
 * an operator who lists a server's own certificate means it. */
static enum err trust_bundle(SSL_CTX *ctx, struct pem authorities, char why[TLS_WHY_MAX])
{
    X509_STORE_set_flags(SSL_CTX_get_cert_store(ctx), X509_V_FLAG_PARTIAL_CHAIN);
    return each_certificate(authorities, add_authority, ctx, why) < 0 ? ERR_INVALID : ERR_OK;
}

/* ---------------------------------------------------------------- authorities of the system
 *
 * Systems keep their authorities in one file, in a folder with one file each (named by a hash of
 * its subject), or in both. OpenSSL 3.0 takes 50 ms and 760 KiB to read the one file (144
 * authorities) for each worker and kind of upstream. In a folder it reads only the certificates
 * that some chain ends at, once. So we prefer a folder that holds all of them. A folder with a few
 * files holds authorities that the operator added to the system's file. */

enum { HASH_DIGITS = 8, AUTHORITIES_MIN = 32 };

/* "5ed36f99.0" */
static bool is_hash_name(const char *name)
{
    for (int i = 0; i < HASH_DIGITS; i++)
        if (!isxdigit((unsigned char)name[i]))
            return false;
    return strcmp(name + HASH_DIGITS, ".0") == 0;
}

static bool has_all_authorities(const char *path)
{
    DIR *folder = opendir(path);
    struct dirent *entry;
    int count = 0;

    if (!folder)
        return false;
    while (count < AUTHORITIES_MIN && (entry = readdir(folder)))
        count += is_hash_name(entry->d_name);
    closedir(folder);
    return count == AUTHORITIES_MIN;
}

/* If the environment names a file or a folder, OpenSSL decides. */
static bool is_folder_enough(void)
{
    if (secure_getenv(X509_get_default_cert_file_env()) ||
        secure_getenv(X509_get_default_cert_dir_env()))
        return false;
    return has_all_authorities(X509_get_default_cert_dir());
}

/* Trusts the authorities that OpenSSL was built to find, or those of SSL_CERT_FILE and
 * SSL_CERT_DIR. A system may have none, and then no peer is trusted. Returns false when out of
 * memory. */
static bool trust_system(SSL_CTX *ctx)
{
    if (is_folder_enough())
        return SSL_CTX_set_default_verify_dir(ctx) == 1;
    return SSL_CTX_set_default_verify_paths(ctx) == 1;
}

/* ---------------------------------------------------------------- both roles */

/* 112 bits: no RSA below 2048 bits, no SHA-1 signatures. OpenSSL's own default depends on its
 * builder. "@SECLEVEL=1" among the ciphers lowers it. */
enum { SECURITY_LEVEL_MIN = 2 };

/* OpenSSL's configuration file may be stricter than this floor, but not laxer. */
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

/* Sets what both roles share. */
static enum err set_both_roles(SSL_CTX *ctx, const char *ciphers, const char *groups,
                               char why[TLS_WHY_MAX])
{
    SSL_CTX_set_options(ctx, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
    /* Without this, each of thousands of idle connections would keep 34 KiB of buffers. */
    SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
    tls_key_log_attach(ctx);
    if (!set_floor(ctx))
        return tls_why(why, ERR_INVALID, "OpenSSL here does not speak TLS 1.2");
    enum err err = set_ciphers(ctx, ciphers, why);
    return err ? err : set_key_groups(ctx, groups, why);
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

/* Hands the context to the caller, or frees it on error. */
static enum err hand_out(struct tls_context **out, struct tls_context *context, enum err err)
{
    if (err) {
        tls_context_free(context);
        context = NULL;
    }
    *out = context;
    return err;
}

/* ---------------------------------------------------------------- client */

static enum err trust_authorities(SSL_CTX *ctx, const char *bundle, char why[TLS_WHY_MAX])
{
    char *text;
    size_t len;

    if (!is_set(bundle)) {
        bool is_done = trust_system(ctx);
        return is_done ? ERR_OK : no_memory(why);
    }
    enum err err = tls_read_file(bundle, &text, &len, why);
    if (err)
        return err;
    err = trust_bundle(ctx, (struct pem){span_of(text, len), bundle}, why);
    tls_file_free(&text, len);
    return err;
}

static enum err use_own_files(SSL_CTX *ctx, const char *certificate, const char *key,
                              char why[TLS_WHY_MAX])
{
    char *certificate_text, *key_text;
    size_t certificate_len, key_len;
    enum err err = tls_read_file(certificate, &certificate_text, &certificate_len, why);

    if (err)
        return err;
    err = tls_read_file(key, &key_text, &key_len, why);
    if (!err)
        err = use_own(ctx, (struct pem){span_of(certificate_text, certificate_len), certificate},
                      (struct pem){span_of(key_text, key_len), key}, why);
    tls_file_free(&certificate_text, certificate_len);
    tls_file_free(&key_text, key_len);
    return err;
}

/* Installs our certificate and key for servers that ask for them. One file may hold both. */
static enum err set_identity(SSL_CTX *ctx, const struct tls_peer_options *options,
                             char why[TLS_WHY_MAX])
{
    if (is_set(options->certificate))
        return use_own_files(ctx, options->certificate,
                             is_set(options->key) ? options->key : options->certificate, why);
    if (is_set(options->key))
        return tls_why(why, ERR_INVALID, "the key %s has no certificate", options->key);
    return ERR_OK;
}

static enum err set_client(SSL_CTX *ctx, const struct tls_peer_options *options,
                           char why[TLS_WHY_MAX])
{
    enum err err = set_both_roles(ctx, options->ciphers, options->groups, why);

    if (!err)
        err = trust_authorities(ctx, options->ca_bundle, why);
    if (!err)
        err = set_identity(ctx, options, why);
    if (err)
        return err;
    return tls_install(ctx, true) ? ERR_OK : no_memory(why);
}

static enum err digest_file(EVP_MD_CTX *digest, const char *path, char why[TLS_WHY_MAX])
{
    char *text = NULL;
    size_t len = 0;
    enum err err = is_set(path) ? tls_read_file(path, &text, &len, why) : ERR_OK;

    if (err)
        return err;
    if (EVP_DigestUpdate(digest, &len, sizeof(len)) != 1 ||
        (len > 0 && EVP_DigestUpdate(digest, text, len) != 1))
        err = no_memory(why);
    tls_file_free(&text, len);
    return err;
}

static enum err digest_files(uint8_t out[TLS_FILES_ID_BYTES],
                             const struct tls_peer_options *options, char why[TLS_WHY_MAX])
{
    EVP_MD_CTX *digest = EVP_MD_CTX_new();
    enum err err = ERR_OK;

    if (!digest || EVP_DigestInit_ex(digest, EVP_sha256(), NULL) != 1)
        err = no_memory(why);
    if (!err)
        err = digest_file(digest, options->ca_bundle, why);
    if (!err)
        err = digest_file(digest, options->certificate, why);
    if (!err && EVP_DigestFinal_ex(digest, out, NULL) != 1)
        err = no_memory(why);
    EVP_MD_CTX_free(digest);
    return err;
}

struct span tls_context_files_id(const struct tls_context *context)
{
    return span_of(context->files_id, sizeof(context->files_id));
}

bool tls_context_files_changed(const struct tls_context *context,
                               const struct tls_peer_options *options)
{
    uint8_t now[TLS_FILES_ID_BYTES];
    char why[TLS_WHY_MAX];

    return digest_files(now, options, why) || memcmp(now, context->files_id, sizeof(now)) != 0;
}

enum err tls_context_client(struct tls_context **out, const struct tls_peer_options *options,
                            char why[TLS_WHY_MAX])
{
    struct tls_context *context = context_new(TLS_client_method());

    if (!context)
        return hand_out(out, NULL, no_memory(why));
    enum err err = set_client(context->ctx, options, why);
    if (!err)
        err = digest_files(context->files_id, options, why);
    return hand_out(out, context, err);
}

/* ---------------------------------------------------------------- server */

static enum err use_own_texts(SSL_CTX *ctx, const struct tls_server_options *options,
                              char why[TLS_WHY_MAX])
{
    const struct pem certificate = {
        options->certificate,
        is_set(options->certificate_name) ? options->certificate_name : "the certificate file",
    };
    const struct pem key = {
        options->key,
        is_set(options->key_name) ? options->key_name : "the key file",
    };

    return use_own(ctx, certificate, key, why);
}

static enum err set_server(SSL_CTX *ctx, const struct tls_server_options *options,
                           char why[TLS_WHY_MAX])
{
    enum err err = set_both_roles(ctx, options->ciphers, options->groups, why);

    if (!err)
        err = use_own_texts(ctx, options, why);
    if (err)
        return err;
    SSL_CTX_set_options(ctx, SSL_OP_CIPHER_SERVER_PREFERENCE);
    if (!tls_install(ctx, false) || !tls_ticket_keys_install(options->ticket_keys, ctx))
        return no_memory(why);
    return ERR_OK;
}

enum err tls_context_server(struct tls_context **out, const struct tls_server_options *options,
                            char why[TLS_WHY_MAX])
{
    struct tls_context *context = context_new(TLS_server_method());

    if (!context)
        return hand_out(out, NULL, no_memory(why));
    return hand_out(out, context, set_server(context->ctx, options, why));
}

int64_t tls_context_ends_at_s(const struct tls_context *context)
{
    const X509 *certificate = SSL_CTX_get0_certificate(context->ctx);
    struct tm ends_at;

    if (!certificate || ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &ends_at) != 1)
        return INT64_MAX;
    return timegm(&ends_at);
}
