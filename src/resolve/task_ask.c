/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Invariants: a leader has a place in the table, which is empty otherwise. A follower is in its
 * leader's list and has its timer armed, so it never waits for ever. A leader never waits for its
 * followers: it has an exchange under way, which ends by itself.
 */
#include "resolve/task_ask.h"

#include <string.h>
#include <sys/socket.h>

#include "base/check.h"
#include "base/rand.h"
#include "recurse/lame.h"
#include "recurse/qname_min.h"
#include "resolve/cut_cache.h"
#include "resolve/iterate_world.h"
#include "resolve/task_trace.h"
#include "resolve/task_validate.h"
#include "resolve/zone_answers.h"
#include "upstream/upstreams.h"

/* ---- following ---- */

/* Identifies a query to a zone of a space; 0 is none. A collision costs one task a wait. */
static uint64_t mark_of(const struct task *task, struct name zone, const struct question *question)
{
    uint64_t seed = task->tasks->load.seed + ((uint64_t)task->space->number << 32);
    return (name_hash(question->name, seed + zone.len) ^ question->type) | 1;
}

static struct task **leader_place(struct tasks *tasks, uint64_t mark)
{
    return &tasks->leaders[mark >> 32 & (TASK_LEADERS - 1)];
}

/* Another task's answer helps only with the first query to these servers, and only where their
 * zone has not failed before. */
static bool may_follow(const struct task *task, const struct step_ask_cut *ask)
{
    return ask->first == 0 && !task->memory.iterate.revisited;
}

static bool follow(struct task *task, struct name zone, const struct question *question)
{
    struct tasks *tasks = task->tasks;
    uint64_t now = loop_now(tasks->loop), mark = mark_of(task, zone, question);
    struct task *leader = *leader_place(tasks, mark);
    if (!leader || leader->group.leads != mark || leader == task || task->group.followed == mark)
        return false;
    task->group.followed = mark;
    list_append(&leader->group.followers, &task->group.follows);
    timer_start(tasks->loop, &task->wait, now + TASK_FOLLOW_US);
    return true;
}

static void lead(struct task *task, struct name zone, const struct question *question)
{
    uint64_t mark = mark_of(task, zone, question);
    struct task **place = leader_place(task->tasks, mark);
    MUST(!task->group.leads);
    if (*place)
        return;
    *place = task;
    task->group.leads = mark;
}

void task_ask_stop_leading(struct task *task)
{
    struct tasks *tasks = task->tasks;
    if (!task->group.leads)
        return;
    *leader_place(tasks, task->group.leads) = NULL;
    task->group.leads = 0;
    for (struct list *node; (node = list_take_first(&task->group.followers));) {
        struct task *follower = LIST_ITEM(node, struct task, group.follows);
        timer_start(tasks->loop, &follower->wait, loop_now(tasks->loop));
    }
}

/* ---- the hold ---- */

static void shorten(struct task *task, size_t most)
{
    const struct iterate_world *world = task->tasks->world;
    struct task_group *group = &task->group;
    if (group->count <= most)
        return;
    world->drop(world->context, group->servers + most, group->count - most);
    group->count = (uint8_t)most;
}

void task_ask_drop(struct task *task)
{
    struct task_group *group = &task->group;
    task_ask_stop_leading(task);
    list_remove(&group->follows);
    if (unproven_has(&group->unproven))
        unproven_remove(&task->tasks->unproven, &group->unproven);
    timer_stop(&group->yield);
    group->attempts_max = 0;
    if (!group->count)
        return;
    shorten(task, 0);
    zone_load_give(&task->tasks->load, group->zone_hash);
}

/* Draws from the share of all tasks that one zone may have. The share shrinks with the room that
 * is left, so many zones together leave room for others. */
static bool may_ask_zone(struct task *task)
{
    struct tasks *tasks = task->tasks;
    struct task_group *group = &task->group;
    size_t left = tasks->max > tasks->count ? tasks->max - tasks->count : 0;
    uint32_t most = (uint32_t)MAX(left / (TASK_ZONE_SHARE - 1), (size_t)1);
    group->is_full = !zone_load_take(&tasks->load, task->asked_zone, most, &group->zone_hash);
    if (group->is_full) {
        STATS_INC(tasks->stats, recursion_bound_zone);
        shorten(task, 0);
    }
    return !group->is_full;
}

/* A public zone's server is not at a private address; the operator's hints may name one. */
static bool may_have_addr(const struct task *task, const struct delegation *cut, unsigned at,
                          const struct addr *ip)
{
    const struct private_addrs *private = &task->tasks->recursion.private;
    return !private_addrs_are_set(private) || cut->origin == DELEGATION_HINTS ||
           !private_addrs_refuse(private, delegation_server(cut, cut->addrs[at].server), ip);
}

