/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "serve/course.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/stats.h"
#include "cache/compose.h"
#include "dns/header.h"
#include "dns/name.h"
#include "loop/loop.h"
#include "resolve/resolver.h"

/* A rule's CNAME, and the question for its target. */
struct redirect {
    struct answer *head; /* owned */
    struct question target;
    uint8_t wire[NAME_WIRE_MAX];
};

bool courses_init(struct courses *courses, struct loop *loop, struct resolver *resolver,
                  struct stats *stats)
{
    *courses = (struct courses){.loop = loop, .resolver = resolver, .stats = stats};
    return police_init(&courses->police, loop, resolver);
}

void courses_deinit(struct courses *courses)
{
    police_deinit(&courses->police);
    free(courses->space);
    courses->space = NULL;
}

void course_deinit(struct course *course)
{
    if (course->redirect)
        free(course->redirect->head);
    free(course->redirect);
    course->redirect = NULL;
}

/* The client's question, or that for the target of a rule. In lower case, as answers have it. */
static struct question course_question(const struct course *course, const struct query *query,
                                       uint8_t wire[NAME_WIRE_MAX])
{
    if (course->redirect)
        return course->redirect->target;
    struct question question = query->question;
    question.name = name_fold(question.name, wire);
    return question;
}

static bool course_has_cd(const struct course *course, const struct course_query *about)
{
    return about->query->flags & HEADER_CD && !course->is_checked;
}

void course_key(struct course *course, const struct courses *courses,
                const struct course_query *about, struct cache_key *key)
{
    const struct query *query = about->query;
    const struct dns64_options *dns64 = courses->dns64;
    uint8_t wire[NAME_WIRE_MAX];
    const struct question *asked = course->redirect ? &course->redirect->target : &query->question;
    struct question question = *asked;
    course->is_looking = false;
    if (!dns64)
        course->stage = DNS64_NONE;
    if ((course->stage == DNS64_SECOND || course->stage == DNS64_REVERSE) &&
        !dns64_question(dns64, course->stage, asked, &question, wire))
        course->stage = DNS64_NONE; /* the prefix has changed, and the name is an ordinary one */
    resolver_key(courses->resolver, about->view, key, &question, query->dnssec_ok,
                 course_has_cd(course, about));
}

/* ---- the start of DNS64 ---- */

/* The first stage of a question. Without memory for an answer it has none. */
static enum dns64_stage course_first_stage(struct courses *courses,
                                           const struct course_query *about,
                                           const struct question *question)
{
    const struct dns64_options *dns64 = courses->dns64;
    const struct query *query = about->query;
    if (!dns64 || about->is_local)
        return DNS64_NONE;
    if (!courses->space)
        courses->space = malloc(sizeof(*courses->space));
    if (!courses->space)
        return DNS64_NONE;
    return dns64_begin(dns64, question, about->client, query->dnssec_ok, query->flags & HEADER_CD);
}

/* The target of a rule may need addresses for clients without IPv4, like any name. */
static enum dns64_stage course_stage_of_target(struct courses *courses,
                                               const struct course_query *about,
                                               const struct question *target)
{
    enum dns64_stage stage = course_first_stage(courses, about, target);
    return stage == DNS64_FIRST ? stage : DNS64_NONE;
}

/* ---- policy ---- */

static struct redirect *redirect_new(const struct police_verdict *verdict)
{
    struct redirect *redirect = malloc(sizeof(*redirect));
    struct answer *head = redirect ? compose_dup(&verdict->answer) : NULL;
    if (!head) {
        free(redirect);
        return NULL;
    }
    redirect->head = head;
    redirect->target = verdict->target;
    redirect->target.name = name_copy(verdict->target.name, redirect->wire);
    return redirect;
}

/* Carries out the action that a rule demands. Without memory, or for a client that sees only local
 * data, a rule's alias is the answer without its target. */
static enum course_end course_obey(struct course *course, struct courses *courses,
                                   const struct course_query *about, enum police_end end,
                                   const struct police_verdict *verdict, struct cache_key *key,
                                   struct answer *answer)
{
    if (end == POLICE_DROP)
        return COURSE_DROP;
    if (end == POLICE_TRUNCATE)
        return COURSE_TRUNCATE;
    *answer = verdict->answer;
    if (end == POLICE_FOLLOW && !about->is_local)
        course->redirect = redirect_new(verdict);
    if (!course->redirect)
        return COURSE_REPLY;
    course->stage = course_stage_of_target(courses, about, &course->redirect->target);
    course_key(course, courses, about, key);
    return COURSE_ASK;
}

