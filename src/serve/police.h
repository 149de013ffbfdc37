/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_POLICE_H
#define NAILUP_SERVE_POLICE_H

/*
 * Applies response policy (rpz/rpz_policy.h) to the queries of a worker's clients. It works
 * between the resolver and the client: the cache and the tasks know nothing about policy, so two
 * clients that wait for one answer may get different replies.
 *
 *   end = police_ask(...)                     before the look-up
 *   if (end == POLICE_PASS) ...find or wait for the answer...
 *       end = police_judge(..., &answer, ...)
 *   if (end == POLICE_FOLLOW) ...find or wait for the target...
 *       police_join(...)
 *
 * One per worker, on its thread, in a read section of the cache.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/err.h"
#include "cache/answer.h"
#include "dns/question.h"
#include "rpz/rpz_choice.h"
#include "rpz/rpz_policy.h"
#include "serve/clearance.h"
#include "serve/query.h"
#include "serve/view_choice.h"

struct loop;
struct police_space;
struct resolver;

struct police {
    const struct rpz_policy *policy;      /* borrowed; NULL: none */
    const struct server_options *options; /* borrowed; what the views choose of it */
    struct rpz_choice_map map;            /* of both */
    struct clearance clearance;
    struct police_space *space;
    struct resolver *resolver;
    struct loop *loop;
};

/* The memory is taken here, so that a change of the policy never fails. It is not touched without a
 * policy. False: out of memory. */
MUST_USE bool police_init(struct police *police, struct loop *loop, struct resolver *resolver);

/* Changes the policy, or the options. At any time. */
void police_set_policy(struct police *police, const struct rpz_policy *policy);
void police_set_options(struct police *police, const struct server_options *options);

/* The zones of the policy that do not apply to clients of the view (rpz_policy.h). */
static inline uint32_t police_except(const struct police *police, unsigned view)
{
    if (!police->map.differ)
        return 0;
    return rpz_choice_except(&police->map, view_choice_policy(police->options, view));
}

void police_deinit(struct police *police);

/* ---- most queries and answers, which no rule is about ---- */

/* Search the rules for the next two functions, and note it when no rule concerns the query or the
 * answer. */
bool police_look_at_query(struct police *police, uint32_t except, const struct cache_key *key);
bool police_look_at_answer(struct police *police, uint32_t except, const struct cache_key *key,
                           const struct answer *answer);

/* Whether a rule may be about the client or the name of a query. There is a policy. */
static inline bool police_may_ask(struct police *police, const struct addr *client, unsigned view,
                                  const struct cache_key *key)
{
    uint32_t except = police_except(police, view);
    return rpz_policy_lists_client(police->policy, except, client) ||
           (clearance_slot(&police->clearance, key)->query !=
                clearance_of_query(&police->clearance, key, except) &&
            police_look_at_query(police, except, key));
}

/* Whether a rule may be about the answer to a query that police_may_ask() passes. */
static inline bool police_may_judge(struct police *police, unsigned view,
                                    const struct cache_key *key, const struct answer *answer)
{
    uint32_t except = police_except(police, view);
    uint64_t query = clearance_of_query(&police->clearance, key, except);
    const struct clearance_slot *slot = clearance_slot(&police->clearance, key);
    return (slot->query != query || slot->answer != clearance_of_answer(query, answer)) &&
           police_look_at_answer(police, except, key, answer);
}

/* ---- the others ---- */

/* The fate of a query or its answer. */
enum police_end {
    POLICE_PASS,     /* no rule changes it */
    POLICE_REPLY,    /* verdict->answer is the answer */
    POLICE_FOLLOW,   /* likewise, and the records of verdict->target follow */
    POLICE_DROP,     /* no answer at all */
    POLICE_TRUNCATE, /* TC, so that the client comes back over TCP */
    POLICE_CHECK, /* only a signature that was not checked protects the answer: judge the answer to
                     the question without CD, with is_checked */
    POLICE_LOOK,  /* the cache forgot servers that a rule may be about: resolve verdict->target to
                     learn them, and judge the answer again with verdict->looked */
};

/* The rules that police_ask() leaves to police_judge(). */
enum police_rest {
    POLICE_WHOLE, /* all rules */
    POLICE_CLEAR, /* the rules about the answer */
    POLICE_DONE,  /* none */
};

struct police_query {
    const struct query *query;
    const struct addr *client;
    unsigned view;
    bool is_stream;
    bool may_look;    /* POLICE_LOOK is allowed */
    bool is_fresh;    /* the answer was resolved for this query just now */
    bool is_checked;  /* the answer is that to the question without CD */
    bool is_stripped; /* the client gets the records of the answer without their signatures */
    uint8_t looked;   /* names at the chain's start whose servers were already looked for */
};

/* Borrows from the police until its next call. */
struct police_verdict {
    enum police_rest rest; /* with POLICE_PASS of police_ask() */
    uint8_t looked;        /* with POLICE_LOOK */
    struct answer answer;
    struct question target; /* in lower case */
    uint8_t wire[NAME_WIRE_MAX];
};

enum police_end police_ask(struct police *police, const struct police_query *query,
                           struct police_verdict *verdict);
enum police_end police_judge(struct police *police, const struct police_query *query,
                             enum police_rest rest, const struct answer *answer,
                             struct police_verdict *verdict);

/* Joins the rule's CNAME and the answer for its target. *out borrows until the next call. When they
 * do not fit together, the head alone is the answer. */
void police_join(struct police *police, const struct query *query, const struct answer *head,
                 const struct answer *tail, struct answer *out);

#endif
