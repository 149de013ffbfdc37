/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Invariant: spans of a zone come only from tasks of the configured zone that has the zone's names,
 * with a secure verdict that is enforced.
 */
#include "resolve/span_answers.h"

#include "base/check.h"
#include "cache/spans.h"
#include "dns/edns.h"
#include "dns/rdata.h"
#include "dns/rrtype.h"
#include "resolve/private_addrs.h"
#include "resolve/route.h"
#include "resolve/sentinel.h"
#include "resolve/task_trace.h"
#include "resolve/task_validate.h"
#include "resolve/validator.h"
#include "validate/anchors.h"
#include "validate/reuse.h"
#include "validate/synthesis.h"

enum { SPAN_RECORDS_MAX = 64 /* of an RRset that is kept */ };

/* The RDATA of one RRset, with its names uncompressed. */
struct plain_records {
    unsigned count;
    struct span record[SPAN_RECORDS_MAX];
    uint8_t bytes[SPANS_ITEM_BYTES_MAX];
};

/* ---- learning ---- */

/* Whether the configuration lets the spans of a zone with this many labels be used. */
static bool spans_are_wanted(const struct tasks *tasks, unsigned zone_labels)
{
    return tasks->validation.aggressive == AGGRESSIVE_YES ||
           (tasks->validation.aggressive == AGGRESSIVE_TOPS && zone_labels <= 1);
}

/* A substitute speaks for its zone only while that zone's servers fail. */
static bool may_learn(const struct task *task, const struct verdict *verdict)
{
    const struct tasks *tasks = task->tasks;
    return verdict->security == SECURITY_SECURE && task->space->mode == VALIDATE_YES &&
           tasks->validation.aggressive != AGGRESSIVE_NO && task->zone->is_aggressive &&
           task->zone->cache && !task->zone->instead_of && task_is_current(task) &&
           !task_validate_clock_is_behind(tasks);
}

/* Returns the life of records whose absence the zone's SOA record bounds (RFC 9077); 0: no SOA
 * record is known. */
static uint32_t bound_by_soa(const struct task *task, struct name zone)
{
    const struct tasks *tasks = task->tasks;
    uint64_t now = loop_now(tasks->loop);
    uint32_t ttl_s = 0;
    cache_read_begin();
    const struct spans_zone *found =
        spans_zone_above(cache_spans(tasks->cache), task->space->number, zone);
    const struct spans_item *soa = NULL;
    if (found && name_equal(spans_zone_name(found), zone))
        soa = spans_records(found, zone, RRTYPE_SOA, now);
    if (soa) {
        uint32_t minimum = get_u32(soa->records.data + soa->records.len - 4);
        ttl_s = (uint32_t)MIN((soa->expires_at - now) / US_PER_S, (uint64_t)minimum);
    }
    cache_read_end();
    return ttl_s;
}

/* Returns the life within all bounds. */
static uint32_t life_of(const struct task *task, const struct reuse *reuse,
                        const struct verdict *verdict)
{
    const struct tasks *tasks = task->tasks;
    bool is_denial = reuse->shelf != SPANS_RECORDS || reuse->type == RRTYPE_SOA;
    uint32_t ttl_s = MIN(reuse->ttl_s, verdict->ttl_max_s);
    uint32_t most_s = cache_ttl(tasks->cache, is_denial ? ANSWER_NXDOMAIN : ANSWER_POSITIVE, ttl_s);
    ttl_s = MIN(ttl_s, most_s);
    if (reuse->shelf == SPANS_RECORDS)
        return ttl_s;
    return MIN(ttl_s, bound_by_soa(task, reuse->zone));
}

/* Collects the RDATA. False: the RRset is not kept, because it is too large or has an address that
 * clients must not get. */
static bool collect_records(const struct task *task, const struct rrsets *sets,
                            const struct rrset *set, struct plain_records *out)
{
    const struct private_addrs *private = &task->tasks->recursion.private;
    size_t used = 0;
    out->count = 0;
    for (uint16_t at = set->first; at != RRSETS_NONE; at = sets->next[at]) {
        const struct rr *rr = &sets->record[at];
        if (out->count == SPAN_RECORDS_MAX || private_addrs_refuse_rr(private, sets->message, rr))
            return false;
        size_t len = rdata_expand(sets->message, rr, out->bytes + used, sizeof(out->bytes) - used);
        if (!len)
            return false;
        out->record[out->count++] = span_of(out->bytes + used, len);
        used += len;
    }
    return true;
}

static void learn_set(const struct task *task, const struct rrsets *sets, const struct rrset *set,
                      const struct reuse *reuse, const struct verdict *verdict)
{
    struct tasks *tasks = task->tasks;
    uint64_t now = loop_now(tasks->loop);
    struct plain_records records;
    if (!collect_records(task, sets, set, &records))
        return;
    struct spans_entry entry = {.space = task->space->number,
                                .zone = reuse->zone,
                                .shelf = reuse->shelf,
                                .chain = reuse->chain,
                                .owner = reuse->owner,
                                .type = reuse->type,
                                .expires_at = now + life_of(task, reuse, verdict) * US_PER_S,
                                .record = records.record,
                                .count = records.count,
                                .signature = reuse->signature};
    (void)spans_store(cache_spans(tasks->cache), &entry, now);
}

