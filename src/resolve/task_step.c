/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Events in, steps out, and each step done. What to do is the strategy's to decide, the end
 * finish's.
 *
 * Invariant: a task that runs has an exchange, a subtask or a timer under way, or is on the stack.
 */
#include "base/check.h"
#include "dns/edns.h"
#include "resolve/finish.h"
#include "resolve/met.h"
#include "recurse/qname_min.h"
#include "resolve/stitch.h"
#include "resolve/task_cut.h"
#include "resolve/task_follow.h"
#include "resolve/task_inside.h"
#include "resolve/task_trace.h"

void task_fail(struct task *task, enum stat reason, uint16_t ede, bool cache)
{
    struct failure failure = {
        .rcode = RCODE_SERVFAIL, .cache = cache, .ede_count = 1, .ede = {ede}};
    stats_add_at(task->tasks->stats, reason, 1);
    finish_failed(task, &failure);
}

void task_check_under_way(const struct task *task)
{
    MUST(task->state != TASK_RUNNING || task->exchange.active || task->subs ||
         timer_is_armed(&task->wait));
}

void task_feed_event(struct task *task, const struct event *event, const struct answer *answer)
{
    struct at_hand at_hand = {.event = event, .answer = answer};
    task_feed(task, &at_hand);
}

/* No more time than is left of the client's, and some is left for who is asked next. 0: as much as
 * an exchange may take. */
static uint64_t wall_of(const struct task *task)
{
    uint64_t now = loop_now(task->tasks->loop);
    uint64_t left_us = task->budget ? budget_time_left(task->budget, now) : 0;
    if (!task->zone->above)
        return left_us;
    return left_us ? MIN(left_us, TASK_FIRST_US) : TASK_FIRST_US;
}

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
        .wall_us = wall_of(task),
    };
}

/* What a question to servers that hold zones has beside: whom to ask first. */
static void add_wishes(const struct task *task, struct exchange_question *question,
                       struct upstream *const *group, size_t count)
{
    const struct tasks *tasks = task->tasks;
    if (!task_asks_whole(task, &question->question)) {
        STATS_INC(tasks->stats, recursion_minimised);
        if (qname_min_may_be_dropped(task->asked_zone)) /* the whole one comes next */
            question->wall_us =
                question->wall_us ? MIN(question->wall_us, TASK_FIRST_US) : TASK_FIRST_US;
    }
    question->prefer_family = met_prefer_family(&tasks->recursion);
    question->doubtful = task_cut_doubtful(task, group, count);
    if ((size_t)__builtin_popcountll(question->doubtful) == count)
        question->attempts_max = TASK_LAME_ATTEMPTS_MAX;
    if (task->tries)
        question->attempts_max = task->tries;
    question->attempts_left = &task->budget->attempts_left;
    question->rests_the_dead = true;
}

static void task_step_ask(struct task *task, const struct step_ask *ask)
{
    exchange_stop(&task->exchange); /* it may be the one whose answer is being judged */
    task->asked_zone = task->zone->name;
    struct exchange_question question =
        exchange_question(task, &ask->question, ask->recursion_desired);
    if (task->zone->is_authoritative)
        add_wishes(task, &question, ask->group, ask->group_len);
    exchange_start(&task->exchange, &question, ask->group, ask->group_len);
}

/* Where nobody may be asked it is over as soon as the stack is: the strategy may have more steps
 * under way. */
static void task_step_ask_cut(struct task *task, const struct step_ask_cut *ask)
{
    struct loop *loop = task->tasks->loop;
    struct exchange_question question =
        exchange_question(task, &ask->question, ask->recursion_desired);
    exchange_stop(&task->exchange);
    bool is_part = !task_asks_whole(task, &ask->question);
    task_cut_drop(task);
    if (is_part && task_cut_may_follow(task, ask) &&
        task_follow(task, delegation_zone(ask->cut), &ask->question)) {
        budget_give_back(task->budget, BUDGET_QUERIES);
        if (task_is_traced(task))
            task_trace_follows(task, delegation_zone(ask->cut), &ask->question);
        return;
    }
    task->has_no_server = !task_cut_hold(task, ask);
    if (task->has_no_server) {
        timer_start(loop, &task->wait, loop_now(loop));
        return;
    }
    if (is_part)
        task_lead(task, task->asked_zone, &ask->question);
    add_wishes(task, &question, task->met, task->met_count);
    exchange_start(&task->exchange, &question, task->met, task->met_count);
}

static void find_cut(struct task *task, struct name name)
{
    struct event event = {.kind = EVENT_CUT};
    struct answer absent;
    struct task_cut_found found = {.cut = &task->tasks->cut, .absent = &absent};
    task_cut_find(task, name, &found);
    if (task_is_traced(task))
        task_trace_cut(task, &found);
    if (found.is_absent)
        event.answer = &absent;
    else if (found.is_cut)
        event.delegation = &task->tasks->cut;
    event.passed = found.passed;
    task_feed_event(task, &event, event.answer);
}

