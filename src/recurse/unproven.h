/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RECURSE_UNPROVEN_H
#define NAILUP_RECURSE_UNPROVEN_H

/*
 * Bounds the questions to unproven servers, which have never answered us. A hostile zone can
 * delegate every random name below it to silent servers, and each such question holds servers,
 * sockets and a task until it times out. This table bounds these questions in all, for each client,
 * and for each zone whose referral named the servers. When a bound is reached, the oldest question
 * of the zone or client with the most gives way. An unproven server that is alive answers long
 * before its question becomes the oldest.
 *
 * The table also keeps a score for each zone that names unproven servers: how many of them stayed
 * silent recently. A question of a zone with a high score may send fewer queries.
 *
 * A secret hash tells zones and clients apart; two in one place share it. Pure except for the seed:
 * the instant is an argument. One worker's.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "dns/name.h"

enum {
    UNPROVEN_MAX = 2048,     /* questions at once, or half of all tasks if that is less */
    UNPROVEN_MIN = 64,       /* the table has at least this many */
    UNPROVEN_SHARE = 2,      /* the part of these that one zone or one client may have */
    UNPROVEN_SHARE_BAD = 8,  /* the part of a zone with a bad score: more than makes pressure */
    UNPROVEN_GREED = 4,      /* a zone or client with this part gives way before others */
    UNPROVEN_PLACES = 1024,  /* places for zones, and as many for clients; a power of two */
    UNPROVEN_SCORE_MAX = 64, /* one is forgotten each second, and with each server that answers */
    UNPROVEN_SCORE_DOUBT = 8,
    UNPROVEN_SCORE_BAD = 32,
    UNPROVEN_TRIES_DOUBT = 3,  /* queries of one question from UNPROVEN_SCORE_DOUBT on */
    UNPROVEN_TRIES_BAD = 1,    /* with a score of UNPROVEN_SCORE_BAD, under pressure */
    UNPROVEN_SAMPLE = 4,       /* under pressure, one of this many questions is sent */
    UNPROVEN_PRESSURE = 16,    /* this part of the table waits for the zone's servers */
    UNPROVEN_PRESSURE_ALL = 4, /* or this part of it is in use */
};

/* How questions are counted, the most telling way first. */
enum unproven_by {
    UNPROVEN_BY_REFERRER, /* the zone whose referral named the servers */
    UNPROVEN_BY_DOMAIN, /* the last two labels of their zone, for zones that make up referring zones
                         */
    UNPROVEN_BY_CLIENT,
    UNPROVEN_BY_COUNT,
};

struct unproven_key {
    uint16_t place[UNPROVEN_BY_COUNT];
    bool is_registry; /* the referrer is the root or a top-level domain, whose zones have many
                         owners */
};

/* One question to unproven servers. Embedded in its task. */
struct unproven_query {
    struct list all;
    struct list by[UNPROVEN_BY_COUNT];
    struct unproven_key key;
};

struct unproven_place {
    struct list asks; /* struct unproven_query.by, the oldest first */
    uint32_t count;
};

struct unproven {
    uint64_t seed;
    uint32_t count, most;
    struct list all; /* struct unproven_query.all, the oldest first */
    struct unproven_place places[UNPROVEN_BY_COUNT][UNPROVEN_PLACES];
    struct unproven_score {
        uint64_t at;
        uint32_t silent;
    } scores[UNPROVEN_PLACES]; /* the scores of referrers */
};

/* max_tasks: of this worker. seed: a random number. */
void unproven_init(struct unproven *unproven, size_t max_tasks, uint64_t seed);
void unproven_set_max(struct unproven *unproven, size_t max_tasks);

/* Every task calls this. The other lists have no meaning while `all` is not linked. */
static inline void unproven_query_init(struct unproven_query *ask)
{
    list_init(&ask->all);
}

/* Returns the places that count a client's question to unproven servers of the zone. The referrer's
 * referral named these servers. */
struct unproven_key unproven_key(const struct unproven *unproven, struct name referrer,
                                 struct name zone, uint64_t client);

/* Returns the question that must give way to one more with this key; NULL: there is room. */
struct unproven_query *unproven_find_yielding(const struct unproven *unproven,
                                              const struct unproven_key *key, uint64_t now);

void unproven_add(struct unproven *unproven, struct unproven_query *ask,
                  const struct unproven_key *key);
void unproven_remove(struct unproven *unproven, struct unproven_query *ask); /* twice is fine */

static inline bool unproven_has(const struct unproven_query *ask)
{
    return list_is_linked(&ask->all);
}

/* Note that all unproven servers of one question stayed silent, or that one of them answered. */
void unproven_note_silence(struct unproven *unproven, const struct unproven_key *key, uint64_t now);
void unproven_note_answer(struct unproven *unproven, const struct unproven_key *key, uint64_t now);

/* How many queries a question with this key may send to unproven servers. */
enum unproven_tries {
    UNPROVEN_ALL_TRIES,
    UNPROVEN_FEW_TRIES, /* UNPROVEN_TRIES_DOUBT */
    UNPROVEN_ONE_TRY,   /* UNPROVEN_TRIES_BAD, if unproven_is_in_sample() */
};
enum unproven_tries unproven_tries(const struct unproven *unproven, const struct unproven_key *key,
                                   uint64_t now);

/* Whether a question that has one try is sent. */
static inline bool unproven_is_in_sample(uint64_t random)
{
    return random % UNPROVEN_SAMPLE == 0;
}

#endif
