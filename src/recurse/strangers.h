/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RECURSE_STRANGERS_H
#define NAILUP_RECURSE_STRANGERS_H

/*
 * Questions that are put to strangers: servers that never answered us. A hostile zone can delegate
 * every random name below it to silent strangers, and each such question holds servers, sockets
 * and a task until its time is over. This table bounds how many questions do so at once, in all,
 * for each client and for each zone that named the strangers. When a bound is reached, the oldest
 * question of the greediest zone or client gives way. A stranger that is alive answers long before
 * its question becomes the oldest.
 *
 * The table also keeps a score of each zone that names strangers: how many of them stayed silent
 * lately. A zone with a high score gets fewer queries per question.
 *
 * Zones and clients are told apart by a secret hash; two that meet in one place share it. Pure but
 * for the seed: the instant is an argument. One worker's.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "dns/name.h"

enum {
    STRANGERS_MAX = 2048, /* questions to strangers at once, or half of all tasks if that is less */
    STRANGERS_LEAST = 64, /* but at least this many */
    STRANGERS_SHARE = 2,  /* the part of these that one zone, or one client, may have */
    STRANGERS_SHARE_BAD = 8,  /* that of a zone with a bad score: more than makes pressure */
    STRANGERS_GREED = 4,      /* a zone or client with this part of them gives way before others */
    STRANGERS_PLACES = 1024,  /* of zones, and as many of clients; a power of two */
    STRANGERS_SCORE_MAX = 64, /* one is forgotten each second, and by each stranger that answers */
    STRANGERS_SCORE_DOUBT = 8,
    STRANGERS_SCORE_BAD = 32,
    STRANGERS_TRIES_DOUBT = 3,  /* queries of one question from STRANGERS_SCORE_DOUBT on */
    STRANGERS_TRIES_BAD = 1,    /* from STRANGERS_SCORE_BAD on, under pressure */
    STRANGERS_SAMPLE = 4,       /* and only one of this many questions is sent */
    STRANGERS_PRESSURE = 16,    /* this part of the table waits for the zone's strangers */
    STRANGERS_PRESSURE_ALL = 4, /* or this part of it is in use */
};

/* The ways in which questions are counted, the most telling first. */
enum strangers_by {
    STRANGERS_BY_MINTER, /* the zone whose referral named the strangers */
    STRANGERS_BY_DOMAIN, /* the last two labels of their zone, for zones that mint minters */
    STRANGERS_BY_CLIENT,
    STRANGERS_BYS,
};

struct strangers_key {
    uint16_t place[STRANGERS_BYS];
    bool is_registry; /* the minter is the root or a top-level domain: its zones have many owners */
};

/* One question to strangers. Embedded in its task. */
struct strangers_ask {
    struct list all;
    struct list by[STRANGERS_BYS];
    struct strangers_key key;
};

struct strangers_place {
    struct list asks; /* struct strangers_ask.by, the oldest first */
    uint32_t count;
};

struct strangers {
    uint64_t seed;
    uint32_t count, most;
    struct list all; /* struct strangers_ask.all, the oldest first */
    struct strangers_place places[STRANGERS_BYS][STRANGERS_PLACES];
    struct strangers_score {
        uint64_t at;
        uint32_t silent;
    } scores[STRANGERS_PLACES]; /* of minters */
};

/* max_tasks: of this worker. seed: a random number. */
void strangers_init(struct strangers *strangers, size_t max_tasks, uint64_t seed);
void strangers_set_max(struct strangers *strangers, size_t max_tasks);

/* Every task calls this. The other lists mean nothing while `all` is not linked. */
static inline void strangers_ask_init(struct strangers_ask *ask)
{
    list_init(&ask->all);
}

/* The places that count a question of this client to strangers of the zone. The minter's referral
 * named these strangers. */
struct strangers_key strangers_key(const struct strangers *strangers, struct name minter,
                                   struct name zone, uint64_t client);

/* The question that must give way when one more with this key comes; NULL: there is room. */
struct strangers_ask *strangers_giving_way(const struct strangers *strangers,
                                           const struct strangers_key *key, uint64_t now);

void strangers_add(struct strangers *strangers, struct strangers_ask *ask,
                   const struct strangers_key *key);
void strangers_remove(struct strangers *strangers, struct strangers_ask *ask); /* twice is fine */

static inline bool strangers_has(const struct strangers_ask *ask)
{
    return list_is_linked(&ask->all);
}

/* All strangers of one question stayed silent; or one of them answered. */
void strangers_were_silent(struct strangers *strangers, const struct strangers_key *key,
                           uint64_t now);
void strangers_answered(struct strangers *strangers, const struct strangers_key *key, uint64_t now);

/* How many queries a question with this key may send to strangers. */
enum strangers_tries {
    STRANGERS_ALL_TRIES,
    STRANGERS_FEW_TRIES, /* STRANGERS_TRIES_DOUBT */
    STRANGERS_ONE_TRY,   /* STRANGERS_TRIES_BAD, if strangers_is_in_sample() */
};
enum strangers_tries strangers_tries(const struct strangers *strangers,
                                     const struct strangers_key *key, uint64_t now);

/* Whether a question that has one try is sent at all. */
static inline bool strangers_is_in_sample(uint64_t random)
{
    return random % STRANGERS_SAMPLE == 0;
}

#endif
