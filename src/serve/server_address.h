/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_SERVER_ADDRESS_H
#define NAILUP_SERVE_SERVER_ADDRESS_H

/* Numbers the addresses that the server listens on: first those of listen, then those of
 * listen_tls. */

#include <stdbool.h>
#include <stddef.h>

#include "base/addr.h"
#include "serve/server_options.h"

struct server_address {
    const struct addr *addr; /* borrowed from the options */
    bool is_tls;             /* DNS over TLS; else UDP and TCP */
};

size_t server_address_count(const struct server_options *options);
struct server_address server_address_at(const struct server_options *options, size_t which);

#endif
