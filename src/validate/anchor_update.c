/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The table of RFC 5011 section 4. Invariant: a key becomes trusted only by the operator, by a DS
 * record of the operator, or by ANCHOR_HOLD_S in sets that another trusted key signs; it loses its
 * trust only by its own signature.
 */
#include "validate/anchor_update.h"

#include <string.h>

#include "base/check.h"
#include "dns/rrtype.h"
#include "validate/algorithm.h"
#include "validate/dnskey.h"

/* The low byte of a DNSKEY's flags. */
enum { FLAGS_LOW = 1 };

void anchor_point_init(struct anchor_point *point, struct name zone)
{
    *point = (struct anchor_point){.zone_len = zone.len};
    name_fold(zone, point->zone);
}

const char *anchor_state_name(enum anchor_state state)
{
    static const char *const names[] = {"START",   "ADDPEND", "VALID",
                                        "MISSING", "REVOKED", "REMOVED"};
    return names[state];
}

unsigned anchor_point_count(const struct anchor_point *point, enum anchor_state state)
{
    unsigned count = 0;
    for (size_t i = 0; i < point->count; i++)
        count += point->key[i].state == state;
    return count;
}

/* ---- keys ---- */

/* Compares keys without their revoke bits. */
static bool is_same_key(const struct anchor_key *key, struct span rdata)
{
    return key->len == rdata.len && key->rdata[0] == rdata.data[0] &&
           key->rdata[FLAGS_LOW] == (rdata.data[FLAGS_LOW] & ~DNSKEY_REVOKE) &&
           memcmp(key->rdata + 2, rdata.data + 2, rdata.len - 2u) == 0;
}

static struct anchor_key *anchor_key_find(struct anchor_point *point, struct span rdata)
{
    for (size_t i = 0; i < point->count; i++)
        if (is_same_key(&point->key[i], rdata))
            return &point->key[i];
    return NULL;
}

static bool anchor_is_trusted(const struct anchor_key *key)
{
    return key->state == ANCHOR_VALID || key->state == ANCHOR_MISSING;
}

static void anchor_key_move(struct anchor_key *key, enum anchor_state state, int64_t now_s)
{
    key->state = state;
    key->since_s = now_s;
    key->sightings = 0;
}

static void anchor_key_drop(struct anchor_point *point, size_t at)
{
    point->count--;
    memmove(&point->key[at], &point->key[at + 1], (point->count - at) * sizeof(point->key[0]));
}

enum err anchor_point_add_key(struct anchor_point *point, struct span rdata,
                              enum anchor_state state, int64_t since_s, uint32_t sightings)
{
    struct dnskey read;
    if (rdata.len > ANCHOR_KEY_BYTES_MAX || !dnskey_read(&read, rdata) || read.key.len == 0)
        return ERR_INVALID;
    if (anchor_key_find(point, rdata))
        return ERR_OK;
    if (point->count == ANCHOR_KEYS_MAX)
        return ERR_LIMIT;
    struct anchor_key *key = &point->key[point->count++];
    key->state = state;
    key->since_s = since_s;
    key->sightings = sightings;
    key->len = (uint16_t)rdata.len;
    memset(key->rdata, 0, sizeof(key->rdata)); /* points are compared as bytes */
    memcpy(key->rdata, rdata.data, rdata.len);
    key->rdata[FLAGS_LOW] &= (uint8_t)~DNSKEY_REVOKE;
    return ERR_OK;
}

enum err anchor_point_add_seed(struct anchor_point *point, struct span rdata)
{
    struct ds ds;
    if (rdata.len > ANCHOR_SEED_BYTES_MAX || !ds_read(&ds, rdata))
        return ERR_INVALID;
    for (size_t i = 0; i < point->seed_count; i++)
        if (point->seed[i].len == rdata.len &&
            memcmp(point->seed[i].rdata, rdata.data, rdata.len) == 0)
            return ERR_OK;
    if (point->seed_count == ANCHOR_SEEDS_MAX)
        return ERR_LIMIT;
    struct anchor_seed *seed = &point->seed[point->seed_count++];
    seed->len = (uint16_t)rdata.len;
    memset(seed->rdata, 0, sizeof(seed->rdata));
    memcpy(seed->rdata, rdata.data, rdata.len);
    return ERR_OK;
}

static bool has_trusted_key(const struct anchor_point *point)
{
    return anchor_point_count(point, ANCHOR_VALID) || anchor_point_count(point, ANCHOR_MISSING);
}

