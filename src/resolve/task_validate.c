/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Invariant: only answers of CACHE_VIEW_TRUST that are secure or insecure tell a validation about
 * keys and DS records. Every other result of such a question counts as a failure.
 */
#include "resolve/task_validate.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/log.h"
#include "dns/edns.h"
#include "resolve/bogus.h"
#include "resolve/task_trace.h"
#include "upstream/exchange.h"
#include "validate/algorithm.h"
#include "validate/anchor_dates.h"
#include "validate/anchors.h"
#include "validate/rrsets.h"
#include "validate/trust.h"

/* Whether no client ever gets the response: a better server may be left, or the parent gives the
 * address of a server, which is glue and never signed. */
static bool validate_is_on_the_way(const struct task *task, const struct response *response)
{
    const struct iterate_memory *memory = &task->memory.iterate;
    return task->zone->is_authoritative && ((response->is_empty && !memory->is_last_hope) ||
                                            memory->parent.state == PARENT_SEARCH_ASKS);
}

bool task_validate_concerns(const struct task *task, const struct response *response)
{
    if (!task_validates(task) || !task->tasks->validator || !task->budget)
        return false;
    return response_is_useful(response->kind) && task_asks_whole(task, &task->asked) &&
           !validate_is_on_the_way(task, response);
}

void task_validate_begin(struct task *task, struct validating *validating,
                         struct validation_event *event)
{
    struct validator *validator = task->tasks->validator;
    if (task->key.view == CACHE_VIEW_ANSWERS && task->key.flags & CACHE_KEY_DO)
        validator->has_do_clients = true;
    validation_begin(&validating->machine, ++validator->serial);
    validating->lacks_answer = validating->lacks_room = validating->is_cut = false;
    validating->failure_left_s = 0;
    validating->text[0] = '\0';
    *event = (struct validation_event){.kind = VALIDATION_STARTED};
}

/* ---- what is judged ---- */

/* Whether the operator named the servers of the zone, and it is not the root. */
static bool zone_is_configured(const struct zone *zone)
{
    return zone->group_len > 0 && !name_is_root(zone->name);
}

static enum answer_kind validate_kind(const struct response *response)
{
    switch (response->kind) {
    case RESPONSE_NODATA:
        return ANSWER_NODATA;
    case RESPONSE_NXDOMAIN:
        return ANSWER_NXDOMAIN;
    default:
        return ANSWER_POSITIVE;
    }
}

/* Whether the message has no alias, or one that leads to a name that another message is for. */
static bool validate_is_at_qname(const struct response *response)
{
    const struct alias_chain *chain = &response->chain;
    if (response->kind == RESPONSE_ALIAS)
        return chain->hops == 1 && !chain->hop[0].has_dname;
    return response->kind != RESPONSE_YXDOMAIN && chain->hops == 0 && !chain->is_made;
}

bool task_validate_clock_is_behind(const struct tasks *tasks)
{
    return loop_wall_s(tasks->loop) < tasks->validation.clock_min_s;
}

/* Kinds of lines that are logged once in the life of the process: one for each zone or server, and
 * one about the clock, which each validation reads. */
enum { LOG_FIRST_PRIVATE = 1, LOG_FIRST_STRIPS, LOG_FIRST_CLOCK };

/* While the clock is behind, signatures that seem not yet valid count. Such a clock never makes a
 * valid signature look expired, so these checks go on. */
static struct rrsig_clock validate_clock(const struct tasks *tasks)
{
    int64_t now_s = loop_wall_s(tasks->loop);
    bool is_behind = task_validate_clock_is_behind(tasks);
    if (is_behind && log_is_first(LOG_FIRST_CLOCK))
        LOG(LOG_ERROR, "resolve",
            "the clock is wrong: it is earlier than this version of nailup; DNSSEC signatures that "
            "seem not yet valid are accepted");
    return (struct rrsig_clock){.now_s = (uint32_t)now_s, .is_behind = is_behind};
}

