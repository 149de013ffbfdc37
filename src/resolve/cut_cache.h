/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_CUT_CACHE_H
#define NAILUP_RESOLVE_CUT_CACHE_H

/*
 * Zone cuts in the cache, under (name, NS) in the view CACHE_VIEW_CUTS. Reads tasks and changes
 * nothing in them. On the worker's thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "dns/name.h"

struct answer;
struct delegation;
struct space;
struct task;
struct tasks;
struct zone;

/* How long a cut without a reachable server is kept, whatever TTL its parent gave: the next
 * referral may have the glue that this one lacks. */
enum { CUT_CACHE_UNREACHABLE_S = 30 };

struct cut_found {
    struct delegation *cut; /* the caller's, filled in when is_cut */
    struct answer *absent;  /* the caller's, when is_absent; borrows from the tasks' space */
    bool is_cut;            /* the closest cut at or above the name */
    bool is_absent;         /* a closer name does not exist, and nothing below it does */
    uint8_t passed; /* labels of the longest name known to exist in the cut's own zone; or 0 */
};

/* Finds where the descent to a name starts: at the closest known cut below the task's zone, or at
 * the zone's own servers, or at the hints. */
void cut_cache_find(struct task *task, struct name name, struct cut_found *out);

/* Returns the name of the closest known cut above the zone, or the root. */
struct name cut_cache_above(struct task *task, struct name zone);

/* Adds the glue that known cuts have for the servers of this one. */
void cut_cache_add_glue(struct task *task, struct delegation *cut);

/* Keeps a cut. */
void cut_cache_learn(struct task *task, const struct delegation *cut);

/* Keeps the fact that a name exists in the asked zone and is no cut. */
void cut_cache_learn_passed(struct task *task, struct name name, uint32_t ttl_s);

/* Keeps the fact that a name and everything below it does not exist (RFC 8020). The answer is the
 * NXDOMAIN to the task's question. */
void cut_cache_learn_absent(struct task *task, struct name name, const struct answer *answer);

/* ---- for people ---- */

enum cut_look {
    CUT_LOOK_NONE,   /* nothing is known, not even hints */
    CUT_LOOK_CUT,    /* *out is the closest known cut, or the hints */
    CUT_LOOK_ZONE,   /* at the configured zone's own servers */
    CUT_LOOK_ABSENT, /* the name does not exist (RFC 8020) */
};

/* Shows where the descent to a name would start and changes nothing, not even marks of use. The
 * zone is_authoritative and takes questions of this type; name is in lower case. In a read
 * section. */
enum cut_look cut_cache_look(const struct tasks *tasks, const struct space *space,
                             const struct zone *zone, struct name name, uint16_t type,
                             struct delegation *out);

/* Shows the closest known cut at or above a name, or the hints. A name that does not exist has
 * servers too, namely the ones that deny it. Returns false where the servers are configured or not
 * known. The rest is as above. */
bool cut_cache_look_cut(const struct tasks *tasks, const struct space *space,
                        const struct zone *zone, struct name name, struct delegation *out);

#endif
