/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Zone cuts between tasks and the cache. delegation decides which records are believed, and the
 * strategy decides what follows.
 *
 * Invariant: the servers of a configured zone are not replaced by what they say about themselves,
 * because the operator knows better. Therefore a cut at the zone's own name is never kept or used.
 */
#include "resolve/cut_cache.h"

#include "base/check.h"
#include "dns/rrtype.h"
#include "recurse/delegation.h"
#include "resolve/iterate_world.h"
#include "resolve/tasks.h"
#include "resolve/trace.h"
#include "resolve/zone_answers.h"
#include "validate/anchors.h"

/* A zone's substitute (first: yes) may know another zone of that name, so its cuts have a separate
 * view. */
static enum cache_view view_of(const struct task *task, struct name name)
{
    const struct zone *former = task->zone->instead_of;
    return former && name_is_below(name, former->name) ? CACHE_VIEW_STAND_IN : CACHE_VIEW_CUTS;
}

static void cut_key(const struct task *task, struct name name, struct cache_key *key)
{
    struct question question = {.name = name, .type = RRTYPE_NS, .cls = RRCLASS_IN};
    cache_key_init(key, task->tasks->cache, &question, 0, (uint8_t)view_of(task, name),
                   task->space->number);
}

static bool cut_is_configured(const struct task *task)
{
    return task->zone->group_len > 0;
}

/* ---- names that do not exist (RFC 8020) ---- */

/* Writes the known NXDOMAIN and its SOA to space, as an answer to the question. */
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
    out->security = known->security;
    return true;
}

/* A zone at or below the name proves that the name exists. */
static bool is_denied_from_above(const struct answer *answer, struct name name)
{
    struct message message;
    uint8_t wire[NAME_WIRE_MAX];
    if (message_parse(&message, answer->message) != MESSAGE_OK)
        return false;
    struct rr_iter iter = message_rrs(&message, SECTION_AUTHORITY);
    for (struct rr rr; message_rr_next(&iter, &rr);) {
        struct name owner = message_owner(&message, &rr, wire);
        if (rr.type == RRTYPE_SOA && (owner.len >= name.len || !name_is_below(name, owner)))
            return false;
    }
    return true;
}

void cut_cache_learn_absent(struct task *task, struct name name, const struct answer *answer)
{
    struct tasks *tasks = task->tasks;
    struct question question = {.name = name, .type = RRTYPE_NS, .cls = RRCLASS_IN};
    struct answer absent;
    struct cache_key key;
    if (!task_is_current(task) || !is_denied_from_above(answer, name) ||
        !write_absent(&absent, &tasks->stitched, &question, answer, loop_now(tasks->loop)))
        return;
    cut_key(task, name, &key);
    (void)cache_store(tasks->cache, &key, &absent);
}

/* ---- names that exist and are no cut ---- */

/* The entry is a NODATA with an NS record of the zone that has the name: when a cut between them
 * expires, the zone above must not see the name because of this entry. */
void cut_cache_learn_passed(struct task *task, struct name name, uint32_t ttl_s)
{
    struct tasks *tasks = task->tasks;
    struct question question = {.name = name, .type = RRTYPE_NS, .cls = RRCLASS_IN};
    struct name no_server = name_root();
    struct compose compose;
    struct answer passed;
    struct cache_key key;
    compose_begin(&compose, &tasks->stitched, &question, 0);
    build_section(&compose.build, SECTION_AUTHORITY);
    compose_rr(&compose, task->asked_zone, RRTYPE_NS, cache_ttl(tasks->cache, ANSWER_NODATA, ttl_s),
               span_of(no_server.wire, no_server.len));
    if (!ttl_s || !task_is_current(task) || !compose_end(&compose, &passed))
        return;
    passed.kind = ANSWER_NODATA;
    passed.stored_at = loop_now(tasks->loop);
    cut_key(task, name, &key);
    (void)cache_store(tasks->cache, &key, &passed);
}

/* Reads the number of labels of the zone that such an entry was made for. */
static bool read_passed(const struct answer *found, unsigned *zone_labels)
{
    struct message message;
    uint8_t wire[NAME_WIRE_MAX];
    struct rr rr;
    if (found->kind != ANSWER_NODATA || message_parse(&message, found->message) != MESSAGE_OK)
        return false;
    struct rr_iter iter = message_rrs(&message, SECTION_AUTHORITY);
    if (!message_rr_next(&iter, &rr))
        return false;
    *zone_labels = name_label_count(message_owner(&message, &rr, wire));
    return true;
}