static struct validation_view validate_view(const struct task *task, const struct message *message,
                                            const struct response *response)
{
    const struct tasks *tasks = task->tasks;
    const struct zone *zone = task->zone;
    bool is_configured = zone_is_configured(zone) && name_equal(task->asked_zone, zone->name);
    return (struct validation_view){
        .message = message,
        .question = &task->question,
        .kind = validate_kind(response),
        .leads_out = response->kind == RESPONSE_ALIAS,
        .end = response->chain.name,
        .asked_zone = task->asked_zone,
        .zone_is_configured = is_configured,
        .zone_is_cut = zone->is_authoritative,
        .is_at_qname = validate_is_at_qname(response),
        .allow_sha1 = tasks->validation.allow_sha1,
        .clock = validate_clock(tasks),
        .anchors = tasks->validation.anchors,
        .space = &tasks->validator->space,
        .units_left = &task->budget->verify_units_left,
        .failures_left = &task->budget->verify_failures_left,
    };
}

/* A DS record belongs to the zone above. */
const struct anchor *task_validate_anchor(const struct tasks *tasks,
                                          const struct question *question)
{
    const struct anchors *anchors = tasks->validation.anchors;
    struct name name = question->name;
    if (!anchors)
        return NULL;
    if (question->type == RRTYPE_DS && !name_is_root(name))
        name = name_parent(name);
    return anchors_find(anchors, name);
}

/* Whether the QNAME is below no trust anchor, or a negative one is closer; *labels becomes that
 * one's number of labels, or 0. */
static bool lacks_anchor(const struct task *task, unsigned *labels)
{
    const struct anchor *anchor = task_validate_anchor(task->tasks, &task->question);
    *labels = anchor ? name_label_count(anchor->zone) : 0;
    return !anchor || anchor->kind != ANCHOR_TRUSTED;
}

/* ---- zones that were just found to be insecure ---- */

/* Without a look at the message. */
static void set_insecure(struct verdict *verdict, unsigned labels, uint16_t ede)
{
    memset(verdict, 0, offsetof(struct verdict, zone)); /* zone_len 0: no zone */
    verdict->security = SECURITY_INSECURE;
    verdict->insecure_labels = (uint8_t)labels;
    verdict->ede = ede;
    verdict->fault = "";
    verdict->ttl_max_s = UINT32_MAX;
}

/* Whether one look at the DS records of the asked zone decides about an unsigned message, as
 * validation_open() in validate/validation.c says. An anchor at or below the zone does not count
 * here. Only a DS record is not in the zone whose servers are asked. */
static bool zone_decides(const struct task *task, const struct response *response)
{
    const struct anchor *anchor = task_validate_anchor(task->tasks, &task->question);
    return task->zone->is_authoritative && validate_is_at_qname(response) &&
           task->question.type != RRTYPE_DS && anchor && anchor->kind == ANCHOR_TRUSTED &&
           anchor->zone.len < task->asked_zone.len;
}

/* Looks only where signatures of the data would be. */
static bool is_unsigned(const struct message *message, const struct response *response)
{
    bool is_positive = validate_kind(response) == ANSWER_POSITIVE;
    return !rrsets_are_signed(message, is_positive ? SECTION_ANSWER : SECTION_AUTHORITY);
}

/* The message is at hand. The zone may have to come from memory, which takes longer. */
bool task_validate_knows_insecure(const struct task *task, const struct message *message,
                                  const struct response *response, struct verdict *verdict)
{
    const struct tasks *tasks = task->tasks;
    if (task_is_traced(task) || !is_unsigned(message, response) || !zone_decides(task, response))
        return false;
    const struct judged_zone *known = judged_zones_find_insecure(
        &tasks->validator->judged, task->space->number, task->asked_zone, loop_now(tasks->loop));
    if (!known)
        return false;
    set_insecure(verdict, name_label_count(task->asked_zone), known->ede);
    return true;
}

/* A signature of the zone whose servers were asked has proved the answer. */
static void note_secure(const struct task *task, const struct verdict *verdict)
{
    struct tasks *tasks = task->tasks;
    struct judged_zones *judged = &tasks->validator->judged;
    struct name signer = {verdict->zone, verdict->zone_len};
    uint64_t now = loop_now(tasks->loop);
    if (name_equal_exact(signer, task->asked_zone) &&
        !judged_zones_proves(judged, task->space->number, signer, now))
        judged_zones_add_secure(judged, task->space->number, signer, now);
}

void task_validate_note_referral(const struct task *task)
{
    struct tasks *tasks = task->tasks;
    if (tasks->validator)
        judged_zones_note_referral(&tasks->validator->judged, task->space->number, task->asked_zone,
                                   loop_now(tasks->loop));
}

