/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Writes the steps of tasks as rows of a trace. Invariant: changes nothing but the trace. */
#include "resolve/task_trace.h"

#include "base/transport.h"
#include "dns/edns.h"
#include "dns/rrtype.h"
#include "resolve/cut_cache.h"
#include "validate/rrsig.h"
#include "validate/validation.h"

/* A task on the stack says where it was before: that is what this step ends. */
static const char *state_word(const struct task *task)
{
    bool has_waited = task->state == TASK_DECIDING && task->former_state != TASK_FREE;
    return task_state_name(has_waited ? task->former_state : task->state);
}

static struct trace_step *task_trace_add(const struct task *task, enum trace_kind kind)
{
    struct trace_step *step =
        trace_add(task->trace, kind, task->depth, loop_now(task->tasks->loop));
    if (step)
        step->state = state_word(task);
    return step;
}

static struct trace_name task_trace_keep(const struct task *task, struct name name)
{
    return name.len ? trace_keep(task->trace, name) : (struct trace_name){0};
}

void trace_say(struct trace *trace, enum trace_kind kind, unsigned depth,
               const struct question *question, const char *word, uint64_t now)
{
    struct trace_step *step = trace_add(trace, kind, depth, now);
    if (!step)
        return;
    trace_set_question(trace, step, question);
    step->word = word;
}

/* ---- the way down ---- */

void task_trace_begun(const struct task *task)
{
    struct trace_step *step = task_trace_add(task, TRACE_BEGUN);
    if (!step)
        return;
    trace_set_question(task->trace, step, &task->question);
    step->zone = task_trace_keep(task, task->zone->name);
    step->word = task->zone->strategy->name;
}

static const char *origin_word(enum delegation_origin origin)
{
    static const char *const words[] = {
        [DELEGATION_HINTS] = "the hints",
        [DELEGATION_HELD] = "held here",
        [DELEGATION_CONFIGURED] = "configured",
        [DELEGATION_PARENT] = "known from the zone above",
        [DELEGATION_CHILD] = "known from the zone itself",
    };
    return words[origin];
}

void task_trace_cut(const struct task *task, const struct cut_found *found)
{
    struct trace_step *step = task_trace_add(task, TRACE_CUT);
    if (!step)
        return;
    if (found->is_absent)
        step->word = "none: the name is known not to exist";
    else if (!found->is_cut)
        step->word = "none is known";
    else
        step->word = origin_word(found->cut->origin);
    if (found->is_cut && !found->is_absent)
        step->zone = task_trace_keep(task, delegation_zone(found->cut));
}

/* ---- servers ---- */

static bool is_same_ip(const struct addr *a, const struct addr *b)
{
    size_t a_len, b_len;
    const uint8_t *a_bytes = addr_bytes(a, &a_len), *b_bytes = addr_bytes(b, &b_len);
    return a_len == b_len && memcmp(a_bytes, b_bytes, a_len) == 0;
}

/* Returns the name of the server in the zone cut; configured servers have none. */
static struct trace_name server_name(const struct task *task, const struct addr *addr)
{
    const struct delegation *cut = &task->memory.iterate.cut;
    if (!task->zone->is_authoritative || cut->origin == DELEGATION_CONFIGURED)
        return (struct trace_name){0};
    for (unsigned i = 0; i < cut->addr_count; i++) {
        struct addr known;
        delegation_addr(cut, i, 0, &known);
        if (is_same_ip(&known, addr))
            return task_trace_keep(task, delegation_server(cut, cut->addrs[i].server));
    }
    return (struct trace_name){0};
}

static void task_trace_set_server(const struct task *task, struct trace_step *step,
                                  const struct tap_source *source, bool nailed, uint64_t us)
{
    trace_set_question(task->trace, step, &task->asked);
    step->zone = task_trace_keep(task, task->asked_zone);
    step->server = server_name(task, &source->addr);
    step->addr = source->addr;
    step->transport = transport_word(source->transport);
    step->nailed = nailed;
    step->us = us;
}

void task_trace_answered(const struct task *task, const struct exchange_answer *from,
                         const struct response *response, const struct delegation *delegation)
{
    struct trace_step *step = task_trace_add(task, TRACE_ANSWERED);
    if (!step)
        return;
    task_trace_set_server(task, step, &from->source, from->nailed, from->rtt_us);
    step->has_rcode = true;
    step->rcode = response->rcode;
    step->ede = response->ede;
    step->word = response_kind_name(response->kind);
    if (response->kind == RESPONSE_REFERRAL && delegation)
        step->leads_to = task_trace_keep(task, delegation_zone(delegation));
    else if (response->kind == RESPONSE_ALIAS)
        step->leads_to = task_trace_keep(task, response->chain.name);
}

void task_trace_lost(const struct task *task, const struct exchange_loss *loss)
{
    struct trace_step *step = task_trace_add(task, TRACE_LOST);
    if (!step)
        return;
    task_trace_set_server(task, step, &loss->source, loss->nailed, loss->after_us);
    step->word = loss->why;
}

static const char *task_trace_failure_word(const struct task *task,
                                           const struct exchange_failure *failure)
{
    if (task->group.is_full)
        return "too many queries go to this zone";
    if (failure->full)
        return "no room for another query";
    if (failure->any_answer)
        return "no server gave a useful answer";
    if (failure->is_late)
        return "no server answered in time";
    return failure->any_network ? "no server answered" : "no address may be asked";
}

