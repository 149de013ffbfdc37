/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_FRESHNESS_H
#define NAILUP_SERVE_FRESHNESS_H

/* How long HTTP caches may keep a reply. Pure. */

#include <stdint.h>

#include "base/span.h"

/* Returns the seconds (RFC 8484 section 5.1): the smallest TTL of the answer section, or that of a
 * negative answer (RFC 2308 section 5). 0 for a message without either, such as an error, and for a
 * truncated one. */
uint32_t freshness_of(struct span reply);

#endif