bool task_validate_will_prove(const struct task *task)
{
    const struct tasks *tasks = task->tasks;
    if (!task_validates(task) || !task_is_enforced(task) || !tasks->validator ||
        name_label_count(task->asked_zone) <= 1)
        return false;
    unsigned labels;
    return judged_zones_proves(&tasks->validator->judged, task->space->number, task->asked_zone,
                               loop_now(tasks->loop)) &&
           !lacks_anchor(task, &labels);
}

/* The validation of an unsigned message has found the DS records of this name to be absent. */
static void note_insecure(const struct task *task, const struct response *response,
                          const struct validate_need *need, const struct answer *found)
{
    struct tasks *tasks = task->tasks;
    struct name zone = {need->wire, need->len};
    uint64_t now = loop_now(tasks->loop);
    uint64_t left_us = (uint64_t)(found->ttl_s - answer_age(found, now)) * US_PER_S;
    if (need->type == RRTYPE_DS && trust_knows_insecure(found) &&
        name_equal_exact(zone, task->asked_zone) && zone_decides(task, response))
        judged_zones_add_insecure(&tasks->validator->judged, task->space->number, zone,
                                  found->ede_count ? found->ede[0] : EDE_NONE, left_us, now);
}

/* ---- keys and DS records ---- */

static void note_failure(struct validating *validating, const struct answer *answer,
                         uint64_t now_us)
{
    validating->failure_left_s = failure_left_s(answer, now_us);
    validating->lacks_answer = true;
    validating->lacks_room = validating->lacks_room || !answer->ttl_s;
    if (answer->text)
        memccpy(validating->text, answer->text, '\0', sizeof(validating->text));
    validating->text[sizeof(validating->text) - 1] = '\0';
}

struct validation_event task_validate_event(struct validating *validating,
                                            const struct answer *answer, uint64_t now_us)
{
    bool is_known = answer->security == SECURITY_SECURE || answer->security == SECURITY_INSECURE;
    if (answer->kind != ANSWER_FAILURE && is_known)
        return (struct validation_event){.kind = VALIDATION_ANSWERED, .answer = answer};
    if (answer->kind == ANSWER_FAILURE)
        note_failure(validating, answer, now_us);
    validating->lacks_answer = true;
    return (struct validation_event){.kind = VALIDATION_FAILED,
                                     .ede = answer->ede_count ? answer->ede[0] : EDE_NONE};
}

struct validation_event task_validate_refusal(struct validating *validating, uint16_t ede,
                                              bool is_room)
{
    validating->lacks_answer = true;
    validating->lacks_room = validating->lacks_room || is_room;
    return (struct validation_event){.kind = VALIDATION_FAILED, .ede = ede};
}

/* Finds the answer in the cache; in a read section. */
static bool find_trust(const struct task *task, const struct validate_need *need,
                       struct answer *out)
{
    struct tasks *tasks = task->tasks;
    struct cache_key key;
    struct question question = {
        .name = {need->wire, need->len}, .type = need->type, .cls = RRCLASS_IN};
    cache_key_init(&key, tasks->cache, &question, CACHE_KEY_DO, CACHE_VIEW_TRUST,
                   task->space->number);
    if (!cache_find(tasks->cache, &key, loop_now(tasks->loop), out) || out->stale_s ||
        !tasks_may_use(task->space, &key, out))
        return false;
    if (out->is_due) {
        tasks->validator->has_due = true;
        tasks->validator->due = key;
    }
    return !task_is_traced(task) || trace_allows(task->trace, out->stored_at);
}

static void set_need(struct validate_need *need, const struct validation_step *step)
{
    need->type = step->kind == VALIDATION_KEYS ? RRTYPE_DNSKEY : RRTYPE_DS;
    need->len = step->zone.len;
    memcpy(need->wire, step->zone.wire, step->zone.len);
}

