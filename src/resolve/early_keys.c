/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Reads the promise of a referral, and asks the cache and the running tasks whether the keys are
 * due (early_keys.h). Invariant: every key that is due is asked for later anyway, if the servers of
 * its zone answer.
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

/* Whether the records that the zone above signs are worth verifying: it is an anchor, or DS records
 * of it are known, verified or not. In a read section. */
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

/* The keys are the answer themselves, or nothing of the answer is verified. */
static bool early_are_useless(const struct question *question, struct name zone)
{
    return question->type == RRTYPE_RRSIG ||
           (question->type == RRTYPE_DNSKEY && name_equal(question->name, zone));
}

bool early_keys_are_due(const struct task *task, struct name asked, struct name zone,
                        struct cache_key *key)
{
    const struct tasks *tasks = task->tasks;
    struct answer found;
    if (task->is_refresh || early_are_useless(&task->question, zone) || !tasks->validator ||
        !tasks->validation.anchors || !task_is_current(task) ||
        !budget_is_ample(task->budget, loop_now(tasks->loop)) ||
        !early_is_trusted(task_validate_anchor(tasks, &task->question)) ||
        !early_is_trusted(anchors_find(tasks->validation.anchors, zone)))
        return false;
    cache_read_begin();
    bool is_due = is_chain_unbroken(task, asked) &&
                  !early_find(task, zone, RRTYPE_DNSKEY, key, &found) && !tasks_find(tasks, key) &&
                  !tasks_find_finished(tasks, key);
    cache_read_end();
    return is_due;
}
