/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Feeds events to the strategy and performs the steps that it returns. The strategy decides,
 * task_ask.c asks servers, task_read.c reads what they say, finish.c ends.
 *
 * Invariant: a running task is on the stack, or something under way will call it back.
 */
#include "resolve/task.h"

#include <stdlib.h>

#include "base/check.h"
#include "dns/edns.h"
#include "resolve/cut_cache.h"
#include "resolve/early_keys.h"
#include "resolve/finish.h"
#include "resolve/harvest.h"
#include "resolve/held_message.h"
#include "resolve/iterate_world.h"
#include "resolve/linger.h"
#include "resolve/span_answers.h"
#include "resolve/stitch.h"
#include "resolve/strategy_alias.h"
#include "resolve/strategy_iterate.h"
#include "resolve/sub_answers.h"
#include "resolve/subtasks.h"
#include "resolve/task_ask.h"
#include "resolve/task_clock.h"
#include "resolve/task_read.h"
#include "resolve/task_trace.h"
#include "resolve/task_validate.h"
#include "resolve/variant.h"
#include "resolve/zone_answers.h"

/* The parts of an event that its steps may use. */
struct at_hand {
    const struct event *event;
    const struct answer *answer; /* to keep, or to end with; NULL with most events */
    bool is_held;                /* the answer comes from a held message, in tasks->judged */
    bool another;                /* STEP_ANOTHER was one of the steps */
    uint32_t minimised_ttl_s;    /* the life of a response to a minimised QNAME */
    uint8_t insecure_labels;     /* of the verdict, as in struct task_reading */
};

static void feed(struct task *task, struct at_hand *at_hand);
static void start_sub(struct task *task, const struct question *question, uint16_t tag, bool again);
static void resume_validation(struct task *task, const struct validation_event *event);
static void end_unjudged(struct task *task);
static void hear_zone(struct task *task);
static void ask_keys_early(struct task *task, unsigned asked_labels);
static void ask_ended_keys(struct task *task);

static void feed_event(struct task *task, const struct event *event, const struct answer *answer)
{
    feed(task, &(struct at_hand){.event = event, .answer = answer});
}

/* Called after the last event of a call from outside. A running task with nothing under way would
 * never end: that is a bug of its strategy (MUST). */
static void settle(struct task *task)
{
    if (task->state != TASK_DECIDING)
        return;
    MUST(task->subs);
    task_move(task, TASK_WAITING);
}

static void task_fail(struct task *task, enum stat reason, uint16_t ede, bool cache)
{
    struct failure failure = {
        .rcode = RCODE_SERVFAIL, .cache = cache, .ede_count = 1, .ede = {ede}};
    stats_add_at(task->tasks->stats, reason, 1);
    finish_failed(task, &failure);
}

/* After a bogus answer no other failure hides the reason. */
static void fail_as_bogus(struct task *task)
{
    stats_add_at(task->tasks->stats, stat_failures_badanswer, 1);
    if (task->bogus->count > 1)
        STATS_INC(task->tasks->stats, bogus_retries_vain);
    finish_failed(task, &task->bogus->failure);
}

static void feed_exchange_failure(struct task *task, const struct exchange_failure *failure)
{
    if (task->bogus && !task->zone->is_authoritative)
        fail_as_bogus(task);
    else
        feed_event(task, &(struct event){.kind = EVENT_FAILED, .exchange = failure}, NULL);
}

/* ---- timers ---- */

/* No server may be asked for lack of room, or none is left. */
static void fail_unasked(struct task *task)
{
    const struct exchange_failure unasked = {.full = task->group.is_full};
    if (task_is_traced(task))
        task_trace_given_up(task, &unasked);
    feed_exchange_failure(task, &unasked);
}

static void task_on_wait_over(struct timer *timer)
{
    struct task *task = CONTAINER_OF(timer, struct task, wait);
    struct tasks *tasks = task->tasks;
    enum task_state state = task->state;
    MUST(state == TASK_FOLLOWING || state == TASK_ASKING_HERE || state == TASK_UNASKED);
    task_ask_stop(task);
    if (state == TASK_FOLLOWING)
        feed_event(task, &(struct event){.kind = EVENT_FOLLOWED}, NULL);
    else if (state == TASK_ASKING_HERE)
        hear_zone(task);
    else
        fail_unasked(task);
    settle(task);
    finish_deliver(tasks);
}

/* Verifications of these tasks were put off. */
static void task_on_turn(struct timer *timer)
{
    struct tasks *tasks = CONTAINER_OF(timer, struct tasks, turn.next);
    verify_turn_begin(&tasks->turn);
    for (struct list *node; (node = verify_turn_take(&tasks->turn));) {
        struct task *task = LIST_ITEM(node, struct task, node);
        resume_validation(task, &(struct validation_event){.kind = VALIDATION_RESUMED});
        settle(task);
    }
    finish_deliver(tasks);
}

/* A newer query to unproven servers took the place of this query. */
static void task_on_yield(struct timer *timer)
{
    struct task *task = CONTAINER_OF(timer, struct task, group.yield);
    struct tasks *tasks = task->tasks;
    bool was_asking = task->state == TASK_ASKING;
    if (was_asking)
        task_ask_stop(task);
    task_ask_drop(task);
    task->group.is_full = was_asking;
    if (!was_asking)
        return;
    fail_unasked(task);
    settle(task);
    finish_deliver(tasks);
}

/* Whether an answer waits for a verdict that changes nothing (VALIDATE_LOG). */
static bool waits_in_vain(const struct task *task)
{
    return task->state == TASK_VALIDATING && !task_is_enforced(task);
}

/* The clients have waited long enough. */
static void end_patience(struct task *task)
{
    if (waits_in_vain(task))
        end_unjudged(task);
    else if (!task->bogus && task_clock_allows_stale(task->tasks))
        finish_stale(task);
}

/* Each exchange ends in time, but a chain of aliases may need many in a row. Subtasks go on after
 * the end: the cache keeps their answers for the next client. */
