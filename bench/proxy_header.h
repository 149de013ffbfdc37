/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_PROXY_HEADER_H
#define NAILUP_BENCH_PROXY_HEADER_H

/* The header of the PROXY protocol, version 2, by which a proxy tells a server its client's
 * address. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"

enum { PROXY_HEADER_MAX = 16 + 36 };

/* Writes the header for a client with this address and port. The destination is the server's
 * address if both have one family, else the unspecified address. Returns the length. */
size_t proxy_header_write(uint8_t out[PROXY_HEADER_MAX], const struct addr *client,
                          const struct addr *server, bool is_stream);

#endif
