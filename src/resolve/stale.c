/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Makes a stale answer from an expired one. finish.c decides which waiters get it. */
#include "resolve/stale.h"

#include "cache/compose.h"
#include "dns/edns.h"
#include "dns/header.h"
#include "dns/ttl.h"

static bool is_of_dnssec(uint16_t ede)
{
    return ede == EDE_UNSUPPORTED_DNSKEY_ALGORITHM || ede == EDE_UNSUPPORTED_DS_DIGEST ||
           (ede >= EDE_DNSSEC_INDETERMINATE && ede <= EDE_NSEC_MISSING) ||
           ede == EDE_SIGNATURE_EXPIRED_BEFORE_VALID || ede == EDE_UNSUPPORTED_NSEC3_ITERATIONS;
}

static bool may_serve(const struct task *task, const struct failure *failure)
{
    const struct tasks *tasks = task->tasks;
    if (tasks->closing || cache_stale_timeout_us(tasks->cache) == 0)
        return false;
    if (failure && failure->is_bogus)
        return false;
    for (unsigned i = 0; failure && i < failure->ede_count; i++)
        if (is_of_dnssec(failure->ede[i]))
            return false;
    return true;
}

static void make_stale(struct answer *answer, const struct failure *failure, uint32_t wished_s,
                       uint64_t now)
{
    uint32_t ttl_s = wished_s ? wished_s : (uint32_t)STALE_TTL_S;
    uint8_t *bytes = (uint8_t *)(uintptr_t)answer->message.data; /* our copy */
    ttl_set(bytes, answer->ttl_offsets, answer->ttl_count, ttl_s);
    header_put(bytes, HEADER_AD, false); /* signatures may have expired as well */
    answer->ttl_count = 0;
    answer->ttl_s = STALE_TTL_S;
    answer->stored_at = now;
    answer->ede_count = 1;
    answer->ede[0] = answer->kind == ANSWER_NXDOMAIN ? EDE_STALE_NXDOMAIN_ANSWER : EDE_STALE_ANSWER;
    if (failure && failure->ede_count > 0)
        answer->ede[answer->ede_count++] = failure->ede[0];
}

static bool find_with_flags(const struct task *task, uint8_t flags, uint64_t now,
                            struct answer *out)
{
    struct cache *cache = task->tasks->cache;
    struct cache_key key;
    cache_key_init(&key, cache, &task->question, flags, task->key.view, task->key.space);
    return cache_find_stale(cache, &key, now, out) && tasks_may_use(task->space, &task->key, out);
}

/* The cache keeps answers with and without CD apart: an unchecked answer must not reach a client
 * that wants it checked. The reverse does no harm. Answers differ by DO too. The answer to a query
 * without DO lacks the signatures of a signed zone, so it serves a client with DO only if it is not
 * secure. */
static bool find_old(const struct task *task, uint64_t now, struct answer *out)
{
    uint8_t flags = task->key.flags, checked = flags & (uint8_t)~CACHE_KEY_CD;
    if (find_with_flags(task, flags, now, out))
        return true;
    if (flags != checked && find_with_flags(task, checked, now, out))
        return true;
    return flags & CACHE_KEY_DO &&
           find_with_flags(task, checked & (uint8_t)~CACHE_KEY_DO, now, out) &&
           out->security != SECURITY_SECURE;
}

struct answer *stale_take(const struct task *task, const struct failure *failure)
{
    struct tasks *tasks = task->tasks;
    uint64_t now = loop_now(tasks->loop);
    struct answer *copy = NULL, found;
    if (!may_serve(task, failure))
        return NULL;
    cache_read_begin();
    if (find_old(task, now, &found))
        copy = compose_dup(&found);
    cache_read_end();
    if (copy && copy->stale_s)
        make_stale(copy, failure, cache_stale_ttl_s(tasks->cache), now);
    return copy;
}
