/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * A 64-bit hash with a random seed identifies a pair: an attacker cannot prepare a collision, and a
 * chance collision does no harm. The last bits choose a row of places.
 */
#include "recurse/lame.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/rand.h"

enum { ROWS = LAME_MAX / LAME_WAYS };

struct place {
    uint64_t pair;
    uint64_t ends_at; /* 0: free */
    uint64_t try_at;  /* 0: never */
};

struct lame {
    uint64_t seed;
    uint64_t last_at; /* when the last entry expires */
    struct place rows[ROWS][LAME_WAYS];
};

struct lame *lame_new(void)
{
    struct lame *lame = calloc(1, sizeof(*lame));
    if (lame)
        lame->seed = rand_u64();
    return lame;
}

void lame_free(struct lame *lame)
{
    free(lame);
}

static uint64_t pair_of(const struct lame *lame, struct name zone, const struct addr *ip)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct name folded = name_fold(zone, wire);
    return hash_bytes(folded.wire, folded.len, addr_hash_ip(ip, lame->seed));
}

static struct place *lame_find(const struct lame *lame, uint64_t pair)
{
    /* The cast saves a second function for const. */
    struct place *row = (struct place *)lame->rows[pair % ROWS];
    for (size_t i = 0; i < LAME_WAYS; i++)
        if (row[i].ends_at && row[i].pair == pair)
            return &row[i];
    return NULL;
}

static struct place *soonest(struct lame *lame, uint64_t pair)
{
    struct place *row = lame->rows[pair % ROWS], *place = row;
    for (size_t i = 1; i < LAME_WAYS; i++)
        if (row[i].ends_at < place->ends_at)
            place = &row[i];
    return place;
}

static struct place *lame_take(struct lame *lame, struct name zone, const struct addr *ip,
                               uint64_t now)
{
    uint64_t pair = pair_of(lame, zone, ip);
    struct place *place = lame_find(lame, pair);
    if (!place)
        place = soonest(lame, pair);
    *place = (struct place){.pair = pair, .ends_at = now + LAME_US};
    lame->last_at = place->ends_at;
    return place;
}

void lame_note(struct lame *lame, struct name zone, const struct addr *ip, uint64_t now)
{
    (void)lame_take(lame, zone, ip, now);
}

void lame_note_useless(struct lame *lame, struct name zone, const struct addr *ip, uint64_t now)
{
    const struct place *before = lame_find(lame, pair_of(lame, zone, ip));
    bool refuses = before && now < before->ends_at && !before->try_at;
    if (!refuses)
        lame_take(lame, zone, ip, now)->try_at = now + LAME_TRY_US;
}

bool lame_try(struct lame *lame, struct name zone, const struct addr *ip, uint64_t now)
{
    struct place *place = lame_find(lame, pair_of(lame, zone, ip));
    if (!place || !place->try_at || now < place->try_at)
        return false;
    place->try_at = now + LAME_TRY_US;
    return true;
}

void lame_forget(struct lame *lame, struct name zone, const struct addr *ip)
{
    struct place *place = lame->last_at ? lame_find(lame, pair_of(lame, zone, ip)) : NULL;
    if (place)
        *place = (struct place){0};
}

bool lame_is(const struct lame *lame, struct name zone, const struct addr *ip, uint64_t now)
{
    if (now >= lame->last_at)
        return false;
    const struct place *place = lame_find(lame, pair_of(lame, zone, ip));
    return place && now < place->ends_at;
}

void lame_clear(struct lame *lame)
{
    lame->last_at = 0;
    memset(lame->rows, 0, sizeof(lame->rows));
}
