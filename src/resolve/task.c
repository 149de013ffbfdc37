/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * A task's life: events in, steps out, and each step done. What to do is the strategy's to decide,
 * what is left of a message scrub's, the end finish's.
 *
 * Invariants: a task that runs has an exchange, a subtask or a timer under way, or is on the stack.
 * Tasks never wait for each other in a circle.
 */
#include "resolve/task.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/log.h"
#include "dns/edns.h"
#include "dns/rrtype.h"
#include "resolve/classify.h"
#include "resolve/finish.h"
#include "resolve/local_alias.h"
#include "resolve/scrub.h"
#include "resolve/stitch.h"
#include "resolve/task_cut.h"

/* What an event brought that the steps may use. */
struct at_hand {
    const struct event *event;
    const struct answer *answer; /* to be kept, or to end with; NULL with most events */
    bool another;                /* STEP_ANOTHER was among the steps */
    uint32_t part_ttl_s;         /* how long a response to a part of the question holds */
};

static void feed(struct task *task, struct at_hand *at_hand);
static void on_sub_answer(struct waiter *waiter, const struct answer *answer);
static enum resolver_result take(struct tasks *tasks, const struct cache_key *key, unsigned depth,
                                 struct task **out);
static void start(struct task *task);

/* Ends the task for a reason of our own. */
static void fail(struct task *task, enum stat reason, uint16_t ede, bool cache)
{
    struct failure failure = {
        .rcode = RCODE_SERVFAIL, .cache = cache, .ede_count = 1, .ede = {ede}};
    stats_add_at(task->tasks->stats, reason, 1);
    finish_failed(task, &failure);
}

/* A task that runs with nothing under way would never end: a strategy's mistake. */
static void check_under_way(const struct task *task)
{
    MUST(task->state != TASK_RUNNING || task->exchange.active || task->subs ||
         timer_is_armed(&task->wait));
}

static void feed_event(struct task *task, const struct event *event, const struct answer *answer)
{
    struct at_hand at_hand = {.event = event, .answer = answer};
    feed(task, &at_hand);
}

/* ---- subtasks ---- */

static void feed_sub_failure(struct task *task, uint16_t tag, const struct failure *failure)
{
    struct event event = {.kind = EVENT_SUB_FAILED, .tag = tag, .failure = failure};
    feed_event(task, &event, NULL);
}

static void feed_sub_refusal(struct task *task, uint16_t tag, uint16_t ede)
{
    struct failure failure = {.rcode = RCODE_SERVFAIL, .ede_count = 1, .ede = {ede}};
    feed_sub_failure(task, tag, &failure);
}

static void feed_sub_answer(struct task *task, uint16_t tag, const struct answer *answer)
{
    if (answer->kind == ANSWER_FAILURE) {
        struct failure failure = {.rcode = header_rcode(answer->message.data),
                                  .cache = answer->ttl_s != 0};
        failure.ede_count = answer->ede_count;
        for (unsigned i = 0; i < answer->ede_count; i++)
            failure.ede[i] = answer->ede[i];
        failure.error = answer->error;
        feed_sub_failure(task, tag, &failure);
        return;
    }
    struct event event = {.kind = EVENT_SUB_DONE, .tag = tag, .answer = answer};
    feed_event(task, &event, answer);
}

/* The answer is borrowed for this call; a task that ends here has made its own of it. */
static void on_sub_answer(struct waiter *waiter, const struct answer *answer)
{
    struct subtask *sub = CONTAINER_OF(waiter, struct subtask, waiter);
    struct task *task = sub->parent;
    sub->child = NULL;
    task->subs--;
    if (waiter->source)
        task->source = *waiter->source;
    feed_sub_answer(task, sub->tag, answer);
    check_under_way(task);
}

static struct subtask *free_sub(struct task *task)
{
    for (unsigned i = 0; i < TASK_SUBS_MAX; i++)
        if (!task->sub[i].child)
            return &task->sub[i];
    return NULL;
}

/* Makes task wait for child. Its place is taken before the child starts, so that whoever the child
 * waits for is seen to depend on this task. */
