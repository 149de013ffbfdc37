/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The defaults of nailup.yaml(5), for tests and for upstreams made by hand, and the comparison of
 * options. */

#include "upstream/upstream_options.h"

#include "base/hash.h"
#include "base/units.h"

const struct upstream_options upstream_options_default = {
    .transport = TRANSPORT_UDP,
    .fallback = UPSTREAM_FALLBACK_UDP,
    .prewarm = true,
    .hold = true,
    .case_randomisation = true,
    .cookies = true,
    .connections = 1,
    .max_connections = 4,
    .max_in_flight = 256,
    .max_requests = 10000,
    .idle_timeout_us = 60 * US_PER_S,
    .connect_timeout_us = US_PER_S,
    .query_timeout_us = 2 * US_PER_S,
    .stall_timeout_us = 5 * US_PER_S,
    .keepalive_idle_s = 15,
    .keepalive_interval_s = 5,
    .keepalive_count = 3,
    .tls = {.profile = TLS_STRICT},
    .max_handshakes = 200,
    .queries_per_port = 8,
    .fallback_port = 53,
};

/* Field by field, because padding bytes differ. */
bool upstream_options_equal(const struct upstream_options *a, const struct upstream_options *b)
{
    return a->transport == b->transport && a->fallback == b->fallback && a->nailed == b->nailed &&
           a->prewarm == b->prewarm && a->hold == b->hold &&
           a->case_randomisation == b->case_randomisation && a->cookies == b->cookies &&
           a->connections == b->connections && a->max_connections == b->max_connections &&
           a->max_in_flight == b->max_in_flight && a->max_requests == b->max_requests &&
           a->max_age_us == b->max_age_us && a->idle_timeout_us == b->idle_timeout_us &&
           a->connect_timeout_us == b->connect_timeout_us &&
           a->query_timeout_us == b->query_timeout_us &&
           a->stall_timeout_us == b->stall_timeout_us &&
           a->keepalive_idle_s == b->keepalive_idle_s &&
           a->keepalive_interval_s == b->keepalive_interval_s &&
           a->keepalive_count == b->keepalive_count && a->tcp_fast_open == b->tcp_fast_open &&
           a->max_handshakes == b->max_handshakes && a->fallback_port == b->fallback_port &&
           a->queries_per_port == b->queries_per_port && tls_peer_options_equal(&a->tls, &b->tls) &&
           sources_equal(a->sources, b->sources);
}

uint64_t upstream_options_dial_hash(const struct addr *addr, const struct upstream_options *options)
{
    enum transport transport = upstream_options_stream(options);
    uint64_t hash = sources_hash(options->sources, hash_word(transport, addr_hash(addr, 0)));
    return transport_is_secure(transport) ? tls_peer_options_hash(&options->tls, hash) : hash;
}
