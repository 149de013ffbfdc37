/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * OpenSSL takes a list with an unknown word as if the word were not there: a typing error would
 * silently change what is spoken. So each word is tried alone first, on a context of its own.
 */
#include "tls/tls_words.h"

#include <openssl/err.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "base/check.h"

enum { WORD_MAX = 128, WORDS_MAX = 4096 };

static const char default_ciphers[] = "ECDHE+AESGCM:ECDHE+CHACHA20";
/* Whoever is not authenticated is not spoken to, whatever the list says. */
static const char never[] = ":!aNULL:!eNULL";

static bool tls_words_is_given(const char *words)
{
    return words && words[0];
}

/* OpenSSL takes these for ':' too, where we would not see that there are several words. */
static bool is_several(const char *word)
{
    return strpbrk(word, " ,;") != NULL;
}

/* The next word; false at the end. An empty one, or one that is too long, is a word nobody knows.
 */
static bool tls_words_next_word(const char **rest, char word[WORD_MAX])
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

/* RFC 8446 names lack the "WITH" of those before. */
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

/* Lists that people pass on rule out what OpenSSL has long dropped. That is no typing error. */
static bool is_dropped(const char *word)
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
    /* "@SECLEVEL=1" chooses nothing by itself. */
    if (word[0] == '@') {
        char list[sizeof("ALL:") + WORD_MAX] = "ALL:";
        return SSL_CTX_set_cipher_list(trial, strcat(list, word)) == 1;
    }
    return is_dropped(word) || SSL_CTX_set_cipher_list(trial, word + strspn(word, "!+-")) == 1;
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
        return tls_why(why, ERR_NO_MEMORY, "out of memory");
    while (!err && tls_words_next_word(&words, word))
        if (is_several(word) || !is_known(trial, word))
            err = tls_why(why, ERR_INVALID, "\"%s\" is no %s that OpenSSL knows", word, what);
    SSL_CTX_free(trial);
    ERR_clear_error();
    return err;
}

/* The words of one kind, with ':' between. */
static void pick(const char *words, bool of_13, char out[WORDS_MAX])
{
    char word[WORD_MAX];
    size_t len = 0;

    out[0] = 0;
    while (tls_words_next_word(&words, word)) {
        if (is_suite_of_13(word) != of_13)
            continue;
        if (len > 0)
            out[len++] = ':';
        strcpy(out + len, word);
        len += strlen(word);
    }
}

enum err tls_words_ciphers(SSL_CTX *ctx, const char *words, char why[TLS_WHY_MAX])
{
    char picked[WORDS_MAX + sizeof(never)];

    if (tls_words_is_given(words) && strlen(words) >= WORDS_MAX)
        return tls_why(why, ERR_INVALID, "the list of ciphers is too long");
    if (tls_words_is_given(words)) {
        enum err err = check_words(words, is_known_cipher, "cipher", why);
        if (err)
            return err;
        pick(words, true, picked);
        if (picked[0] && SSL_CTX_set_ciphersuites(ctx, picked) != 1)
            return tls_why(why, ERR_INVALID, "\"%s\" leaves no cipher of TLS 1.3", picked);
    }
    pick(tls_words_is_given(words) ? words : default_ciphers, false, picked);
    if (!picked[0])
        strcpy(picked, default_ciphers);
    strcat(picked, never);
    if (SSL_CTX_set_cipher_list(ctx, picked) != 1)
        return tls_why(why, ERR_INVALID, "\"%s\" leaves no cipher of TLS 1.2", picked);
    return ERR_OK;
}

/* OpenSSL's own, which is the same function for all contexts. */
typedef int security_fn(const SSL *ssl, const SSL_CTX *ctx, int op, int bits, int id, void *other,
                        void *unused);
static _Atomic(security_fn *) usual_security;

/* RFC 7919: groups 0x01xx are of finite fields. */
static int is_secure(const SSL *ssl, const SSL_CTX *ctx, int op, int bits, int id, void *other,
                     void *unused)
{
    const uint8_t *group = other;

    if ((op & SSL_SECOP_OTHER_TYPE) == SSL_SECOP_OTHER_CURVE && group[0] == 1)
        return 0;
    return atomic_load(&usual_security)(ssl, ctx, op, bits, id, other, unused);
}

/* OpenSSL's defaults, or those that its configuration file sets, but for groups of finite fields:
 * whoever sends a kilobyte for the largest costs us a hundred handshakes (and 3.0 has them among
 * its defaults). */
static void use_usual_groups(SSL_CTX *ctx)
{
    atomic_store(&usual_security, SSL_CTX_get_security_callback(ctx));
    SSL_CTX_set_security_callback(ctx, is_secure);
}

enum err tls_words_groups(SSL_CTX *ctx, const char *words, char why[TLS_WHY_MAX])
{
    if (!tls_words_is_given(words)) {
        use_usual_groups(ctx);
        return ERR_OK;
    }
    enum err err = check_words(words, is_known_group, "group", why);
    if (err)
        return err;
    if (SSL_CTX_set1_groups_list(ctx, words) != 1)
        return tls_why(why, ERR_INVALID, "\"%s\" is no list of groups", words);
    return ERR_OK;
}