static void link_sub(struct task *task, struct subtask *sub, struct task *child)
{
    sub->waiter.on_answer = on_sub_answer;
    sub->waiter.takes_stale = false; /* the question that client asked may have a stale answer */
    sub->parent = task;
    sub->child = child;
    task->subs++;
    list_append(&child->waiters, &sub->waiter.node);
}

/* False, with the reason, when the subtask cannot be had. */
static bool join_sub(struct task *task, const struct cache_key *key, uint16_t tag, uint16_t *ede)
{
    struct tasks *tasks = task->tasks;
    struct task *running = tasks_find(tasks, key);
    struct subtask *sub = free_sub(task);
    *ede = EDE_OTHER;
    if (sub)
        sub->tag = tag;
    if (!sub || task->depth == TASK_DEPTH_MAX)
        return false;
    if (running) {
        *ede = EDE_INVALID_DATA; /* aliases in a circle */
        if (task_depends_on(running, task))
            return false;
        link_sub(task, sub, running);
        return true;
    }
    struct task *child;
    enum resolver_result result = take(tasks, key, task->depth + 1u, &child);
    if (result == RESOLVER_NO_ROUTE)
        *ede = EDE_NO_REACHABLE_AUTHORITY;
    if (result != RESOLVER_WAITING)
        return false;
    link_sub(task, sub, child);
    if (task->is_refresh)
        tasks_set_refresh(child);
    if (task->budget)
        child->budget = budget_ref(task->budget);
    start(child);
    return true;
}

/* What is about to end is of no use to who refreshes: the whole would end with it, unless it is
 * only needed on the way (a tag). Of what is stale nothing fresh can be made. */
static bool is_good_for(const struct task *task, const struct answer *found, uint16_t tag)
{
    uint64_t now = loop_now(task->tasks->loop);
    if (found->stale_s)
        return false;
    return !task->is_refresh || tag || !answer_is_ending(found, answer_age(found, now));
}

/* From the cache, or by a task of its own. What recursion itself wants to know (a tag) is asked for
 * without the flags of the client's question, so that all clients' tasks share it. */
static void start_sub(struct task *task, const struct question *question, uint16_t tag)
{
    struct tasks *tasks = task->tasks;
    struct cache_key key;
    struct answer found;
    uint16_t ede;
    cache_key_init(&key, tasks->cache, question, tag ? 0 : task->key.flags, task->key.view);
    cache_read_begin();
    if (cache_find(tasks->cache, &key, loop_now(tasks->loop), &found) &&
        is_good_for(task, &found, tag))
        feed_sub_answer(task, tag, &found);
    else if (!join_sub(task, &key, tag, &ede))
        feed_sub_refusal(task, tag, ede);
    cache_read_end();
}

/* ---- steps ---- */

static struct exchange_question
exchange_question(struct task *task, const struct question *question, bool recursion_desired)
{
    task->asked = *question;
    return (struct exchange_question){
        .question = *question,
        .recursion_desired = recursion_desired,
        .checking_disabled = recursion_desired && task->key.flags & CACHE_KEY_CD,
        .dnssec_ok = task->key.flags & CACHE_KEY_DO,
        .authentic_data = task->zone->trust_ad, /* RFC 6840 section 5.7 */
    };
}

static void ask(struct task *task, const struct step_ask *ask)
{
    exchange_stop(&task->exchange); /* it may be the one whose answer is being judged */
    task->asked_zone = task->zone->name;
    struct exchange_question question =
        exchange_question(task, &ask->question, ask->recursion_desired);
    exchange_start(&task->exchange, &question, ask->group, ask->group_len);
}

/* Where nobody may be asked it is over as soon as the stack is: the strategy may have more steps
 * under way. */
static void ask_cut(struct task *task, const struct step_ask_cut *ask)
{
    struct loop *loop = task->tasks->loop;
    struct exchange_question question = exchange_question(task, &ask->question, false);
    task->nobody = !task_cut_ask(task, ask, &question);
    if (task->nobody)
        timer_start(loop, &task->wait, loop_now(loop));
}

static void find_cut(struct task *task, struct name name)
{
    struct event event = {.kind = EVENT_CUT};
    struct answer absent;
    struct task_cut_found found = {.cut = &task->tasks->cut, .absent = &absent};
    task_cut_find(task, name, &found);
    if (found.is_absent)
        event.answer = &absent;
    else if (found.is_cut)
        event.delegation = &task->tasks->cut;
    event.passed = found.passed;
    feed_event(task, &event, event.answer);
}