void task_trace_given_up(const struct task *task, const struct exchange_failure *failure)
{
    struct trace_step *step = task_trace_add(task, TRACE_GIVEN_UP);
    if (!step)
        return;
    trace_set_question(task->trace, step, &task->asked);
    step->zone = task_trace_keep(task, task->asked_zone);
    step->word = task_trace_failure_word(task, failure);
}

void task_trace_passed_over(const struct task *task, struct name former)
{
    struct trace_step *step = task_trace_add(task, TRACE_PASSED);
    if (!step)
        return;
    step->zone = task_trace_keep(task, former);
    step->word = task->zone->strategy->name;
}

/* ---- other questions ---- */

void task_trace_follows(const struct task *task, struct name zone, const struct question *part)
{
    struct trace_step *step = task_trace_add(task, TRACE_JOINED);
    if (!step)
        return;
    trace_set_question(task->trace, step, part);
    step->zone = task_trace_keep(task, zone);
}

static void say_sub(const struct task *task, enum trace_kind kind, const struct question *question,
                    const char *word)
{
    trace_say(task->trace, kind, task->depth + 1u, question, word, loop_now(task->tasks->loop));
}

void task_trace_sub_cached(const struct task *task, const struct question *question,
                           const struct answer *answer)
{
    say_sub(task, TRACE_CACHE, question, answer_kind_name(answer->kind));
}

void task_trace_sub_joined(const struct task *task, const struct question *question)
{
    say_sub(task, TRACE_JOINED, question, "");
}

void task_trace_sub_refused(const struct task *task, const struct question *question, uint16_t ede)
{
    const char *word = "too many subtasks, or too deep";
    if (ede == EDE_INVALID_DATA)
        word = "a loop of questions";
    else if (ede == EDE_NO_REACHABLE_AUTHORITY)
        word = "no zone takes it";
    say_sub(task, TRACE_REFUSED, question, word);
}

/* ---- validation ---- */

void task_trace_needs(const struct task *task, struct name zone, uint16_t type,
                      enum task_trace_need how)
{
    static const char *const words[] = {
        [TRACE_NEED_CACHED] = "from the cache",
        [TRACE_NEED_ASKED] = "asked",
        [TRACE_NEED_UNKNOWN] = "not known",
        [TRACE_NEED_EARLY] = "asked early",
    };
    struct question question = {.name = zone, .type = type, .cls = RRCLASS_IN};
    struct trace_step *step = task_trace_add(task, TRACE_NEEDED);
    if (!step)
        return;
    trace_set_question(task->trace, step, &question);
    step->word = words[how];
}

/* Sets the RRset that a signature covers. The signed bytes begin with the fields of the signature
 * and its signer; then comes the first record (RFC 4034 section 3.1.8.1). */
static void set_signed(struct trace *trace, struct trace_step *step, struct name signer,
                       struct span data)
{
    struct question rrset = {.cls = RRCLASS_IN};
    if (!name_view(data, RRSIG_SIGNER_AT + signer.len, &rrset.name))
        return;
    rrset.type = get_u16(data.data);
    trace_set_question(trace, step, &rrset);
}

void task_trace_verified(const struct task *task, struct name zone, const struct verify_job *job,
                         enum task_trace_signature signature, uint64_t us)
{
    static const char *const words[] = {
        [TRACE_SIGNATURE_WRONG] = "wrong",
        [TRACE_SIGNATURE_RIGHT] = "right",
        [TRACE_SIGNATURE_KNOWN] = "right, as before",
    };
    struct trace_step *step = task_trace_add(task, TRACE_VERIFIED);
    if (!step)
        return;
    set_signed(task->trace, step, zone, job->data);
    step->zone = task_trace_keep(task, zone);
    step->us = us;
    step->algorithm = job->algorithm;
    step->word = words[signature];
}

void task_trace_verdict(const struct task *task, const struct verdict *verdict)
{
    struct trace_step *step = task_trace_add(task, TRACE_VERDICT);
    if (!step)
        return;
    trace_set_question(task->trace, step, &task->question);
    step->zone = task_trace_keep(task, (struct name){verdict->zone, verdict->zone_len});
    step->word = verdict->fault[0] ? verdict->fault : security_name(verdict->security);
    step->ede = verdict->ede;
}

/* ---- the end ---- */

static void set_failure(const struct task *task, struct trace_step *step)
{
    const struct failure *failure = &task->failure;
    bool is_drained = task->budget && budget_is_drained(task->budget, loop_now(task->tasks->loop));
    step->word = is_drained ? "failed, with its budget used up" : "failed";
    step->rcode = failure->rcode;
    step->ede = failure->ede_count ? failure->ede[0] : EDE_NONE;
}

void task_trace_ended(const struct task *task)
{
    struct trace_step *step = task_trace_add(task, TRACE_ENDED);
    if (!step)
        return;
    trace_set_question(task->trace, step, &task->question);
    step->has_rcode = true;
    step->us = loop_now(task->tasks->loop) - (task->ends_at - TASK_WALL_US);
    if (task->state != TASK_ANSWERED) {
        set_failure(task, step);
        return;
    }
    step->rcode = header_rcode(task->answer.message.data);
    step->word = answer_kind_name(task->answer.kind);
}
