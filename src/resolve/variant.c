/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "resolve/variant.h"

#include "base/check.h"
#include "dns/rrtype.h"
#include "resolve/tasks.h"
#include "resolve/trace.h"
#include "resolve/validator.h"

/* ---- which answers serve ---- */

static bool variant_is_live(const struct task *task, const struct answer *found)
{
    uint64_t now = loop_now(task->tasks->loop);
    bool has_verdict = found->security == SECURITY_SECURE || found->security == SECURITY_INSECURE;
    return has_verdict && found->kind != ANSWER_FAILURE && !found->stale_s &&
           answer_age(found, now) < found->ttl_s &&
           (!task->trace || trace_allows(task->trace, found->stored_at));
}

/* Finds the answer under these flags in this view; in a read section. */
static bool variant_look(const struct task *task, uint8_t flags, enum cache_view view,
                         struct answer *found)
{
    struct tasks *tasks = task->tasks;
    struct cache_key key;
    cache_key_init(&key, tasks->cache, &task->question, flags, (uint8_t)view, task->space->number);
    return cache_find(tasks->cache, &key, loop_now(tasks->loop), found) &&
           variant_is_live(task, found);
}

static bool variant_is_about_trust(const struct task *task)
{
    return task->question.type == RRTYPE_DS || task->question.type == RRTYPE_DNSKEY;
}

/* Whether the question is about keys or DS records, and these very records are known to be secure.
 * An answer of that view may also be an alias or mark an insecure zone, which is less than a client
 * gets from a server. */
static bool variant_in_trust(const struct task *task, struct answer *found)
{
    struct message message;
    struct rr first;
    uint16_t type = task->question.type;
    if (!variant_is_about_trust(task))
        return false;
    if (!variant_look(task, CACHE_KEY_DO, CACHE_VIEW_TRUST, found) ||
        found->security != SECURITY_SECURE || found->kind != ANSWER_POSITIVE ||
        message_parse(&message, found->message) != MESSAGE_OK)
        return false;
    struct rr_iter iter = message_rrs(&message, SECTION_ANSWER);
    return message_rr_next(&iter, &first) && first.type == type;
}

/* A worker without clients that send DO does not look. */
static bool variant_may_have_do(const struct task *task)
{
    return !(task->key.flags & CACHE_KEY_DO) && task->tasks->validator->has_do_clients;
}

static bool variant_with_do(const struct task *task, struct answer *found)
{
    return variant_may_have_do(task) && variant_look(task, CACHE_KEY_DO, CACHE_VIEW_ANSWERS, found);
}

static bool variant_may_serve(const struct task *task)
{
    const struct tasks *tasks = task->tasks;
    return task_validates(task) && task->space->mode == VALIDATE_YES && tasks->validator &&
           (variant_may_have_do(task) || variant_is_about_trust(task)) && !task->is_refresh &&
           task->key.view == CACHE_VIEW_ANSWERS && task->question.type != RRTYPE_ANY &&
           task->question.type != RRTYPE_RRSIG;
}

/* ---- what goes out ---- */

static bool variant_keeps(const struct task *task, const struct rr *rr)
{
    return task->key.flags & CACHE_KEY_DO || !rrtype_is_dnssec(rr->type) ||
           rr->type == task->question.type;
}

static bool variant_write(const struct task *task, const struct answer *found, struct answer *out)
{
    struct tasks *tasks = task->tasks;
    uint64_t now = loop_now(tasks->loop);
    uint32_t age_s = answer_age(found, now);
    struct message message;
    struct compose compose;
    struct copy copy;
    if (message_parse(&message, found->message) != MESSAGE_OK)
        return false;
    compose_begin(&compose, &tasks->stitched, &task->question,
                  (uint16_t)(message.flags & (HEADER_AD | HEADER_RCODE_MASK)));
    copy_init(&copy, &compose.build, &message);
    for (enum section section = SECTION_ANSWER; section < SECTION_COUNT; section++) {
        build_section(&compose.build, section);
        struct rr_iter iter = message_rrs(&message, section);
        for (struct rr rr; message_rr_next(&iter, &rr);)
            if (variant_keeps(task, &rr))
                compose_copy(&compose, &copy, &rr, rr.ttl > age_s ? rr.ttl - age_s : 0);
    }
    if (!compose_end(&compose, out))
        return false;
    out->kind = found->kind;
    out->security = found->security;
    out->signatures = found->signatures;
    out->ttl_s = found->ttl_s - age_s;
    out->stored_at = now;
    out->ede_count = found->ede_count;
    for (unsigned i = 0; i < found->ede_count; i++)
        out->ede[i] = found->ede[i];
    return true;
}

/* Out of line, so that other tasks set up no frame for it. */
static __attribute__((noinline)) bool variant_search(const struct task *task, struct answer *out)
{
    struct answer found;
    cache_read_begin();
    bool is_found = variant_with_do(task, &found) || variant_in_trust(task, &found);
    is_found = is_found && variant_write(task, &found, out);
    cache_read_end();
    return is_found;
}

bool variant_find(const struct task *task, struct answer *out)
{
    return variant_may_serve(task) && variant_search(task, out);
}