static void keep(struct task *task, const struct answer *answer)
{
    MUST(answer && !task->head);
    task->head = compose_dup(answer);
    if (!task->head)
        fail(task, stat_failures_other, EDE_OTHER, false);
}

static void end_stitched(struct task *task, const struct answer *tail)
{
    struct tasks *tasks = task->tasks;
    struct answer whole;
    if (!stitch(&whole, &tasks->stitched, &task->question, task->head, tail,
                loop_now(tasks->loop))) {
        fail(task, stat_failures_badanswer, EDE_INVALID_DATA, true);
        return;
    }
    struct answer *owned = compose_dup(&whole);
    if (owned)
        finish_answered(task, owned, owned);
    else
        fail(task, stat_failures_other, EDE_OTHER, false);
}

/* An answer of an event other than ANSWERED is borrowed from a cache or another task: it is copied,
 * as it is delivered later. */
static void end(struct task *task, const struct at_hand *at_hand)
{
    MUST(at_hand->answer);
    if (task->head) {
        end_stitched(task, at_hand->answer);
        return;
    }
    if (at_hand->event->kind == EVENT_ANSWERED) {
        finish_answered(task, at_hand->answer, NULL);
        return;
    }
    struct answer *owned = compose_dup(at_hand->answer);
    if (owned)
        finish_answered(task, owned, owned);
    else
        fail(task, stat_failures_other, EDE_OTHER, false);
}

static void act(struct task *task, const struct step *step, struct at_hand *at_hand)
{
    switch (step->kind) {
    case STEP_ASK:
        ask(task, &step->ask);
        break;
    case STEP_ANOTHER:
        MUST(at_hand->event->kind == EVENT_ANSWERED);
        at_hand->another = true;
        break;
    case STEP_KEEP:
        keep(task, at_hand->answer);
        break;
    case STEP_SUBTASK:
        start_sub(task, &step->question, step->tag);
        break;
    case STEP_CUT:
        find_cut(task, step->name);
        break;
    case STEP_ASK_CUT:
        ask_cut(task, &step->ask_cut);
        break;
    case STEP_LEARN:
        MUST(at_hand->event->delegation);
        task_cut_learn(task, at_hand->event->delegation);
        break;
    case STEP_PASSED:
        MUST(at_hand->event->kind == EVENT_ANSWERED);
        task_cut_learn_passed(task, step->name, at_hand->part_ttl_s);
        break;
    case STEP_ABSENT:
        MUST(at_hand->answer);
        task_cut_learn_absent(task, step->name, at_hand->answer);
        break;
    case STEP_LEAVE:
        tasks_leave_subs(task);
        break;
    case STEP_WAIT:
        timer_start(task->tasks->loop, &task->wait, step->until);
        break;
    case STEP_DONE:
        end(task, at_hand);
        break;
    case STEP_FAIL:
        if (at_hand->event->kind == EVENT_ANSWERED) /* those of exchanges are counted there */
            STATS_INC(task->tasks->stats, failures_badanswer);
        finish_failed(task, &step->failure);
        break;
    }
}

/* Asks the strategy and does what it says. The task may have ended afterwards, but is not given
 * back before finish_deliver(). */
static void feed(struct task *task, struct at_hand *at_hand)
{
    if (!task->events_left) {
        fail(task, stat_failures_full, EDE_OTHER, true);
        return;
    }
    task->events_left--;
    struct steps steps;
    steps.count = 0;
    static const struct iterate_rules no_rules = {.ipv4 = true, .ipv6 = true};
    struct strategy_view view = {
        .question = &task->question,
        .zone = task->zone,
        .now = loop_now(task->tasks->loop),
        .memory = &task->memory,
        .rules = task->tasks->world ? &task->tasks->world->rules : &no_rules,
        .budget = task->budget,
        .is_sub = task->depth > 0,
    };
    task->zone->strategy->next(&view, at_hand->event, &steps);
    for (size_t i = 0; i < steps.count && task->state == TASK_RUNNING; i++)
        act(task, &steps.at[i], at_hand);
}

