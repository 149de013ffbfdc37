/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TAP_DNSTAP_H
#define NAILUP_TAP_DNSTAP_H

/*
 * Sends queries and answers in the format of dnstap to a reader at a UNIX socket or to a file. Each
 * worker leaves payloads in a ring of DNSTAP_RING bytes. A thread writes them as a frame stream;
 * without a reader it tries again every DNSTAP_RETRY_MS. A payload that finds its ring full is lost
 * and counted (dnstap_dropped).
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "tap/dnstap_options.h"

enum {
    DNSTAP_RING = 1024 * 1024, /* bytes for each worker */
    DNSTAP_RETRY_MS = 1000,
};

struct dnstap;
struct stats;
struct tap;

/* Returns whether this program was built with dnstap. If not, do not call dnstap_open(). */
bool dnstap_is_built_in(void);

/* Starts the thread. Opens a file at once; a reader may come later. Copies the options.
 * ERR_NO_MEMORY, ERR_NO_FILES, or the error of the file. */
MUST_USE enum err dnstap_open(struct dnstap **out, const struct dnstap_options *options,
                              size_t workers);
/* Returns the tap of a worker, for that worker's thread; stats are the worker's. It lives as long
 * as the dnstap. */
struct tap *dnstap_tap(struct dnstap *dnstap, size_t worker, struct stats *stats);
/* Return whether the taps want messages of clients, or of upstreams. */
bool dnstap_sees_clients(const struct dnstap *dnstap);
bool dnstap_sees_upstreams(const struct dnstap *dnstap);
/* Follows the path of a file that was renamed or removed: the stream there ends, and another one
 * begins in a new file. Any thread. */
void dnstap_reopen(struct dnstap *dnstap);
/* Writes the last payloads for at most DRAIN_STOP_MS. All workers must have stopped using their
 * taps. NULL is fine. */
void dnstap_close(struct dnstap *dnstap);

#endif