/* ---- finding and keeping cuts ---- */

struct climb {
    struct task *task;
    struct cut_found *out;
    unsigned passed, passed_zone; /* labels of the first name that exists, and of its zone */
};

/* A refresh also renews cuts that are about to expire. A trace may exclude what is known. */
static bool is_too_old(const struct task *task, const struct answer *found)
{
    uint32_t age_s = answer_age(found, loop_now(task->tasks->loop));
    if (found->stale_s || (task->trace && !trace_allows(task->trace, found->stored_at)))
        return true;
    return task->is_refresh && answer_is_ending(found, age_s);
}

/* Where answers are validated, only the NXDOMAIN of an insecure zone speaks for the names below:
 * the proof of a secure one is about the whole QNAME and not about this part of it. STEP_ABSENT
 * keeps no other insecure NXDOMAIN. Never overrules a trust anchor at or below this name. */
static bool may_be_believed(const struct task *task, struct name absent, const struct answer *found)
{
    const struct anchors *anchors = task->tasks->validation.anchors;
    if (!task_validates(task) || task->space->mode != VALIDATE_YES)
        return true;
    const struct anchor *anchor = anchors ? anchors_find(anchors, task->question.name) : NULL;
    bool is_overruled = anchor && anchor->kind == ANCHOR_TRUSTED && anchor->zone.len >= absent.len;
    return found->security == SECURITY_INSECURE && !is_overruled;
}

/* A task that needs proofs cannot use an NXDOMAIN without them, and no task can use one where a
 * name below is known to exist. True: the search is over. */
static bool find_at(struct climb *climb, struct name name)
{
    struct task *task = climb->task;
    struct cut_found *out = climb->out;
    uint64_t now = loop_now(task->tasks->loop);
    struct cache_key key;
    struct answer found;
    if (task->tasks->zones && zone_answers_is_cut(task, name)) {
        delegation_init(out->cut, name, DELEGATION_HELD, UINT64_MAX);
        out->is_cut = true;
        return true;
    }
    cut_key(task, name, &key);
    if (!cache_find(task->tasks->cache, &key, now, &found) || is_too_old(task, &found))
        return false;
    out->is_cut = delegation_from_answer(out->cut, &found);
    if (!out->is_cut && !climb->passed && !(task->key.flags & CACHE_KEY_DO) &&
        may_be_believed(task, name, &found))
        out->is_absent =
            write_absent(out->absent, &task->tasks->stitched, &task->question, &found, now);
    if (!out->is_cut && !climb->passed && read_passed(&found, &climb->passed_zone))
        climb->passed = name_label_count(name);
    return out->is_cut || out->is_absent;
}

/* Looks once for each label, from the longest name up. Names at or above a configured zone belong
 * to other zones. */
static bool climb_up(struct climb *climb, struct name name)
{
    struct name zone = climb->task->zone->name;
    bool is_found = false;
    cache_read_begin();
    for (; !is_found && name.len > zone.len; name = name_parent(name))
        is_found = find_at(climb, name);
    if (!is_found && !cut_is_configured(climb->task))
        is_found = find_at(climb, zone);
    cache_read_end();
    return is_found;
}

/* Starts where nothing is known. */
static void start_above(const struct task *task, struct cut_found *out)
{
    const struct iterate_world *world = task->tasks->world;
    out->is_cut = true;
    if (cut_is_configured(task))
        delegation_init(out->cut, task->zone->name, DELEGATION_CONFIGURED, UINT64_MAX);
    else if (world)
        *out->cut = world->hints;
    else
        out->is_cut = false;
}

void cut_cache_find(struct task *task, struct name name, struct cut_found *out)
{
    struct climb climb = {.task = task, .out = out};
    out->is_cut = out->is_absent = false;
    out->passed = 0;
    if (!climb_up(&climb, name))
        start_above(task, out);
    if (out->is_cut && climb.passed &&
        climb.passed_zone == name_label_count(delegation_zone(out->cut)))
        out->passed = (uint8_t)climb.passed;
}

struct name cut_cache_above(struct task *task, struct name zone)
{
    bool is_known = false;
    cache_read_begin();
    while (!is_known && !name_is_root(zone)) {
        struct cache_key key;
        struct answer found;
        zone = name_parent(zone);
        cut_key(task, zone, &key);
        is_known = cache_find(task->tasks->cache, &key, loop_now(task->tasks->loop), &found) &&
                   found.kind == ANSWER_POSITIVE;
    }
    cache_read_end();
    return zone;
}