static void end_in_time(struct task *task)
{
    if (task->bogus)
        fail_as_bogus(task);
    else
        task_fail(task, stat_failures_unreachable, EDE_NO_REACHABLE_AUTHORITY, true);
}

static void task_on_clock(struct timer *timer)
{
    struct task *task = CONTAINER_OF(timer, struct task, clock);
    struct tasks *tasks = task->tasks;
    if (task_clock_pass(task) == TASK_DEADLINE_PATIENCE)
        end_patience(task);
    else
        end_in_time(task);
    settle(task);
    finish_deliver(tasks);
}

/* ---- zone cuts ---- */

static void step_cut(struct task *task, struct name name)
{
    struct event event = {.kind = EVENT_CUT};
    struct answer absent;
    struct cut_found found = {.cut = &task->tasks->cut, .absent = &absent};
    cut_cache_find(task, name, &found);
    if (task_is_traced(task))
        task_trace_cut(task, &found);
    if (found.is_absent)
        event.answer = &absent;
    else if (found.is_cut)
        event.delegation = &task->tasks->cut;
    event.passed = found.passed;
    feed_event(task, &event, event.answer);
}

static void step_hints(struct task *task)
{
    const struct iterate_world *world = task->tasks->world;
    struct event event = {.kind = EVENT_CUT, .delegation = world ? &world->hints : NULL};
    feed_event(task, &event, NULL);
}

static void step_glue(struct task *task, const struct delegation *cut)
{
    struct delegation found = *cut;
    cut_cache_add_glue(task, &found);
    feed_event(task, &(struct event){.kind = EVENT_GLUE, .delegation = &found}, NULL);
}

/* ---- ends ---- */

static void step_keep(struct task *task, const struct answer *answer)
{
    MUST(answer && !task->head);
    task->head = compose_dup(answer);
    if (!task->head)
        task_fail(task, stat_failures_other, EDE_OTHER, false);
}

/* The answer is delivered later, so the task needs a copy of what it borrows. */
static void end_with_copy(struct task *task, const struct answer *answer)
{
    struct answer *owned = compose_dup(answer);
    if (owned)
        finish_answered(task, owned, owned);
    else
        task_fail(task, stat_failures_other, EDE_OTHER, false);
}

static void end_stitched(struct task *task, const struct answer *tail)
{
    struct tasks *tasks = task->tasks;
    struct answer whole;
    if (stitch(&whole, &tasks->stitched, &task->question, task->head, tail, loop_now(tasks->loop)))
        end_with_copy(task, &whole);
    else
        task_fail(task, stat_failures_badanswer, EDE_INVALID_DATA, true);
}

/* The answer in the scrub space stays there: finish_deliver() comes before the next one. Only an
 * answer that comes from an exchange right now is in that space. */
static inline void step_done(struct task *task, const struct at_hand *at_hand)
{
    MUST(at_hand->answer);
    if (task->head)
        end_stitched(task, at_hand->answer);
    else if (at_hand->event->kind == EVENT_ANSWERED && !at_hand->is_held)
        finish_answered(task, at_hand->answer, NULL);
    else
        end_with_copy(task, at_hand->answer);
}

/* Counts why the task failed; a subtask has counted its own reason. */
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

static void step_fail(struct task *task, const struct failure *failure,
                      const struct at_hand *at_hand)
{
    if (task->bogus) {
        fail_as_bogus(task);
        return;
    }
    count_failed(task->tasks->stats, at_hand->event);
    finish_failed(task, failure);
}

static bool has_servers(const struct tasks *tasks, const struct zone *zone)
{
    return zone->group_len || (zone->is_authoritative && tasks->world);
}

/* Resolves the question by this zone from now on. False, and nothing has changed: the zone has no
 * servers, or out of memory. */
static bool change_zone(struct task *task, const struct zone *zone)
{
    if (!has_servers(task->tasks, zone) || !tasks_give_budget(task, zone))
        return false;
    task_ask_stop(task);
    task_ask_drop(task);
    subtasks_leave(task);
    route_hold(zone);
    route_drop(task->zone);
    task->zone = zone;
    return true;
}

/* The zone's servers are useless: its substitute starts again. */
static void step_above(struct task *task, const struct failure *failure,
                       const struct at_hand *at_hand)
{
    const struct zone *former = task->zone;
    MUST(!task->head);
    if (task->bogus || !former->above || !failure->cache || !change_zone(task, former->above)) {
        step_fail(task, failure, at_hand);
        return;
    }
    STATS_INC(task->tasks->stats, zones_passed_over);
    if (task_is_traced(task))
        task_trace_passed_over(task, former->name);
    feed_event(task, &(struct event){.kind = EVENT_STARTED}, NULL);
}

/* ---- steps ---- */

/* Where answers are validated, only an insecure zone at or above the name denies what is below it.
 */
static void step_absent(struct task *task, struct name name, const struct at_hand *at_hand)
{
    MUST(at_hand->answer);
    if (!task_validates(task) || !task_is_enforced(task) ||
        name_label_count(name) >= at_hand->insecure_labels)
        cut_cache_learn_absent(task, name, at_hand->answer);
}

