/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_DISCOVERED_H
#define NAILUP_RESOLVE_DISCOVERED_H

/* Discovered servers as upstreams: they get options by address, and are held while a task asks
 * them. On the worker's thread. */

#include <stdbool.h>
#include <stddef.h>

#include "resolve/recursion_options.h"

struct upstream;
struct upstream_options;
struct upstreams;

/* Unproven servers held for one question, drawn from all of them: a hostile zone may name many, and
 * an exchange asks no more (EXCHANGE_ATTEMPTS_MAX). */
enum { DISCOVERED_UNPROVEN_MAX = 12 };

/*
 * Holds the upstreams with these addresses until discovered_drop(), at most `most`, each once. It
 * leaves out servers that must not be asked, servers for which there is no room, and unproven
 * servers above their bound. Returns how many it holds; 0: no server may be asked. *unproven: how
 * many never answered.
 */
size_t discovered_hold(const struct recursion_options *recursion, struct upstreams *upstreams,
                       const struct addr *ips, size_t count, struct upstream **out, size_t most,
                       size_t *unproven);

void discovered_drop(struct upstream *const *group, size_t count);

/* For upstreams_settle(): whether a discovered upstream would get the same options under these
 * options of recursion (struct recursion_options). */
bool discovered_keeps(void *recursion, const struct addr *addr,
                      const struct upstream_options *options);

#endif