/* Whether a DS record of the operator fits this key. */
static bool has_seed(const struct anchor_point *point, const struct dnskey *key)
{
    for (size_t i = 0; i < point->seed_count; i++) {
        struct ds ds;
        if (ds_read(&ds, span_of(point->seed[i].rdata, point->seed[i].len)) &&
            algorithm_is_digest_supported(ds.digest_type) &&
            ds_fits(&ds, anchor_point_zone(point), key))
            return true;
    }
    return false;
}

/* ---- a set ---- */

/* Whether the key may become an anchor: it signs keys, and its algorithm counts. */
static bool is_candidate(const struct dnskey *key, bool allow_sha1)
{
    return dnskey_may_sign(key) && (key->flags & DNSKEY_SEP) &&
           key->rdata.len <= ANCHOR_KEY_BYTES_MAX &&
           algorithm_is_supported(key->algorithm, allow_sha1) &&
           algorithm_key_is_sound(key->algorithm, key->key.data, key->key.len);
}

/* A time far in the future is an error of the file: trusted sets have dates near the true one. A
 * time in the near future stays, so that a clock that goes back never shortens a time. */
static void heed_clock(struct anchor_point *point, int64_t now_s)
{
    for (size_t i = 0; i < point->count; i++)
        if (point->key[i].since_s > now_s + ANCHOR_HOLD_S)
            point->key[i].since_s = now_s;
}

/* RFC 5011 section 2.1: a revocation counts only if the revoked key signs it. */
static void take_revocations(struct anchor_point *point, const struct anchor_seen *seen,
                             int64_t now_s, struct anchor_changes *changes)
{
    for (size_t i = 0; i < seen->count; i++) {
        struct dnskey read;
        if (!seen->key[i].has_signed || !dnskey_read(&read, seen->key[i].rdata) ||
            !(read.flags & DNSKEY_REVOKE))
            continue;
        struct anchor_key *key = anchor_key_find(point, read.rdata);
        if (!key || key->state == ANCHOR_REVOKED)
            continue;
        changes->revoked += anchor_is_trusted(key);
        if (anchor_is_trusted(key))
            anchor_key_move(key, ANCHOR_REVOKED, now_s);
        else
            anchor_key_drop(point, (size_t)(key - point->key));
    }
}

/* Whether a key that was trusted before this set signs it. */
static bool is_set_trusted(struct anchor_point *point, const struct anchor_seen *seen,
                           bool allow_sha1)
{
    bool may_use_seeds = !has_trusted_key(point);
    for (size_t i = 0; i < seen->count; i++) {
        struct dnskey read;
        if (!seen->key[i].has_signed || !dnskey_read(&read, seen->key[i].rdata) ||
            !dnskey_may_sign(&read) || !algorithm_is_supported(read.algorithm, allow_sha1))
            continue;
        const struct anchor_key *key = anchor_key_find(point, read.rdata);
        if (key ? anchor_is_trusted(key) : may_use_seeds && has_seed(point, &read))
            return true;
    }
    return false;
}

static void add_new_key(struct anchor_point *point, const struct dnskey *read, bool is_trusted,
                        int64_t now_s, struct anchor_changes *changes)
{
    enum anchor_state state = is_trusted ? ANCHOR_VALID : ANCHOR_ADDPEND;
    bool has_room = is_trusted || anchor_point_count(point, ANCHOR_ADDPEND) < ANCHOR_PENDING_MAX;
    if (has_room && anchor_point_add_key(point, read->rdata, state, now_s, !is_trusted) == ERR_OK)
        changes->added++;
    else
        changes->ignored++;
}

/* The set has this key. */
static void see_key(struct anchor_key *key, uint32_t original_ttl_s, int64_t now_s,
                    struct anchor_changes *changes)
{
    int64_t hold_s = MAX((int64_t)ANCHOR_HOLD_S, (int64_t)original_ttl_s);
    if (key->state == ANCHOR_MISSING) {
        anchor_key_move(key, ANCHOR_VALID, now_s);
        changes->returned++;
    }
    if (key->state != ANCHOR_ADDPEND)
        return;
    key->sightings += key->sightings < UINT32_MAX;
    if (key->sightings >= ANCHOR_SIGHTINGS_MIN && now_s - key->since_s >= hold_s) {
        anchor_key_move(key, ANCHOR_VALID, now_s);
        changes->promoted++;
    }
}

static bool is_in_set(const struct anchor_key *key, const struct anchor_seen *seen)
{
    for (size_t i = 0; i < seen->count; i++) {
        struct dnskey read;
        if (dnskey_read(&read, seen->key[i].rdata) && !(read.flags & DNSKEY_REVOKE) &&
            is_same_key(key, read.rdata))
            return true;
    }
    return false;
}

