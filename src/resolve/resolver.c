/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The entry point of the folder: tries the cache, then local data, then a task. It keeps a worker's
 * tasks and routes.
 */
#include "resolve/resolver.h"

#include <stdlib.h>

#include "base/check.h"
#include "dns/edns.h"
#include "dns/rrtype.h"
#include "local/local_answer.h"
#include "local/local_names.h"
#include "resolve/cut_cache.h"
#include "resolve/finish.h"
#include "resolve/iterate_world.h"
#include "resolve/strategy_forward.h"
#include "resolve/strategy_iterate.h"
#include "recurse/lame.h"
#include "resolve/linger.h"
#include "resolve/discovered.h"
#include "resolve/outlook.h"
#include "resolve/span_answers.h"
#include "recurse/root_hints.h"
#include "resolve/task.h"
#include "resolve/task_trace.h"
#include "resolve/task_validate.h"
#include "resolve/tasks.h"
#include "resolve/validator.h"
#include "resolve/views.h"
#include "resolve/zone_answers.h"
#include "upstream/upstreams.h"
#include "validate/anchor_dates.h"

struct resolver {
    uint64_t alias_hash; /* of the last key whose local aliases led to another name; only a hint */
    bool has_alias;
    bool is_dropped;     /* with has_alias: no alias, but local data drops the question */
    uint64_t network_at; /* of the last network change: failures from before it are not served */
    struct iterate_world world; /* of the tasks */
    struct tasks tasks;
    struct views views;
};

static const struct route_strategies strategies = {
    .forward = &forward_strategy, .stub = &stub_strategy, .iterate = &iterate_strategy};

/* ---- discovered servers ---- */

static size_t resolver_hold_discovered(void *context, const struct addr *ips, size_t count,
                                       struct upstream **out, size_t most, size_t *unproven)
{
    const struct tasks *tasks = context;
    return discovered_hold(&tasks->recursion, tasks->upstreams, ips, count, out, most, unproven);
}

static bool lacks_family(void *context, int family)
{
    const struct tasks *tasks = context;
    return upstreams_lacks_family(tasks->upstreams, family);
}

static void resolver_drop_discovered(void *context, struct upstream *const *group, size_t count)
{
    (void)context;
    discovered_drop(group, count);
}

/* Sets what recursion needs under these options. */
static void set_world(struct resolver *resolver, const struct recursion_options *recursion)
{
    struct tasks *tasks = &resolver->tasks;
    struct iterate_world *world = &resolver->world;
    tasks->recursion = *recursion;
    world->rules = (struct iterate_rules){.priming = recursion->priming,
                                          .minimise = recursion->qname_minimisation,
                                          .ipv4 = !recursion->no_ipv4,
                                          .ipv6 = !recursion->no_ipv6};
    world->hold = resolver_hold_discovered;
    world->drop = resolver_drop_discovered;
    world->lacks = lacks_family;
    world->context = tasks;
    if (recursion->hints)
        world->hints = *recursion->hints;
    else
        root_hints_builtin(&world->hints);
    if (recursion->server_options) /* not cleared: running tasks may have servers to release */
        tasks->world = world;
}

static void resolver_on_turn_end(struct turn_end *end)
{
    finish_deliver(CONTAINER_OF(end, struct tasks, deliver));
}

static void resolver_settle(struct tasks *tasks)
{
    upstreams_settle(tasks->upstreams, discovered_keeps, &tasks->recursion);
}

/* Makes the validator when options first need it. It stays, because tasks may use it. */
static bool need_validator(struct tasks *tasks, const struct route_options *options)
{
    bool validates = views_validate(options);
    if (validates && !tasks->validator)
        tasks->validator = validator_new();
    return !validates || tasks->validator;
}