static void act(struct task *task, const struct step *step, struct at_hand *at_hand)
{
    switch (step->kind) {
    case STEP_ASK:
        task_ask(task, &step->ask);
        break;
    case STEP_ANOTHER:
        MUST(at_hand->event->kind == EVENT_ANSWERED);
        at_hand->another = true;
        break;
    case STEP_KEEP:
        step_keep(task, at_hand->answer);
        break;
    case STEP_SUBTASK:
        start_sub(task, &step->question, step->tag, false);
        break;
    case STEP_CUT:
        step_cut(task, step->name);
        break;
    case STEP_HINTS:
        step_hints(task);
        break;
    case STEP_GLUE:
        step_glue(task, step->cut);
        break;
    case STEP_ASK_CUT:
        task_ask_cut(task, &step->ask_cut);
        break;
    case STEP_LEARN:
        MUST(at_hand->event->delegation);
        cut_cache_learn(task, at_hand->event->delegation);
        break;
    case STEP_LOST:
        cut_cache_learn(task, step->cut);
        break;
    case STEP_PASSED:
        MUST(at_hand->event->kind == EVENT_ANSWERED);
        cut_cache_learn_passed(task, step->name, at_hand->minimised_ttl_s);
        break;
    case STEP_ABSENT:
        step_absent(task, step->name, at_hand);
        break;
    case STEP_LEAVE:
        subtasks_leave(task);
        break;
    case STEP_DONE:
        step_done(task, at_hand);
        break;
    case STEP_FAIL:
        step_fail(task, &step->failure, at_hand);
        break;
    case STEP_ABOVE:
        step_above(task, &step->failure, at_hand);
        break;
    }
}

static void feed(struct task *task, struct at_hand *at_hand)
{
    if (!task->events_left) {
        task_fail(task, stat_failures_full, EDE_OTHER, task->depth == 0);
        return;
    }
    task->events_left--;
    struct steps steps;
    steps.count = 0;
    struct iterate_rules rules = {0}; /* recursion only */
    if (task->zone->is_authoritative)
        rules = iterate_world_rules(task->tasks->world);
    struct strategy_view view = {
        .question = &task->question,
        .zone = task->zone,
        .now = loop_now(task->tasks->loop),
        .memory = &task->memory,
        .rules = &rules,
        .budget = task->budget,
        .is_sub = task->depth > 0,
        .is_lookup = task->lookups_above > 0,
    };
    task->zone->strategy->next(&view, at_hand->event, &steps);
    for (size_t i = 0; i < steps.count && task_state_is_running(task->state); i++)
        act(task, &steps.at[i], at_hand);
}

/* ---- what servers say ---- */

/* Remembers and shows what the answer says about its server. */
static void note_answer(struct task *task, const struct exchange_answer *from,
                        struct task_reading *read)
{
    if (read->is_noted)
        return;
    read->is_noted = true;
    if (task->zone->is_authoritative)
        task_ask_note_answer(task, from, &read->response);
    if (task_is_traced(task))
        task_trace_answered(task, from, &read->response, read->cut);
}

/* Shows the answer to the strategy. Keys and DS records of an alias's target say nothing about the
 * alias, so nothing follows it there. Returns whether the strategy wants another answer. */
static inline bool feed_answer(struct task *task, const struct task_reading *read, bool is_held)
{
    struct event event = {
        .kind = EVENT_ANSWERED, .response = &read->response, .delegation = read->cut};
    struct at_hand at_hand = {.event = &event,
                              .answer = read->answer,
                              .is_held = is_held,
                              .minimised_ttl_s = read->minimised_ttl_s,
                              .insecure_labels = read->insecure_labels};
    bool is_alias = read->response.kind == RESPONSE_ALIAS && task_asks_whole(task, &task->asked);
    if (task->key.view == CACHE_VIEW_TRUST && is_alias)
        step_done(task, &at_hand);
    else
        feed(task, &at_hand);
    return at_hand.another;
}

/* Keys and DS records that are in use are renewed before they expire, like answers that clients ask
 * for. So no client waits for them. */
static void refresh_trust(struct task *task)
{
    struct tasks *tasks = task->tasks;
    struct validator *validator = tasks->validator;
    if (!validator || !validator->has_due)
        return;
    validator->has_due = false;
    if (task->space && validator->due.space == task->space->number &&
        cache_prefetches(tasks->cache) && tasks_may_refresh(tasks) &&
        cache_claim(tasks->cache, &validator->due))
        task_refresh(tasks, task->space, &validator->due);
}

/* Keeps what a referral says about keys. Returns whether it promises some; then *asked_labels is
 * the number of labels of the zone that sent it. */
static bool keep_referral(const struct task *task, const struct message *message,
                          const struct task_reading *read, unsigned *asked_labels)
{
    if (read->response.kind != RESPONSE_REFERRAL || !read->cut || !task_validates(task))
        return false;
    struct name zone = delegation_zone(read->cut);
    harvest_keep(task, message, zone);
    *asked_labels = name_label_count(task->asked_zone);
    return early_keys_are_promised(task, message, zone);
}

/* The exchange continues. */
static enum exchange_verdict want_another(struct task *task, bool is_late)
{
    if (is_late)
        linger_again(task);
    else if (task->state == TASK_DECIDING)
        task_move(task, TASK_ASKING);
    return EXCHANGE_ANOTHER;
}

/* judged: its validation; NULL: none. */
static enum exchange_verdict take_answer(struct task *task, const struct exchange_answer *from,
                                         struct task_reading *read,
                                         const struct task_judged *judged, bool is_late)
{
    struct tasks *tasks = task->tasks;
    enum exchange_verdict verdict = EXCHANGE_TAKEN;
    uint64_t leads = task->group.leads;
    task_read(task, from, judged, &tasks->scrubbed, read);
    note_answer(task, from, read);
    unsigned asked_labels;
    bool promises_keys = keep_referral(task, from->message, read, &asked_labels);
    if (feed_answer(task, read, false)) {
        verdict = want_another(task, is_late);
    } else {
        if (promises_keys)
            ask_keys_early(task, asked_labels);
        if (task->group.leads == leads) /* else it already asks the next servers, or has ended */
            task_ask_stop_leading(task);
        settle(task);
    }
    refresh_trust(task);
    finish_deliver(tasks);
    return verdict;
}

/* ---- validation ---- */

/* Asks for a better answer than the bogus one. Only the strategy knows whether a cut has more
 * servers than the group. */
static void retry_bogus(struct task *task)
{
    if (task->zone->is_authoritative && task_ask_were_all_bogus(task))
        feed_event(task, &(struct event){.kind = EVENT_BOGUS}, NULL);
    else if (!task_ask_again(task))
        fail_as_bogus(task);
}

