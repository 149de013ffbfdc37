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

#include <string.h>
#include <sys/socket.h>

#include "base/check.h"
#include "base/rand.h"
#include "dns/rrtype.h"
#include "dns/ttl.h"
#include "resolve/iterate.h"
#include "recurse/lame.h"
#include "resolve/task_follow.h"
#include "resolve/trace.h"
#include "upstream/upstreams.h"

/* Who stands in for the servers of a zone may find another zone of that name: what he learns of it
 * is not for them. */
static enum cache_view view_of(const struct task *task, struct name name)
{
    const struct zone *former = task->zone->instead_of;
    return former && name_is_below(name, former->name) ? CACHE_VIEW_STAND_IN : CACHE_VIEW_CUTS;
}

static void cut_key(const struct task *task, struct name name, struct cache_key *key)
{
    struct question question = {.name = name, .type = RRTYPE_NS, .cls = RRCLASS_IN};
    cache_key_init(key, task->tasks->cache, &question, 0, (uint8_t)view_of(task, name));
}

static bool task_cut_is_configured(const struct task *task)
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

/* A zone at the name, or below it, shows that the name is there after all. */
static bool is_zone_above(const struct answer *answer, struct name name)
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

void task_cut_learn_absent(struct task *task, struct name name, const struct answer *answer)
{
    struct tasks *tasks = task->tasks;
    struct question question = {.name = name, .type = RRTYPE_NS, .cls = RRCLASS_IN};
    struct answer absent;
    struct cache_key key;
    if (!task_is_current(task) || !is_zone_above(answer, name) ||
        !write_absent(&absent, &tasks->stitched, &question, answer, loop_now(tasks->loop)))
        return;
    cut_key(task, name, &key);
    (void)cache_store(tasks->cache, &key, &absent);
}

/* ---- names that are there and are no cut ---- */

uint32_t task_cut_ttl(const struct response *response, const struct message *message)
{
    if (response->kind == RESPONSE_NODATA)
        return response->has_soa ? response->soa_ttl : 0;
    return response->kind == RESPONSE_ANSWER ? ttl_of_answer(message) : 0;
}

/* Kept as a NODATA with an NS record of the zone that it is in: should a cut between them end, the
 * zone above must not be shown the name because of it. */
void task_cut_learn_passed(struct task *task, struct name name, uint32_t ttl_s)
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

/* The labels of the zone that such an entry was made for. */
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
    struct task_cut_found *out;
    unsigned passed, passed_zone; /* labels of the first name that is there, and of its zone */
};

/* Who refreshes looks ahead: what is about to end as well is asked for anew. Who watches may not
 * want what is known. */
static bool is_too_old(const struct task *task, const struct answer *found)
{
    uint32_t age_s = answer_age(found, loop_now(task->tasks->loop));
    if (found->stale_s || (task->trace && !trace_allows(task->trace, found->stored_at)))
        return true;
    return task->is_refresh && answer_is_ending(found, age_s);
}

/* An entry without proofs is of no use to a task that wants them, and an NXDOMAIN is of none where
 * a name below is known to exist. True: it is found. */
static bool task_cut_look(struct climb *climb, struct name name)
{
    struct task *task = climb->task;
    struct task_cut_found *out = climb->out;
    uint64_t now = loop_now(task->tasks->loop);
    struct cache_key key;
    struct answer found;
    cut_key(task, name, &key);
    if (!cache_find(task->tasks->cache, &key, now, &found) || is_too_old(task, &found))
        return false;
    out->is_cut = delegation_from_answer(out->cut, &found);
    if (!out->is_cut && !climb->passed && !(task->key.flags & CACHE_KEY_DO))
        out->is_absent =
            write_absent(out->absent, &task->tasks->stitched, &task->question, &found, now);
    if (!out->is_cut && !climb->passed && read_passed(&found, &climb->passed_zone))
        climb->passed = name_label_count(name);
    return out->is_cut || out->is_absent;
}

/* One look for each label, from the longest name up; those at or above a configured zone belong to
 * others. */
static bool climb_up(struct climb *climb, struct name name)
{
    struct name zone = climb->task->zone->name;
    bool is_found = false;
    cache_read_begin();
    for (; !is_found && name.len > zone.len; name = name_parent(name))
        is_found = task_cut_look(climb, name);
    if (!is_found && !task_cut_is_configured(climb->task))
        is_found = task_cut_look(climb, zone);
    cache_read_end();
    return is_found;
}