static bool resolver_init(struct resolver *resolver, const struct route_options *options,
                          size_t max_tasks)
{
    struct tasks *tasks = &resolver->tasks;
    turn_end_init(&tasks->deliver, resolver_on_turn_end);
    if (!tasks_init(tasks, max_tasks))
        return false;
    if (!need_validator(tasks, options))
        return false;
    struct views_change change;
    if (!views_prepare(&change, &resolver->views, options, tasks->upstreams, &strategies))
        return false;
    tasks->shared.routes = routes_new(options, tasks->upstreams, &strategies);
    if (tasks->shared.routes)
        views_commit(&resolver->views, &change, options);
    else
        views_cancel(&change);
    resolver_settle(tasks);
    return tasks->shared.routes != NULL;
}

struct resolver *resolver_new(struct loop *loop, struct cache *cache, struct upstreams *upstreams,
                              const struct route_options *routes, size_t max_tasks,
                              struct stats *stats)
{
    struct resolver *resolver = malloc(sizeof(*resolver));
    if (!resolver)
        return NULL;
    resolver->has_alias = false;
    resolver->network_at = 0;
    space_init(&resolver->tasks.shared, routes->space);
    resolver->tasks.shared.mode = routes->validation.mode;
    resolver->tasks.zones = NULL;
    resolver->tasks.loop = loop;
    resolver->tasks.cache = cache;
    resolver->tasks.stats = stats;
    resolver->tasks.upstreams = upstreams;
    resolver->tasks.minimal_responses = routes->minimal_responses;
    resolver->tasks.world = NULL;
    resolver->tasks.validator = NULL;
    resolver->tasks.validation = routes->validation;
    set_world(resolver, &routes->recursion);
    if (views_init(&resolver->views, &resolver->tasks.shared) &&
        resolver_init(resolver, routes, max_tasks))
        return resolver;
    views_deinit(&resolver->views);
    tasks_deinit(&resolver->tasks);
    validator_free(resolver->tasks.validator);
    free(resolver);
    return NULL;
}

void resolver_free(struct resolver *resolver)
{
    if (!resolver)
        return;
    struct tasks *tasks = &resolver->tasks;
    struct failure failure = {.rcode = RCODE_SERVFAIL, .ede_count = 1, .ede = {EDE_NOT_READY}};
    MUST(!tasks->delivering);
    tasks->closing = true;
    linger_drop_all(tasks);
    for (struct task *task; (task = tasks_any(tasks));)
        finish_failed(task, &failure);
    finish_deliver(tasks);
    tasks_deinit(tasks);
    validator_free(tasks->validator);
    views_deinit(&resolver->views);
    routes_free(tasks->shared.routes);
    free(resolver);
}

void resolver_set_local(struct resolver *resolver, const struct local_names *names)
{
    views_set_local(&resolver->views, names);
    resolver->has_alias = false;
}

void resolver_set_zones(struct resolver *resolver, const struct zone_set *zones)
{
    resolver->tasks.zones = zones;
    views_note_zones(&resolver->views);
    resolver->has_alias = false;
}

static bool validates_in(const struct resolver *resolver, uint32_t number)
{
    const struct space *shared = &resolver->tasks.shared;
    const struct views *views = &resolver->views;
    if (shared->number == number)
        return shared->mode != VALIDATE_NO;
    for (size_t i = 0; i < views->space_count; i++)
        if (views->spaces[i]->number == number)
            return views->spaces[i]->mode != VALIDATE_NO;
    return false;
}

/* Dates that did not fit the clock are forgotten where nothing validates them any longer: no later
 * answer would end the doubt. */
static void forget_old_dates(struct resolver *resolver)
{
    struct tasks *tasks = &resolver->tasks;
    struct anchor_dates dates;
    if (anchor_dates_read(tasks->stats, &dates) &&
        (!validates_in(resolver, dates.space) ||
         !anchor_dates_find(&dates, tasks->validation.anchors)))
        anchor_dates_forget_any(tasks->stats);
}

