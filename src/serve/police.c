/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Brings a query, its answer and the policy together. rpz decides and writes; request.c sends.
 *
 * Invariant: an answer that the policy made is never stored.
 */
#include "serve/police.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/units.h"
#include "cache/compose.h"
#include "dns/header.h"
#include "dns/message.h"
#include "dns/rrtype.h"
#include "loop/loop.h"
#include "resolve/resolver.h"
#include "resolve/stitch.h"
#include "rpz/rpz_reply.h"
#include "serve/name_servers.h"

enum { LOOKS = 256 /* a power of two */ };

/* The pause after a look that found no servers. A name in the zone of a top-level domain never has
 * any, so the pause grows. It begins short, because a look also finds nothing if the cut expires in
 * that very second. */
#define LOOK_PAUSE_MIN_US (1 * US_PER_S)
#define LOOK_PAUSE_MAX_US (60 * US_PER_S)
enum { LOOK_PAUSE_GROWTH = 8 };

/* A look for servers that found none. */
struct look {
    uint64_t hash, until;
    uint64_t pause_us; /* until then, from the look on */
};

struct police_space {
    struct compose_space head, joined;
    struct name_servers servers; /* of the last name that was judged */
    struct look looks[LOOKS];
};

bool police_init(struct police *police, struct loop *loop, struct resolver *resolver)
{
    *police = (struct police){.loop = loop, .resolver = resolver};
    police->space = calloc(1, sizeof(*police->space));
    return clearance_init(&police->clearance) && police->space;
}

static void police_translate(struct police *police)
{
    clearance_forget(&police->clearance);
    if (police->options)
        rpz_choice_map_make(&police->map, &police->options->policy_choices, police->policy);
}

void police_set_policy(struct police *police, const struct rpz_policy *policy)
{
    police->policy = policy;
    police_translate(police);
}

void police_set_options(struct police *police, const struct server_options *options)
{
    police->options = options;
    police_translate(police);
}

void police_deinit(struct police *police)
{
    clearance_deinit(&police->clearance);
    free(police->space);
    police->space = NULL;
}

/* ---- queries and answers that no rule is about ---- */

bool police_look_at_query(struct police *police, uint32_t except, const struct cache_key *key)
{
    if (rpz_policy_may_ask(police->policy, except, (struct name){key->name, key->name_len}))
        return true;
    clearance_slot(&police->clearance, key)->query =
        clearance_of_query(&police->clearance, key, except);
    return false;
}

bool police_look_at_answer(struct police *police, uint32_t except, const struct cache_key *key,
                           const struct answer *answer)
{
    struct name name = {key->name, key->name_len};
    if (rpz_policy_may_judge(police->policy, except, name, answer))
        return true;
    if (answer->stored_at >= loop_now(police->loop))
        return false; /* the next answer of this turn may have its place, time and length */
    uint64_t query = clearance_of_query(&police->clearance, key, except);
    *clearance_slot(&police->clearance, key) =
        (struct clearance_slot){query, clearance_of_answer(query, answer)};
    return false;
}

/* ---- servers ---- */

/* A search for the name servers of every name in an answer. */
struct police_look {
    struct police *police;
    const struct police_query *query;
    uint8_t place;                  /* of the next name in the alias chain */
    struct name zone;               /* that denies the last name; empty: the zone is not known */
    const struct question *asked;   /* what the answer is to */
    struct police_verdict *verdict; /* NULL: only known servers count */
    bool needs_addrs;               /* rules are about the addresses of servers */
    bool has_target;                /* the verdict has a target */
};

/* ---- servers that the cache forgot ---- */

/* The zone that denies the end of the answer's chain; empty: the answer denies nothing, or does not
 * name its zone. */
static struct name denying_zone(const struct answer *answer, uint8_t wire[NAME_WIRE_MAX])
{
    struct message message;
    if ((answer->kind != ANSWER_NODATA && answer->kind != ANSWER_NXDOMAIN) ||
        message_parse(&message, answer->message) != MESSAGE_OK)
        return (struct name){0};
    struct rr_iter iter = message_rrs(&message, SECTION_AUTHORITY);
    for (struct rr rr; message_rr_next(&iter, &rr);)
        if (rr.type == RRTYPE_SOA)
            return name_fold(message_owner(&message, &rr, wire), wire);
    return (struct name){0};
}

/* Finds the place of a look by the cache key of the question for the servers: views may know
 * different servers. */
static struct look *police_find_look(const struct police_look *look, struct name name,
                                     uint64_t *hash)
{
    const struct police *police = look->police;
    struct question servers = {.name = name, .type = RRTYPE_NS, .cls = RRCLASS_IN};
    struct cache_key key;
    resolver_key(police->resolver, look->query->view, &key, &servers, false, false);
    *hash = key.hash;
    return &police->space->looks[key.hash % LOOKS];
}