/* The answer is bogus: servers are asked again, or the task fails. Asking a zone held here again
 * would change nothing: its servers are asked, if they may be. */
static void refuse_bogus(struct task *task, const struct validating *validating,
                         const struct verdict *verdict, const struct addr *server)
{
    task_ask_stop(task);
    if (task->asks_here && zone_answers_may_avoid(task)) {
        task->avoids_here = true;
        task->asks_here = false;
        feed_event(task, &(struct event){.kind = EVENT_STARTED}, NULL);
        return;
    }
    if (verdict->is_unsigned && !task->asks_here)
        task_ask_doubt_no_edns(task);
    switch (task_validate_refuse(task, validating, verdict, server)) {
    case REFUSAL_RETRY:
        retry_bogus(task);
        break;
    case REFUSAL_FINAL:
        fail_as_bogus(task);
        break;
    case REFUSAL_NOT_NOTED:
        task_fail(task, stat_failures_other, EDE_OTHER, false);
        break;
    }
}

/* A better answer came after a bogus one. */
static void forget_bogus(struct task *task)
{
    if (!task->bogus)
        return;
    STATS_INC(task->tasks->stats, bogus_retries_helped);
    free(task->bogus);
    task->bogus = NULL;
}

static bool verdict_is_refused(const struct task *task, const struct verdict *verdict)
{
    return verdict->security == SECURITY_BOGUS && task_is_enforced(task);
}

/* The message waits for the answer to this question. response: NULL where it is not classified yet.
 * False: no room. */
static bool hold_message(struct task *task, const struct exchange_answer *from,
                         const struct validating *validating, const struct response *response)
{
    struct tasks *tasks = task->tasks;
    MUST(!task->held);
    task->held = held_message_new(&tasks->held, from, validating, response, loop_now(tasks->loop));
    if (!task->held) {
        STATS_INC(tasks->stats, validation_bound_memory);
        return false;
    }
    tasks->validator->space.owner = 0; /* it has read the message that is gone after this call */
    task_ask_stop(task);
    task_move(task, TASK_VALIDATING);
    return true;
}

static void put_off(struct task *task)
{
    struct tasks *tasks = task->tasks;
    STATS_INC(tasks->stats, validation_bound_turn);
    verify_turn_put_off(&tasks->turn, &task->node, task_on_turn);
}

/* Lets the validation wait for a question, or for the next turn. Clients that were patient do not
 * wait for a verdict that changes nothing. Its question is asked nevertheless, so that the verdict
 * about a later answer comes sooner. */
static void wait_for(struct task *task, enum validate_result result,
                     const struct validate_need *need)
{
    struct question question = {
        .name = {need->wire, need->len}, .type = need->type, .cls = RRCLASS_IN};
    if (result == VALIDATE_PUT_OFF)
        put_off(task);
    else
        start_sub(task, &question, TASK_TAG_VALIDATION, false);
    if (task->deadline == TASK_DEADLINE_END && waits_in_vain(task))
        end_unjudged(task);
}

/* The fate of an answer after its judging. */
enum judgement {
    JUDGEMENT_TAKE,    /* the strategy sees it */
    JUDGEMENT_ANOTHER, /* it is useless, and the strategy has not asked for it */
    JUDGEMENT_DONE,    /* the task waits for its verdict, asks again or has ended */
};

/* Notes the verdict, and finds out whether a doubtful forwarder strips signatures, and whether the
 * clock is right. */
static void note_verdict(const struct task *task, const struct verdict *verdict,
                         const struct addr *server)
{
    struct cache_key keys;
    if (task_validate_note(task, verdict, server, &keys))
        task_refresh(task->tasks, task->space, &keys);
}

/* The verdict is known. */
static enum judgement follow_verdict(struct task *task, const struct exchange_answer *from,
                                     const struct validating *validating,
                                     const struct verdict *verdict)
{
    note_verdict(task, verdict, &from->source.addr);
    if (verdict_is_refused(task, verdict)) {
        refuse_bogus(task, validating, verdict, &from->source.addr);
        return JUDGEMENT_DONE;
    }
    forget_bogus(task);
    span_answers_learn(task, &validating->machine, verdict);
    return JUDGEMENT_TAKE;
}

/* Judges the answer before the strategy sees it. Out of line: many configurations never come here.
 * *verdict is set where the strategy may see one; else its security is UNCHECKED. */
static __attribute__((noinline)) enum judgement judge_answer(struct task *task,
                                                             const struct exchange_answer *from,
                                                             struct task_reading *read,
                                                             struct verdict *verdict)
{
    struct tasks *tasks = task->tasks;
    struct validating *now = &tasks->validator->now;
    struct validation_event event;
    struct validate_need need;
    verdict->security = SECURITY_UNCHECKED;
    if (!task_validate_concerns(task, &read->response))
        return task->bogus ? JUDGEMENT_ANOTHER : JUDGEMENT_TAKE;
    read->cut = NULL;
    note_answer(task, from, read);
    enum validate_result result = VALIDATE_VERDICT;
    task_validate_begin(task, now, &event); /* also for scrub, which asks what was verified */
    if (!task_validate_knows_insecure(task, from->message, &read->response, verdict))
        result =
            task_validate_next(task, now, from->message, &read->response, &event, &need, verdict);
    if (result == VALIDATE_VERDICT) {
        enum judgement judgement = follow_verdict(task, from, now, verdict);
        if (!task_is_enforced(task))
            verdict->security = SECURITY_UNCHECKED;
        return judgement;
    }
    if (hold_message(task, from, now, &read->response)) {
        wait_for(task, result, &need);
        return JUDGEMENT_DONE;
    }
    if (!task_is_enforced(task))
        return JUDGEMENT_TAKE;
    task_ask_stop(task);
    task_fail(task, stat_failures_full, EDE_OTHER, false);
    return JUDGEMENT_DONE;
}