/* Takes the step from the cache. False: it must be asked. */
static bool step_known(struct task *task, struct validating *validating,
                       const struct validation_view *view, const struct response *response,
                       const struct validate_need *need, struct validation_step *step)
{
    struct answer found;
    bool only_known = step->only_known;
    cache_read_begin();
    bool is_found = find_trust(task, need, &found);
    if (is_found && only_known && need->type == RRTYPE_DS)
        is_found = found.kind != ANSWER_FAILURE; /* a mere look leaves no trace of a failure */
    if (is_found && only_known)
        note_insecure(task, response, need, &found);
    if (task_is_traced(task))
        task_trace_needs(task, (struct name){need->wire, need->len}, need->type,
                         is_found ? TRACE_NEED_CACHED
                                  : (only_known ? TRACE_NEED_UNKNOWN : TRACE_NEED_ASKED));
    if (is_found || only_known) {
        struct validation_event event = {.kind = VALIDATION_UNKNOWN, .ede = EDE_NONE};
        if (is_found)
            event = task_validate_event(validating, &found, loop_now(task->tasks->loop));
        validation_next(&validating->machine, view, &event, step);
    }
    cache_read_end();
    return is_found || only_known;
}

/* ---- verifications ---- */

/* Whether this turn skips a message altogether. Otherwise a message with signatures would be read,
 * put off, and read again. */
static bool must_put_off_whole(struct tasks *tasks, const struct message *message,
                               const struct validation_event *event)
{
    if (event->kind != VALIDATION_STARTED || verify_turn_has_time(&tasks->turn, false))
        return false;
    return rrsets_are_signed(message, SECTION_ANSWER) ||
           rrsets_are_signed(message, SECTION_AUTHORITY);
}

/* Whether the signatures of this zone take too much of a busy worker. Zones that the operator
 * configured, the root and top-level domains may: many names depend on them. */
static bool is_above_share(const struct task *task, struct name signer)
{
    const struct tasks *tasks = task->tasks;
    const struct zone *zone = task->zone;
    return name_label_count(signer) > 1 && !zone_is_configured(zone) &&
           signer_load_is_above(&tasks->validator->load, signer, loop_now(tasks->loop)) &&
           loop_is_saturated(tasks->loop);
}

static struct verdict above_share(const struct task *task, struct name signer)
{
    struct verdict verdict = {.security = SECURITY_BOGUS,
                              .ede = EDE_OTHER,
                              .fault = "the signatures of the zone cost too much",
                              .is_spent = true,
                              .zone_len = signer.len};
    memcpy(verdict.zone, signer.wire, signer.len);
    STATS_INC(task->tasks->stats, validation_bound_signer);
    return verdict;
}

/* The order of the rows of one algorithm in metrics.def. */
enum verification { VERIFICATION_RIGHT, VERIFICATION_KNOWN, VERIFICATION_WRONG };

static void count_verification(struct stats *stats, uint8_t algorithm, enum verification result)
{
    static const enum stat first[] = {
        [ALGORITHM_RSASHA1] = stat_verifications_rsasha1_right,
        [ALGORITHM_RSASHA1_NSEC3] = stat_verifications_rsasha1_right,
        [ALGORITHM_RSASHA256] = stat_verifications_rsasha256_right,
        [ALGORITHM_RSASHA512] = stat_verifications_rsasha512_right,
        [ALGORITHM_ECDSA_P256] = stat_verifications_p256_right,
        [ALGORITHM_ECDSA_P384] = stat_verifications_p384_right,
        [ALGORITHM_ED25519] = stat_verifications_ed25519_right,
        [ALGORITHM_ED448] = stat_verifications_ed448_right,
    };
    MUST(algorithm < ARRAY_LEN(first) && first[algorithm]);
    stats_add_at(stats, first[algorithm] + (enum stat)result, 1);
}

/* Ten times what the most expensive signature takes. A longer time is a pause of this process. */
#define VERIFICATION_US_MAX (10 * US_PER_MS)

/* Verifies, and bills the time to the signer. The time includes that of other programs on this CPU.
 * The exact CPU time would cost two system calls. A zone is refused only where this process has
 * most of the CPU (loop_is_saturated()), so other programs hardly matter there. */
static bool run_verification(struct task *task, const struct validation_step *step)
{
    struct tasks *tasks = task->tasks;
    struct validator *validator = tasks->validator;
    uint64_t began_at = loop_clock(tasks->loop);
    bool is_right = verify_run(validator->verifier, &step->job);
    uint64_t us = MIN(loop_clock(tasks->loop) - began_at, VERIFICATION_US_MAX);
    verify_turn_add(&tasks->turn, us);
    signer_load_add(&validator->load, step->zone, us, loop_now(tasks->loop));
    count_verification(tasks->stats, step->job.algorithm,
                       is_right ? VERIFICATION_RIGHT : VERIFICATION_WRONG);
    stats_histogram_add(&tasks->stats->verify_time, us);
    if (task_is_traced(task))
        task_trace_verified(task, step->zone, &step->job,
                            is_right ? TRACE_SIGNATURE_RIGHT : TRACE_SIGNATURE_WRONG, us);
    return is_right;
}

