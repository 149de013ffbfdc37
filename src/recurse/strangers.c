/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Counts, lists by age, and scores that leak.
 *
 * Invariant: the count of a place is the length of its list, and none exceeds its share.
 */
#include "recurse/strangers.h"

#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/units.h"

enum { DOMAIN_LABELS = 2 };

void strangers_set_max(struct strangers *strangers, size_t max_tasks)
{
    size_t most = MIN(max_tasks / 2, (size_t)STRANGERS_MAX);
    strangers->most = (uint32_t)MAX(most, (size_t)STRANGERS_LEAST);
}

void strangers_init(struct strangers *strangers, size_t max_tasks, uint64_t seed)
{
    memset(strangers, 0, sizeof(*strangers));
    strangers->seed = seed;
    list_init(&strangers->all);
    for (unsigned by = 0; by < STRANGERS_BYS; by++)
        for (unsigned i = 0; i < STRANGERS_PLACES; i++)
            list_init(&strangers->places[by][i].asks);
    strangers_set_max(strangers, max_tasks);
}

/* ---- keys ---- */

static uint16_t place_of_name(const struct strangers *strangers, struct name name)
{
    return (uint16_t)(name_hash(name, strangers->seed) & (STRANGERS_PLACES - 1));
}

static struct name domain_of(struct name zone)
{
    return name_label_count(zone) > DOMAIN_LABELS ? name_suffix(zone, DOMAIN_LABELS) : zone;
}

struct strangers_key strangers_key(const struct strangers *strangers, struct name minter,
                                   struct name zone, uint64_t client)
{
    uint64_t hash = hash_bytes(&client, sizeof(client), strangers->seed);
    return (struct strangers_key){
        .place = {[STRANGERS_BY_MINTER] = place_of_name(strangers, minter),
                  [STRANGERS_BY_DOMAIN] = place_of_name(strangers, domain_of(zone)),
                  [STRANGERS_BY_CLIENT] = (uint16_t)(hash & (STRANGERS_PLACES - 1))},
        .is_registry = name_label_count(minter) <= 1,
    };
}

/* ---- the table ---- */

static struct strangers_ask *oldest_by(const struct strangers *strangers, unsigned by,
                                       unsigned place)
{
    const struct list *node = list_first(&strangers->places[by][place].asks);
    return node ? CONTAINER_OF(node, struct strangers_ask, by[by]) : NULL;
}

static unsigned greediest(const struct strangers *strangers, unsigned by)
{
    unsigned found = 0;
    for (unsigned i = 1; i < STRANGERS_PLACES; i++)
        if (strangers->places[by][i].count > strangers->places[by][found].count)
            found = i;
    return found;
}

/* The table is full: a zone or client that has much of it gives way, else the oldest of all. */
static struct strangers_ask *greediest_gives_way(const struct strangers *strangers)
{
    uint32_t much = strangers->most / STRANGERS_GREED;
    for (unsigned by = 0; by < STRANGERS_BYS; by++) {
        unsigned place = greediest(strangers, by);
        if (strangers->places[by][place].count >= much)
            return oldest_by(strangers, by, place);
    }
    return LIST_ITEM(list_first(&strangers->all), struct strangers_ask, all);
}

void strangers_add(struct strangers *strangers, struct strangers_ask *ask,
                   const struct strangers_key *key)
{
    MUST(!strangers_has(ask));
    ask->key = *key;
    list_append(&strangers->all, &ask->all);
    strangers->count++;
    for (unsigned by = 0; by < STRANGERS_BYS; by++) {
        struct strangers_place *place = &strangers->places[by][key->place[by]];
        list_append(&place->asks, &ask->by[by]);
        place->count++;
    }
}

void strangers_remove(struct strangers *strangers, struct strangers_ask *ask)
{
    if (!strangers_has(ask))
        return;
    list_remove(&ask->all);
    strangers->count--;
    for (unsigned by = 0; by < STRANGERS_BYS; by++) {
        list_remove(&ask->by[by]);
        strangers->places[by][ask->key.place[by]].count--;
    }
}

/* ---- scores ---- */

static uint32_t score_now(const struct strangers_score *score, uint64_t now)
{
    uint64_t forgotten = now > score->at ? (now - score->at) / US_PER_S : 0;
    return forgotten < score->silent ? score->silent - (uint32_t)forgotten : 0;
}

/* The zones of a registry have many owners, and are never bad together. */
static bool minter_is_bad(const struct strangers *strangers, const struct strangers_key *key,
                          uint64_t now)
{
    const struct strangers_score *score = &strangers->scores[key->place[STRANGERS_BY_MINTER]];
    return !key->is_registry && score_now(score, now) >= STRANGERS_SCORE_BAD;
}

static bool is_pressed(const struct strangers *strangers, unsigned minter)
{
    return strangers->places[STRANGERS_BY_MINTER][minter].count >=
               strangers->most / STRANGERS_PRESSURE ||
           strangers->count >= strangers->most / STRANGERS_PRESSURE_ALL;
}

/* The part of a second that has passed counts for the next one. */
static void set_score(struct strangers_score *score, uint32_t silent, uint64_t now)
{
    uint64_t forgotten = now > score->at ? (now - score->at) / US_PER_S : 0;
    score->at = score_now(score, now) ? score->at + forgotten * US_PER_S : now;
    score->silent = silent;
}

void strangers_were_silent(struct strangers *strangers, const struct strangers_key *key,
                           uint64_t now)
{
    struct strangers_score *score = &strangers->scores[key->place[STRANGERS_BY_MINTER]];
    set_score(score, MIN(score_now(score, now) + 1, (uint32_t)STRANGERS_SCORE_MAX), now);
}

void strangers_answered(struct strangers *strangers, const struct strangers_key *key, uint64_t now)
{
    struct strangers_score *score = &strangers->scores[key->place[STRANGERS_BY_MINTER]];
    uint32_t silent = score_now(score, now);
    if (silent)
        set_score(score, silent - 1, now);
}

enum strangers_tries strangers_tries(const struct strangers *strangers,
                                     const struct strangers_key *key, uint64_t now)
{
    unsigned place = key->place[STRANGERS_BY_MINTER];
    if (score_now(&strangers->scores[place], now) < STRANGERS_SCORE_DOUBT)
        return STRANGERS_ALL_TRIES;
    if (!minter_is_bad(strangers, key, now) || !is_pressed(strangers, place))
        return STRANGERS_FEW_TRIES;
    return STRANGERS_ONE_TRY;
}

/* ---- who gives way ---- */

/* A bad zone may have had much before its score showed that: what is left of it makes room too. */
static uint32_t share_of(const struct strangers *strangers, const struct strangers_key *key,
                         unsigned by, uint64_t now)
{
    bool is_bad = by == STRANGERS_BY_MINTER && minter_is_bad(strangers, key, now);
    return strangers->most / (is_bad ? STRANGERS_SHARE_BAD : STRANGERS_SHARE);
}

struct strangers_ask *strangers_giving_way(const struct strangers *strangers,
                                           const struct strangers_key *key, uint64_t now)
{
    for (unsigned by = 0; by < STRANGERS_BYS; by++)
        if (strangers->places[by][key->place[by]].count >= share_of(strangers, key, by, now))
            return oldest_by(strangers, by, key->place[by]);
    return strangers->count >= strangers->most ? greediest_gives_way(strangers) : NULL;
}
