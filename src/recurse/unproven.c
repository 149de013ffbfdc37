/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Keeps the counts, the lists by age, and the scores, which decay.
 *
 * Invariant: the count of a place is the length of its list, and no count exceeds its share.
 */
#include "recurse/unproven.h"

#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/units.h"

enum { DOMAIN_LABELS = 2 };

void unproven_set_max(struct unproven *unproven, size_t max_tasks)
{
    size_t most = MIN(max_tasks / 2, (size_t)UNPROVEN_MAX);
    unproven->most = (uint32_t)MAX(most, (size_t)UNPROVEN_MIN);
}

void unproven_init(struct unproven *unproven, size_t max_tasks, uint64_t seed)
{
    memset(unproven, 0, sizeof(*unproven));
    unproven->seed = seed;
    list_init(&unproven->all);
    for (unsigned by = 0; by < UNPROVEN_BY_COUNT; by++)
        for (unsigned i = 0; i < UNPROVEN_PLACES; i++)
            list_init(&unproven->places[by][i].asks);
    unproven_set_max(unproven, max_tasks);
}

/* ---- keys ---- */

static uint16_t place_of_name(const struct unproven *unproven, struct name name)
{
    return (uint16_t)(name_hash(name, unproven->seed) & (UNPROVEN_PLACES - 1));
}

static struct name domain_of(struct name zone)
{
    return name_label_count(zone) > DOMAIN_LABELS ? name_suffix(zone, DOMAIN_LABELS) : zone;
}

struct unproven_key unproven_key(const struct unproven *unproven, struct name referrer,
                                 struct name zone, uint64_t client)
{
    uint64_t hash = hash_bytes(&client, sizeof(client), unproven->seed);
    return (struct unproven_key){
        .place = {[UNPROVEN_BY_REFERRER] = place_of_name(unproven, referrer),
                  [UNPROVEN_BY_DOMAIN] = place_of_name(unproven, domain_of(zone)),
                  [UNPROVEN_BY_CLIENT] = (uint16_t)(hash & (UNPROVEN_PLACES - 1))},
        .is_registry = name_label_count(referrer) <= 1,
    };
}

/* ---- the table ---- */

static struct unproven_query *oldest_by(const struct unproven *unproven, unsigned by,
                                        unsigned place)
{
    const struct list *node = list_first(&unproven->places[by][place].asks);
    return node ? CONTAINER_OF(node, struct unproven_query, by[by]) : NULL;
}

static unsigned greediest(const struct unproven *unproven, unsigned by)
{
    unsigned found = 0;
    for (unsigned i = 1; i < UNPROVEN_PLACES; i++)
        if (unproven->places[by][i].count > unproven->places[by][found].count)
            found = i;
    return found;
}

/* The table is full: a zone or client with a large part of it gives way, else the oldest question.
 */
static struct unproven_query *greediest_gives_way(const struct unproven *unproven)
{
    uint32_t much = unproven->most / UNPROVEN_GREED;
    for (unsigned by = 0; by < UNPROVEN_BY_COUNT; by++) {
        unsigned place = greediest(unproven, by);
        if (unproven->places[by][place].count >= much)
            return oldest_by(unproven, by, place);
    }
    return LIST_ITEM(list_first(&unproven->all), struct unproven_query, all);
}

void unproven_add(struct unproven *unproven, struct unproven_query *ask,
                  const struct unproven_key *key)
{
    MUST(!unproven_has(ask));
    ask->key = *key;
    list_append(&unproven->all, &ask->all);
    unproven->count++;
    for (unsigned by = 0; by < UNPROVEN_BY_COUNT; by++) {
        struct unproven_place *place = &unproven->places[by][key->place[by]];
        list_append(&place->asks, &ask->by[by]);
        place->count++;
    }
}

void unproven_remove(struct unproven *unproven, struct unproven_query *ask)
{
    if (!unproven_has(ask))
        return;
    list_remove(&ask->all);
    unproven->count--;
    for (unsigned by = 0; by < UNPROVEN_BY_COUNT; by++) {
        list_remove(&ask->by[by]);
        unproven->places[by][ask->key.place[by]].count--;
    }
}

/* ---- scores ---- */

static uint32_t score_now(const struct unproven_score *score, uint64_t now)
{
    uint64_t forgotten = now > score->at ? (now - score->at) / US_PER_S : 0;
    return forgotten < score->silent ? score->silent - (uint32_t)forgotten : 0;
}

/* The zones of a registry have many owners, so a registry is never bad as a whole. */
static bool referrer_is_bad(const struct unproven *unproven, const struct unproven_key *key,
                            uint64_t now)
{
    const struct unproven_score *score = &unproven->scores[key->place[UNPROVEN_BY_REFERRER]];
    return !key->is_registry && score_now(score, now) >= UNPROVEN_SCORE_BAD;
}

static bool is_pressed(const struct unproven *unproven, unsigned referrer)
{
    return unproven->places[UNPROVEN_BY_REFERRER][referrer].count >=
               unproven->most / UNPROVEN_PRESSURE ||
           unproven->count >= unproven->most / UNPROVEN_PRESSURE_ALL;
}

/* The part of a second that has passed counts towards the next one. */
static void set_score(struct unproven_score *score, uint32_t silent, uint64_t now)
{
    uint64_t forgotten = now > score->at ? (now - score->at) / US_PER_S : 0;
    score->at = score_now(score, now) ? score->at + forgotten * US_PER_S : now;
    score->silent = silent;
}

void unproven_note_silence(struct unproven *unproven, const struct unproven_key *key, uint64_t now)
{
    struct unproven_score *score = &unproven->scores[key->place[UNPROVEN_BY_REFERRER]];
    set_score(score, MIN(score_now(score, now) + 1, (uint32_t)UNPROVEN_SCORE_MAX), now);
}

void unproven_note_answer(struct unproven *unproven, const struct unproven_key *key, uint64_t now)
{
    struct unproven_score *score = &unproven->scores[key->place[UNPROVEN_BY_REFERRER]];
    uint32_t silent = score_now(score, now);
    if (silent)
        set_score(score, silent - 1, now);
}

enum unproven_tries unproven_tries(const struct unproven *unproven, const struct unproven_key *key,
                                   uint64_t now)
{
    unsigned place = key->place[UNPROVEN_BY_REFERRER];
    if (score_now(&unproven->scores[place], now) < UNPROVEN_SCORE_DOUBT)
        return UNPROVEN_ALL_TRIES;
    if (!referrer_is_bad(unproven, key, now) || !is_pressed(unproven, place))
        return UNPROVEN_FEW_TRIES;
    return UNPROVEN_ONE_TRY;
}

/* ---- giving way ---- */

/* A zone may have filled its share before its score became bad: its remaining questions make room
 * too. */
static uint32_t share_of(const struct unproven *unproven, const struct unproven_key *key,
                         unsigned by, uint64_t now)
{
    bool is_bad = by == UNPROVEN_BY_REFERRER && referrer_is_bad(unproven, key, now);
    return unproven->most / (is_bad ? UNPROVEN_SHARE_BAD : UNPROVEN_SHARE);
}

struct unproven_query *unproven_find_yielding(const struct unproven *unproven,
                                              const struct unproven_key *key, uint64_t now)
{
    for (unsigned by = 0; by < UNPROVEN_BY_COUNT; by++)
        if (unproven->places[by][key->place[by]].count >= share_of(unproven, key, by, now))
            return oldest_by(unproven, by, key->place[by]);
    return unproven->count >= unproven->most ? greediest_gives_way(unproven) : NULL;
}
