/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Reads the promise of a referral or of known DS records, and asks the cache and the running tasks
 * whether the keys are due (early_keys.h). Invariant: every key that is due is asked for later
 * anyway, if the servers of its zone answer.
 */
#include "resolve/early_keys.h"

#include "dns/rrtype.h"
#include "recurse/budget.h"
#include "resolve/task_validate.h"
#include "resolve/tasks.h"
#include "validate/algorithm.h"
#include "validate/anchors.h"
#include "validate/dnskey.h"
#include "validate/rrsig.h"

static bool counts_for_zone(const struct task *task, struct span rdata)
{
    struct ds ds;
    return ds_read(&ds, rdata) &&
           algorithm_is_supported(ds.algorithm, task->tasks->validation.allow_sha1) &&
           algorithm_is_digest_supported(ds.digest_type);
}

/* Most referrals end here. */
static bool has_ds(const struct message *referral)
{
    struct rr_iter iter = message_rrs(referral, SECTION_AUTHORITY);
    for (struct rr rr; message_rr_next(&iter, &rr);)
        if (rr.type == RRTYPE_DS)
            return true;
    return false;
}

bool early_keys_are_promised(const struct task *task, const struct message *referral,
                             struct name zone)
{
    bool is_usable = false, is_signed = false;
    if (!has_ds(referral) || !message_check_rdata(referral))
        return false;
    struct rr_iter iter = message_rrs(referral, SECTION_AUTHORITY);
    for (struct rr rr; message_rr_next(&iter, &rr);) {
        struct rrsig sig;
        if (rr.cls != RRCLASS_IN || !message_owner_is(referral, &rr, zone))
            continue;
        if (rr.type == RRTYPE_DS)
            is_usable |= counts_for_zone(task, message_rdata(referral, &rr));
        else if (rr.type == RRTYPE_RRSIG)
            is_signed |= rrsig_read(&sig, message_rdata(referral, &rr)) && sig.covered == RRTYPE_DS;
    }
    return is_usable && is_signed;
}

static bool early_is_trusted(const struct anchor *anchor)
{
    return anchor && anchor->kind == ANCHOR_TRUSTED;
}

static bool early_find(const struct task *task, struct name zone, uint16_t type,
                       struct cache_key *key, struct answer *out)
{
    const struct tasks *tasks = task->tasks;
    struct question question = {.name = zone, .type = type, .cls = RRCLASS_IN};
    cache_key_init(key, tasks->cache, &question, CACHE_KEY_DO, CACHE_VIEW_TRUST,
                   task->space->number);
    return cache_find(tasks->cache, key, loop_now(tasks->loop), out) && !out->stale_s;
}

/* Whether the DS records are of a kind that makes their zone secure. */
static bool has_usable_ds(const struct task *task, const struct answer *found)
{
    struct message message;
    if (message_parse(&message, found->message) != MESSAGE_OK)
        return false;
    struct rr_iter iter = message_rrs(&message, SECTION_ANSWER);
    for (struct rr rr; message_rr_next(&iter, &rr);)
        if (rr.type == RRTYPE_DS && counts_for_zone(task, message_rdata(&message, &rr)))
            return true;
    return false;
}

/* Whether the records that the zone above signs are worth verifying: the zone is an anchor, or its
 * DS records are known, verified or not. In a read section. */
static bool is_chain_unbroken(const struct task *task, struct name asked)
{
    struct cache_key key;
    struct answer found;
    const struct anchor *anchor = anchors_find(task->tasks->validation.anchors, asked);
    if (!early_is_trusted(anchor))
        return false;
    return anchor->zone.len == asked.len ||
           (early_find(task, asked, RRTYPE_DS, &key, &found) && found.kind == ANSWER_POSITIVE &&
            found.security != SECURITY_BOGUS && found.security != SECURITY_INSECURE);
}

/* The keys are themselves the answer, or nothing in the answer is verified. */
static bool early_are_useless(const struct question *question, struct name zone)
{
    return question->type == RRTYPE_RRSIG ||
           (question->type == RRTYPE_DNSKEY && name_equal(question->name, zone));
}

/* Whether keys of this zone may be asked for at all. */
static bool early_are_allowed(const struct task *task, struct name zone)
{
    const struct tasks *tasks = task->tasks;
    return !task->is_refresh && !early_are_useless(&task->question, zone) && tasks->validator &&
           tasks->validation.anchors && task_is_current(task) &&
           budget_is_ample(task->budget, loop_now(tasks->loop)) &&
           early_is_trusted(task_validate_anchor(tasks, &task->question)) &&
           early_is_trusted(anchors_find(tasks->validation.anchors, zone));
}

/* Whether the keys are unknown, and no task asks for them. In a read section. */
static bool early_are_missing(const struct task *task, struct name zone, struct cache_key *key)
{
    const struct tasks *tasks = task->tasks;
    struct answer found;
    return !early_find(task, zone, RRTYPE_DNSKEY, key, &found) && !tasks_find(tasks, key) &&
           !tasks_find_finished(tasks, key);
}

bool early_keys_are_due(const struct task *task, struct name asked, struct name zone,
                        struct cache_key *key)
{
    if (!early_are_allowed(task, zone))
        return false;
    cache_read_begin();
    bool is_due = is_chain_unbroken(task, asked) && early_are_missing(task, zone, key);
    cache_read_end();
    return is_due;
}

/* Whether DS records of the zone are known that make it secure. In a read section. */
static bool is_known_secure(const struct task *task, struct name zone)
{
    struct cache_key key;
    struct answer found;
    return early_find(task, zone, RRTYPE_DS, &key, &found) && found.kind == ANSWER_POSITIVE &&
           found.security == SECURITY_SECURE && has_usable_ds(task, &found);
}

/* Whether something is known about the DS records of a name below the zone, on the way to the
 * QNAME. Then the keys of the zone may not be needed. In a read section. */
static bool is_more_known_below(const struct task *task, struct name zone)
{
    struct name name = task->question.name;
    struct cache_key key;
    struct answer found;
    for (unsigned i = name_label_count(zone) + 1; i <= name_label_count(name); i++)
        if (early_find(task, name_suffix(name, i), RRTYPE_DS, &key, &found))
            return true;
    return false;
}

/* Costs less than the look-ups, and holds for most misses of busy zones: an insecure zone needs no
 * keys, and those of a secure one were there a second ago. */
static bool is_just_judged(const struct task *task, struct name zone)
{
    const struct tasks *tasks = task->tasks;
    return tasks->validator && judged_zones_has(&tasks->validator->judged, task->space->number,
                                                zone, loop_now(tasks->loop));
}

bool early_keys_have_ended(const struct task *task, struct name zone, struct cache_key *key)
{
    if (is_just_judged(task, zone) || !early_are_allowed(task, zone))
        return false;
    cache_read_begin();
    bool have_ended = early_are_missing(task, zone, key) && is_known_secure(task, zone) &&
                      !is_more_known_below(task, zone);
    cache_read_end();
    return have_ended;
}