/* Moves addresses without a route to the end. They stay in the list, because the failures may
 * concern other destinations only. */
static void put_last(const struct iterate_world *world, struct addr *ips, size_t count)
{
    struct addr last[DELEGATION_ADDRS_MAX];
    size_t kept = 0, moved = 0;
    bool without[] = {iterate_world_lacks(world, AF_INET), iterate_world_lacks(world, AF_INET6)};
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

/* ---- unproven servers ---- */

/* Returns the zone whose referral named the servers of this cut, or the closest known cut above
 * where that is not known. A cut with some proven servers and no known referrer counts as its own
 * referrer: such zones are common, and a search costs a look-up for each label. */
static struct name referrer_of(struct task *task, const struct delegation *cut, bool are_all)
{
    struct name zone = delegation_zone(cut);
    if (cut->referrer_labels != DELEGATION_NO_REFERRER)
        return name_suffix(zone, cut->referrer_labels);
    return are_all ? cut_cache_above(task, zone) : zone;
}

/* Takes the place of an older query. A timer ends that query, because its task may be on the
 * stack. */
static void make_yield(struct tasks *tasks, struct unproven_query *query)
{
    struct task *task = CONTAINER_OF(query, struct task, group.unproven);
    unproven_note_silence(&tasks->unproven, &query->key, loop_now(tasks->loop));
    unproven_remove(&tasks->unproven, query);
    timer_start(tasks->loop, &task->group.yield, loop_now(tasks->loop));
    STATS_INC(tasks->stats, recursion_bound_strangers);
}

/* Keeps the proven servers and few others. Each gets a query: a proven one may come last. */
static void limit_strangers(struct task *task)
{
    const struct iterate_world *world = task->tasks->world;
    struct task_group *group = &task->group;
    uint8_t kept = 0, strangers = 0;
    for (unsigned i = 0; i < group->count; i++) {
        bool is_stranger = !upstreams_is_proven(group->servers[i]);
        if (is_stranger && strangers == UNPROVEN_TRIES_DOUBT) {
            world->drop(world->context, &group->servers[i], 1);
            continue;
        }
        strangers += is_stranger;
        group->servers[kept++] = group->servers[i];
    }
    group->count = group->attempts_max = kept;
}

/* Bounds the queries to unproven servers. False: no query may be sent. */
static bool limit_attempts(struct task *task, const struct unproven_key *key, bool are_all)
{
    const struct tasks *tasks = task->tasks;
    struct task_group *group = &task->group;
    switch (unproven_tries(&tasks->unproven, key, loop_now(tasks->loop))) {
    case UNPROVEN_ALL_TRIES:
        return true;
    case UNPROVEN_FEW_TRIES:
        group->attempts_max = UNPROVEN_TRIES_DOUBT;
        break;
    case UNPROVEN_ONE_TRY:
        if (are_all && !unproven_is_in_sample(rand_u64()))
            return false;
        group->attempts_max = UNPROVEN_TRIES_BAD;
        break;
    }
    if (are_all)
        shorten(task, group->attempts_max);
    else
        limit_strangers(task);
    return true;
}

/* Early keys that nothing waits for yet. A validation that needs them asks again. */
static bool is_unwanted(const struct task *task)
{
    return task->is_early && list_is_empty(&task->waiters);
}

/* Takes a place among the queries to unproven servers. False: they must not be asked. */
static bool enter_unproven(struct task *task, const struct delegation *cut, size_t unproven)
{
    struct tasks *tasks = task->tasks;
    bool are_all = unproven == task->group.count;
    struct unproven_key key = unproven_key(&tasks->unproven, referrer_of(task, cut, are_all),
                                           delegation_zone(cut), task->client);
    struct unproven_query *older =
        unproven_find_yielding(&tasks->unproven, &key, loop_now(tasks->loop));
    bool gives_way = older && is_unwanted(task);
    if (older && !gives_way)
        make_yield(tasks, older);
    if (gives_way || !limit_attempts(task, &key, are_all)) {
        STATS_INC(tasks->stats, recursion_bound_strangers);
        return false;
    }
    unproven_add(&tasks->unproven, &task->group.unproven, &key);
    return true;
}

void task_ask_note_silence(struct task *task)
{
    struct tasks *tasks = task->tasks;
    const struct unproven_query *query = &task->group.unproven;
    if (unproven_has(query))
        unproven_note_silence(&tasks->unproven, &query->key, loop_now(tasks->loop));
}

/* ---- choosing ---- */

enum group_result {
    GROUP_HELD,    /* the servers are in task->group */
    GROUP_HERE,    /* a zone held here answers at the end of this turn */
    GROUP_FOLLOWS, /* another task sends the same query: task->wait is armed */
    GROUP_NONE,    /* no server may be asked; task->group.is_full says why */
};

static bool hold(struct task *task, const struct step_ask_cut *ask)
{
    const struct iterate_world *world = task->tasks->world;
    const struct upstreams *upstreams = task->tasks->upstreams;
    struct task_group *group = &task->group;
    struct addr ips[DELEGATION_ADDRS_MAX];
    size_t count = 0, unproven = 0;
    task->asked_zone = delegation_zone(ask->cut);
    for (unsigned i = ask->first; i < ask->cut->addr_count; i++) {
        delegation_addr(ask->cut, i, 0, &ips[count]);
        count += may_have_addr(task, ask->cut, i, &ips[count]);
    }
    if (world)
        put_last(world, ips, count);
    if (world && count)
        group->count = (uint8_t)world->hold(world->context, ips, count, group->servers,
                                            ARRAY_LEN(group->servers), &unproven);
    group->is_full = !group->count && upstreams && upstreams_are_full(upstreams);
    if (!group->count || !may_ask_zone(task))
        return false;
    if (unproven && !enter_unproven(task, ask->cut, unproven)) {
        task_ask_drop(task);
        group->is_full = true;
    }
    return group->count > 0;
}

/* Chooses the servers for a query to a cut. The exchange must have stopped. */
static enum group_result choose(struct task *task, const struct step_ask_cut *ask)
{
    bool is_minimised = !task_asks_whole(task, &ask->question);
    task_ask_drop(task);
    task->asks_here = task->tasks->zones && zone_answers_is_cut(task, delegation_zone(ask->cut));
    if (task->asks_here) {
        task->asked_zone = delegation_zone(ask->cut);
        return GROUP_HERE;
    }
    if (is_minimised && may_follow(task, ask) &&
        follow(task, delegation_zone(ask->cut), &ask->question))
        return GROUP_FOLLOWS;
    if (!hold(task, ask))
        return GROUP_NONE;
    if (is_minimised)
        lead(task, task->asked_zone, &ask->question);
    return GROUP_HELD;
}

void task_ask_stop(struct task *task)
{
    exchange_stop(&task->exchange); /* the exchange may be the one whose answer is being judged */
    if (task->state == TASK_DECIDING)
        return;
    if (task->state != TASK_ASKING) {
        timer_stop(&task->wait);
        list_remove(&task->group.follows);
    }
    task_move(task, TASK_DECIDING);
}

/* ---- asking ---- */

/* Returns the time of the client's budget, and leaves some of it to a substitute. 0: as much as an
 * exchange may take. */
static inline uint64_t time_to_ask(const struct task *task)
{
    uint64_t now = loop_now(task->tasks->loop);
    uint64_t left_us = task->budget ? budget_time_left(task->budget, now) : 0;
    if (!task->zone->above)
        return left_us;
    return left_us ? MIN(left_us, TASK_FIRST_US) : TASK_FIRST_US;
}

static inline struct exchange_question
exchange_question(struct task *task, const struct question *question, bool recursion_desired)
{
    task->asked = *question;
    return (struct exchange_question){
        .question = *question,
        .recursion_desired = recursion_desired,
        .checking_disabled =
            recursion_desired && (task->key.flags & CACHE_KEY_CD || task_validates(task)),
        .dnssec_ok = task->key.flags & CACHE_KEY_DO || task->zone->validates,
        /* Where verdicts change no answer, a server without signatures is as good as others. */
        .needs_signatures = task->zone->validates && task->space->mode == VALIDATE_YES,
        .authentic_data = task->zone->trust_ad, /* RFC 6840 section 5.7 */
        .wanted_by = task->is_early ? &task->waiters : NULL,
        .wall_us = time_to_ask(task),
    };
}

static int preferred_family(const struct recursion_options *recursion)
{
    switch (recursion->prefer_ip) {
    case RECURSION_PREFER_IPV4:
        return AF_INET;
    case RECURSION_PREFER_IPV6:
        return AF_INET6;
    default:
        return AF_UNSPEC;
    }
}

/* Returns a bit for each server of the group that was lame recently for the asked zone. A question
 * tries one of them at most. */
static uint64_t lame_servers(const struct task *task, struct upstream *const *group, size_t count)
{
    const struct tasks *tasks = task->tasks;
    uint64_t now = loop_now(tasks->loop), doubtful = 0;
    bool tries = false;
    for (size_t i = 0; i < count; i++) {
        const struct addr *server = upstreams_addr(group[i]);
        if (!lame_is(tasks->lame, task->asked_zone, server, now))
            continue;
        if (!tries && lame_try(tasks->lame, task->asked_zone, server, now))
            tries = true;
        else
            doubtful |= UINT64_C(1) << i;
    }
    return doubtful;
}

/* Adds what only authoritative servers need: preferences and bounds of recursion. */
static void add_wishes(const struct task *task, struct exchange_question *question,
                       struct upstream *const *group, size_t count)
{
    const struct tasks *tasks = task->tasks;
    if (!task_asks_whole(task, &question->question)) {
        STATS_INC(tasks->stats, recursion_minimised);
        if (qname_min_may_be_dropped(task->asked_zone)) /* the whole question comes next */
            question->wall_us =
                question->wall_us ? MIN(question->wall_us, TASK_FIRST_US) : TASK_FIRST_US;
    }
    question->shares_port =
        task_asks_whole(task, &question->question) && task_validate_will_prove(task);
    question->prefer_family = preferred_family(&tasks->recursion);
    question->doubtful = lame_servers(task, group, count);
    if ((size_t)__builtin_popcountll(question->doubtful) == count)
        question->attempts_max = TASK_LAME_ATTEMPTS_MAX;
    if (task->group.attempts_max)
        question->attempts_max = task->group.attempts_max;
    question->useless_max = TASK_USELESS_MAX;
    question->attempts_left = &task->budget->attempts_left;
    question->accepts_one_round = true;
}

/* Returns a bit for each server of the group whose answer was bogus. */
static uint64_t bogus_servers(const struct task_bogus *bogus, struct upstream *const *group,
                              size_t count)
{
    uint64_t servers = 0;
    for (size_t i = 0; i < count; i++)
        for (unsigned j = 0; j < bogus->count; j++)
            if (addr_equal(upstreams_addr(group[i]), &bogus->servers[j]))
                servers |= UINT64_C(1) << i;
    return servers;
}

/* Whether the servers of the last exchange were released. */
static bool group_is_gone(const struct task *task)
{
    return task->exchange.group == task->group.servers && !task->group.count;
}

bool task_ask_were_all_bogus(const struct task *task)
{
    if (group_is_gone(task))
        return true;
    size_t count = task->exchange.group_len;
    uint64_t servers = bogus_servers(task->bogus, task->exchange.group, count);
    return (size_t)__builtin_popcountll(servers) == count;
}

void task_ask_doubt_no_edns(const struct task *task)
{
    if (!group_is_gone(task))
        exchange_doubt_no_edns(task->exchange.group, task->exchange.group_len);
}

/* After a bogus answer: other servers come first, and a stream, which is hard to forge. */
static void add_doubts(const struct task *task, struct exchange_question *question,
                       struct upstream *const *group, size_t count)
{
    if (!task->bogus)
        return;
    question->doubtful |= bogus_servers(task->bogus, group, count);
    question->prefers_stream = true;
}

void task_ask(struct task *task, const struct step_ask *ask)
{
    task_ask_stop(task);
    task->asks_here = false;
    task->asked_zone = task->zone->name;
    struct exchange_question question =
        exchange_question(task, &ask->question, ask->recursion_desired);
    if (task->zone->is_authoritative)
        add_wishes(task, &question, ask->group, ask->group_len);
    add_doubts(task, &question, ask->group, ask->group_len);
    exchange_start(&task->exchange, &question, ask->group, ask->group_len);
    task_move(task, TASK_ASKING);
}

void task_ask_cut(struct task *task, const struct step_ask_cut *ask)
{
    struct loop *loop = task->tasks->loop;
    struct exchange_question question =
        exchange_question(task, &ask->question, ask->recursion_desired);
    task_ask_stop(task);
    switch (choose(task, ask)) {
    case GROUP_HELD:
        question.expects_large = large_zones_has(&task->tasks->large, task->group.zone_hash);
        add_wishes(task, &question, task->group.servers, task->group.count);
        add_doubts(task, &question, task->group.servers, task->group.count);
        exchange_start(&task->exchange, &question, task->group.servers, task->group.count);
        task_move(task, TASK_ASKING);
        break;
    case GROUP_FOLLOWS:
        budget_give_back(task->budget, BUDGET_QUERIES);
        budget_give_back_minimised(task->budget);
        task_move(task, TASK_FOLLOWING);
        if (task_is_traced(task))
            task_trace_follows(task, delegation_zone(ask->cut), &ask->question);
        break;
    case GROUP_HERE: /* the strategy may have more steps: it learns the answer later */
        timer_start(loop, &task->wait, loop_now(loop));
        task_move(task, TASK_ASKING_HERE);
        break;
    case GROUP_NONE: /* likewise */
        timer_start(loop, &task->wait, loop_now(loop));
        task_move(task, TASK_UNASKED);
        break;
    }
}

/* If the last exchange was already a retry, returns a bit for each server that it asked. It ended
 * with a bogus answer, so all its other servers stayed silent or failed. Each server gets one such
 * chance, because each query to a dead server costs a timeout. */
static uint64_t servers_asked_in_vain(const struct task *task)
{
    const struct exchange *last = &task->exchange;
    uint64_t servers = 0;
    for (unsigned i = 0; task->bogus->count > 1 && i < last->group_len; i++)
        if (last->tried[i])
            servers |= UINT64_C(1) << i;
    return servers;
}

bool task_ask_again(struct task *task)
{
    struct exchange *exchange = &task->exchange;
    struct upstream *const *group = exchange->group;
    size_t count = exchange->group_len;
    if (group_is_gone(task) ||
        !budget_take(task->budget, BUDGET_QUERIES, loop_now(task->tasks->loop)))
        return false;
    struct exchange_question question =
        exchange_question(task, &task->question, exchange->asked.recursion_desired);
    if (task->zone->is_authoritative)
        add_wishes(task, &question, group, count);
    add_doubts(task, &question, group, count);
    question.doubtful |= servers_asked_in_vain(task);
    if (task->bogus->count > VALIDATE_RETRIES_MAX - 1)
        question.checking_disabled = false; /* RFC 6840 section 5.9: it may find better data */
    exchange_start(exchange, &question, group, count);
    task_move(task, TASK_ASKING);
    return true;
}

/* ---- what an answer shows about servers ---- */

/* Old servers say NOTAUTH in place of REFUSED. */
static bool is_lame(const struct response *response)
{
    return response->kind == RESPONSE_LAME || response->kind == RESPONSE_REFUSED ||
           response->rcode == RCODE_NOTAUTH;
}

/* The addresses of a name server usually belong to one program. So the others of a server whose
 * answer is useless come last: the few queries that may follow reach other servers. */
static void doubt_server(struct task *task, const struct addr *useless)
{
    const struct task_group *group = &task->group;
    uint64_t same = 0;
    if (task->exchange.group != group->servers)
        return;
    for (unsigned i = 0; i < group->count; i++) {
        const struct addr *other = upstreams_addr(group->servers[i]);
        if (!addr_equal_ip(other, useless) &&
            delegation_is_one_server(&task->memory.iterate.cut, useless, other))
            same |= UINT64_C(1) << i;
    }
    exchange_doubt(&task->exchange, same);
}

/* Servers of the configuration keep their transport, so the sizes of their answers do not count. */
static void note_size(struct task *task, const struct exchange_answer *from)
{
    const struct task_group *group = &task->group;
    if (task->exchange.group == group->servers)
        large_zones_note(&task->tasks->large, group->zone_hash, from->is_large);
}

void task_ask_note_answer(struct task *task, const struct exchange_answer *from,
                          const struct response *response)
{
    struct tasks *tasks = task->tasks;
    const struct addr *server = &from->source.addr;
    const struct unproven_query *query = &task->group.unproven;
    uint64_t now = loop_now(tasks->loop);
    bool is_useful = response_is_useful(response->kind);
    if (is_lame(response))
        lame_note(tasks->lame, task->asked_zone, server, now);
    else if (response->kind == RESPONSE_REFERRAL || (is_useful && from->message->flags & HEADER_AA))
        lame_forget(tasks->lame, task->asked_zone, server);
    note_size(task, from);
    if (response->kind == RESPONSE_REFERRAL)
        task_validate_note_referral(task);
    if (!is_useful || response->is_empty)
        doubt_server(task, server);
    if (unproven_has(query) && (is_useful || response->kind == RESPONSE_REFERRAL))
        unproven_note_answer(&tasks->unproven, &query->key, now);
}

void task_ask_note_useless(struct task *task)
{
    struct tasks *tasks = task->tasks;
    const struct exchange *exchange = &task->exchange;
    uint64_t now = loop_now(tasks->loop);
    for (unsigned i = 0; !group_is_gone(task) && i < exchange->group_len; i++)
        if (exchange->useless >> i & 1)
            lame_note_useless(tasks->lame, task->asked_zone, upstreams_addr(exchange->group[i]),
                              now);
}
