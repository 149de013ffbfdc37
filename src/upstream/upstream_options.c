/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The defaults of nailup.yaml(5), in one place for tests and for upstreams made by hand. */

#include "upstream/upstream_options.h"

#include "base/units.h"

const struct upstream_options upstream_options_default = {
    .transport = UPSTREAM_UDP,
    .fallback = UPSTREAM_FALLBACK_UDP,
    .prewarm = true,
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
    .fallback_port = 53,
};