static struct police_query course_police_query(const struct course *course,
                                               const struct course_query *about)
{
    return (struct police_query){.query = about->query,
                                 .client = about->client,
                                 .view = about->view,
                                 .is_stream = about->is_stream,
                                 .may_look = about->may_look,
                                 .is_fresh = about->is_resolved,
                                 .is_checked = course->is_checked,
                                 .looked = course->looked};
}

/* Asks for servers that the cache forgot. The question has DO: another entry may answer a question
 * without DO (resolve/variant.h, RFC 8020), and then no server is asked. */
static enum course_end course_look(struct course *course, const struct courses *courses,
                                   const struct course_query *about,
                                   const struct police_verdict *verdict, struct cache_key *key)
{
    course->looked = verdict->looked;
    course->is_looking = true;
    resolver_pass_local(courses->resolver);
    resolver_key(courses->resolver, about->view, key, &verdict->target, true,
                 course_has_cd(course, about));
    return COURSE_RESOLVE;
}

/* ---- DNS64 ---- */

/* The answer to AAAA of ipv4only.arpa. */
static enum course_end course_reply_known(const struct course *course, struct courses *courses,
                                          const struct query *query, struct answer *answer)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct question question = course_question(course, query, wire);
    dns64_known(courses->dns64, answer, courses->space, &question, loop_now(courses->loop));
    STATS_INC(courses->stats, dns64_answers);
    return COURSE_REPLY;
}

/* The name has no A record either, or its answer failed: the client gets the answer to AAAA, but no
 * excluded address. The stage is DNS64_FIRST then, and DNS64_NONE if there is no answer to AAAA. */
static void course_give_up(struct course *course, struct courses *courses,
                           const struct course_query *about, struct answer *answer)
{
    struct answer first;
    struct cache_key key;
    /* Call it before the next look-up takes its memory. */
    dns64_turn(&first, courses->space, answer);
    *answer = first;
    course->stage = DNS64_FIRST;
    course_key(course, courses, about, &key);
    if (answer->kind == ANSWER_FAILURE ||
        !resolver_find(courses->resolver, about->view, &key, &first)) {
        course->stage = DNS64_NONE;
        return;
    }
    uint8_t wire[NAME_WIRE_MAX];
    struct question question = course_question(course, about->query, wire);
    *answer = first;
    if (first.kind == ANSWER_POSITIVE && dns64_reduce(courses->dns64, &first, courses->space,
                                                      &question, answer, loop_now(courses->loop)))
        *answer = first;
}

/* The client gets SERVFAIL: its answer does not fit, or a reload has ended DNS64 between two
 * stages. */
static void course_fail(const struct course *course, const struct courses *courses,
                        const struct query *query, struct answer *answer)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct question question = course_question(course, query, wire);
    compose_failure(answer, courses->space->bytes, &question, RCODE_SERVFAIL);
}

/* *answer is the answer of the last stage, and becomes the client's answer. */
static enum course_end course_conclude(struct course *course, struct courses *courses,
                                       const struct course_query *about, struct cache_key *key,
                                       struct answer *answer)
{
    struct answer made;
    uint8_t wire[NAME_WIRE_MAX];
    struct question question = course_question(course, about->query, wire);
    switch (dns64_make(courses->dns64, course->stage, &made, courses->space, &question,
                       course->ttl_s, answer, loop_now(courses->loop))) {
    case DNS64_MADE:
        STATS_INC(courses->stats, dns64_answers);
        *answer = made;
        break;
    case DNS64_EMPTY:
        course_give_up(course, courses, about, answer);
        break;
    case DNS64_TOO_LARGE:
        course_fail(course, courses, about->query, answer);
        break;
    case DNS64_MOVED:
        course_key(course, courses, about, key);
        return COURSE_ASK;
    }
    return COURSE_REPLY;
}

/* Judges the answer to AAAA. */
static enum course_end course_take_first(struct course *course, struct courses *courses,
                                         const struct course_query *about, struct cache_key *key,
                                         struct answer *answer)
{
    const struct dns64_options *dns64 = courses->dns64;
    uint64_t now = loop_now(courses->loop);
    uint8_t wire[NAME_WIRE_MAX];
    struct question question = course_question(course, about->query, wire);
    struct answer reduced;
    enum dns64_verdict verdict = dns64_judge(dns64, &question, answer, now, &course->ttl_s);
    if (verdict == DNS64_ASK) {
        course->stage = DNS64_SECOND;
        course_key(course, courses, about, key);
        return COURSE_ASK;
    }
    if (verdict == DNS64_REDUCE &&
        dns64_reduce(dns64, &reduced, courses->space, &question, answer, now))
        *answer = reduced;
    return COURSE_REPLY;
}