static bool knows_glue(struct task *task, struct name name, struct delegation *cut, unsigned server)
{
    struct delegation *known = &task->tasks->cut;
    struct cache_key key;
    struct answer found;
    cut_key(task, name, &key);
    return cache_find(task->tasks->cache, &key, loop_now(task->tasks->loop), &found) &&
           !found.stale_s && delegation_from_answer(known, &found) &&
           delegation_take_glue(cut, server, known);
}

/* Takes the glue of the closest cut that has any. */
static void find_glue(struct task *task, struct delegation *cut, unsigned server)
{
    struct name name = delegation_server(cut, server);
    while (!knows_glue(task, name, cut, server) && !name_is_root(name))
        name = name_parent(name);
}

void cut_cache_add_glue(struct task *task, struct delegation *cut)
{
    cache_read_begin();
    for (unsigned i = 0; i < cut->server_count; i++)
        find_glue(task, cut, i);
    cache_read_end();
}

void cut_cache_learn(struct task *task, const struct delegation *cut)
{
    struct tasks *tasks = task->tasks;
    uint32_t most_s = cache_ttl(tasks->cache, ANSWER_POSITIVE, INT32_MAX);
    struct answer answer;
    struct cache_key key;
    if (!delegation_is_reachable(cut))
        most_s = MIN(most_s, CUT_CACHE_UNREACHABLE_S);
    if (!task_is_current(task) ||
        !delegation_to_answer(cut, &answer, &tasks->stitched, most_s, loop_now(tasks->loop)))
        return;
    cut_key(task, delegation_zone(cut), &key);
    (void)cache_store(tasks->cache, &key, &answer);
}

/* ---- for people ---- */

/* True: the search ends at this name. */
static bool cut_look_at(const struct tasks *tasks, const struct space *space, struct name name,
                        struct delegation *out, enum cut_look *found)
{
    struct question question = {.name = name, .type = RRTYPE_NS, .cls = RRCLASS_IN};
    uint64_t now = loop_now(tasks->loop);
    struct cache_key key;
    struct cache_item item;
    cache_key_init(&key, tasks->cache, &question, 0, CACHE_VIEW_CUTS, space->number);
    if (!cache_peek(tasks->cache, &key, now, &item) || !answer_is_live(&item.answer, now) ||
        item.answer.stale_s)
        return false;
    if (delegation_from_answer(out, &item.answer))
        *found = CUT_LOOK_CUT;
    else if (item.answer.kind == ANSWER_NXDOMAIN)
        *found = CUT_LOOK_ABSENT;
    return *found != CUT_LOOK_NONE;
}

static enum cut_look look_above(const struct tasks *tasks, const struct zone *zone,
                                struct delegation *out)
{
    if (zone->group_len > 0)
        return CUT_LOOK_ZONE;
    if (!tasks->world)
        return CUT_LOOK_NONE;
    *out = tasks->world->hints;
    return CUT_LOOK_CUT;
}

enum cut_look cut_cache_look(const struct tasks *tasks, const struct space *space,
                             const struct zone *zone, struct name name, uint16_t type,
                             struct delegation *out)
{
    enum cut_look found = CUT_LOOK_NONE;
    if (type == RRTYPE_DS && name.len > zone->name.len)
        name = name_parent(name);
    for (; name.len > zone->name.len; name = name_parent(name))
        if (cut_look_at(tasks, space, name, out, &found))
            return found;
    if (zone->group_len == 0 && cut_look_at(tasks, space, zone->name, out, &found))
        return found;
    return look_above(tasks, zone, out);
}

/* True: the cut at this very name is known. */
static bool has_cut_at(const struct tasks *tasks, const struct space *space, struct name name,
                       struct delegation *out)
{
    enum cut_look found = CUT_LOOK_NONE;
    return cut_look_at(tasks, space, name, out, &found) && found == CUT_LOOK_CUT;
}

bool cut_cache_look_cut(const struct tasks *tasks, const struct space *space,
                        const struct zone *zone, struct name name, struct delegation *out)
{
    for (; name.len > zone->name.len; name = name_parent(name))
        if (has_cut_at(tasks, space, name, out))
            return true;
    if (zone->group_len == 0 && has_cut_at(tasks, space, zone->name, out))
        return true;
    return look_above(tasks, zone, out) == CUT_LOOK_CUT;
}
