/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Zone cuts between strategies, cache and upstreams. What is believed of a cut is delegation's to
 * say, what follows the strategy's.
 *
 * Invariant: a configured zone's servers are not replaced by what they say of themselves, as the
 * operator knows better; so no cut at the zone's own name is kept or used.
 */
#include "resolve/task_cut.h"

#include "base/check.h"
#include "dns/rrtype.h"
#include "resolve/iterate.h"

static void cut_key(const struct task *task, struct name name, struct cache_key *key)
{
    struct question question = {.name = name, .type = RRTYPE_NS, .cls = RRCLASS_IN};
    cache_key_init(key, task->tasks->cache, &question, 0, CACHE_VIEW_CUTS);
}

static bool is_configured(const struct task *task)
{
    return task->zone->group_len > 0;
}

/* ---- names below which nothing is (RFC 8020) ---- */

/* The NXDOMAIN known, with its SOA, as an answer to the question; written to space. */
static bool write_absent(struct answer *out, struct compose_space *space,
                         const struct question *question, const struct answer *known, uint64_t now)
{
    struct message message;
    struct compose compose;
    struct copy copy;
    uint32_t age = answer_age(known, now);
    if (known->kind != ANSWER_NXDOMAIN || known->ttl_s <= age ||
        message_parse(&message, known->message) != MESSAGE_OK)
        return false;
    compose_begin(&compose, space, question, RCODE_NXDOMAIN);
    copy_init(&copy, &compose.build, &message);
    build_section(&compose.build, SECTION_AUTHORITY);
    struct rr_iter iter = message_rrs(&message, SECTION_AUTHORITY);
    for (struct rr rr; message_rr_next(&iter, &rr);)
        if (rr.type == RRTYPE_SOA)
            compose_copy(&compose, &copy, &rr, rr.ttl > age ? rr.ttl - age : 0);
    if (!compose_end(&compose, out))
        return false;
    out->kind = ANSWER_NXDOMAIN;
    out->ttl_s = known->ttl_s - age;
    out->stored_at = now;
    return true;
}

void task_cut_learn_absent(struct task *task, struct name name, const struct answer *answer)
{
    struct tasks *tasks = task->tasks;
    struct question question = {.name = name, .type = RRTYPE_NS, .cls = RRCLASS_IN};
    struct answer absent;
    struct cache_key key;
    if (!task_is_current(task) ||
        !write_absent(&absent, &tasks->stitched, &question, answer, loop_now(tasks->loop)))
        return;
    cut_key(task, name, &key);
    (void)cache_store(tasks->cache, &key, &absent);
}

/* ---- finding and keeping cuts ---- */

enum found { FOUND_NOTHING, FOUND_CUT, FOUND_ABSENT };

/* Whoever wants proofs is not told by what has none. */
static enum found look(struct task *task, struct name name, struct delegation *cut,
                       struct answer *absent)
{
    struct tasks *tasks = task->tasks;
    uint64_t now = loop_now(tasks->loop);
    struct cache_key key;
    struct answer found;
    cut_key(task, name, &key);
    if (!cache_find(tasks->cache, &key, now, &found) || found.stale_s)
        return FOUND_NOTHING;
    if (delegation_from_answer(cut, &found))
        return FOUND_CUT;
    bool wants_proof = task->key.flags & CACHE_KEY_DO;
    return !wants_proof && write_absent(absent, &tasks->stitched, &task->question, &found, now)
               ? FOUND_ABSENT
               : FOUND_NOTHING;
}

/* One look for each label, from the longest name up; those at or above a configured zone belong to
 * others. */
static enum found climb(struct task *task, struct name name, struct delegation *cut,
                        struct answer *absent)
{
    struct name zone = task->zone->name;
    enum found found = FOUND_NOTHING;
    cache_read_begin();
    for (; found == FOUND_NOTHING && name.len > zone.len; name = name_parent(name))
        found = look(task, name, cut, absent);
    if (found == FOUND_NOTHING && !is_configured(task))
        found = look(task, zone, cut, absent);
    cache_read_end();
    return found;
}

bool task_cut_find(struct task *task, struct name name, struct delegation *cut,
                   struct answer *absent, bool *is_absent)
{
    enum found found = climb(task, name, cut, absent);
    *is_absent = found == FOUND_ABSENT;
    if (found != FOUND_NOTHING)
        return true;
    if (is_configured(task)) {
        delegation_init(cut, task->zone->name, DELEGATION_CONFIGURED, UINT64_MAX);
        return true;
    }
    if (!task->tasks->world)
        return false;
    *cut = task->tasks->world->hints;
    return true;
}

void task_cut_learn(struct task *task, const struct delegation *cut)
{
    struct tasks *tasks = task->tasks;
    uint32_t most_s = cache_ttl(tasks->cache, ANSWER_POSITIVE, INT32_MAX);
    struct answer answer;
    struct cache_key key;
    if (!task_is_current(task) ||
        !delegation_to_answer(cut, &answer, &tasks->stitched, most_s, loop_now(tasks->loop)))
        return;
    cut_key(task, delegation_zone(cut), &key);
    (void)cache_store(tasks->cache, &key, &answer);
}

/* ---- asking ---- */

bool task_cut_ask(struct task *task, const struct step_ask_cut *ask,
                  const struct exchange_question *question)
{
    const struct iterate_world *world = task->tasks->world;
    struct addr ips[DELEGATION_ADDRS_MAX];
    size_t count = 0;
    exchange_stop(&task->exchange);
    task_cut_drop(task);
    task->asked_zone = delegation_zone(ask->cut);
    for (unsigned i = ask->first; i < ask->cut->addr_count; i++)
        delegation_addr(ask->cut, i, 0, &ips[count++]);
    if (world && count)
        task->met_count =
            (uint8_t)world->hold(world->context, ips, count, task->met, ARRAY_LEN(task->met));
    if (!task->met_count)
        return false;
    exchange_start(&task->exchange, question, task->met, task->met_count);
    return true;
}

void task_cut_drop(struct task *task)
{
    const struct iterate_world *world = task->tasks->world;
    if (task->met_count)
        world->drop(world->context, task->met, task->met_count);
    task->met_count = 0;
}

/* ---- judging ---- */

void task_cut_zone(const struct task *task, struct zone *out)
{
    *out = *task->zone;
    out->within = task->zone;
    out->name = task->asked_zone;
}

static bool is_believed_of_itself(const struct message *message, const struct delegation *asked)
{
    return message->flags & HEADER_AA && asked->origin != DELEGATION_CONFIGURED;
}

bool task_cut_read(const struct task *task, const struct response *response,
                   const struct message *message, struct delegation *out)
{
    const struct delegation *asked = &task->memory.iterate.cut;
    uint64_t now = loop_now(task->tasks->loop);
    if (response->kind == RESPONSE_REFERRAL)
        return delegation_from_referral(out, message, response->referral, task->asked_zone,
                                        &task->asked, now);
    if (!response_is_useful(response->kind) || !is_believed_of_itself(message, asked))
        return false;
    return delegation_from_child(out, message, task->asked_zone, asked->ends_at, now);
}