static enum course_end course_make(struct course *course, struct courses *courses,
                                   const struct course_query *about, struct cache_key *key,
                                   struct answer *answer)
{
    bool is_first = course->stage == DNS64_FIRST;
    if (course->stage == DNS64_NONE || (is_first && !courses->dns64))
        return COURSE_REPLY;
    if (is_first)
        return course_take_first(course, courses, about, key, answer);
    if (courses->dns64)
        return course_conclude(course, courses, about, key, answer);
    course_fail(course, courses, about->query, answer);
    return COURSE_REPLY;
}

/* ---- the steps ---- */

enum course_end course_begin(struct course *course, struct courses *courses,
                             const struct course_query *about, struct cache_key *key,
                             struct answer *answer)
{
    *course = (struct course){.rest = POLICE_WHOLE};
    if (courses->police.policy) {
        struct police_verdict verdict;
        struct police_query query = course_police_query(course, about);
        enum police_end end = police_ask(&courses->police, &query, &verdict);
        if (end != POLICE_PASS)
            return course_obey(course, courses, about, end, &verdict, key, answer);
        course->rest = verdict.rest;
    }
    course->stage = course_first_stage(courses, about, &about->query->question);
    if (course->stage == DNS64_KNOWN)
        return course_reply_known(course, courses, about->query, answer);
    course_key(course, courses, about, key);
    return COURSE_ASK;
}

static bool course_drops_signatures(const struct course *course, const struct courses *courses,
                                    const struct course_query *about, const struct answer *answer)
{
    uint8_t wire[NAME_WIRE_MAX];
    if (!courses->dns64 || !about->query->dnssec_ok)
        return false;
    struct question question = course_question(course, about->query, wire);
    return dns64_drops_signatures(courses->dns64, course->stage, &question, answer,
                                  loop_now(courses->loop));
}

/* Returns whether a rule concerns the answer; then *end is the next step. */
static bool course_judge(struct course *course, struct courses *courses,
                         const struct course_query *about, struct cache_key *key,
                         struct answer *answer, enum course_end *end)
{
    struct police_verdict verdict;
    struct police_query query = course_police_query(course, about);
    if (!courses->police.policy)
        return false;
    query.is_stripped = course_drops_signatures(course, courses, about, answer);
    enum police_end fate = police_judge(&courses->police, &query, course->rest, answer, &verdict);
    if (fate == POLICE_PASS)
        return false;
    if (fate == POLICE_CHECK) {
        course->is_checked = true;
        course_key(course, courses, about, key);
        *end = COURSE_ASK;
        return true;
    }
    *end = fate == POLICE_LOOK ? course_look(course, courses, about, &verdict, key)
                               : course_obey(course, courses, about, fate, &verdict, key, answer);
    return true;
}

enum course_end course_take(struct course *course, struct courses *courses,
                            const struct course_query *about, struct cache_key *key,
                            struct answer *answer)
{
    if (course->is_looking) { /* this answer is not for the client */
        course_key(course, courses, about, key);
        return COURSE_ASK;
    }
    if (course->redirect) {
        enum course_end end = course_make(course, courses, about, key, answer);
        if (end != COURSE_REPLY)
            return end;
        struct answer tail = *answer;
        police_join(&courses->police, about->query, course->redirect->head, &tail, answer);
        return COURSE_REPLY;
    }
    enum course_end end = COURSE_REPLY;
    if (course->stage == DNS64_REVERSE) { /* rules may be about the IPv4 name behind the alias */
        end = course_make(course, courses, about, key, answer);
        if (end == COURSE_REPLY)
            (void)course_judge(course, courses, about, key, answer, &end);
        return end;
    }
    if (course_judge(course, courses, about, key, answer, &end))
        return end;
    bool was_second = course->stage == DNS64_SECOND;
    end = course_make(course, courses, about, key, answer);
    /* The answer to AAAA may be newer than the one that was judged. */
    if (end == COURSE_REPLY && was_second && course->stage == DNS64_FIRST)
        (void)course_judge(course, courses, about, key, answer, &end);
    return end;
}
