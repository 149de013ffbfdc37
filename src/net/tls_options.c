/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Compares options of TLS by what they say. */
#include "net/tls_options.h"

#include <string.h>

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