/* ---- from below ---- */

static void log_response(const struct task *task, enum response_kind kind)
{
    char name[NAME_TEXT_MAX], type[RRTYPE_TEXT_MAX];
    LOG(LOG_DEBUG, "resolve", "%s %s: %s", name_format(task->asked.name, name),
        rrtype_name(task->asked.type, type), response_kind_name(kind));
}

/* Scrubs what is useful. What does not come out whole is not believed; the answer to a part of the
 * question is nobody's. */
static const struct answer *vet(struct task *task, struct response *response, struct answer *answer,
                                const struct message *message)
{
    struct tasks *tasks = task->tasks;
    struct zone cut;
    const struct zone *zone = task->zone;
    if (zone->is_authoritative) {
        task_cut_zone(task, &cut);
        zone = &cut;
    }
    struct scrub_rules rules = {
        .zone = zone,
        .cache = tasks->cache,
        .dnssec_ok = task->key.flags & CACHE_KEY_DO,
        .minimal_responses = tasks->minimal_responses,
        .now = loop_now(tasks->loop),
    };
    classify(response, message, &task->asked, zone);
    log_response(task, response->kind);
    if (!response_is_useful(response->kind) || !question_equal(&task->asked, &task->question))
        return NULL;
    if (scrub(answer, &tasks->scrubbed, message, &task->question, response, &rules))
        return answer;
    response->kind = RESPONSE_UNSOUND;
    return NULL;
}

static enum exchange_verdict on_answer(void *owner, const struct exchange_answer *from)
{
    struct task *task = owner;
    struct tasks *tasks = task->tasks;
    struct response response;
    struct answer answer;
    MUST(!tasks->delivering);
    task->source = from->source;
    struct at_hand at_hand = {.answer = vet(task, &response, &answer, from->message)};
    struct event event = {.kind = EVENT_ANSWERED, .response = &response};
    if (task->zone->is_authoritative && task_cut_read(task, &response, from->message, &tasks->cut))
        event.delegation = &tasks->cut;
    at_hand.event = &event;
    if (task->zone->is_authoritative)
        at_hand.part_ttl_s = task_cut_ttl(&response, from->message);
    feed(task, &at_hand);
    if (!at_hand.another)
        check_under_way(task);
    finish_deliver(tasks);
    return at_hand.another ? EXCHANGE_ANOTHER : EXCHANGE_TAKEN;
}

static void count_failure(struct stats *stats, const struct exchange_failure *failure)
{
    if (failure->full)
        STATS_INC(stats, failures_full);
    else if (failure->any_answer)
        STATS_INC(stats, failures_badanswer);
    else
        STATS_INC(stats, failures_unreachable);
}

static void on_failed(void *owner, const struct exchange_failure *failure)
{
    struct task *task = owner;
    struct tasks *tasks = task->tasks;
    struct event event = {.kind = EVENT_FAILED, .exchange = failure};
    count_failure(tasks->stats, failure);
    feed_event(task, &event, NULL);
    check_under_way(task);
    finish_deliver(tasks);
}

static const struct exchange_handler handler = {.on_answer = on_answer, .on_failed = on_failed};

static void on_due(struct timer *timer)
{
    struct task *task = CONTAINER_OF(timer, struct task, wait);
    struct tasks *tasks = task->tasks;
    const struct exchange_failure nobody = {.full = task->zone_full};
    struct event event = {.kind = EVENT_TIME};
    if (task->nobody)
        event = (struct event){.kind = EVENT_FAILED, .exchange = &nobody};
    task->nobody = false;
    feed_event(task, &event, NULL);
    check_under_way(task);
    finish_deliver(tasks);
}

/* The upstreams had their chance: clients get what is stale, if there is something, and the task
 * goes on for the next. */
static void on_late(struct task *task)
{
    struct tasks *tasks = task->tasks;
    task->is_late = true;
    timer_start(tasks->loop, &task->wall, task->ends_at);
    finish_stale(task);
}

/* Exchanges end by themselves, but a chain of aliases may need many, one after the other. What it
 * waits for goes on: the cache gains for who asks again. */