static void on_step_verified(struct validating *validating, const struct validation_view *view,
                             struct validation_step *step, bool is_right)
{
    const struct validation_event event = {
        .kind = VALIDATION_VERIFIED, .ede = EDE_NONE, .is_right = is_right};
    validation_next(&validating->machine, view, &event, step);
}

/* Takes the result from the memo. False: the signature must be verified. A known signature takes no
 * time, so the bounds of a turn and of a zone's share do not concern it. */
static bool step_verified_before(struct task *task, struct validating *validating,
                                 const struct validation_view *view, const struct verify_mark *mark,
                                 struct validation_step *step)
{
    if (!verify_memo_knows(task->tasks->validator->memo, mark))
        return false;
    count_verification(task->tasks->stats, step->job.algorithm, VERIFICATION_KNOWN);
    if (task_is_traced(task))
        task_trace_verified(task, step->zone, &step->job, TRACE_SIGNATURE_KNOWN, 0);
    on_step_verified(validating, view, step, true);
    return true;
}

static void step_verify(struct task *task, struct validating *validating,
                        const struct validation_view *view, const struct verify_mark *mark,
                        struct validation_step *step)
{
    bool is_right = run_verification(task, step);
    if (is_right)
        verify_memo_add(task->tasks->validator->memo, mark);
    on_step_verified(validating, view, step, is_right);
}

/* ---- the verdict ---- */

/* There must be a DS record, or no task would have asked about keys. So it does not matter how well
 * their absence is proven. */
static bool lacks_keys(const struct task *task, const struct response *response,
                       const struct verdict *verdict)
{
    return verdict->security == SECURITY_BOGUS && task->key.view == CACHE_VIEW_TRUST &&
           task->question.type == RRTYPE_DNSKEY && response->kind == RESPONSE_NODATA &&
           !verdict->is_unreachable && !verdict->is_spent;
}

/* A configured zone that lacks the signatures which its parent promises may be private, with the
 * name of a signed zone of the Internet. The verdict names that zone then. */
static void note_split_horizon(const struct task *task, struct verdict *verdict)
{
    const struct zone *zone = task->zone;
    struct name at_fault = {verdict->zone, verdict->zone_len};
    bool lacks = verdict->ede == EDE_RRSIGS_MISSING || verdict->ede == EDE_NSEC_MISSING ||
                 verdict->ede == EDE_DNSKEY_MISSING;
    if (verdict->security != SECURITY_BOGUS || verdict->is_unreachable || !lacks ||
        !zone_is_configured(zone) || !name_is_below(zone->name, at_fault))
        return;
    verdict->may_be_private = true;
    verdict->zone_len = zone->name.len;
    memcpy(verdict->zone, zone->name.wire, zone->name.len);
}

static bool has_more_than_an_alias(const struct response *response)
{
    return response->chain.hops > 1 ||
           (response->chain.hops == 1 && response->kind != RESPONSE_ALIAS);
}

/* Whether the alias is good and what follows it in the message is not. The servers of the target
 * may have a better answer: a server that follows an alias may have an old copy of another zone, or
 * an answer to another question. */
static bool may_cut(const struct task *task, const struct validating *validating,
                    const struct response *response, const struct verdict *verdict)
{
    return verdict->alias_is_good && has_more_than_an_alias(response) && task_is_enforced(task) &&
           !validating->is_cut && !validating->lacks_answer && !verdict->is_spent &&
           !verdict->is_unreachable && !task->asks_here && task->budget->verify_failures_left;
}

/* Judges only the first alias of the message. Its signature was verified before, and that is
 * remembered. */