/* Keys that the set lacks. */
static void miss_keys(struct anchor_point *point, const struct anchor_seen *seen, int64_t now_s,
                      struct anchor_changes *changes)
{
    for (size_t i = point->count; i-- > 0;) {
        struct anchor_key *key = &point->key[i];
        if (is_in_set(key, seen))
            continue;
        if (key->state == ANCHOR_VALID) {
            anchor_key_move(key, ANCHOR_MISSING, now_s);
            changes->missing++;
        } else if (key->state == ANCHOR_ADDPEND) {
            anchor_key_drop(point, i);
            changes->dropped++;
        }
    }
}

static void take_keys(struct anchor_point *point, const struct anchor_seen *seen, int64_t now_s,
                      bool allow_sha1, struct anchor_changes *changes)
{
    bool may_use_seeds = !has_trusted_key(point);
    miss_keys(point, seen, now_s, changes);
    for (size_t i = 0; i < seen->count; i++) {
        struct dnskey read;
        if (!dnskey_read(&read, seen->key[i].rdata) || !dnskey_may_sign(&read))
            continue;
        struct anchor_key *key = anchor_key_find(point, read.rdata);
        if (key)
            see_key(key, seen->original_ttl_s, now_s, changes);
        else if (is_candidate(&read, allow_sha1))
            add_new_key(point, &read, may_use_seeds && has_seed(point, &read), now_s, changes);
    }
    if (has_trusted_key(point))
        point->seed_count = 0;
}

static void remove_revoked(struct anchor_point *point, int64_t now_s,
                           struct anchor_changes *changes)
{
    for (size_t i = point->count; i-- > 0;) {
        if (point->key[i].state != ANCHOR_REVOKED || now_s - point->key[i].since_s < ANCHOR_HOLD_S)
            continue;
        anchor_key_drop(point, i);
        changes->removed++;
    }
}

/* RFC 5011 section 2.3. */
static uint32_t anchor_clamp(uint32_t most_s, uint64_t ttl_part, uint64_t left_part)
{
    uint64_t least = MIN((uint64_t)most_s, MIN(ttl_part, left_part));
    return (uint32_t)MAX((uint64_t)ANCHOR_HOUR_S, least);
}

void anchor_update_seen(struct anchor_point *point, const struct anchor_seen *seen, int64_t now_s,
                        bool allow_sha1, struct anchor_changes *changes)
{
    *changes = (struct anchor_changes){0};
    take_revocations(point, seen, now_s, changes);
    changes->is_trusted = is_set_trusted(point, seen, allow_sha1);
    if (changes->revoked && !has_trusted_key(point))
        point->is_revoked = true;
    if (!changes->is_trusted) {
        anchor_update_failed(point, now_s);
        return;
    }
    heed_clock(point, now_s);
    take_keys(point, seen, now_s, allow_sha1, changes);
    remove_revoked(point, now_s, changes);
    point->interval_s =
        anchor_clamp(ANCHOR_INTERVAL_MAX_S, seen->original_ttl_s / 2, seen->signature_left_s / 2);
    point->retry_s =
        anchor_clamp(ANCHOR_RETRY_MAX_S, seen->original_ttl_s / 10, seen->signature_left_s / 10);
    point->failed = 0;
    point->queried_s = point->succeeded_s = now_s;
    point->probe_s = now_s + point->interval_s;
}

void anchor_update_failed(struct anchor_point *point, int64_t now_s)
{
    uint32_t retry_s = MIN((uint32_t)ANCHOR_RETRY_MAX_S, point->retry_s);
    point->failed += point->failed < UINT32_MAX;
    point->queried_s = now_s;
    point->probe_s = now_s + MAX((uint32_t)ANCHOR_HOUR_S, retry_s);
}

int64_t anchor_update_due_s(const struct anchor_point *point, int64_t now_s)
{
    return point->probe_s > now_s + ANCHOR_INTERVAL_MAX_S ? now_s : point->probe_s;
}

enum err anchor_point_apply(const struct anchor_point *point, struct anchors *out)
{
    struct name zone = anchor_point_zone(point);
    enum err err = ERR_OK;
    if (point->is_revoked)
        return ERR_OK;
    for (size_t i = 0; i < point->count && !err; i++)
        if (anchor_is_trusted(&point->key[i]))
            err = anchors_add(out, zone, RRTYPE_DNSKEY,
                              span_of(point->key[i].rdata, point->key[i].len));
    for (size_t i = 0; i < point->seed_count && !err; i++)
        err = anchors_add(out, zone, RRTYPE_DS, span_of(point->seed[i].rdata, point->seed[i].len));
    return err;
}