enum err resolver_reload(struct resolver *resolver, const struct route_options *options,
                         const struct local_names *local, size_t max_tasks)
{
    struct tasks *tasks = &resolver->tasks;
    MUST(!tasks->delivering && !tasks->closing);
    struct views_change change;
    if (!views_prepare(&change, &resolver->views, options, tasks->upstreams, &strategies))
        return ERR_NO_MEMORY;
    struct routes *unused = routes_new(options, tasks->upstreams, &strategies);
    bool is_ready = unused && need_validator(tasks, options);
    enum err err = is_ready && tasks_set_max(tasks, max_tasks) ? ERR_OK : ERR_NO_MEMORY;
    if (err) {
        views_cancel(&change);
    } else {
        struct routes *former = tasks->shared.routes;
        tasks->shared.routes = unused;
        tasks->shared.mode = options->validation.mode;
        tasks->shared.number = options->space;
        tasks->minimal_responses = options->minimal_responses;
        tasks->validation = options->validation;
        if (tasks->validator)
            judged_zones_clear(&tasks->validator->judged);
        set_world(resolver, &options->recursion);
        lame_clear(tasks->lame);
        linger_drop_all(tasks);
        resolver_set_local(resolver, local);
        views_commit(&resolver->views, &change, options);
        forget_old_dates(resolver);
        unused = former;
    }
    routes_free(unused);
    resolver_settle(tasks);
    return err;
}

void resolver_network_changed(struct resolver *resolver)
{
    resolver->network_at = loop_now(resolver->tasks.loop);
    lame_clear(resolver->tasks.lame);
}

static inline const struct view *view_at(const struct resolver *resolver, unsigned number)
{
    return &resolver->views.list[number];
}

static inline void resolver_make_key(const struct resolver *resolver, const struct space *space,
                                     struct cache_key *key, const struct question *question,
                                     uint8_t flags)
{
    cache_key_init(key, resolver->tasks.cache, question, flags, 0, space->number);
}

/* CD matters only where recursive servers are asked. Out of line: a hit hardly ever has CD, and
 * inline code would make it save registers. */
static __attribute__((noinline)) void
make_key_unchecked(const struct resolver *resolver, const struct space *space,
                   struct cache_key *key, const struct question *question, uint8_t flags)
{
    bool may_differ = routes_have_forward(space->routes) || space->mode != VALIDATE_NO;
    resolver_make_key(resolver, space, key, question, flags | (may_differ ? CACHE_KEY_CD : 0));
}

void resolver_key(const struct resolver *resolver, unsigned view, struct cache_key *key,
                  const struct question *question, bool dnssec_ok, bool checking_disabled)
{
    const struct space *space =
        view == RESOLVER_NO_VIEW ? &resolver->tasks.shared : view_at(resolver, view)->space;
    uint8_t flags = dnssec_ok ? CACHE_KEY_DO : 0;
    if (checking_disabled)
        make_key_unchecked(resolver, space, key, question, flags);
    else
        resolver_make_key(resolver, space, key, question, flags);
}

void resolver_prefetch(const struct resolver *resolver, const struct cache_key *key)
{
    cache_prefetch(resolver->tasks.cache, key);
}

void resolver_prefetch_entry(const struct resolver *resolver, const struct cache_key *key)
{
    cache_prefetch_entry(resolver->tasks.cache, key);
}

/* RFC 8914 section 4.14: adds that a failure comes from the cache, in place of the lesser of two
 * reasons. */
static void mark_cached(struct answer *answer)
{
    enum { PLACES = ARRAY_LEN(answer->ede) };
    if (answer->ede_count < PLACES)
        answer->ede_count++;
    answer->ede[answer->ede_count - 1] = EDE_CACHED_ERROR;
}

static struct question question_of(const struct cache_key *key)
{
    return (struct question){
        .name = {key->name, key->name_len}, .type = key->type, .cls = key->cls};
}