/* The SOA record comes first, because it bounds the life of the others. */
/* Out of line, like synthesise(). */
static __attribute__((noinline)) void learn_sets(const struct task *task,
                                                 const struct validation *validation,
                                                 const struct verdict *verdict)
{
    const struct rrsets *sets = validation_sets(validation, &task->tasks->validator->space);
    struct validation_proof proof;
    struct reuse reuse;
    for (unsigned turn = 0; turn < 2; turn++)
        for (unsigned i = 0; sets && i < sets->count; i++) {
            bool is_soa = sets->set[i].type == RRTYPE_SOA;
            if (is_soa == !turn && validation_proof_of(validation, sets, i, &proof) &&
                spans_are_wanted(task->tasks, proof.signer_labels) &&
                reuse_check(&reuse, validation, sets, i) && route_owns(task->zone, reuse.zone))
                learn_set(task, sets, &sets->set[i], &reuse, verdict);
        }
}

void span_answers_learn(const struct task *task, const struct validation *validation,
                        const struct verdict *verdict)
{
    if (may_learn(task, verdict))
        learn_sets(task, validation, verdict);
}

/* ---- finding ---- */

/* Whether spans may answer at all: the look that a miss pays for where they cannot. */
static bool may_have_spans(const struct tasks *tasks, const struct space *space,
                           const struct cache_key *key)
{
    return space->mode == VALIDATE_YES && spans_any(cache_spans(tasks->cache)) &&
           !(key->flags & CACHE_KEY_CD) && key->cls == RRCLASS_IN;
}

/* Returns the zone whose spans may answer, or NULL. In a read section. */
static const struct spans_zone *find_spans(const struct tasks *tasks, const struct space *space,
                                           const struct cache_key *key)
{
    const struct spans *spans = cache_spans(tasks->cache);
    struct name name = {key->name, key->name_len};
    const struct zone *zone = route_find(space->routes, name, key->type);
    if (!zone || !zone->is_aggressive)
        return NULL;
    if (key->type == RRTYPE_DS && !name_is_root(name))
        name = name_parent(name);
    const struct spans_zone *found = spans_zone_above(spans, space->number, name);
    const struct anchor *anchor = found ? anchors_find(tasks->validation.anchors, name) : NULL;
    if (!anchor || anchor->kind != ANCHOR_TRUSTED)
        return NULL;
    struct name apex = spans_zone_name(found);
    return name_is_below(apex, zone->name) && name_is_below(apex, anchor->zone) ? found : NULL;
}

/* Whether the answer depends on the trusted keys of the root too, which spans know nothing about.
 */
static bool is_sentinel(const struct tasks *tasks, const struct cache_key *key)
{
    struct question question = {{key->name, key->name_len}, key->type, key->cls};
    return tasks->validation.sentinel &&
           sentinel_judge(&question, tasks->validation.anchors) != SENTINEL_NONE;
}

static enum synthesis_kind find_synthesis(const struct tasks *tasks, const struct space *space,
                                          const struct cache_key *key, struct synthesis *out)
{
    uint64_t now = loop_now(tasks->loop);
    struct name name = {key->name, key->name_len};
    const struct spans_zone *zone = find_spans(tasks, space, key);
    if (!zone || is_sentinel(tasks, key) || !synthesis_find(out, zone, name, key->type, now))
        return SYNTHESIS_NONE;
    spans_touch(zone, now);
    return out->kind;
}

/* Whether the records of a wildcard are expanded to the name. */
static bool is_expansion(enum synthesis_kind kind)
{
    return kind == SYNTHESIS_WILDCARD || kind == SYNTHESIS_ALIAS;
}

static uint32_t seconds_left(const struct spans_item *item, uint64_t now)
{
    return (uint32_t)MIN((item->expires_at - now) / US_PER_S, (uint64_t)INT32_MAX);
}

/* Returns the lowest TTL of the RRsets that the answer depends on. */
static uint32_t synthesis_ttl(const struct synthesis *synthesis, uint64_t now)
{
    const struct spans_item *first =
        is_expansion(synthesis->kind) ? synthesis->data : synthesis->soa;
    uint32_t ttl_s = seconds_left(first, now);
    for (unsigned i = 0; i < synthesis->proof_count; i++) {
        uint32_t left_s = seconds_left(synthesis->proof[i], now);
        ttl_s = MIN(ttl_s, left_s);
    }
    return ttl_s;
}

static void put_item(struct compose *compose, const struct spans_item *item, struct name owner,
                     uint32_t ttl_s, bool with_signature)
{
    struct span records = item->records, rdata;
    while (spans_next(&records, &rdata))
        compose_rr(compose, owner, item->type, ttl_s, rdata);
    if (with_signature)
        compose_rr(compose, owner, RRTYPE_RRSIG, ttl_s, item->signature);
}

