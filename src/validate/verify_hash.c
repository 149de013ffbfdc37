/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Hashes by OpenSSL. A context that begins again with the same method needs no memory and touches
 * nothing that threads share, so a hash costs little more than its blocks. Invariant: a context
 * belongs to one thread and one method for as long as it lives.
 */
#include "validate/verify_hash.h"

#include <pthread.h>

#include "base/check.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t at_thread_end;
static EVP_MD *methods[VERIFY_HASHES];

static _Thread_local EVP_MD_CTX *contexts[VERIFY_HASHES];

static void contexts_free(void *mine)
{
    EVP_MD_CTX **context = mine;
    for (int hash = 0; hash < VERIFY_HASHES; hash++) {
        EVP_MD_CTX_free(context[hash]);
        context[hash] = NULL;
    }
}

static void methods_fetch(void)
{
    static const char *const names[VERIFY_HASHES] = {"SHA1", "SHA2-256", "SHA2-384", "SHA2-512"};
    for (int hash = 0; hash < VERIFY_HASHES; hash++)
        methods[hash] = EVP_MD_fetch(NULL, names[hash], NULL);
    MUST(pthread_key_create(&at_thread_end, contexts_free) == 0);
}

const EVP_MD *verify_hash_method(enum verify_hash hash)
{
    pthread_once(&once, methods_fetch);
    return methods[hash];
}

static EVP_MD_CTX *hash_context_new(enum verify_hash hash)
{
    const EVP_MD *method = verify_hash_method(hash);
    EVP_MD_CTX *context = method ? EVP_MD_CTX_new() : NULL;
    if (!context)
        return NULL;
    if (!EVP_DigestInit_ex2(context, method, NULL) ||
        pthread_setspecific(at_thread_end, contexts) != 0) {
        EVP_MD_CTX_free(context);
        return NULL;
    }
    contexts[hash] = context;
    return context;
}

/* Returns a context that has begun, or NULL. */
static EVP_MD_CTX *hash_context_begin(enum verify_hash hash)
{
    EVP_MD_CTX *context = contexts[hash];
    if (!context)
        return hash_context_new(hash);
    return EVP_DigestInit_ex2(context, NULL, NULL) ? context : NULL;
}

size_t verify_hash_bytes(enum verify_hash hash, struct span first, struct span second,
                         uint8_t out[VERIFY_HASH_MAX])
{
    EVP_MD_CTX *context = hash_context_begin(hash);
    unsigned len;
    if (!context || !EVP_DigestUpdate(context, first.data, first.len) ||
        !EVP_DigestUpdate(context, second.data, second.len) ||
        !EVP_DigestFinal_ex(context, out, &len))
        return 0;
    return len;
}
