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
#include "recurse/delegation.h"
#include "resolve/resolver.h"
#include "resolve/stitch.h"
#include "rpz/rpz_reply.h"

enum {
    SERVERS_MAX = 4 * DELEGATION_SERVERS_MAX, /* of a name's zone and the zones above it */
    ADDRS_MAX = 4 * DELEGATION_ADDRS_MAX,
    /* The servers of the root and of top-level domains are no trigger: a rule about them would hit
     * half of the Internet, and each query would pay for it. */
    CUT_LABELS_MIN = 2,
    LOOKS = 256, /* a power of two */
};

/* How long a name whose servers were not found is not resolved again because of them. A name in the
 * zone of a top-level domain never has any. */
#define LOOK_AGAIN_US (60 * US_PER_S)

/* A name that was resolved again because its servers were not known. */
struct look {
    uint64_t hash, until;
};

struct police_space {
    struct compose_space head, joined;
    struct delegation cut;
    struct rpz_servers servers;
    struct name names[SERVERS_MAX];
    uint8_t wires[SERVERS_MAX][NAME_WIRE_MAX];
    struct addr addrs[ADDRS_MAX];
    bool has_cut; /* the last look found servers */
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

static void add_cut(struct police_space *space)
{
    const struct delegation *cut = &space->cut;
    struct rpz_servers *servers = &space->servers;
    for (unsigned i = 0; i < cut->server_count && servers->name_count < SERVERS_MAX; i++) {
        size_t at = servers->name_count++;
        space->names[at] = name_copy(delegation_server(cut, i), space->wires[at]);
    }
    for (unsigned i = 0; i < cut->addr_count && servers->addr_count < ADDRS_MAX; i++)
        delegation_addr(cut, i, 0, &space->addrs[servers->addr_count++]);
}

/* The servers as clients of one view see them. */
struct police_look {
    struct police *police;
    unsigned view;
};

/* Gathers the servers of the closest known zone and of the zones above it. */
static const struct rpz_servers *police_servers(void *context, struct name name)
{
    const struct police_look *look = context;
    const struct police *police = look->police;
    struct police_space *space = police->space;
    space->servers = (struct rpz_servers){.names = space->names, .addrs = space->addrs};
    space->has_cut = false;
    while (name_label_count(name) >= CUT_LABELS_MIN &&
           resolver_find_cut(police->resolver, look->view, name, &space->cut)) {
        struct name zone = delegation_zone(&space->cut);
        if (name_label_count(zone) < CUT_LABELS_MIN)
            break;
        add_cut(space);
        space->has_cut = true;
        name = name_parent(name_suffix(name, name_label_count(zone)));
    }
    return space->has_cut ? &space->servers : NULL;
}

/* Whether recursion resolves the question without knowing its servers, and it was not resolved
 * again lately because of that, or still is: then this query waits too. */
static bool lacks_servers(struct police_look *asked, const struct query *query,
                          const struct question *question)
{
    const struct police *police = asked->police;
    struct police_space *space = police->space;
    struct cache_key key;
    if (police_servers(asked, question->name) ||
        name_label_count(question->name) < CUT_LABELS_MIN ||
        !resolver_find_cut(police->resolver, asked->view, question->name, &space->cut))
        return false;
    resolver_key(police->resolver, asked->view, &key, question, query->dnssec_ok,
                 query->flags & HEADER_CD);
    uint64_t now = loop_now(police->loop);
    struct look *look = &space->looks[key.hash % LOOKS];
    if (look->hash == key.hash && now < look->until)
        return resolver_is_asking(police->resolver, &key);
    *look = (struct look){key.hash, now + LOOK_AGAIN_US};
    return true;
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

/* Where answers are validated, a signature that proves nothing protects no answer from policy. */
static bool is_signed(const struct query *query, const struct answer *answer)
{
    if (!query->dnssec_ok)
        return false;
    if (answer->security != SECURITY_UNCHECKED)
        return answer->security == SECURITY_SECURE;
    return has_signature(answer->message);
}

/* Carries the decision out. */
static enum police_end decide(struct police *police, const struct question *question,
                              const struct rpz_decision *decision, struct span former,
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
        return decide(police, &question, &decision, (struct span){0}, verdict);
    verdict->rest = rests[step];
    return POLICE_PASS;
}

enum police_end police_judge(struct police *police, const struct police_query *query,
                             enum police_rest rest, const struct answer *answer,
                             struct police_verdict *verdict)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct rpz_decision decision;
    if (rest == POLICE_DONE)
        return POLICE_PASS;
    struct question question = fold_question(query->query, wire);
    struct rpz_query asked = rpz_query_of(police, query, &question);
    struct police_look look = {police, query->view};
    struct rpz_answer facts = {
        .message = answer->message,
        .is_signed = is_signed(query->query, answer),
        .is_local = answer->message.data[2] & HEADER_AA >> 8,
        .servers = police_servers,
        .context = &look,
    };
    bool may_resolve = !query->is_asked && !facts.is_local && answer->kind == ANSWER_POSITIVE;
    if (may_resolve && rpz_policy_needs_servers(police->policy, asked.except) &&
        lacks_servers(&look, query->query, &question))
        return POLICE_RESOLVE;
    enum rpz_step step =
        rpz_policy_judge(police->policy, &asked, &facts, rest == POLICE_CLEAR, &decision);
    return step == RPZ_DECIDED ? decide(police, &question, &decision, answer->message, verdict)
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
