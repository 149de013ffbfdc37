/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_DISCOVERED_H
#define NAILUP_RESOLVE_DISCOVERED_H

/* Servers that recursion meets become upstreams: options by address, then held as long as somebody
 * asks them. On the worker's thread. */

#include <stdbool.h>
#include <stddef.h>

#include "resolve/recursion_options.h"

struct upstream;
struct upstream_options;
struct upstreams;

/* Of those that never answered, so many are held for one question, drawn from all: a hostile zone
 * may name many, and an exchange asks no more of them (EXCHANGE_ATTEMPTS_MAX). */
enum { DISCOVERED_UNPROVEN_MAX = 12 };

/*
 * The upstreams with these addresses, at most `most`, each once: without those that must not be
 * asked, those that there is no room for, and strangers above their bound. Each is held until
 * discovered_drop(). Returns how many; 0 when no server may be asked. *unproven: how many of them
 * never answered.
 */
size_t discovered_hold(const struct recursion_options *recursion, struct upstreams *upstreams,
                       const struct addr *ips, size_t count, struct upstream **out, size_t most,
                       size_t *unproven);

void discovered_drop(struct upstream *const *group, size_t count);

/* For upstreams_settle(): whether one that was met would be met so under these options (struct
 * recursion_options). */
bool discovered_keeps(void *recursion, const struct addr *addr,
                      const struct upstream_options *options);

#endif