/* A look for the servers of this name found none. */
static void police_note_vain(const struct police_look *look, struct name name)
{
    uint64_t hash, pause_us = LOOK_PAUSE_MIN_US, now = loop_now(look->police->loop);
    struct look *vain = police_find_look(look, name, &hash);
    if (vain->hash == hash && now < vain->until)
        return;
    if (vain->hash == hash && now < vain->until + LOOK_PAUSE_MAX_US)
        pause_us = MIN(vain->pause_us * LOOK_PAUSE_GROWTH, LOOK_PAUSE_MAX_US);
    *vain = (struct look){hash, now + pause_us, pause_us};
}

static bool police_was_vain(const struct police_look *look, struct name name)
{
    uint64_t hash;
    const struct look *vain = police_find_look(look, name, &hash);
    return vain->hash == hash && loop_now(look->police->loop) < vain->until;
}

/* Whether recursion resolves the name and the servers of its zone, which were just searched for,
 * are not known. Where rules are about addresses, servers without any known address count as not
 * known: the address of a server may expire long before the cut. */
static bool lacks_servers(const struct police_look *look, struct name name, struct name zone)
{
    struct name_servers *found = &look->police->space->servers;
    unsigned labels = zone.len ? name_label_count(zone) : NAME_SERVERS_LABELS_MIN;
    bool is_lacking = found->labels < labels || (look->needs_addrs && !found->has_addrs);
    return labels >= NAME_SERVERS_LABELS_MIN && is_lacking &&
           name_label_count(name) >= NAME_SERVERS_LABELS_MIN &&
           resolver_find_cut(look->police->resolver, look->query->view, name, &found->cut);
}

/* Decides whether to ask a question that brings the servers of the name back, and which one: the
 * name's own, or the one for the servers of the zone that denies it. All denials of a zone share
 * one look, and a cached denial does not answer the question for its servers. */
static void police_consider(struct police_look *look, struct name name, bool is_last)
{
    struct police_verdict *verdict = look->verdict;
    struct name zone = is_last && look->zone.len && name_is_below(name, look->zone)
                           ? look->zone
                           : (struct name){0};
    if (!lacks_servers(look, name, zone))
        return;
    struct name asked = zone.len ? zone : name;
    if (look->place < look->query->looked)
        police_note_vain(look, asked);
    bool was_met = look->query->is_fresh && look->place == 0 && !zone.len;
    if (look->place < look->query->looked || was_met || police_was_vain(look, asked))
        return;
    verdict->target = *look->asked;
    verdict->target.name = name_copy(asked, verdict->wire);
    if (zone.len)
        verdict->target.type = RRTYPE_NS;
    verdict->looked = look->place + 1u;
    look->has_target = true;
}

static const struct rpz_servers *police_servers(void *context, struct name name, bool is_last)
{
    struct police_look *look = context;
    const struct police *police = look->police;
    const struct rpz_servers *servers =
        name_servers_find(&police->space->servers, police->resolver, look->query->view, name);
    if (look->verdict && !look->has_target)
        police_consider(look, name, is_last);
    look->place++;
    return servers;
}

/* ---- deciding ---- */

static bool has_signature(struct span bytes)
{
    struct message message;
    if (message_parse(&message, bytes) != MESSAGE_OK)
        return false;
    struct rr_iter iter = message_all_rrs(&message);
    for (struct rr rr; message_rr_next(&iter, &rr);)
        if (rr.type == RRTYPE_RRSIG)
            return true;
    return false;
}

/* Where answers are validated, a signature protects an answer from policy only if the answer is
 * secure. */
static bool is_signed(const struct query *query, const struct answer *answer)
{
    if (!query->dnssec_ok)
        return false;
    if (answer->security != SECURITY_UNCHECKED)
        return answer->security == SECURITY_SECURE;
    return has_signature(answer->message);
}

/* A client with CD gets answers that were not checked. A zone without anchor must not protect its
 * answers from a rule by signatures that mean nothing. */
static bool police_needs_check(const struct police *police, const struct police_query *query,
                               const struct answer *answer, const struct rpz_query *asked,
                               const struct rpz_answer *facts, bool is_clear)
{
    struct rpz_decision decision;
    struct rpz_query trial = *asked;
    struct rpz_answer unsigned_facts = *facts;
    if (!facts->is_signed || answer->security != SECURITY_UNCHECKED || query->is_checked ||
        !(query->query->flags & HEADER_CD))
        return false;
    trial.is_look = true;
    unsigned_facts.is_signed = false;
    return rpz_policy_judge(police->policy, &trial, &unsigned_facts, is_clear, &decision) ==
           RPZ_DECIDED;
}

