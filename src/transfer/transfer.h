/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TRANSFER_TRANSFER_H
#define NAILUP_TRANSFER_TRANSFER_H

/*
 * Keeps one zone in step with its primaries: loads the version of an earlier life from a file, asks
 * the primaries when xfr_schedule.h says so, hands over each new version, and writes it to the
 * file. One thread with a loop. It waits for the disk, and the end of a large zone takes a second,
 * so that thread is never a worker.
 *
 * Invariant: the receiver has the newest version that arrived whole, until it expires.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "dns/name.h"
#include "transfer/xfr_conn.h"
#include "transfer/xfr_gate.h"

struct transfer;

enum { TRANSFER_PRIMARIES_MAX = 16 };

/* Borrowed while the transfer is open, except the zone's name. */
struct transfer_options {
    struct name zone;
    struct xfr_gate *gate; /* the loop's gate, which admits the visits of all its transfers */
    const struct xfr_primary *primaries;
    unsigned primary_count; /* 1 to TRANSFER_PRIMARIES_MAX */
    size_t max_bytes;       /* bound of a version (zone_builder_new()) */
    const char *folder;     /* the folder for the zone's file; NULL or "": none */
    /* A version that the receiver has already, and the seconds until it expires; NULL: none. Then
     * the file is not read. A reference is taken. */
    struct zone_data *held;
    int64_t held_left_s;
    /* The receiver uses a version after its expiry too: an expired version of the file is handed
     * over, and on_expired follows. */
    bool keeps_expired;
};

/* The ends of a visit to a primary. */
enum transfer_result {
    TRANSFER_CURRENT, /* the primary has the version that we hold */
    TRANSFER_WHOLE,   /* the primary gave a whole zone */
    TRANSFER_CHANGES, /* the primary gave changes */
    TRANSFER_FAILED,
};

struct transfer_handler {
    /* A version is in force; the receiver takes a reference if it keeps it. Comes again after an
     * expiry, when a primary confirms the version. The receiver may refuse it with an error: then
     * the previous version stays, and another primary is asked. If changes or an expired version
     * led to the refused version, the whole zone is requested. */
    enum err (*on_version)(void *owner, struct zone_data *version);
    /* No primary has confirmed the version in time: no answer may come from it. This applies to the
     * version of the file too. */
    void (*on_expired)(void *owner, struct name zone);
    /* A visit has ended, after on_version. why is a sentence about a failure, else "". */
    void (*on_visited)(void *owner, struct name zone, enum transfer_result result, const char *why);
};

/* The state of the zone. */
struct transfer_view {
    bool has_version, is_expired;
    uint32_t serial;
    int64_t confirmed_at_s; /* since 1970: a primary last confirmed or gave the version; 0: never */
    int64_t expires_in_s;   /* 0 once expired */
    uint64_t refresh_at; /* us of the loop's clock, when primaries are asked next; 0: just now, or
                           when the gate admits the zone */
};

/* Begins. A version from the file is handed over before the return, and primaries are asked later.
 * ERR_NO_MEMORY. */
MUST_USE enum err transfer_open(struct transfer **out, struct loop *loop,
                                struct tls_contexts *contexts,
                                const struct transfer_options *options,
                                const struct transfer_handler *handler, void *owner);

/* Ends without a further callback; the file stays. *transfer becomes NULL; NULL is fine. */
void transfer_close(struct transfer **transfer);

/* Takes an allowed NOTIFY from this address. serial is NULL if the message has none. */
void transfer_notify(struct transfer *transfer, const struct addr *from, const uint32_t *serial);

/* Says whether the receiver doubts the version that it has. While it does, a primary with the same
 * serial is asked for the whole zone, once in each round, and its version is handed over. The
 * doubted version stays in force while a primary has its serial. A new version ends the doubt. */
void transfer_doubt(struct transfer *transfer, bool is_doubted);

/* Asks the primaries now, as a NOTIFY without serial does. */
void transfer_refresh(struct transfer *transfer);

void transfer_look(const struct transfer *transfer, struct transfer_view *out);

#endif