/* Asks the view's local data, whose special-use names make way for zones held here. */
static enum local_verdict ask_local(const struct tasks *tasks, const struct view *view,
                                    const struct question *question, struct local_result *result)
{
    enum local_verdict verdict =
        view->local ? local_names_find(view->local, question, result) : LOCAL_NOT;
    bool makes_way = verdict == LOCAL_ANSWERED &&
                     zone_answers_claims(tasks->zones, question, result->special_len);
    return makes_way ? LOCAL_NOT : verdict;
}

/* Finds an answer that needs no upstream. The aliases of a local name that lead elsewhere are
 * looked up again in resolver_ask(): they are rare, and other misses save a second look-up. */
static bool find_local(struct resolver *resolver, const struct view *view,
                       const struct cache_key *key, struct answer *out)
{
    struct tasks *tasks = &resolver->tasks;
    struct local_result result;
    struct question question = question_of(key);
    enum local_verdict verdict = ask_local(tasks, view, &question, &result);
    uint64_t now = loop_now(tasks->loop);
    resolver->is_dropped = verdict == LOCAL_DROPPED;
    resolver->has_alias = verdict == LOCAL_ELSEWHERE || resolver->is_dropped;
    resolver->alias_hash = key->hash;
    if (verdict == LOCAL_ANSWERED)
        local_answer(out, &tasks->local_space, &question, &result, now);
    else if (verdict == LOCAL_NOT && key->type == RRTYPE_ANY)
        local_answer_any(out, &tasks->local_space, &question, now);
    else
        return false;
    STATS_INC(tasks->stats, local_answers);
    return true;
}

static bool may_be_local(const struct view *view, const struct cache_key *key)
{
    if (key->type == RRTYPE_ANY)
        return true;
    return view->local &&
           local_names_may_have(view->local, (struct name){key->name, key->name_len});
}

static bool find_own(struct resolver *resolver, const struct view *view,
                     const struct cache_key *key, struct answer *out)
{
    return may_be_local(view, key) && find_local(resolver, view, key, out);
}

static bool resolver_is_alias(const struct resolver *resolver, const struct cache_key *key)
{
    return resolver->has_alias && resolver->alias_hash == key->hash;
}

bool resolver_drops(const struct resolver *resolver, const struct cache_key *key)
{
    return resolver_is_alias(resolver, key) && resolver->is_dropped;
}

void resolver_pass_local(struct resolver *resolver)
{
    resolver->has_alias = false;
}

/* Finds the answer of a zone held here for clients. Aliases that lead elsewhere are looked up
 * again in resolver_ask(), like local ones. Out of line: most configurations hold no zone. */
static __attribute__((noinline)) bool search_zones(struct resolver *resolver,
                                                   const struct view *view,
                                                   const struct cache_key *key, bool refers,
                                                   struct answer *out)
{
    struct tasks *tasks = &resolver->tasks;
    uint8_t wire[NAME_WIRE_MAX];
    struct name target;
    struct question question = question_of(key);
    if (resolver_is_alias(resolver, key))
        return false;
    switch (zone_answers_find(tasks, view->space, &question, key->flags & CACHE_KEY_DO, refers, out,
                              wire, &target)) {
    case ZONE_ANSWERS_NOT:
        return false;
    case ZONE_ANSWERS_ELSEWHERE:
        resolver->has_alias = true;
        resolver->is_dropped = false;
        resolver->alias_hash = key->hash;
        return false;
    case ZONE_ANSWERS_FOUND:
        break;
    }
    STATS_INC(tasks->stats, zone_answers);
    return true;
}

static bool find_in_zones(struct resolver *resolver, const struct view *view,
                          const struct cache_key *key, bool refers, struct answer *out)
{
    return resolver->tasks.zones && search_zones(resolver, view, key, refers, out);
}

bool resolver_find_local(struct resolver *resolver, unsigned view, const struct cache_key *key,
                         struct answer *out)
{
    resolver->has_alias = false;
    return find_own(resolver, view_at(resolver, view), key, out) ||
           find_in_zones(resolver, view_at(resolver, view), key, true, out);
}

