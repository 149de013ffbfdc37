/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TRANSFER_XFR_CONN_H
#define NAILUP_TRANSFER_XFR_CONN_H

/*
 * One visit to a primary, over TCP or TLS (RFC 9103): it asks for the serial, and if that is newer,
 * fetches the zone over the same connection, by IXFR when we have a version. If an IXFR fails for a
 * reason other than the network or a signature, an AXFR over a new connection follows.
 *
 * Invariant: a version leaves only after the whole transfer has arrived and all its signatures were
 * right.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/err.h"
#include "base/units.h"
#include "dns/name.h"
#include "tls/tls_options.h"

struct loop;
struct tls_contexts;
struct tsig_key;
struct zone_data;
struct xfr_conn;

#define XFR_CONN_DIAL_US (10 * US_PER_S)    /* until TCP and TLS are open */
#define XFR_CONN_SILENCE_US (30 * US_PER_S) /* between two messages */
#define XFR_CONN_WHOLE_US (7200 * US_PER_S) /* the time for the whole visit */

enum { XFR_WHY_MAX = 200 };

/* A server of a zone. Borrowed for the life of the connection. */
struct xfr_primary {
    struct addr addr;
    bool has_tls;
    struct tls_peer_options tls; /* valid with has_tls; the profile is strict */
    const struct tsig_key *key;  /* NULL: no signatures */
};

struct xfr_task {
    struct name zone; /* copied */
    const struct xfr_primary *primary;
    struct zone_data *held; /* the present version, or NULL; a reference is taken */
    bool wants_whole;       /* AXFR even with held: its changes were useless */
    bool is_expired;        /* held has expired: an older version may replace it */
    bool doubts_held;       /* held is doubted: a whole zone with its serial may replace it */
    size_t max_bytes;       /* bound of the new version (zone_builder_new()) */
};

enum xfr_outcome {
    XFR_OUTCOME_CURRENT, /* the primary has the version that we hold */
    XFR_OUTCOME_VERSION, /* the primary gave a newer one */
    XFR_OUTCOME_FAILED,
};

/* The end of a visit; borrowed until the return of on_end. */
struct xfr_end {
    enum xfr_outcome outcome;
    struct zone_data *version; /* VERSION: the receiver owns the reference */
    bool is_whole;             /* VERSION: it came by AXFR or as a whole zone */
    bool has_held_serial;      /* the primary's serial is the one of the version that we hold */
    uint64_t records, stream_bytes, out_of_zone;
    const char *why; /* FAILED: a sentence for logs without a final stop */
};

typedef void (*xfr_on_end)(void *owner, const struct xfr_end *end);

/* Begins a visit. on_end comes once, never before the return. ERR_NO_MEMORY. */
MUST_USE enum err xfr_conn_open(struct xfr_conn **out, struct loop *loop,
                                struct tls_contexts *contexts, const struct xfr_task *task,
                                xfr_on_end on_end, void *owner);

/* Ends it without a further callback; allowed in on_end. *conn becomes NULL; NULL is fine. */
void xfr_conn_close(struct xfr_conn **conn);

#endif