static void on_wall(struct timer *timer)
{
    struct task *task = CONTAINER_OF(timer, struct task, wall);
    struct tasks *tasks = task->tasks;
    if (!task->is_late) {
        on_late(task);
        return;
    }
    fail(task, stat_failures_unreachable, EDE_NO_REACHABLE_AUTHORITY, true);
    finish_deliver(tasks);
}

/* ---- from above ---- */

static struct task *take_in(struct tasks *tasks, const struct cache_key *key,
                            const struct zone *zone, unsigned depth)
{
    struct task *task = tasks_take(tasks, key);
    if (!task)
        return NULL;
    task->zone = zone;
    route_hold(zone);
    task->source.addr.sa.sa_family = AF_UNSPEC;
    task->depth = (uint8_t)depth;
    timer_init(&task->wait, on_due);
    timer_init(&task->wall, on_wall);
    exchange_init(&task->exchange, tasks->upstreams, &handler, task);
    return task;
}

/* A task for the key that has not started. Other results than RESOLVER_WAITING: there is none. */
static enum resolver_result take(struct tasks *tasks, const struct cache_key *key, unsigned depth,
                                 struct task **out)
{
    struct name name = {key->name, key->name_len};
    const struct zone *zone = route_find(tasks->routes, name, key->type);
    if (!zone || (!zone->group_len && !(zone->is_authoritative && tasks->world)))
        return RESOLVER_NO_ROUTE;
    *out = take_in(tasks, key, zone, depth);
    return *out ? RESOLVER_WAITING : RESOLVER_FULL;
}

static void start_with(struct task *task, const struct event *event, const struct answer *answer)
{
    struct loop *loop = task->tasks->loop;
    uint64_t patience_us = cache_stale_timeout_us(task->tasks->cache);
    task->is_late = patience_us == 0 || patience_us >= TASK_WALL_US;
    task->ends_at = loop_now(loop) + TASK_WALL_US;
    timer_start(loop, &task->wall, task->is_late ? task->ends_at : loop_now(loop) + patience_us);
    if (task->zone->is_authoritative && !task->budget)
        task->budget = budget_new(loop_now(loop));
    if (task->zone->is_authoritative && !task->budget)
        fail(task, stat_failures_other, EDE_OTHER, false);
    else
        feed_event(task, event, answer);
    check_under_way(task);
}

static void start(struct task *task)
{
    start_with(task, &(struct event){.kind = EVENT_STARTED}, NULL);
}

static bool join_running(struct tasks *tasks, const struct cache_key *key, struct waiter *waiter)
{
    struct task *task = tasks_find(tasks, key);
    if (!task)
        return false;
    list_append(&task->waiters, &waiter->node);
    STATS_INC(tasks->stats, joined);
    return true;
}

enum resolver_result task_join(struct tasks *tasks, const struct cache_key *key,
                               struct waiter *waiter)
{
    if (join_running(tasks, key, waiter))
        return RESOLVER_WAITING;
    struct task *task;
    enum resolver_result result = take(tasks, key, 0, &task);
    if (result != RESOLVER_WAITING)
        return result;
    list_append(&task->waiters, &waiter->node);
    start(task);
    return RESOLVER_WAITING;
}

enum resolver_result task_join_alias(struct tasks *tasks, const struct cache_key *key,
                                     const struct answer *head, struct name target,
                                     struct waiter *waiter)
{
    static const struct zone here = {.strategy = &local_alias_strategy}; /* nobody is asked */
    const struct event event = {.kind = EVENT_ALIAS, .target = target};
    if (join_running(tasks, key, waiter))
        return RESOLVER_WAITING;
    struct task *task = take_in(tasks, key, &here, 0);
    if (!task)
        return RESOLVER_FULL;
    list_append(&task->waiters, &waiter->node);
    start_with(task, &event, head);
    return RESOLVER_WAITING;
}

void task_refresh(struct tasks *tasks, const struct cache_key *key)
{
    struct task *task;
    if (tasks_find(tasks, key) || take(tasks, key, 0, &task) != RESOLVER_WAITING)
        return;
    tasks_set_refresh(task);
    STATS_INC(tasks->stats, cache_refreshes);
    start(task);
}
