/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_SERVER_ADDRESS_H
#define NAILUP_SERVE_SERVER_ADDRESS_H

/* Numbers the addresses that the server listens on: first those of listen, then those of listen_tls
 * and those of listen_https. */

#include <stdbool.h>
#include <stddef.h>

#include "base/addr.h"
#include "base/transport.h"
#include "serve/server_options.h"

struct server_address {
    const struct addr *addr; /* borrowed from the options */
    enum transport stream;   /* TRANSPORT_TCP: and UDP */
};

static inline bool server_address_has_udp(struct server_address address)
{
    return address.stream == TRANSPORT_TCP;
}

/* The option that has the address, for sentences. */
const char *server_address_key(struct server_address address);

size_t server_address_count(const struct server_options *options);
struct server_address server_address_at(const struct server_options *options, size_t which);

#endif