/* Carries out the decision. */
static enum police_end decide(struct police *police, const struct question *question,
                              const struct rpz_decision *decision, const struct answer *former,
                              struct police_verdict *verdict)
{
    struct name target;
    if (decision->action == RPZ_DROP)
        return POLICE_DROP;
    if (decision->action == RPZ_TCP_ONLY)
        return POLICE_TRUNCATE;
    if (!rpz_reply_write(&verdict->answer, &police->space->head, question, decision, former,
                         loop_now(police->loop), verdict->wire, &target))
        return POLICE_REPLY;
    verdict->target = *question;
    verdict->target.name = name_fold(target, verdict->wire);
    return POLICE_FOLLOW;
}

static struct question fold_question(const struct query *query, uint8_t wire[NAME_WIRE_MAX])
{
    struct question question = query->question;
    question.name = name_fold(question.name, wire);
    return question;
}

static struct rpz_query rpz_query_of(const struct police *police, const struct police_query *query,
                                     const struct question *question)
{
    return (struct rpz_query){
        .client = query->client,
        .question = question,
        .except = police_except(police, query->view),
        .dnssec_ok = query->query->dnssec_ok,
        .is_stream = query->is_stream,
    };
}

enum police_end police_ask(struct police *police, const struct police_query *query,
                           struct police_verdict *verdict)
{
    static const enum police_rest rests[] = {
        [RPZ_EXEMPT] = POLICE_DONE, [RPZ_CLEAR] = POLICE_CLEAR, [RPZ_WAIT] = POLICE_WHOLE};
    uint8_t wire[NAME_WIRE_MAX];
    struct rpz_decision decision;
    struct question question = fold_question(query->query, wire);
    struct rpz_query asked = rpz_query_of(police, query, &question);
    enum rpz_step step = rpz_policy_ask(police->policy, &asked, &decision);
    if (step == RPZ_DECIDED)
        return decide(police, &question, &decision, NULL, verdict);
    verdict->rest = rests[step];
    return POLICE_PASS;
}

/* Whether servers must be looked for, because the rules about them come before any rule that
 * decides now. */
static bool police_needs_look(const struct police *police, const struct rpz_query *asked,
                              const struct rpz_answer *facts, bool is_clear)
{
    const struct police_look *look = facts->context;
    struct rpz_decision decision;
    struct rpz_query trial = *asked;
    trial.is_look = true;
    rpz_policy_judge(police->policy, &trial, facts, is_clear, &decision);
    return look->has_target;
}

enum police_end police_judge(struct police *police, const struct police_query *query,
                             enum police_rest rest, const struct answer *answer,
                             struct police_verdict *verdict)
{
    uint8_t wire[NAME_WIRE_MAX], zone_wire[NAME_WIRE_MAX];
    struct rpz_decision decision;
    if (rest == POLICE_DONE)
        return POLICE_PASS;
    bool is_clear = rest == POLICE_CLEAR;
    struct question question = fold_question(query->query, wire);
    struct rpz_query asked = rpz_query_of(police, query, &question);
    struct police_look look = {.police = police, .query = query, .asked = &question};
    struct rpz_answer facts = {
        .message = answer->message,
        .is_signed = !query->is_stripped && is_signed(query->query, answer),
        .is_local = answer->message.data[2] & HEADER_AA >> 8,
        .servers = police_servers,
        .context = &look,
    };
    bool may_look = query->may_look && !facts.is_local && answer->kind != ANSWER_FAILURE;
    if (may_look && rpz_policy_needs_servers(police->policy, asked.except)) {
        look.zone = denying_zone(answer, zone_wire);
        look.verdict = verdict;
        look.needs_addrs = rpz_policy_needs_server_addrs(police->policy, asked.except);
        if (police_needs_look(police, &asked, &facts, is_clear))
            return POLICE_LOOK;
        look.verdict = NULL;
    }
    if (police_needs_check(police, query, answer, &asked, &facts, is_clear))
        return POLICE_CHECK;
    enum rpz_step step = rpz_policy_judge(police->policy, &asked, &facts, is_clear, &decision);
    return step == RPZ_DECIDED ? decide(police, &question, &decision, answer, verdict)
                               : POLICE_PASS;
}

void police_join(struct police *police, const struct query *query, const struct answer *head,
                 const struct answer *tail, struct answer *out)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct question question = fold_question(query, wire);
    if (!stitch(out, &police->space->joined, &question, head, tail, loop_now(police->loop))) {
        *out = *head;
        return;
    }
    out->ttl_s = 0;
    out->ede_count = head->ede_count;
    memcpy(out->ede, head->ede, sizeof(out->ede));
}