/* An answer that the strategy does not see. */
static enum exchange_verdict end_judged(struct task *task, const struct exchange_answer *from,
                                        struct task_reading *read, enum judgement judgement,
                                        bool is_late)
{
    struct tasks *tasks = task->tasks;
    read->cut = NULL;
    note_answer(task, from, read);
    if (judgement == JUDGEMENT_ANOTHER)
        return want_another(task, is_late);
    settle(task);
    finish_deliver(tasks);
    return EXCHANGE_TAKEN;
}

/* A message that was cut at its first alias stays cut. */
static void read_held_kind(const struct task *task, const struct held_message *held,
                           struct task_reading *out)
{
    task_read_kind(task, held->from.message, out);
    if (held->validating.is_cut)
        response_cut_at_alias(&out->response, held->from.message, &task->question);
}

/* Reads the message only if it has aliases, or was never read. */
static void find_held_kind(const struct task *task, const struct held_message *held,
                           struct task_reading *out)
{
    if (!held->is_plain) {
        read_held_kind(task, held, out);
        return;
    }
    response_from_plain(&out->response, &held->response);
    out->is_noted = false;
}

/* Shows the held message to the strategy. Its exchange is over, so a strategy that wants another
 * answer does not get one. The message is read again only if its TTLs have changed. */
static void hear_held(struct task *task, struct held_message *held, struct task_reading *read,
                      const struct verdict *verdict)
{
    struct task_judged judged = {&held->validating.machine, verdict};
    bool is_judged = verdict && task_is_enforced(task);
    forget_bogus(task);
    if (held_message_age(held, loop_now(task->tasks->loop)))
        read_held_kind(task, held, read);
    task_read(task, &held->from, is_judged ? &judged : NULL, &task->tasks->judged, read);
    bool wants_another = feed_answer(task, read, true);
    struct exchange_failure failure = {.any_answer = true, .rcode = read->response.rcode};
    if (wants_another)
        feed_exchange_failure(task, &failure);
}

/* A good harvest is the answer. Otherwise the servers are asked. */
static void end_harvest(struct task *task, const struct held_message *held,
                        struct task_reading *read, const struct verdict *verdict)
{
    struct task_judged judged = {&held->validating.machine, verdict};
    read->answer = NULL;
    if (verdict->security != SECURITY_BOGUS) {
        note_verdict(task, verdict, &held->from.source.addr);
        task_read(task, &held->from, &judged, &task->tasks->judged, read);
    }
    if (!read->answer) {
        feed_event(task, &(struct event){.kind = EVENT_STARTED}, NULL);
        return;
    }
    struct answer answer = *read->answer;
    harvest_bound(task, &answer, verdict->ttl_max_s);
    end_with_copy(task, &answer);
}

/* Ends VALIDATING. read: what kind of message it is. NULL: without a verdict. */
static void end_validation(struct task *task, struct task_reading *read,
                           const struct verdict *verdict)
{
    struct held_message *held = task->held;
    const struct addr *server = &held->from.source.addr;
    task->held = NULL;
    list_remove(&task->node); /* of tasks->turn */
    task_move(task, TASK_DECIDING);
    if (verdict && !held->is_harvest)
        note_verdict(task, verdict, server);
    if (verdict && held->is_harvest) {
        end_harvest(task, held, read, verdict);
    } else if (verdict && verdict_is_refused(task, verdict)) {
        refuse_bogus(task, &held->validating, verdict, server);
    } else {
        if (verdict)
            span_answers_learn(task, &held->validating.machine, verdict);
        hear_held(task, held, read, verdict);
    }
    held_message_free(&task->tasks->held, held);
}

/* The validation's subtask continues without this task. */
static void end_unjudged(struct task *task)
{
    struct task_reading read;
    subtask_leave(&task->sub[TASK_SUB_VALIDATION]);
    task_read_kind(task, task->held->from.message, &read);
    end_validation(task, &read, NULL);
}

/* The event answers the question that the validation waits for. */
static void resume_validation(struct task *task, const struct validation_event *event)
{
    struct held_message *held = task->held;
    struct task_reading read;
    struct validate_need need;
    struct verdict verdict;
    MUST(task->state == TASK_VALIDATING);
    find_held_kind(task, held, &read);
    enum validate_result result = task_validate_next(task, &held->validating, held->from.message,
                                                     &read.response, event, &need, &verdict);
    if (result == VALIDATE_VERDICT)
        end_validation(task, &read, &verdict);
    else
        wait_for(task, result, &need);
}

/* ---- zones held here ---- */

/* Shows the strategy an answer that needs no verdict. */
static void hear_unjudged(struct task *task, const struct exchange_answer *from,
                          struct task_reading *read)
{
    const struct exchange_failure failure = {.any_answer = true, .rcode = read->response.rcode};
    unsigned asked_labels;
    task_read(task, from, NULL, &task->tasks->judged, read);
    bool promises_keys = keep_referral(task, from->message, read, &asked_labels);
    if (feed_answer(task, read, true))
        feed_exchange_failure(task, &failure);
    else if (promises_keys)
        ask_keys_early(task, asked_labels);
}

/* Asks a zone held here in place of its servers. Its answer is classified, validated and scrubbed
 * like an answer of servers. */
static void hear_zone(struct task *task)
{
    struct tasks *tasks = task->tasks;
    struct message message;
    struct task_reading read;
    struct validation_event event;
    struct exchange_answer from = {.message = &message, .over_stream = true, .is_proven = true};
    if (!zone_answers_ask(task, &message)) {
        fail_unasked(task);
        return;
    }
    task->source.addr.sa.sa_family = AF_UNSPEC;
    from.source = task->source;
    task_read_kind(task, &message, &read);
    if (!tasks->validator || !task_validates(task) ||
        !task_validate_concerns(task, &read.response)) {
        hear_unjudged(task, &from, &read);
        return;
    }
    task_validate_begin(task, &tasks->validator->now, &event);
    if (hold_message(task, &from, &tasks->validator->now, &read.response))
        resume_validation(task, &event);
    else
        task_fail(task, stat_failures_full, EDE_OTHER, false);
}

