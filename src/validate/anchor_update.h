/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_VALIDATE_ANCHOR_UPDATE_H
#define NAILUP_VALIDATE_ANCHOR_UPDATE_H

/*
 * The trust anchors of one zone and their changes over the years (RFC 5011): a table of keys, each
 * with its state. The caller fetches the zone's keys, finds out which of them sign the set, and
 * passes the time; this module decides. Pure; any thread.
 *
 *   START -> ADDPEND   a trusted key signs a set with a new key
 *   ADDPEND -> VALID   the key was in every set for ANCHOR_HOLD_S
 *   ADDPEND -> START   a set lacks the key: its time begins again if it comes back
 *   VALID -> MISSING   a set lacks the key; it is still trusted
 *   MISSING -> VALID   it is back
 *   VALID, MISSING -> REVOKED   the key has the revoke bit and signs the set itself
 *   REVOKED -> REMOVED   ANCHOR_HOLD_S later
 *
 * Keys in the states START and REMOVED are not in the table. Times are seconds since 1970.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/span.h"
#include "dns/name.h"
#include "validate/anchors.h"

/* The numbers of Unbound's files. */
enum anchor_state {
    ANCHOR_START,
    ANCHOR_ADDPEND,
    ANCHOR_VALID,
    ANCHOR_MISSING,
    ANCHOR_REVOKED,
    ANCHOR_REMOVED,
};

enum {
    ANCHOR_KEYS_MAX = 16,   /* keys of one zone that are tracked */
    ANCHOR_PENDING_MAX = 8, /* of these, in the state ADDPEND */
    ANCHOR_SEEDS_MAX = 8,   /* DS records of keys that were not seen yet */
    ANCHOR_SEEN_MAX = 32,   /* keys of one set */
    ANCHOR_KEY_BYTES_MAX = 4096,
    ANCHOR_SEED_BYTES_MAX = 4 + 64,
    ANCHOR_SIGHTINGS_MIN = 2, /* sets that must have shown a new key */
};

enum {
    ANCHOR_HOLD_S = 30 * 86400, /* before a new key counts, and before a revoked one is forgotten */
    ANCHOR_HOUR_S = 3600,
    ANCHOR_RETRY_MAX_S = 86400,
    ANCHOR_INTERVAL_MAX_S = 15 * 86400,
};

struct anchor_key {
    enum anchor_state state;
    uint32_t sightings; /* ADDPEND: how many sets have shown it */
    int64_t since_s;    /* of the state */
    uint16_t len;
    uint8_t rdata[ANCHOR_KEY_BYTES_MAX]; /* of the DNSKEY record, without the revoke bit */
};

struct anchor_seed {
    uint16_t len;
    uint8_t rdata[ANCHOR_SEED_BYTES_MAX]; /* of the DS record */
};

/* The anchors of a zone with their states. It has no pointers. */
struct anchor_point {
    bool is_kept;                            /* read from a file that a program wrote */
    bool is_revoked;                         /* every key was revoked, so the zone has no anchor */
    int64_t queried_s, succeeded_s, probe_s; /* the last query, the last good set, the next query */
    uint32_t failed;                         /* queries without a good set since then */
    uint32_t interval_s, retry_s;
    size_t count, seed_count;
    uint8_t zone_len;
    uint8_t zone[NAME_WIRE_MAX]; /* in lower case */
    struct anchor_key key[ANCHOR_KEYS_MAX];
    struct anchor_seed seed[ANCHOR_SEEDS_MAX];
};

/* A key of the zone's DNSKEY set. */
struct anchor_seen_key {
    struct span rdata;
    bool has_signed; /* a signature of it over the set was verified */
};

/* The zone's DNSKEY set as it was fetched. */
struct anchor_seen {
    size_t count;
    struct anchor_seen_key key[ANCHOR_SEEN_MAX];
    uint32_t original_ttl_s;   /* of the signatures */
    uint32_t signature_left_s; /* until the first of the verified signatures ends */
};

/* The changes that a set has made. */
struct anchor_changes {
    bool is_trusted; /* a trusted key signs the set; false: only revocations count */
    unsigned added, promoted, missing, returned, revoked, removed, dropped, ignored;
};

void anchor_point_init(struct anchor_point *point, struct name zone);

static inline struct name anchor_point_zone(const struct anchor_point *point)
{
    return (struct name){point->zone, point->zone_len};
}

/* Adds a key. Drops the revoke bit: the state has the same information. ERR_LIMIT: no room;
 * ERR_INVALID: no DNSKEY record of a size that is kept. A key that is there already changes
 * nothing. */
MUST_USE enum err anchor_point_add_key(struct anchor_point *point, struct span rdata,
                                       enum anchor_state state, int64_t since_s,
                                       uint32_t sightings);

/* Adds a DS record. ERR_LIMIT: no room; ERR_INVALID: no DS record of a size that is kept. */
MUST_USE enum err anchor_point_add_seed(struct anchor_point *point, struct span rdata);

/* Takes a set that was fetched at now_s. */
void anchor_update_seen(struct anchor_point *point, const struct anchor_seen *seen, int64_t now_s,
                        bool allow_sha1, struct anchor_changes *changes);

/* Notes that no set came. */
void anchor_update_failed(struct anchor_point *point, int64_t now_s);

/* Returns when the next query is due; never more than ANCHOR_INTERVAL_MAX_S after now_s, wherever
 * the clock was before. */
int64_t anchor_update_due_s(const struct anchor_point *point, int64_t now_s);

/* Adds the keys that are trusted now, and the DS records while no key is trusted yet. Adds nothing
 * after a revocation of every key. */
MUST_USE enum err anchor_point_apply(const struct anchor_point *point, struct anchors *out);

/* Returns how many keys are in this state. */
unsigned anchor_point_count(const struct anchor_point *point, enum anchor_state state);

/* Returns "START", "ADDPEND" and so on, as RFC 5011 writes them. */
const char *anchor_state_name(enum anchor_state state);

#endif