/* Spans know nothing about local data, so they do not answer for an alias of it. */
static bool find_span(struct resolver *resolver, const struct view *view,
                      const struct cache_key *key, struct answer *out)
{
    return !resolver_is_alias(resolver, key) &&
           span_answers_find(&resolver->tasks, view->space, key, out);
}

/* Out of line, so that a hit does not pay for it. */
static __attribute__((noinline)) bool find_missed(struct resolver *resolver,
                                                  const struct view *view,
                                                  const struct cache_key *key, struct answer *out)
{
    resolver->has_alias = false;
    if (find_own(resolver, view, key, out) || find_in_zones(resolver, view, key, false, out))
        return true;
    if (find_span(resolver, view, key, out))
        return true;
    STATS_INC(resolver->tasks.stats, cache_misses);
    return false;
}

/* A client with CD gets what others get, unless that is a failure or stale: this client wants the
 * current answer of the servers, even if it is bogus for others. */
static __attribute__((noinline)) bool find_unchecked(struct resolver *resolver,
                                                     const struct space *space,
                                                     const struct cache_key *key,
                                                     struct answer *out)
{
    struct tasks *tasks = &resolver->tasks;
    uint64_t now = loop_now(tasks->loop);
    struct question question = question_of(key);
    struct cache_key checked;
    cache_key_init(&checked, tasks->cache, &question, key->flags & (uint8_t)~CACHE_KEY_CD,
                   key->view, key->space);
    if (space->mode != VALIDATE_NO && cache_find(tasks->cache, &checked, now, out) &&
        out->kind != ANSWER_FAILURE && !out->stale_s)
        return true;
    return cache_find(tasks->cache, key, now, out);
}

static inline bool find_cached(struct resolver *resolver, const struct space *space,
                               const struct cache_key *key, struct answer *out)
{
    struct tasks *tasks = &resolver->tasks;
    if (key->flags & CACHE_KEY_CD)
        return find_unchecked(resolver, space, key, out);
    return cache_find(tasks->cache, key, loop_now(tasks->loop), out) &&
           tasks_may_use(space, key, out);
}

/* Whether the view's own local data decides the name. Then the cache must not be asked: its answer
 * is for other views. */
static __attribute__((noinline)) bool has_own_name(const struct view *view,
                                                   const struct cache_key *key)
{
    return local_names_has_over(view->local, (struct name){key->name, key->name_len});
}

static inline __attribute__((always_inline)) bool
find_as(struct resolver *resolver, const struct space *space, unsigned number,
        const struct cache_key *key, struct answer *out)
{
    if (!find_cached(resolver, space, key, out))
        return find_missed(resolver, view_at(resolver, number), key, out);
    if (out->kind == ANSWER_FAILURE) {
        if (out->stored_at < resolver->network_at)
            return find_missed(resolver, view_at(resolver, number), key, out);
        mark_cached(out);
    } else if (out->stale_s) {
        STATS_INC(resolver->tasks.stats, cache_stale);
    }
    STATS_INC(resolver->tasks.stats, cache_hits);
    return true;
}

/* Out of line: a hit without a view pays for one comparison. */
static __attribute__((noinline)) bool find_in_view(struct resolver *resolver, unsigned number,
                                                   const struct cache_key *key, struct answer *out)
{
    const struct view *view = view_at(resolver, number);
    if (view->is_local_first && has_own_name(view, key))
        return find_missed(resolver, view, key, out);
    return find_as(resolver, view->space, number, key, out);
}

bool resolver_find(struct resolver *resolver, unsigned number, const struct cache_key *key,
                   struct answer *out)
{
    if (number != RESOLVER_NO_VIEW)
        return find_in_view(resolver, number, key, out);
    return find_as(resolver, &resolver->tasks.shared, RESOLVER_NO_VIEW, key, out);
}