/* ---- events of the exchange ---- */

static void wake(struct task *task)
{
    linger_wake(task);
    tasks_renew_budget(task);
}

static enum exchange_verdict task_on_answer(void *owner, const struct exchange_answer *from)
{
    struct task *task = owner;
    struct task_reading read;
    struct verdict verdict;
    struct task_judged judged = {.verdict = NULL};
    MUST(!task->tasks->delivering);
    if (task->state == TASK_PARTING) /* its failure is about to be delivered */
        return EXCHANGE_TAKEN;
    bool is_late = task->state == TASK_LINGERING;
    if (is_late)
        wake(task);
    else
        task_move(task, TASK_DECIDING);
    task->source = from->source;
    task_read_kind(task, from->message, &read);
    if (task_validates(task)) {
        enum judgement judgement = judge_answer(task, from, &read, &verdict);
        if (judgement != JUDGEMENT_TAKE)
            return end_judged(task, from, &read, judgement, is_late);
        if (verdict.security != SECURITY_UNCHECKED)
            judged = (struct task_judged){&task->tasks->validator->now.machine, &verdict};
    }
    return take_answer(task, from, &read, judged.verdict ? &judged : NULL, is_late);
}

static void task_on_failed(void *owner, const struct exchange_failure *failure)
{
    struct task *task = owner;
    struct tasks *tasks = task->tasks;
    task_move(task, TASK_DECIDING);
    if (failure->left_some)
        task_ask_note_useless(task);
    if (task->zone->is_authoritative)
        exchange_stop(&task->exchange); /* the next step is about other servers or another zone */
    task_ask_stop_leading(task);
    if (!failure->any_answer && !failure->full)
        task_ask_note_silence(task);
    if (task_is_traced(task))
        task_trace_given_up(task, failure);
    feed_exchange_failure(task, failure);
    settle(task);
    finish_deliver(tasks);
}

static void task_on_quiet(void *owner)
{
    struct task *task = owner;
    if (task->state == TASK_LINGERING)
        linger_end(task);
}

static void task_on_lost(void *owner, const struct exchange_loss *loss)
{
    const struct task *task = owner;
    if (task_is_traced(task))
        task_trace_lost(task, loss);
}

static const struct exchange_handler task_exchange_handler = {
    .on_answer = task_on_answer,
    .on_failed = task_on_failed,
    .on_lost = task_on_lost,
    .on_quiet = task_on_quiet,
    .lingers = true,
};

/* ---- the start ---- */

static struct task *take_in(struct tasks *tasks, struct space *space, const struct cache_key *key,
                            const struct zone *zone, unsigned depth)
{
    if (depth > 0 && tasks->sub_count >= tasks->max / TASK_SUB_SHARE)
        return NULL;
    if (tasks->count >= tasks->max)
        (void)linger_drop_oldest(tasks);
    struct task *task = tasks_take(tasks, space, key);
    if (!task)
        return NULL;
    tasks->sub_count += depth > 0;
    subtasks_init(task);
    task->zone = zone;
    route_hold(zone);
    task->source.addr.sa.sa_family = AF_UNSPEC;
    task->depth = (uint8_t)depth;
    task->lookups_above = 0;
    task->asks_here = task->avoids_here = task->is_early = false;
    timer_init(&task->wait, task_on_wait_over);
    timer_init(&task->clock, task_on_clock);
    timer_init(&task->group.yield, task_on_yield);
    exchange_init(&task->exchange, tasks->upstreams, &task_exchange_handler, task);
    return task;
}

/* Makes a task for the key without starting it. Only RESOLVER_WAITING means that there is one. */
static enum resolver_result take(struct tasks *tasks, struct space *space,
                                 const struct cache_key *key, unsigned depth, struct task **out)
{
    struct name name = {key->name, key->name_len};
    const struct zone *zone = route_find(space->routes, name, key->type);
    if (!zone || !(zone->awaits_hosts || has_servers(tasks, zone)))
        return RESOLVER_NO_ROUTE;
    *out = take_in(tasks, space, key, zone, depth);
    return *out ? RESOLVER_WAITING : RESOLVER_FULL;
}

/* Judges what a referral has said about the DS records that the task is for. False: nothing was
 * kept. */
static bool start_harvested(struct task *task)
{
    struct tasks *tasks = task->tasks;
    struct message message;
    struct validation_event event;
    if (!task_validates(task) || !tasks->validator || !harvest_find(task, &message))
        return false;
    struct exchange_answer from = {.message = &message, .source = task->source};
    task->asked = task->question;
    task->asked_zone = task->zone->name;
    if (task->zone->is_authoritative) {
        task->memory.iterate.is_last_hope = false;
        task->memory.iterate.parent.state = PARENT_SEARCH_UNUSED;
        task->memory.iterate.cut.origin = DELEGATION_CHILD; /* nothing new about the zone */
    }
    task_validate_begin(task, &tasks->validator->now, &event);
    if (!hold_message(task, &from, &tasks->validator->now, NULL))
        return false;
    task->held->is_harvest = true;
    resume_validation(task, &event);
    return true;
}

/* Ends with an answer that the cache has under another key. False: it has no such answer. */
static bool start_with_variant(struct task *task)
{
    struct answer answer;
    if (!variant_find(task, &answer))
        return false;
    end_with_copy(task, &answer);
    return true;
}

/* Follows the alias that a wildcard makes of the name, where the spans have it. */
static bool start_with_wildcard(struct task *task)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct answer head;
    struct event event = {.kind = EVENT_ALIAS};
    if (!span_answers_alias(task, &head, wire, &event.target))
        return false;
    feed_event(task, &event, &head);
    return true;
}