static void find_hints(struct task *task)
{
    const struct iterate_world *world = task->tasks->world;
    struct event event = {.kind = EVENT_CUT, .delegation = world ? &world->hints : NULL};
    task_feed_event(task, &event, NULL);
}

static void task_step_find_glue(struct task *task, const struct delegation *cut)
{
    struct delegation found = *cut;
    task_cut_add_glue(task, &found);
    task_feed_event(task, &(struct event){.kind = EVENT_GLUE, .delegation = &found}, NULL);
}

static void task_step_keep(struct task *task, const struct answer *answer)
{
    MUST(answer && !task->head);
    task->head = compose_dup(answer);
    if (!task->head)
        task_fail(task, stat_failures_other, EDE_OTHER, false);
}

static void end_stitched(struct task *task, const struct answer *tail)
{
    struct tasks *tasks = task->tasks;
    struct answer whole;
    if (!stitch(&whole, &tasks->stitched, &task->question, task->head, tail,
                loop_now(tasks->loop))) {
        task_fail(task, stat_failures_badanswer, EDE_INVALID_DATA, true);
        return;
    }
    struct answer *owned = compose_dup(&whole);
    if (owned)
        finish_answered(task, owned, owned);
    else
        task_fail(task, stat_failures_other, EDE_OTHER, false);
}

/* An answer of an event other than ANSWERED is borrowed from a cache or another task: it is copied,
 * as it is delivered later. */
static void task_step_end(struct task *task, const struct at_hand *at_hand)
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
        task_fail(task, stat_failures_other, EDE_OTHER, false);
}

/* What it came of; a subtask has counted its own. */
static void count_failed(struct stats *stats, const struct event *event)
{
    bool is_exchange = event->kind == EVENT_FAILED;
    if (is_exchange && event->exchange->full)
        STATS_INC(stats, failures_full);
    else if (event->kind == EVENT_ANSWERED || (is_exchange && event->exchange->any_answer))
        STATS_INC(stats, failures_badanswer);
    else if (is_exchange)
        STATS_INC(stats, failures_unreachable);
}

/* The zone's servers are of no use: who stands in for them begins anew. */
static void go_above(struct task *task, const struct failure *failure,
                     const struct at_hand *at_hand)
{
    const struct zone *former = task->zone;
    MUST(!task->head);
    if (!former->above || !failure->cache || !task_move(task, former->above)) {
        count_failed(task->tasks->stats, at_hand->event);
        finish_failed(task, failure);
        return;
    }
    STATS_INC(task->tasks->stats, zones_passed_over);
    if (task_is_traced(task))
        task_trace_passed_over(task, former->name);
    task_feed_event(task, &(struct event){.kind = EVENT_STARTED}, NULL);
}

static void task_step_act(struct task *task, const struct step *step, struct at_hand *at_hand)
{
    switch (step->kind) {
    case STEP_ASK:
        task_step_ask(task, &step->ask);
        break;
    case STEP_ANOTHER:
        MUST(at_hand->event->kind == EVENT_ANSWERED);
        at_hand->another = true;
        break;
    case STEP_KEEP:
        task_step_keep(task, at_hand->answer);
        break;
    case STEP_SUBTASK:
        task_sub_start(task, &step->question, step->tag);
        break;
    case STEP_CUT:
        find_cut(task, step->name);
        break;
    case STEP_HINTS:
        find_hints(task);
        break;
    case STEP_GLUE:
        task_step_find_glue(task, step->cut);
        break;
    case STEP_ASK_CUT:
        task_step_ask_cut(task, &step->ask_cut);
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
        task_step_end(task, at_hand);
        break;
    case STEP_FAIL:
        count_failed(task->tasks->stats, at_hand->event);
        finish_failed(task, &step->failure);
        break;
    case STEP_ABOVE:
        go_above(task, &step->failure, at_hand);
        break;
    }
}

void task_feed(struct task *task, struct at_hand *at_hand)
{
    if (!task->events_left) {
        task_fail(task, stat_failures_full, EDE_OTHER, task->depth == 0);
        return;
    }
    task->events_left--;
    struct steps steps;
    steps.count = 0;
    struct iterate_rules rules = {0}; /* of recursion alone */
    if (task->zone->is_authoritative)
        rules = task_cut_rules(task);
    struct strategy_view view = {
        .question = &task->question,
        .zone = task->zone,
        .now = loop_now(task->tasks->loop),
        .memory = &task->memory,
        .rules = &rules,
        .budget = task->budget,
        .is_sub = task->depth > 0,
    };
    task->zone->strategy->next(&view, at_hand->event, &steps);
    for (size_t i = 0; i < steps.count && task->state == TASK_RUNNING; i++)
        task_step_act(task, &steps.at[i], at_hand);
}
