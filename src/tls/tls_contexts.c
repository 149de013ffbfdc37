/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* A short list with linear search: there is one context per kind of upstream. */
#include "tls/tls_contexts.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

struct entry {
    struct tls_peer_options key; /* a copy */
    void *key_memory;
    struct tls_context *context;
    size_t users;
    bool is_former; /* its files have changed: only its present users keep it */
};

struct tls_contexts {
    size_t count;
    struct entry entries[TLS_CONTEXTS_MAX];
};

struct tls_contexts *tls_contexts_new(void)
{
    return calloc(1, sizeof(struct tls_contexts));
}

static void entry_deinit(struct entry *entry)
{
    free(entry->key_memory);
    tls_context_free(entry->context);
}

void tls_contexts_free(struct tls_contexts *contexts)
{
    if (!contexts)
        return;
    for (size_t i = 0; i < contexts->count; i++)
        entry_deinit(&contexts->entries[i]);
    free(contexts);
}

static struct entry *tls_contexts_find(struct tls_contexts *contexts,
                                       const struct tls_peer_options *options)
{
    for (size_t i = 0; i < contexts->count; i++) {
        struct entry *entry = &contexts->entries[i];
        if (!entry->is_former && tls_peer_options_same_context(&entry->key, options))
            return entry;
    }
    return NULL;
}

static struct entry *tls_contexts_make(struct tls_contexts *contexts,
                                       const struct tls_peer_options *options,
                                       char why[TLS_WHY_MAX])
{
    struct entry entry = {.context = NULL};

    if (contexts->count == TLS_CONTEXTS_MAX)
        (void)tls_why(why, ERR_LIMIT, "more than %d different settings of TLS", TLS_CONTEXTS_MAX);
    else if (!tls_peer_options_copy(&entry.key, options, &entry.key_memory))
        (void)tls_why(why, ERR_NO_MEMORY, "out of memory");
    else if (!tls_context_client(&entry.context, options, why)) {
        contexts->entries[contexts->count] = entry;
        return &contexts->entries[contexts->count++];
    }
    entry_deinit(&entry);
    return NULL;
}

struct tls_context *tls_contexts_get(struct tls_contexts *contexts,
                                     const struct tls_peer_options *options, char why[TLS_WHY_MAX])
{
    struct entry *entry = tls_contexts_find(contexts, options);

    if (!entry)
        entry = tls_contexts_make(contexts, options, why);
    if (!entry)
        return NULL;
    entry->users++;
    return entry->context;
}

static void tls_contexts_drop(struct tls_contexts *contexts, struct entry *entry)
{
    entry_deinit(entry);
    *entry = contexts->entries[--contexts->count];
}

void tls_contexts_give(struct tls_contexts *contexts, struct tls_context *context)
{
    for (size_t i = 0; context && i < contexts->count; i++) {
        struct entry *entry = &contexts->entries[i];
        if (entry->context != context)
            continue;
        MUST(entry->users > 0);
        if (--entry->users == 0)
            tls_contexts_drop(contexts, entry);
        return;
    }
}

enum err tls_contexts_renew(struct tls_contexts *contexts, char why[TLS_WHY_MAX])
{
    enum err err = ERR_OK;

    for (size_t i = contexts->count; i-- > 0;) {
        struct entry *entry = &contexts->entries[i];
        if (entry->is_former || !tls_context_files_changed(entry->context, &entry->key))
            continue;
        entry->is_former = tls_contexts_make(contexts, &entry->key, why) != NULL;
        if (!entry->is_former)
            err = ERR_INVALID;
        else if (entry->users == 0)
            tls_contexts_drop(contexts, entry);
    }
    return err;
}