/* False: the answer does not fit. */
static bool write_synthesis(struct tasks *tasks, const struct cache_key *key,
                            const struct synthesis *synthesis, struct answer *out)
{
    uint64_t now = loop_now(tasks->loop);
    uint32_t ttl_s = synthesis_ttl(synthesis, now);
    struct question question = {{key->name, key->name_len}, key->type, key->cls};
    bool is_absent = synthesis->kind == SYNTHESIS_NXDOMAIN;
    bool with_proof = key->flags & CACHE_KEY_DO;
    struct compose compose;
    compose_begin(&compose, &tasks->local_space, &question,
                  (uint16_t)(HEADER_AD | (is_absent ? RCODE_NXDOMAIN : RCODE_NOERROR)));
    if (is_expansion(synthesis->kind))
        put_item(&compose, synthesis->data, question.name, ttl_s, with_proof);
    build_section(&compose.build, SECTION_AUTHORITY);
    if (!is_expansion(synthesis->kind))
        put_item(&compose, synthesis->soa, synthesis->soa->owner, ttl_s, with_proof);
    for (unsigned i = 0; with_proof && i < synthesis->proof_count; i++)
        put_item(&compose, synthesis->proof[i], synthesis->proof[i]->owner, ttl_s, true);
    return compose_end(&compose, out);
}

static void set_synthesised(struct tasks *tasks, enum synthesis_kind kind, struct answer *out)
{
    static const struct {
        enum answer_kind kind;
        enum stat stat;
    } of[] = {
        [SYNTHESIS_NXDOMAIN] = {ANSWER_NXDOMAIN, stat_synthesised_nxdomain},
        [SYNTHESIS_NODATA] = {ANSWER_NODATA, stat_synthesised_nodata},
        [SYNTHESIS_WILDCARD] = {ANSWER_POSITIVE, stat_synthesised_wildcard},
        [SYNTHESIS_ALIAS] = {ANSWER_POSITIVE, stat_synthesised_wildcard},
    };
    out->kind = (uint8_t)of[kind].kind;
    out->security = SECURITY_SECURE;
    out->stored_at = loop_now(tasks->loop);
    out->ede_count = 1;
    out->ede[0] = EDE_SYNTHESIZED;
    stats_add_at(tasks->stats, of[kind].stat, 1);
}

/* Out of line, so that other misses set up no frame for it. */
static __attribute__((noinline)) bool synthesise(struct tasks *tasks, const struct space *space,
                                                 const struct cache_key *key, struct answer *out)
{
    struct synthesis synthesis;
    cache_read_begin();
    enum synthesis_kind kind = find_synthesis(tasks, space, key, &synthesis);
    bool is_found = kind && kind != SYNTHESIS_ALIAS && write_synthesis(tasks, key, &synthesis, out);
    cache_read_end();
    if (!is_found)
        return false;
    out->ttl_s = 0; /* it is not stored */
    set_synthesised(tasks, kind, out);
    return true;
}

bool span_answers_alias(const struct task *task, struct answer *head, uint8_t wire[NAME_WIRE_MAX],
                        struct name *target)
{
    struct tasks *tasks = task->tasks;
    struct synthesis synthesis;
    if (task->key.view != CACHE_VIEW_ANSWERS || task->is_refresh ||
        (task_is_traced(task) && task->trace->fresh))
        return false;
    cache_read_begin();
    bool is_found = may_have_spans(tasks, task->space, &task->key) &&
                    find_synthesis(tasks, task->space, &task->key, &synthesis) == SYNTHESIS_ALIAS &&
                    write_synthesis(tasks, &task->key, &synthesis, head);
    if (is_found) {
        struct span records = synthesis.data->records, rdata;
        MUST(spans_next(&records, &rdata) && rdata.len <= NAME_WIRE_MAX);
        *target = name_copy((struct name){rdata.data, (uint8_t)rdata.len}, wire);
    }
    cache_read_end();
    if (!is_found)
        return false;
    head->ttl_s = 0; /* the whole is not stored */
    set_synthesised(tasks, SYNTHESIS_ALIAS, head);
    return true;
}

bool span_answers_find(struct tasks *tasks, const struct space *space, const struct cache_key *key,
                       struct answer *out)
{
    return may_have_spans(tasks, space, key) && synthesise(tasks, space, key, out);
}

bool span_answers_has(const struct tasks *tasks, const struct space *space,
                      const struct cache_key *key, uint16_t *rcode)
{
    struct synthesis synthesis;
    enum synthesis_kind kind = SYNTHESIS_NONE;
    cache_read_begin();
    if (may_have_spans(tasks, space, key))
        kind = find_synthesis(tasks, space, key, &synthesis);
    cache_read_end();
    *rcode = kind == SYNTHESIS_NXDOMAIN ? RCODE_NXDOMAIN : RCODE_NOERROR;
    return kind != SYNTHESIS_NONE && kind != SYNTHESIS_ALIAS;
}