/* Makes the answer with the aliases, of local data or of a zone held here, that lead elsewhere.
 * *target borrows the answer or wire. */
static bool find_alias(struct resolver *resolver, const struct view *view,
                       const struct cache_key *key, struct answer *head,
                       uint8_t wire[NAME_WIRE_MAX], struct name *target)
{
    struct tasks *tasks = &resolver->tasks;
    struct local_result result;
    struct question question = question_of(key);
    if (!view->local || local_names_find(view->local, &question, &result) != LOCAL_ELSEWHERE)
        return tasks->zones &&
               zone_answers_find(tasks, view->space, &question, key->flags & CACHE_KEY_DO, false,
                                 head, wire, target) == ZONE_ANSWERS_ELSEWHERE;
    local_answer(head, &tasks->local_space, &question, &result, loop_now(tasks->loop));
    *target = result.target;
    return true;
}

/* Asks for the target of aliases that lead elsewhere. The answer is for this view only, so clients
 * of another one do not join the task. */
static enum resolver_result ask_alias(struct resolver *resolver, unsigned number,
                                      const struct cache_key *key, struct waiter *waiter,
                                      struct trace *trace)
{
    struct tasks *tasks = &resolver->tasks;
    const struct view *view = view_at(resolver, number);
    struct answer head;
    struct cache_key own;
    struct name target;
    uint8_t wire[NAME_WIRE_MAX];
    struct question question = question_of(key);
    if (!find_alias(resolver, view, key, &head, wire, &target))
        return task_join(tasks, view->space, key, waiter, trace);
    cache_key_init(&own, tasks->cache, &question, key->flags, key->view, SPACE_NUMBERS | number);
    return task_join_alias(tasks, view->space, &own, &head, target, waiter, trace);
}

static enum resolver_result resolver_ask_traced(struct resolver *resolver, unsigned view,
                                                const struct cache_key *key, struct waiter *waiter,
                                                struct trace *trace)
{
    struct tasks *tasks = &resolver->tasks;
    struct stats *stats = tasks->stats;
    if (resolver_drops(resolver, key))
        return RESOLVER_NO_ROUTE;
    enum resolver_result result =
        resolver_is_alias(resolver, key)
            ? ask_alias(resolver, view, key, waiter, trace)
            : task_join(tasks, view_at(resolver, view)->space, key, waiter, trace);
    if (result == RESOLVER_FULL)
        STATS_INC(stats, failures_full);
    else if (result == RESOLVER_NO_ROUTE)
        STATS_INC(stats, failures_prohibited);
    return result;
}

enum resolver_result resolver_ask(struct resolver *resolver, unsigned view,
                                  const struct cache_key *key, struct waiter *waiter)
{
    return resolver_ask_traced(resolver, view, key, waiter, NULL);
}

/* ---- traces ---- */

struct trace *resolver_trace_new(struct resolver *resolver, bool fresh)
{
    struct tasks *tasks = &resolver->tasks;
    return tasks->closing ? NULL : trace_new(&tasks->traces, fresh, loop_now(tasks->loop));
}

static bool find_in_trace(struct resolver *resolver, const struct view *view,
                          const struct cache_key *key, struct answer *out)
{
    if (view->is_local_first && has_own_name(view, key))
        return false;
    return find_cached(resolver, view->space, key, out) &&
           !(out->kind == ANSWER_FAILURE && out->stored_at < resolver->network_at);
}