static void cut_at_alias(struct task *task, struct validating *validating,
                         const struct message *message, struct response *response,
                         struct validation_view *view, struct validation_step *step)
{
    const struct validation_event start = {.kind = VALIDATION_STARTED};
    if (task_is_traced(task))
        task_trace_verdict(task, &step->verdict);
    response_cut_at_alias(response, message, &task->question);
    validating->is_cut = true;
    validation_begin(&validating->machine, ++task->tasks->validator->serial);
    *view = validate_view(task, message, response);
    validation_next(&validating->machine, view, &start, step);
}

/* An alias answers a question about keys or DS records, wherever it leads. The rest of the message
 * may be in a broken zone, so it is not even looked at. */
static void cut_before_start(const struct task *task, struct validating *validating,
                             const struct message *message, struct response *response)
{
    if (task->key.view != CACHE_VIEW_TRUST || !has_more_than_an_alias(response))
        return;
    response_cut_at_alias(response, message, &task->question);
    validating->is_cut = true;
}

enum validate_result task_validate_next(struct task *task, struct validating *validating,
                                        const struct message *message, struct response *response,
                                        const struct validation_event *event,
                                        struct validate_need *need, struct verdict *verdict)
{
    unsigned labels;
    if (lacks_anchor(task, &labels)) {
        /* A reload may have changed the anchors, and the space may hold another message by now. So
         * nothing that was verified before counts. */
        validation_begin(&validating->machine, ++task->tasks->validator->serial);
        set_insecure(verdict, labels, EDE_NONE);
        return VALIDATE_VERDICT;
    }
    if (event->kind == VALIDATION_STARTED)
        cut_before_start(task, validating, message, response);
    if (must_put_off_whole(task->tasks, message, event))
        return VALIDATE_PUT_OFF;
    struct validation_view view = validate_view(task, message, response);
    struct validation_step step;
    struct verify_mark mark;
    step.only_known = false;
    validation_next(&validating->machine, &view, event, &step);
    for (;;) {
        switch (step.kind) {
        case VALIDATION_KEYS:
        case VALIDATION_DS:
            set_need(need, &step);
            if (!step_known(task, validating, &view, response, need, &step))
                return VALIDATE_NEEDS;
            break;
        case VALIDATION_VERIFY:
            mark = verify_memo_mark(task->tasks->validator->memo, &step.job);
            if (step_verified_before(task, validating, &view, &mark, &step))
                break;
            if (is_above_share(task, step.zone)) {
                *verdict = above_share(task, step.zone);
                return VALIDATE_VERDICT;
            }
            if (!verify_turn_has_time(&task->tasks->turn, event->kind == VALIDATION_RESUMED))
                return VALIDATE_PUT_OFF;
            step_verify(task, validating, &view, &mark, &step);
            break;
        case VALIDATION_VERDICT:
            if (may_cut(task, validating, response, &step.verdict)) {
                cut_at_alias(task, validating, message, response, &view, &step);
                break;
            }
            *verdict = step.verdict;
            if (verdict->proves_insecure && task->key.view == CACHE_VIEW_TRUST)
                verdict->security = SECURITY_INSECURE; /* so its readers skip the proof */
            verdict->is_unsigned = verdict->security == SECURITY_BOGUS &&
                                   verdict->ede == EDE_RRSIGS_MISSING && !verdict->is_unreachable;
            if (lacks_keys(task, response, verdict)) {
                verdict->is_unsigned = true;
                verdict->ede = EDE_DNSKEY_MISSING;
                verdict->fault = "the zone has no keys";
            }
            if (verdict->is_spent)
                STATS_INC(task->tasks->stats, validation_bound_units);
            note_split_horizon(task, verdict);
            return VALIDATE_VERDICT;
        }
    }
}

/* ---- what the verdict means ---- */

/* The root and top-level domains renew their signatures in time. If one of them has dates that do
 * not fit, the clock of this machine is the likelier reason. */
static bool is_clock_suspect(const struct verdict *verdict)
{
    bool is_date =
        verdict->ede == EDE_SIGNATURE_EXPIRED || verdict->ede == EDE_SIGNATURE_NOT_YET_VALID;
    bool is_top = verdict->zone_len > 0 &&
                  name_label_count((struct name){verdict->zone, verdict->zone_len}) <= 1;
    return is_date && is_top;
}

