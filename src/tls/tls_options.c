/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Compares and copies TLS options by content. */
#include "tls/tls_options.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"

static bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool same_pins(const struct tls_pins *a, const struct tls_pins *b)
{
    size_t count = a ? a->count : 0;

    if (count != (b ? b->count : 0))
        return false;
    return count == 0 || memcmp(a->sha256, b->sha256, count * TLS_PIN_BYTES) == 0;
}

bool tls_peer_options_same_context(const struct tls_peer_options *a,
                                   const struct tls_peer_options *b)
{
    return same_text(a->ca_bundle, b->ca_bundle) && same_text(a->certificate, b->certificate) &&
           same_text(a->key, b->key) && same_text(a->ciphers, b->ciphers) &&
           same_text(a->groups, b->groups);
}

bool tls_peer_options_equal(const struct tls_peer_options *a, const struct tls_peer_options *b)
{
    return a->profile == b->profile && a->early_data == b->early_data &&
           same_text(a->auth_name, b->auth_name) && same_pins(a->pins, b->pins) &&
           tls_peer_options_same_context(a, b);
}

static uint64_t text_hash(const char *text, uint64_t seed)
{
    return text ? hash_bytes(text, strlen(text), seed) : hash_bytes("", 0, seed);
}

uint64_t tls_peer_options_hash(const struct tls_peer_options *options, uint64_t seed)
{
    const char *const texts[] = {options->auth_name, options->ca_bundle, options->certificate,
                                 options->key,       options->ciphers,   options->groups};
    const struct tls_pins *pins = options->pins;
    uint64_t hash = hash_word((uint64_t)options->profile << 1 | options->early_data, seed);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        hash = text_hash(texts[i], hash);
    return pins && pins->count ? hash_bytes(pins->sha256, pins->count * TLS_PIN_BYTES, hash) : hash;
}

/* ---- copies: one block, pins first because they need alignment ---- */

static size_t text_bytes(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

static size_t pins_bytes(const struct tls_pins *pins)
{
    return pins ? sizeof(*pins) + pins->count * TLS_PIN_BYTES : 0;
}

static char *tls_options_put(char **at, const void *from, size_t bytes)
{
    char *to = *at;
    if (!bytes)
        return NULL;
    memcpy(to, from, bytes);
    *at += bytes;
    return to;
}

static char *tls_options_put_text(char **at, const char *text)
{
    return tls_options_put(at, text, text_bytes(text));
}

bool tls_peer_options_copy(struct tls_peer_options *out, const struct tls_peer_options *from,
                           void **memory)
{
    size_t bytes = pins_bytes(from->pins) + text_bytes(from->auth_name) +
                   text_bytes(from->ca_bundle) + text_bytes(from->certificate) +
                   text_bytes(from->key) + text_bytes(from->ciphers) + text_bytes(from->groups);
    *memory = malloc(bytes + 1); /* never a size of 0, for which malloc() may return NULL */
    if (!*memory)
        return false;
    char *at = *memory;
    *out = *from;
    out->pins = (struct tls_pins *)(void *)tls_options_put(&at, from->pins, pins_bytes(from->pins));
    out->auth_name = tls_options_put_text(&at, from->auth_name);
    out->ca_bundle = tls_options_put_text(&at, from->ca_bundle);
    out->certificate = tls_options_put_text(&at, from->certificate);
    out->key = tls_options_put_text(&at, from->key);
    out->ciphers = tls_options_put_text(&at, from->ciphers);
    out->groups = tls_options_put_text(&at, from->groups);
    return true;
}
