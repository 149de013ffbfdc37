/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "resolve/harvest.h"

#include "base/check.h"
#include "dns/rrtype.h"
#include "resolve/tasks.h"
#include "resolve/trace.h"
#include "validate/rrsig.h"

struct harvest {
    struct compose compose;
    struct copy copy;
    const struct message *referral;
    struct name zone;
    unsigned records, signatures;
};

static void harvest_key(const struct task *task, const struct question *question,
                        struct cache_key *key)
{
    cache_key_init(key, task->tasks->cache, question, CACHE_KEY_DO, CACHE_VIEW_TRUST,
                   task->space->number);
}

/* Whether this is an answer that harvest_keep() has stored. */
static bool is_harvest(const struct answer *found, uint64_t now)
{
    return found->security == SECURITY_UNCHECKED && found->kind != ANSWER_FAILURE &&
           !found->stale_s && answer_is_live(found, now);
}

/* ---- keeping ---- */

/* Copies the records of this type and their signatures from the authority section. */
static void harvest_take(struct harvest *work, uint16_t type, bool is_owned_by_zone)
{
    struct rr_iter iter = message_rrs(work->referral, SECTION_AUTHORITY);
    for (struct rr rr; message_rr_next(&iter, &rr);) {
        struct rrsig sig;
        bool is_sig = rr.type == RRTYPE_RRSIG &&
                      rrsig_read(&sig, message_rdata(work->referral, &rr)) && sig.covered == type;
        if (rr.cls != RRCLASS_IN || (rr.type != type && !is_sig) ||
            (is_owned_by_zone && !message_owner_is(work->referral, &rr, work->zone)))
            continue;
        compose_copy(&work->compose, &work->copy, &rr, rr.ttl);
        work->records += !is_sig;
        work->signatures += is_sig;
    }
}

/* Writes the answer to (zone, DS). False: the referral says nothing about it. */
static bool harvest_write(struct harvest *work, struct answer *out)
{
    harvest_take(work, RRTYPE_DS, true);
    bool has_ds = work->records > 0;
    if (!has_ds) {
        build_section(&work->compose.build, SECTION_AUTHORITY);
        harvest_take(work, RRTYPE_NSEC, false);
        harvest_take(work, RRTYPE_NSEC3, false);
    }
    if (!work->records || !work->signatures || !compose_end(&work->compose, out))
        return false;
    out->kind = has_ds ? ANSWER_POSITIVE : ANSWER_NODATA;
    return true;
}

/* Whether the referral has any signature. Most insecure zones end here. */
static bool harvest_is_signed(const struct message *referral)
{
    struct rr_iter iter = message_rrs(referral, SECTION_AUTHORITY);
    for (struct rr rr; message_rr_next(&iter, &rr);)
        if (rr.type == RRTYPE_RRSIG)
            return true;
    return false;
}

void harvest_keep(const struct task *task, const struct message *referral, struct name zone)
{
    struct tasks *tasks = task->tasks;
    uint64_t now = loop_now(tasks->loop);
    struct question question = {.name = zone, .type = RRTYPE_DS, .cls = RRCLASS_IN};
    struct harvest work = {.referral = referral, .zone = zone};
    struct cache_key key;
    struct answer found;
    if (!task_is_current(task) || !harvest_is_signed(referral) || !message_check_rdata(referral))
        return;
    harvest_key(task, &question, &key);
    cache_read_begin();
    bool is_known = cache_find(tasks->cache, &key, now, &found) && answer_is_live(&found, now);
    cache_read_end();
    if (is_known)
        return;
    compose_begin(&work.compose, &tasks->stitched, &question, 0);
    copy_init(&work.copy, &work.compose.build, referral);
    if (!harvest_write(&work, &found))
        return;
    found.ttl_s = MIN(found.ttl_s, HARVEST_TTL_S);
    found.stored_at = now;
    (void)cache_store(tasks->cache, &key, &found);
}

/* ---- using ---- */

/* Out of line, so that other tasks set up no frame for it. */
static __attribute__((noinline)) bool harvest_search(const struct task *task, struct message *out)
{
    struct tasks *tasks = task->tasks;
    uint64_t now = loop_now(tasks->loop);
    struct answer found;
    uint8_t *bytes = tasks->stitched.bytes;
    size_t len = 0;
    cache_read_begin();
    if (cache_find(tasks->cache, &task->key, now, &found) && is_harvest(&found, now) &&
        (!task->trace || trace_allows(task->trace, found.stored_at))) {
        len = found.message.len;
        answer_copy(&found, len, now, bytes);
    }
    cache_read_end();
    if (!len)
        return false;
    header_set_flags(bytes, HEADER_QR | HEADER_AA);
    return message_parse(out, span_of(bytes, len)) == MESSAGE_OK;
}

bool harvest_find(const struct task *task, struct message *out)
{
    return task->key.view == CACHE_VIEW_TRUST && task->question.type == RRTYPE_DS &&
           harvest_search(task, out);
}

void harvest_bound(const struct task *task, struct answer *answer, uint32_t ttl_max_s)
{
    struct message message;
    uint32_t ttl_s = UINT32_MAX;
    if (answer->kind != ANSWER_NODATA || message_parse(&message, answer->message) != MESSAGE_OK)
        return;
    struct rr_iter iter = message_rrs(&message, SECTION_AUTHORITY);
    for (struct rr rr; message_rr_next(&iter, &rr);)
        ttl_s = MIN(ttl_s, rr.ttl);
    ttl_s = cache_ttl(task->tasks->cache, ANSWER_NODATA, ttl_s);
    answer->ttl_s = message.counts[SECTION_AUTHORITY] ? MIN(ttl_s, ttl_max_s) : 0;
}