static __attribute__((cold, noinline)) void
log_bogus(const struct task *task, const struct verdict *verdict, const struct addr *server)
{
    char name[NAME_TEXT_MAX], type[RRTYPE_TEXT_MAX], from[ADDR_TEXT_MAX], text[ANSWER_TEXT_MAX];
    bogus_text(text, verdict, (uint32_t)loop_wall_s(task->tasks->loop));
    LOG_LIMITED(LOG_INFO, "resolve", "%s %s from %s is bogus: %s%s",
                name_format(task->question.name, name), rrtype_name(task->question.type, type),
                addr_format(server, from), text,
                is_clock_suspect(verdict) ? "; is the clock of this machine right?" : "");
}

static __attribute__((cold, noinline)) void log_private(const struct task *task)
{
    char name[NAME_TEXT_MAX];
    if (log_is_first(name_hash(task->zone->name, LOG_FIRST_PRIVATE)))
        LOG(LOG_NOTICE, "resolve",
            "zone %s is not validated: the zone above proves that it does not exist, so it is "
            "private (validate: no says the same)",
            name_format(task->zone->name, name));
}

static __attribute__((cold)) void log_stripping(const struct addr *server)
{
    char text[ADDR_TEXT_MAX];
    if (log_is_first(addr_hash(server, LOG_FIRST_STRIPS)))
        LOG(LOG_WARNING, "resolve",
            "upstream %s strips signatures: it answers queries with DO without them, so names of "
            "signed zones are bogus behind it; it is asked last",
            addr_format(server, text));
}

/* Learns whether a forwarder passes on signatures. The root and top-level domains are not broken:
 * their keys lack signatures only if the forwarder, or an attacker before it, took them away. An
 * unsigned answer about a DS record proves less: a forwarder may have private names. */
static __attribute__((noinline)) void
note_signatures(const struct task *task, const struct verdict *verdict, const struct addr *server)
{
    struct name zone = {verdict->zone, verdict->zone_len};
    bool lacks = verdict->is_unsigned;
    if (!lacks && verdict->security != SECURITY_SECURE)
        return;
    bool is_certain = task->key.view == CACHE_VIEW_TRUST && task->question.type == RRTYPE_DNSKEY &&
                      name_label_count(zone) <= 1 && !verdict->may_be_private;
    struct exchange_signatures about = {
        .are_missing = lacks, .is_certain = is_certain, .zone_hash = name_hash(zone, 0)};
    if (exchange_note_signatures(task->zone->group, task->zone->group_len, server, &about))
        log_stripping(server);
}

/* Whether the keys of a trusted anchor may be asked for now, and nothing is known about them. */
static bool lacks_anchor_keys(const struct task *task, const struct anchor *anchor,
                              struct cache_key *key)
{
    const struct tasks *tasks = task->tasks;
    struct answer found;
    bool asks_keys = task->key.view == CACHE_VIEW_TRUST && task->question.type == RRTYPE_DNSKEY;
    if (asks_keys || !anchor || anchor->kind != ANCHOR_TRUSTED || !tasks_may_refresh(tasks))
        return false;
    struct question keys = {.name = anchor->zone, .type = RRTYPE_DNSKEY, .cls = RRCLASS_IN};
    cache_key_init(key, tasks->cache, &keys, CACHE_KEY_DO, CACHE_VIEW_TRUST, task->space->number);
    cache_read_begin();
    bool is_known = cache_find(tasks->cache, key, loop_now(tasks->loop), &found) && !found.stale_s;
    cache_read_end();
    return !is_known;
}

/* Whether the forwarder of an unsigned answer is in doubt. Out of line, so that recursion sets up
 * no frame for it. */
static __attribute__((noinline)) bool doubts_unsigned(const struct task *task,
                                                      struct cache_key *key)
{
    const struct anchors *anchors = task->tasks->validation.anchors;
    return name_is_root(task->zone->name) &&
           lacks_anchor_keys(task, anchors_find(anchors, name_root()), key);
}

/* A forwarder for all names answers without signatures. If it sends the keys of the root without
 * them too, it strips; if not, it has private names. */
static bool doubts_forwarder(const struct task *task, const struct verdict *verdict,
                             struct cache_key *keys)
{
    return verdict->is_unsigned && !task->zone->is_authoritative && doubts_unsigned(task, keys);
}

/* The dates of a signature do not fit the clock, so the keys of the closest trust anchor were not
 * even needed. If their dates do not fit either, the clock is in doubt. */
