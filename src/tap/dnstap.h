/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TAP_DNSTAP_H
#define NAILUP_TAP_DNSTAP_H

/*
 * Queries and answers as they pass, in the format of dnstap, to a reader at a UNIX socket or to a
 * file. Workers leave payloads in a ring of DNSTAP_RING bytes each; a thread writes them as frame
 * streams, waits for a reader that is not there and asks again each DNSTAP_RETRY_MS. What comes
 * while the ring is full is lost and counted (dnstap_dropped).
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "tap/dnstap_options.h"

enum {
    DNSTAP_RING = 1024 * 1024, /* bytes of each worker */
    DNSTAP_RETRY_MS = 1000,
};

struct dnstap;
struct stats;
struct tap;

/* False: this program was built without it, and dnstap_open() is not to be called. */
bool dnstap_is_built_in(void);

/* Begins; a file is opened at once, a reader may come later. options are copied. ERR_NO_MEMORY,
 * ERR_NO_FILES, or what is wrong with the file. */
MUST_USE enum err dnstap_open(struct dnstap **out, const struct dnstap_options *options,
                              size_t workers);
/* A worker's tap, for its own thread; stats are its. Lives as long as the dnstap. */
struct tap *dnstap_tap(struct dnstap *dnstap, size_t worker, struct stats *stats);
/* Whether its taps want to see clients, upstreams. */
bool dnstap_sees_clients(const struct dnstap *dnstap);
bool dnstap_sees_upstreams(const struct dnstap *dnstap);
/* No worker uses its tap any more. Writes what is left, for DRAIN_STOP_MS at most. NULL is fine. */
void dnstap_close(struct dnstap *dnstap);

#endif