bool resolver_trace_find(struct resolver *resolver, unsigned number, const struct cache_key *key,
                         struct trace *trace, struct answer *out)
{
    const struct view *view = view_at(resolver, number);
    uint64_t now = loop_now(resolver->tasks.loop);
    struct question question = question_of(key);
    if (!trace->fresh && find_in_trace(resolver, view, key, out)) {
        const char *word = out->stale_s ? "stale" : answer_kind_name(out->kind);
        trace_say(trace, TRACE_CACHE, 0, &question, word, now);
        return true;
    }
    resolver->has_alias = false;
    if (find_own(resolver, view, key, out) || find_in_zones(resolver, view, key, false, out)) {
        trace_say(trace, TRACE_LOCAL, 0, &question, answer_kind_name(out->kind), now);
        return true;
    }
    if (trace->fresh || !find_span(resolver, view, key, out))
        return false;
    trace_say(trace, TRACE_SPANS, 0, &question, answer_kind_name(out->kind), now);
    return true;
}

enum resolver_result resolver_trace_ask(struct resolver *resolver, unsigned view,
                                        const struct cache_key *key, struct trace *trace,
                                        struct waiter *waiter)
{
    return resolver_ask_traced(resolver, view, key, waiter, trace);
}

/* ---- */

void resolver_refresh(struct resolver *resolver, unsigned view, const struct cache_key *key)
{
    struct tasks *tasks = &resolver->tasks;
    if (cache_prefetches(tasks->cache) && tasks_may_refresh(tasks) &&
        cache_claim(tasks->cache, key))
        task_refresh(tasks, view_at(resolver, view)->space, key);
}

static enum outlook_way look_elsewhere(const struct resolver *resolver, const struct space *space,
                                       struct name name, uint16_t type, struct outlook *out)
{
    const struct zone *zone = out->zone = route_find(space->routes, name, type);
    if (zone && zone->is_authoritative && resolver->tasks.world)
        out->from = cut_cache_look(&resolver->tasks, space, zone, name, type, &out->cut);
    if (out->from == CUT_LOOK_CUT || out->from == CUT_LOOK_ABSENT)
        return OUTLOOK_RECURSION;
    return zone && (zone->group_len || zone->awaits_hosts) ? OUTLOOK_UPSTREAMS : OUTLOOK_NOBODY;
}

/* Follows find_in_zones(), of a client without RD=0. */
static enum zone_answers_result look_in_zones(struct resolver *resolver, const struct view *view,
                                              const struct question *question, struct outlook *out)
{
    struct tasks *tasks = &resolver->tasks;
    struct answer answer;
    if (!tasks->zones)
        return ZONE_ANSWERS_NOT;
    enum zone_answers_result result = zone_answers_find(tasks, view->space, question, false, false,
                                                        &answer, out->wire, &out->target);
    if (result == ZONE_ANSWERS_FOUND)
        out->rcode = header_rcode(answer.message.data);
    out->has_alias =
        result == ZONE_ANSWERS_FOUND && answer_may_have_alias(answer.message, question->name);
    if (result != ZONE_ANSWERS_ELSEWHERE)
        out->target = (struct name){0};
    return result;
}

/* Follows find_missed() and ask_alias(). */
static enum outlook_way look_here(struct resolver *resolver, const struct view *view,
                                  const struct cache_key *key, struct outlook *out)
{
    struct question question = question_of(key);
    struct local_result result;
    enum local_verdict verdict = ask_local(&resolver->tasks, view, &question, &result);
    if (verdict == LOCAL_ANSWERED) {
        out->rcode = result.rcode;
        /* Without an alias, the answer has one RRset or a denial. */
        out->has_alias = result.hops > !(result.has_soa || result.rcode);
        return OUTLOOK_LOCAL;
    }
    if (verdict == LOCAL_DROPPED)
        return OUTLOOK_DROPPED;
    if (verdict == LOCAL_ELSEWHERE) {
        out->target = name_fold(result.target, out->wire);
        return look_elsewhere(resolver, view->space, out->target, key->type, out);
    }
    if (key->type == RRTYPE_ANY)
        return OUTLOOK_LOCAL;
    switch (look_in_zones(resolver, view, &question, out)) {
    case ZONE_ANSWERS_FOUND:
        return OUTLOOK_LOCAL;
    case ZONE_ANSWERS_ELSEWHERE:
        return look_elsewhere(resolver, view->space, out->target, key->type, out);
    case ZONE_ANSWERS_NOT:
        break;
    }
    if (span_answers_has(&resolver->tasks, view->space, key, &out->rcode))
        return OUTLOOK_SPANS;
    return look_elsewhere(resolver, view->space, question.name, key->type, out);
}