static bool doubts_clock(const struct task *task, const struct verdict *verdict,
                         struct cache_key *keys)
{
    return verdict->since_s && verdict->security == SECURITY_BOGUS &&
           lacks_anchor_keys(task, task_validate_anchor(task->tasks, &task->question), keys);
}

/* Notes keys of a trust anchor whose dates do not fit the clock, until keys of it are validated.
 * Only answers about keys come here. */
static __attribute__((noinline)) void note_anchor_dates(const struct task *task,
                                                        const struct verdict *verdict)
{
    struct tasks *tasks = task->tasks;
    struct name zone = task->question.name;
    const struct anchor *anchor = anchors_find(tasks->validation.anchors, zone);
    if (!anchor || anchor->kind != ANCHOR_TRUSTED || anchor->zone.len != zone.len ||
        task->space->is_retired)
        return;
    if (verdict->security == SECURITY_SECURE)
        anchor_dates_forget(tasks->stats, zone);
    else if (verdict->since_s)
        anchor_dates_note(tasks->stats, &(struct anchor_dates){
                                            .zone_hash = anchor_dates_hash(zone),
                                            .space = task->space->number,
                                            .at_s = verdict->since_s,
                                            .is_expired = verdict->ede == EDE_SIGNATURE_EXPIRED});
}

bool task_validate_note(const struct task *task, const struct verdict *verdict,
                        const struct addr *server, struct cache_key *keys)
{
    static const enum stat results[] = {
        [SECURITY_INSECURE] = stat_validations_insecure,
        [SECURITY_SECURE] = stat_validations_secure,
        [SECURITY_BOGUS] = stat_validations_bogus,
    };
    stats_add_at(task->tasks->stats, results[verdict->security], 1);
    if (verdict->security == SECURITY_BOGUS)
        log_bogus(task, verdict, server);
    if (verdict->is_private)
        log_private(task);
    if (task->key.view == CACHE_VIEW_TRUST && task->question.type == RRTYPE_DNSKEY)
        note_anchor_dates(task, verdict);
    if (!task->zone->is_authoritative)
        note_signatures(task, verdict, server);
    else if (verdict->security == SECURITY_SECURE)
        note_secure(task, verdict);
    if (task_is_traced(task))
        task_trace_verdict(task, verdict);
    return doubts_forwarder(task, verdict, keys) || doubts_clock(task, verdict, keys);
}

/* False: out of memory. */
static bool note_bogus(struct task *task, const struct validating *validating,
                       const struct verdict *verdict, const struct addr *server)
{
    struct task_bogus *bogus = task->bogus;
    if (!bogus) {
        bogus = task->bogus = malloc(sizeof(*bogus));
        if (!bogus)
            return false;
        bogus->count = 0;
    }
    if (bogus->count < ARRAY_LEN(bogus->servers))
        bogus->servers[bogus->count++] = *server;
    if (validating->text[0])
        memcpy(bogus->text, validating->text, sizeof(bogus->text));
    else
        bogus_text(bogus->text, verdict, (uint32_t)loop_wall_s(task->tasks->loop));
    bogus->failure = (struct failure){
        .rcode = RCODE_SERVFAIL,
        .cache = !verdict->is_spent && !validating->lacks_room,
        .is_bogus = !verdict->is_unreachable,
        .is_lasting = verdict->is_final,
        .text = bogus->text,
        .ttl_max_s = validating->failure_left_s,
    };
    failure_add_ede(&bogus->failure, verdict->ede);
    return true;
}

/* Other servers may have a better answer, and the bound is not reached. A zone held here would give
 * the same answer again. */
static bool may_retry(const struct task *task, const struct validating *validating,
                      const struct verdict *verdict)
{
    return !task->asks_here && !verdict->is_spent && !verdict->is_unreachable &&
           !verdict->is_final && !validating->lacks_answer && task->budget->verify_failures_left &&
           task->bogus->count <= VALIDATE_RETRIES_MAX && !task->tasks->closing;
}

enum refusal task_validate_refuse(struct task *task, const struct validating *validating,
                                  const struct verdict *verdict, const struct addr *server)
{
    if (!note_bogus(task, validating, verdict, server))
        return REFUSAL_NOT_NOTED;
    return may_retry(task, validating, verdict) ? REFUSAL_RETRY : REFUSAL_FINAL;
}
