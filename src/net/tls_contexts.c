/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* A short list, searched from the front: there are as many contexts as kinds of upstreams. */
#include "net/tls_contexts.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

struct entry {
    struct tls_peer_options key; /* copies of its strings; the rest is unset */
    struct tls_context *context;
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
    free(entry->key.ca_bundle);
    free(entry->key.certificate);
    free(entry->key.key);
    free(entry->key.ciphers);
    free(entry->key.groups);
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

static bool copy_text(char **out, const char *text)
{
    *out = strdup(text ? text : "");
    return *out != NULL;
}

static bool copy_key(struct tls_peer_options *out, const struct tls_peer_options *options)
{
    return copy_text(&out->ca_bundle, options->ca_bundle) &&
           copy_text(&out->certificate, options->certificate) &&
           copy_text(&out->key, options->key) && copy_text(&out->ciphers, options->ciphers) &&
           copy_text(&out->groups, options->groups);
}

static struct tls_context *find(struct tls_contexts *contexts,
                                const struct tls_peer_options *options)
{
    for (size_t i = 0; i < contexts->count; i++)
        if (tls_peer_options_same_context(&contexts->entries[i].key, options))
            return contexts->entries[i].context;
    return NULL;
}

static struct tls_context *make(struct tls_contexts *contexts,
                                const struct tls_peer_options *options, char why[TLS_WHY_MAX])
{
    struct entry entry = {.context = NULL};

    if (!copy_key(&entry.key, options))
        (void)tls_why(why, ERR_NO_MEMORY, "out of memory");
    else if (!tls_context_client(&entry.context, options, why))
        contexts->entries[contexts->count++] = entry;
    if (!entry.context)
        entry_deinit(&entry);
    return entry.context;
}

struct tls_context *tls_contexts_get(struct tls_contexts *contexts,
                                     const struct tls_peer_options *options, char why[TLS_WHY_MAX])
{
    struct tls_context *found = find(contexts, options);

    if (found)
        return found;
    if (contexts->count == TLS_CONTEXTS_MAX) {
        (void)tls_why(why, ERR_LIMIT, "more than %d different settings of TLS", TLS_CONTEXTS_MAX);
        return NULL;
    }
    return make(contexts, options, why);
}