/* Where nothing is known. */
static void task_cut_begin_above(const struct task *task, struct task_cut_found *out)
{
    const struct iterate_world *world = task->tasks->world;
    out->is_cut = true;
    if (task_cut_is_configured(task))
        delegation_init(out->cut, task->zone->name, DELEGATION_CONFIGURED, UINT64_MAX);
    else if (world)
        *out->cut = world->hints;
    else
        out->is_cut = false;
}

void task_cut_find(struct task *task, struct name name, struct task_cut_found *out)
{
    struct climb climb = {.task = task, .out = out};
    out->is_cut = out->is_absent = false;
    out->passed = 0;
    if (!climb_up(&climb, name))
        task_cut_begin_above(task, out);
    if (out->is_cut && climb.passed &&
        climb.passed_zone == name_label_count(delegation_zone(out->cut)))
        out->passed = (uint8_t)climb.passed;
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

/* Of the closest cut with any. */
static void task_cut_find_glue(struct task *task, struct delegation *cut, unsigned server)
{
    struct name name = delegation_server(cut, server);
    while (!knows_glue(task, name, cut, server) && !name_is_root(name))
        name = name_parent(name);
}

void task_cut_add_glue(struct task *task, struct delegation *cut)
{
    cache_read_begin();
    for (unsigned i = 0; i < cut->server_count; i++)
        task_cut_find_glue(task, cut, i);
    cache_read_end();
}

void task_cut_learn(struct task *task, const struct delegation *cut)
{
    struct tasks *tasks = task->tasks;
    uint32_t most_s = cache_ttl(tasks->cache, ANSWER_POSITIVE, INT32_MAX);
    struct answer answer;
    struct cache_key key;
    if (!delegation_is_reachable(cut))
        most_s = MIN(most_s, TASK_CUT_LOST_S);
    if (!task_is_current(task) ||
        !delegation_to_answer(cut, &answer, &tasks->stitched, most_s, loop_now(tasks->loop)))
        return;
    cut_key(task, delegation_zone(cut), &key);
    (void)cache_store(tasks->cache, &key, &answer);
}

/* ---- asking ---- */

/* Draws from the share of all tasks that one zone may have. The less room there is, the less has
 * each: so many zones together leave some to others. */
static bool may_ask_zone(struct task *task)
{
    struct tasks *tasks = task->tasks;
    size_t left = tasks->max > tasks->count ? tasks->max - tasks->count : 0;
    uint32_t most = (uint32_t)MAX(left / (TASK_ZONE_SHARE - 1), (size_t)1);
    task->zone_full = !zone_load_take(&tasks->load, task->asked_zone, most, &task->load_place);
    if (task->zone_full) {
        STATS_INC(tasks->stats, recursion_bound_zone);
        tasks->world->drop(tasks->world->context, task->met, task->met_count);
        task->met_count = 0;
    }
    return !task->zone_full;
}

/* A server of a stranger's zone is not at an address of the inside; who wrote the hints is none. */
static bool may_have_addr(const struct task *task, const struct delegation *cut, unsigned at,
                          const struct addr *ip)
{
    const struct private_addrs *private = &task->tasks->recursion.private;
    return !private_addrs_are_set(private) || cut->origin == DELEGATION_HINTS ||
           !private_addrs_refuse(private, delegation_server(cut, cut->addrs[at].server), ip);
}

static bool lacks(const struct iterate_world *world, int family)
{
    return world->lacks && world->lacks(world->context, family);
}

struct iterate_rules task_cut_rules(const struct task *task)
{
    const struct iterate_world *world = task->tasks->world;
    if (!world)
        return (struct iterate_rules){.ipv4 = true, .ipv6 = true};
    struct iterate_rules rules = world->rules;
    bool lacks_ipv4 = lacks(world, AF_INET), lacks_ipv6 = lacks(world, AF_INET6);
    if (lacks_ipv4 != lacks_ipv6) {
        rules.ipv4 = rules.ipv4 && !lacks_ipv4;
        rules.ipv6 = rules.ipv6 && !lacks_ipv6;
    }
    return rules;
}

/* Moves addresses to which no way seems to lead behind the others. They stay in the list, because
 * the failures may concern other destinations only. */
static void put_last(const struct iterate_world *world, struct addr *ips, size_t count)
{
    struct addr last[DELEGATION_ADDRS_MAX];
    size_t kept = 0, moved = 0;
    bool without[] = {lacks(world, AF_INET), lacks(world, AF_INET6)};
    if (without[0] == without[1])
        return;
    for (size_t i = 0; i < count; i++) {
        if (without[addr_family(&ips[i]) == AF_INET6])
            last[moved++] = ips[i];
        else
            ips[kept++] = ips[i];
    }
    memcpy(ips + kept, last, moved * sizeof(*last));
}

/* ---- strangers ---- */

/* The zone whose referral named the servers of this cut. Where the referral is not known, it is the
 * closest known cut above. */
static struct name minter_of(struct task *task, const struct delegation *cut)
{
    struct name zone = delegation_zone(cut), name = zone;
    bool is_known = false;
    if (cut->minter_labels != DELEGATION_UNMINTED)
        return name_suffix(zone, cut->minter_labels);
    cache_read_begin();
    while (!is_known && !name_is_root(name)) {
        struct cache_key key;
        struct answer found;
        name = name_parent(name);
        cut_key(task, name, &key);
        is_known = cache_find(task->tasks->cache, &key, loop_now(task->tasks->loop), &found) &&
                   found.kind == ANSWER_POSITIVE;
    }
    cache_read_end();
    return name;
}

/* A timer does the rest, because the task may be on the stack. */
static void give_way(struct tasks *tasks, struct strangers_ask *ask)
{
    struct task *task = CONTAINER_OF(ask, struct task, strangers);
    strangers_were_silent(&tasks->strangers, &ask->key, loop_now(tasks->loop));
    strangers_remove(&tasks->strangers, ask);
    task->gives_way = true;
    timer_start(tasks->loop, &task->wait, loop_now(tasks->loop));
    STATS_INC(tasks->stats, recursion_bound_strangers);
}

bool task_cut_give_way(struct task *task)
{
    bool was_asking = task->exchange.active;
    if (was_asking)
        exchange_stop(&task->exchange);
    task_cut_drop(task);
    task->has_no_server = task->zone_full = was_asking;
    return was_asking;
}

static void shorten(struct task *task, size_t most)
{
    const struct iterate_world *world = task->tasks->world;
    if (task->met_count <= most)
        return;
    world->drop(world->context, task->met + most, task->met_count - most);
    task->met_count = (uint8_t)most;
}

/* A zone without a known minter counts as its own minter where some of its servers are known: such
 * zones are common, and a search for the minter costs a look-up for each label. */
static struct name minter_to_count(struct task *task, const struct delegation *cut, bool are_all)
{
    bool is_looked_up = are_all || cut->minter_labels != DELEGATION_UNMINTED;
    return is_looked_up ? minter_of(task, cut) : delegation_zone(cut);
}

/* Bounds the queries that its question may send. The list of servers is
 * shortened only where all are strangers, because a known server may come last. False: it may
 * send none. */
static bool limit_tries(struct task *task, const struct strangers_key *key, bool are_all)
{
    const struct tasks *tasks = task->tasks;
    uint64_t now = loop_now(tasks->loop);
    switch (strangers_tries(&tasks->strangers, key, now)) {
    case STRANGERS_ALL_TRIES:
        return true;
    case STRANGERS_FEW_TRIES:
        task->tries = STRANGERS_TRIES_DOUBT;
        break;
    case STRANGERS_ONE_TRY:
        if (are_all && !strangers_is_in_sample(rand_u64()))
            return false;
        task->tries = are_all ? STRANGERS_TRIES_BAD : STRANGERS_TRIES_DOUBT;
        break;
    }
    if (are_all)
        shorten(task, task->tries);
    return true;
}

/* Takes a place among the questions to strangers. False: it must not ask them. */
static bool enter_strangers(struct task *task, const struct delegation *cut, size_t strangers)
{
    struct tasks *tasks = task->tasks;
    bool are_all = strangers == task->met_count;
    struct strangers_key key = strangers_key(&tasks->strangers, minter_to_count(task, cut, are_all),
                                             delegation_zone(cut), task->client);
    struct strangers_ask *older =
        strangers_giving_way(&tasks->strangers, &key, loop_now(tasks->loop));
    if (older)
        give_way(tasks, older);
    if (!limit_tries(task, &key, are_all)) {
        STATS_INC(tasks->stats, recursion_bound_strangers);
        return false;
    }
    strangers_add(&tasks->strangers, &task->strangers, &key);
    return true;
}

void task_cut_note_silence(struct task *task)
{
    struct tasks *tasks = task->tasks;
    if (strangers_has(&task->strangers))
        strangers_were_silent(&tasks->strangers, &task->strangers.key, loop_now(tasks->loop));
}

void task_cut_note_answer(struct task *task)
{
    struct tasks *tasks = task->tasks;
    if (strangers_has(&task->strangers))
        strangers_answered(&tasks->strangers, &task->strangers.key, loop_now(tasks->loop));
}

bool task_cut_hold(struct task *task, const struct step_ask_cut *ask)
{
    const struct iterate_world *world = task->tasks->world;
    struct addr ips[DELEGATION_ADDRS_MAX];
    size_t count = 0, strangers = 0;
    task_cut_drop(task);
    task->asked_zone = delegation_zone(ask->cut);
    for (unsigned i = ask->first; i < ask->cut->addr_count; i++) {
        delegation_addr(ask->cut, i, 0, &ips[count]);
        count += may_have_addr(task, ask->cut, i, &ips[count]);
    }
    if (world)
        put_last(world, ips, count);
    if (world && count)
        task->met_count = (uint8_t)world->hold(world->context, ips, count, task->met,
                                               ARRAY_LEN(task->met), &strangers);
    const struct upstreams *upstreams = task->tasks->upstreams;
    task->zone_full = !task->met_count && upstreams && upstreams_are_too_many(upstreams);
    if (!task->met_count || !may_ask_zone(task))
        return false;
    if (strangers && !enter_strangers(task, ask->cut, strangers)) {
        task_cut_drop(task);
        task->zone_full = true;
    }
    return task->met_count > 0;
}

uint64_t task_cut_doubtful(const struct task *task, struct upstream *const *group, size_t count)
{
    const struct tasks *tasks = task->tasks;
    uint64_t now = loop_now(tasks->loop), doubtful = 0;
    for (size_t i = 0; i < count; i++)
        if (lame_is(tasks->lame, task->asked_zone, upstreams_addr(group[i]), now))
            doubtful |= UINT64_C(1) << i;
    return doubtful;
}

/* NOTAUTH is what old ones say in place of REFUSED. */
static bool is_lame(const struct response *response)
{
    return response->kind == RESPONSE_LAME || response->kind == RESPONSE_REFUSED ||
           response->rcode == RCODE_NOTAUTH;
}

void task_cut_note(struct task *task, const struct addr *server, const struct response *response,
                   const struct message *message)
{
    struct tasks *tasks = task->tasks;
    if (is_lame(response))
        lame_note(tasks->lame, task->asked_zone, server, loop_now(tasks->loop));
    else if (response_is_useful(response->kind) && message->flags & HEADER_AA)
        lame_forget(tasks->lame, task->asked_zone, server);
}

void task_cut_drop(struct task *task)
{
    const struct iterate_world *world = task->tasks->world;
    task_lead_end(task);
    list_remove(&task->follows);
    if (strangers_has(&task->strangers))
        strangers_remove(&task->tasks->strangers, &task->strangers);
    if (task->gives_way)
        timer_stop(&task->wait);
    task->gives_way = false;
    task->tries = 0;
    if (!task->met_count)
        return;
    world->drop(world->context, task->met, task->met_count);
    zone_load_give(&task->tasks->load, task->load_place);
    task->met_count = 0;
}

bool task_cut_may_follow(const struct task *task, const struct step_ask_cut *ask)
{
    return ask->first == 0 && !task->memory.iterate.revisited;
}

/* ---- judging ---- */

void task_cut_zone(const struct task *task, struct zone *out)
{
    *out = *task->zone;
    out->within = task->zone->within ? task->zone->within : task->zone;
    out->name = task->asked_zone;
    out->is_last_hope = task->memory.iterate.is_last_hope;
}

/* What a zone said of itself holds until it ends: hearing it again adds nothing. */
static bool is_new_of_itself(const struct message *message, const struct delegation *asked)
{
    return message->flags & HEADER_AA &&
           (asked->origin == DELEGATION_PARENT || asked->origin == DELEGATION_HINTS);
}

bool task_cut_read(const struct task *task, const struct response *response,
                   const struct exchange_answer *from, struct delegation *out)
{
    const struct message *message = from->message;
    const struct delegation *asked = &task->memory.iterate.cut;
    uint64_t now = loop_now(task->tasks->loop);
    if (response->kind == RESPONSE_REFERRAL) {
        bool is_referral = delegation_from_referral(out, message, response->referral,
                                                    task->asked_zone, &task->asked, now);
        if (is_referral)
            delegation_end_with(out, asked);
        return is_referral;
    }
    if (!response_is_useful(response->kind) || !is_new_of_itself(message, asked))
        return false;
    if (!delegation_from_child(out, message, task->asked_zone, &task->asked, from->is_proven,
                               asked->ends_at, now))
        return false;
    delegation_inherit(out, asked); /* many servers name themselves without their addresses */
    return delegation_is_reachable(out);
}