static void start_with(struct task *task, const struct event *event, const struct answer *answer)
{
    task_clock_start(task);
    bool has_budget = tasks_give_budget(task, task->zone);
    if (task_is_traced(task))
        task_trace_begun(task);
    if (!has_budget)
        task_fail(task, stat_failures_other, EDE_OTHER, false);
    else if (event->kind != EVENT_STARTED ||
             !(start_harvested(task) || start_with_variant(task) || start_with_wildcard(task)))
        feed_event(task, event, answer);
    ask_ended_keys(task);
    settle(task);
}

/* The zone of tasks that begin with aliases and ask no server for their own question. */
static const struct zone alias_zone = {.strategy = &alias_strategy};

/* Begins with the aliases of the head, which lead to the target. */
static void start_with_alias(struct task *task, const struct answer *head, struct name target)
{
    start_with(task, &(struct event){.kind = EVENT_ALIAS, .target = target}, head);
}

static void start(struct task *task)
{
    start_with(task, &(struct event){.kind = EVENT_STARTED}, NULL);
}

/* A waiter joined: a lingering task asks again within the bounds of its exchange. */
static void resume(struct task *task)
{
    if (task->is_early && task->state == TASK_ASKING)
        exchange_nudge(&task->exchange);
    if (task->state != TASK_LINGERING)
        return;
    wake(task);
    task_clock_start(task);
    exchange_resume(&task->exchange);
    task_move(task, TASK_ASKING);
}

/* ---- subtasks ---- */

static void feed_sub_failure(struct task *task, uint16_t tag, const struct failure *failure)
{
    struct event event = {.kind = EVENT_SUB_FAILED, .tag = tag, .failure = failure};
    feed_event(task, &event, NULL);
}

/* The zones cause a cycle, so that failure is remembered (TsuNAME). Lack of room is our failure,
 * and is not.
 */
static void feed_sub_refusal(struct task *task, uint16_t tag, uint16_t ede)
{
    if (tag == TASK_TAG_VALIDATION) {
        struct validation_event event =
            task_validate_refusal(&task->held->validating, ede, ede == EDE_OTHER);
        resume_validation(task, &event);
        return;
    }
    struct failure failure = {
        .rcode = RCODE_SERVFAIL, .cache = ede != EDE_OTHER, .ede_count = 1, .ede = {ede}};
    if (ede == EDE_NO_REACHABLE_AUTHORITY)
        failure.error = ERR_NO_ZONE; /* the client gets this sentence when an alias led here */
    feed_sub_failure(task, tag, &failure);
}

static void feed_sub_answer(struct task *task, uint16_t tag, const struct answer *answer)
{
    if (tag == TASK_TAG_VALIDATION) {
        struct validation_event event =
            task_validate_event(&task->held->validating, answer, loop_now(task->tasks->loop));
        resume_validation(task, &event);
        return;
    }
    if (answer->kind == ANSWER_FAILURE) {
        struct failure failure = failure_of_answer(answer, loop_now(task->tasks->loop));
        feed_sub_failure(task, tag, &failure);
        return;
    }
    struct event event = {.kind = EVENT_SUB_DONE, .tag = tag, .answer = answer};
    feed_event(task, &event, answer);
}

/* A joined subtask drew from the budget of another question, and may have failed for that
 * reason. */
static bool may_begin_again(const struct task *task, const struct subtask *sub,
                            const struct answer *answer)
{
    return sub->is_joined && answer->kind == ANSWER_FAILURE && answer->ttl_s == 0 &&
           (!task->budget ||
            budget_take(task->budget, BUDGET_LOOKUPS, loop_now(task->tasks->loop)));
}

/* The answer is borrowed for this call; a task that ends here has copied it. A validation continues
 * in separate spaces of the worker, because the answer may be in the scrub space. */
static void on_sub_answer(struct waiter *waiter, const struct answer *answer)
{
    struct subtask *sub = CONTAINER_OF(waiter, struct subtask, waiter);
    struct task *task = sub->parent;
    struct question question = sub->child->question; /* it lives until all waiters are called */
    subtask_end(sub);
    if (task->state == TASK_WAITING)
        task_move(task, TASK_DECIDING);
    if (waiter->source)
        task->source = *waiter->source;
    if (may_begin_again(task, sub, answer))
        start_sub(task, &question, sub->tag, true);
    else
        feed_sub_answer(task, sub->tag, answer);
    settle(task);
}

/* Makes the subtask of a question that is not answered yet. */
static enum resolver_result take_sub(const struct task *task, const struct sub_answers *found,
                                     bool is_alias, struct task **out)
{
    struct tasks *tasks = task->tasks;
    unsigned depth = task->depth + 1u;
    if (!is_alias)
        return take(tasks, task->space, &found->key, depth, out);
    *out = take_in(tasks, task->space, &found->key, &alias_zone, depth);
    return *out ? RESOLVER_WAITING : RESOLVER_FULL;
}

/* Joins the task of the key or starts one, which begins with the aliases where some were found.
 * False, and *ede says why: there is no subtask. */
