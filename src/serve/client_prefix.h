/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_CLIENT_PREFIX_H
#define NAILUP_SERVE_CLIENT_PREFIX_H

/*
 * Who counts as one client where clients are counted: the addresses of one prefix. Whoever has one
 * IPv6 address has 2^64 or more of them, so that a bound on single addresses would bound nobody.
 * Pure, any thread.
 */

#include <stdint.h>

#include "base/addr.h"

/* The address with all bits behind the first v4_bits or v6_bits zero, and port 0. A link-local
 * address stands for itself alone: all hosts of a link share its first 64 bits. */
struct addr client_prefix(uint16_t v4_bits, uint16_t v6_bits, const struct addr *client);

#endif
