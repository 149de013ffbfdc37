/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_COURSE_H
#define NAILUP_SERVE_COURSE_H

/*
 * The course of a query from its question to its reply where one answer is not enough: response
 * policy (police.h) and DNS64 (resolve/dns64.h). It names the answer that comes next, takes it, and
 * says what the client gets. request.c asks and sends. The policy judges every answer before DNS64
 * uses it, so a made address never hides a listed one.
 *
 *   end = course_begin(...)
 *   while (end == COURSE_ASK) ...find or wait for the answer of the key...
 *       end = course_take(...)
 *
 * On the worker's thread, in a read section of the cache.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/err.h"
#include "cache/answer.h"
#include "cache/key.h"
#include "dns/header.h"
#include "resolve/dns64.h"
#include "serve/police.h"
#include "serve/query.h"

struct compose_space;
struct loop;
struct redirect;
struct resolver;
struct stats;

/* The objects that all courses of a worker share. */
struct courses {
    struct loop *loop;
    struct resolver *resolver;
    struct stats *stats;
    const struct dns64_options *dns64; /* borrowed, may be set at any time; NULL: none */
    struct police police;
    struct compose_space *space; /* for one answer of DNS64; NULL: none was made */
};

/* Everything is borrowed. False: out of memory. */
MUST_USE bool courses_init(struct courses *courses, struct loop *loop, struct resolver *resolver,
                           struct stats *stats);
void courses_deinit(struct courses *courses);

/* Whether queries may have several steps under the present options. */
static inline bool courses_have_steps(const struct courses *courses)
{
    return courses->police.policy || courses->dns64;
}

/* Whether a query may have several steps: a rule may be about its client or its name, or DNS64 may
 * make its answer. Cheap; true may be wrong. The key is that of the query. */
static inline bool courses_concern_query(struct courses *courses, const struct query *query,
                                         const struct addr *client, unsigned view,
                                         const struct cache_key *key)
{
    const struct dns64_options *dns64 = courses->dns64;
    if (courses->police.policy && police_may_ask(&courses->police, client, view, key))
        return true;
    return dns64 && dns64_begin(dns64, &query->question, client, query->dnssec_ok,
                                query->flags & HEADER_CD) != DNS64_NONE;
}

/* Whether a rule may be about the answer to a query that had no steps. Cheap; true may be wrong. */
static inline bool courses_concern_answer(struct courses *courses, unsigned view,
                                          const struct cache_key *key, const struct answer *answer)
{
    return courses->police.policy && police_may_judge(&courses->police, view, key, answer);
}

/* A course without steps is all zero. */
struct course {
    enum police_rest rest;     /* the rules that its answer is judged by */
    enum dns64_stage stage;    /* the answer that comes next */
    uint8_t looked;            /* as in struct police_query */
    bool is_looking;           /* the answer that comes next only brings servers back */
    bool is_checked;           /* answers are those to questions without CD */
    uint32_t ttl_s;            /* of the answer to AAAA, from DNS64_SECOND on */
    struct redirect *redirect; /* owned: a rule's alias, whose target comes next; NULL: none */
};

struct course_query {
    const struct query *query;
    const struct addr *client;
    unsigned view; /* of the client */
    bool is_stream;
    bool is_local;    /* it may only see local data */
    bool is_resolved; /* the answer was resolved for this query just now */
    bool may_look;    /* servers may be asked because of a rule */
};

enum course_end {
    COURSE_ASK,      /* the answer of *key comes next */
    COURSE_RESOLVE,  /* likewise, and one in the cache does not suffice */
    COURSE_REPLY,    /* *answer is for the client */
    COURSE_DROP,     /* the client gets nothing */
    COURSE_TRUNCATE, /* the client gets TC, and comes back over TCP */
};

/* Begins, at the first look at a query. With COURSE_REPLY, *answer borrows from the courses until
 * the next call for any course. course_deinit() ends every course. */
enum course_end course_begin(struct course *course, struct courses *courses,
                             const struct course_query *about, struct cache_key *key,
                             struct answer *answer);

/* Continues with the answer that came. *answer is that answer, and later the one for the client. */
enum course_end course_take(struct course *course, struct courses *courses,
                            const struct course_query *about, struct cache_key *key,
                            struct answer *answer);

/* Makes the key of the answer that comes next, after a pause in which the options may have changed.
 */
void course_key(struct course *course, const struct courses *courses,
                const struct course_query *about, struct cache_key *key);

void course_deinit(struct course *course);

#endif