static bool join_sub(struct task *task, const struct sub_answers *found, bool is_alias,
                     uint16_t tag, bool again, uint16_t *ede)
{
    struct tasks *tasks = task->tasks;
    const struct cache_key *key = &found->key;
    struct task *running = tasks_find(tasks, key);
    struct subtask *sub = subtasks_place(task, tag);
    if (!running && tag == TASK_TAG_VALIDATION) /* two waiters of one answer may need its keys */
        running = tasks_find_finished(tasks, key);
    *ede = EDE_OTHER;
    if (sub)
        sub->tag = tag;
    if (!sub || subtasks_are_too_deep(task, tag))
        return false;
    bool is_lookup = tag >= DESCENT_TAG_ADDRESS && tag != TASK_TAG_VALIDATION;
    if (is_lookup && task->lookups_above == TASK_LOOKUPS_DEPTH_MAX)
        return false;
    if (running) {
        *ede = EDE_INVALID_DATA; /* a cycle, or the search was too long */
        if (subtasks_would_loop(task, running))
            return false;
        subtask_link(sub, task, running, on_sub_answer);
        sub->is_joined = !again;
        resume(running);
        if (task_is_traced(task))
            task_trace_sub_joined(task, &running->question);
        return true;
    }
    if (task->budget && task->budget->refs >= task->budget->tasks_max)
        return false;
    struct task *child;
    enum resolver_result result = take_sub(task, found, is_alias, &child);
    if (result == RESOLVER_NO_ROUTE)
        *ede = EDE_NO_REACHABLE_AUTHORITY;
    if (result != RESOLVER_WAITING)
        return false;
    subtask_link(sub, task, child, on_sub_answer);
    child->client = task->client;
    child->lookups_above = (uint8_t)(task->lookups_above + is_lookup);
    if (task->is_refresh)
        tasks_set_refresh(child);
    if (task->budget)
        child->budget = budget_ref(task->budget);
    if (tag == ITERATE_TAG_PRIMING)
        STATS_INC(tasks->stats, recursion_primings);
    if (task_is_traced(task))
        child->trace = trace_ref(task->trace);
    if (is_alias)
        start_with_alias(child, &found->answer, found->target);
    else
        start(child);
    return true;
}

/* again: the second try, after a joined subtask failed for another question's reasons. */
static void start_sub(struct task *task, const struct question *question, uint16_t tag, bool again)
{
    struct sub_answers found;
    uint16_t ede;
    cache_read_begin();
    enum sub_answers_result result = sub_answers_find(task, question, tag, &found);
    if (result == SUB_ANSWERS_FOUND) {
        feed_sub_answer(task, tag, &found.answer);
    } else if (!join_sub(task, &found, result == SUB_ANSWERS_ALIAS, tag, again, &ede)) {
        if (task_is_traced(task))
            task_trace_sub_refused(task, question, ede);
        feed_sub_refusal(task, tag, ede);
    }
    cache_read_end();
}

/* Whether the servers of a cut just got their first query. */
static bool has_asked_cut(const struct task *task)
{
    return task->state == TASK_ASKING && task->depth < TASK_DEPTH_ALL_MAX &&
           task->zone->is_authoritative;
}

/* Nothing waits for the task of these keys: the validation joins it or finds its answer in the
 * cache. */
static void start_early_keys(struct task *task, struct name zone, const struct cache_key *key)
{
    struct task *child;
    if (take(task->tasks, task->space, key, task->depth + 1u, &child) != RESOLVER_WAITING)
        return;
    STATS_INC(task->tasks->stats, validation_early_keys);
    child->is_early = true;
    child->client = task->client;
    child->budget = budget_ref(task->budget);
    if (task_is_traced(task)) {
        task_trace_needs(task, zone, RRTYPE_DNSKEY, TRACE_NEED_EARLY);
        child->trace = trace_ref(task->trace);
    }
    start(child);
}

/* The servers of a zone just got their first query after a referral. Asks them for the keys too, if
 * these are due. */
static __attribute__((noinline)) void ask_keys_early(struct task *task, unsigned asked_labels)
{
    struct name zone = delegation_zone(&task->memory.iterate.cut);
    struct cache_key key;
    if (has_asked_cut(task) && name_label_count(zone) > asked_labels &&
        early_keys_are_due(task, name_suffix(zone, asked_labels), zone, &key))
        start_early_keys(task, zone, &key);
}

/* The same for a zone whose cut was known at the start of the task. */
static void ask_ended_keys(struct task *task)
{
    struct cache_key key;
    if (!has_asked_cut(task) || !task_validates(task))
        return;
    struct name zone = delegation_zone(&task->memory.iterate.cut);
    if (early_keys_have_ended(task, zone, &key))
        start_early_keys(task, zone, &key);
}

/* ---- doors ---- */

/* A traced client joins a running task like any other client: no query is sent twice. */
static bool join_running(struct tasks *tasks, const struct cache_key *key, struct waiter *waiter,
                         struct trace *trace)
{
    struct task *task = tasks_find(tasks, key);
    if (!task)
        return false;
    if (trace)
        trace_say(trace, TRACE_JOINED, 0, &task->question, "", loop_now(tasks->loop));
    list_append(&task->waiters, &waiter->node);
    STATS_INC(tasks->stats, joined);
    resume(task);
    return true;
}

static void serve_client(struct task *task, struct waiter *waiter, struct trace *trace)
{
    if (trace)
        task->trace = trace_ref(trace);
    task->client = waiter->client;
    list_append(&task->waiters, &waiter->node);
}

enum resolver_result task_join(struct tasks *tasks, struct space *space,
                               const struct cache_key *key, struct waiter *waiter,
                               struct trace *trace)
{
    if (join_running(tasks, key, waiter, trace))
        return RESOLVER_WAITING;
    struct task *task;
    enum resolver_result result = take(tasks, space, key, 0, &task);
    if (result != RESOLVER_WAITING)
        return result;
    serve_client(task, waiter, trace);
    start(task);
    return RESOLVER_WAITING;
}

enum resolver_result task_join_alias(struct tasks *tasks, struct space *space,
                                     const struct cache_key *key, const struct answer *head,
                                     struct name target, struct waiter *waiter, struct trace *trace)
{
    if (join_running(tasks, key, waiter, trace))
        return RESOLVER_WAITING;
    struct task *task = take_in(tasks, space, key, &alias_zone, 0);
    if (!task)
        return RESOLVER_FULL;
    serve_client(task, waiter, trace);
    start_with_alias(task, head, target);
    return RESOLVER_WAITING;
}

void task_refresh(struct tasks *tasks, struct space *space, const struct cache_key *key)
{
    struct task *task;
    if (tasks_find(tasks, key) || take(tasks, space, key, 0, &task) != RESOLVER_WAITING)
        return;
    tasks_set_refresh(task);
    STATS_INC(tasks->stats, cache_refreshes);
    start(task);
}