void resolver_look(struct resolver *resolver, unsigned number, const struct cache_key *key,
                   struct outlook *out)
{
    const struct tasks *tasks = &resolver->tasks;
    const struct view *view = view_at(resolver, number);
    struct question question = question_of(key);
    uint64_t now = loop_now(tasks->loop);
    struct cache_item item;
    out->rcode = RCODE_NOERROR;
    out->has_alias = false;
    out->target = (struct name){0};
    out->zone = NULL;
    out->from = CUT_LOOK_NONE;
    out->anchor = NULL;
    out->recursion = &tasks->recursion;
    out->is_asked = tasks_find(tasks, key) != NULL;
    out->has_local = view->local && local_names_view(view->local, question.name, &out->local);
    out->way = look_here(resolver, view, key, out);
    if (out->target.len > 0)
        question.name = out->target;
    if (out->way == OUTLOOK_SPANS || (out->zone && out->zone->validates))
        out->anchor = task_validate_anchor(tasks, &question);
    if (view->is_local_first && has_own_name(view, key))
        return;
    if (cache_peek(tasks->cache, key, now, &item) && answer_is_live(&item.answer, now) &&
        tasks_may_use(view->space, key, &item.answer))
        out->way = OUTLOOK_CACHE;
}

/* Adds the addresses that the cache has for a server without glue. */
static void add_cached_addrs(const struct resolver *resolver, const struct space *space,
                             struct delegation *cut, unsigned server)
{
    static const uint16_t types[] = {RRTYPE_A, RRTYPE_AAAA};
    const struct tasks *tasks = &resolver->tasks;
    struct question question = {.name = delegation_server(cut, server), .cls = RRCLASS_IN};
    uint64_t now = loop_now(tasks->loop);
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        struct cache_item item;
        struct cache_key key;
        struct message message;
        question.type = types[i];
        resolver_make_key(resolver, space, &key, &question, 0);
        if (cache_peek(tasks->cache, &key, now, &item) && answer_is_live(&item.answer, now) &&
            message_parse(&message, item.answer.message) == MESSAGE_OK)
            delegation_add_answer(cut, server, &message);
    }
}

bool resolver_find_cut(const struct resolver *resolver, unsigned view, struct name name,
                       struct delegation *out)
{
    const struct tasks *tasks = &resolver->tasks;
    const struct space *space = view_at(resolver, view)->space;
    const struct zone *zone = route_find(space->routes, name, RRTYPE_A);
    if (!zone || !zone->is_authoritative || !tasks->world ||
        !cut_cache_look_cut(tasks, space, zone, name, out))
        return false;
    for (unsigned i = 0; i < out->server_count; i++)
        if (out->servers[i].addr_count == 0)
            add_cached_addrs(resolver, space, out, i);
    return true;
}

bool resolver_find_view(const struct resolver *resolver, const char *name, unsigned *number)
{
    return views_find(&resolver->views, name, number);
}

const struct routes *resolver_routes(const struct resolver *resolver)
{
    return resolver->tasks.shared.routes;
}

/* A waiter alone in its list has the list's head on both sides. */
bool resolver_is_shared(const struct resolver *resolver, const struct waiter *waiter)
{
    (void)resolver;
    return waiter->node.next != waiter->node.prev;
}

void resolver_leave(struct resolver *resolver, struct waiter *waiter)
{
    (void)resolver;
    list_remove(&waiter->node);
}

size_t resolver_tasks(const struct resolver *resolver)
{
    return resolver->tasks.count - resolver->tasks.lingering_count;
}
