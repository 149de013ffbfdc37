/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_RESOLVER_H
#define NAILUP_RESOLVE_RESOLVER_H

/*
 * The one door to answers: the cache, the names answered here, a task that already runs for the
 * same question, a new task.
 * One resolver a worker, on the worker's thread.
 *
 *   cache_read_begin();
 *   resolver_key(resolver, &key, &question, flags);
 *   if (resolver_find(resolver, &key, &answer)) ...send a copy...
 *   else resolver_ask(resolver, &key, waiter);
 *   cache_read_end();
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/stats.h"
#include "cache/answer.h"
#include "cache/cache.h"
#include "resolve/route_options.h"
#include "resolve/waiter.h"

struct local_names;
struct loop;
struct outlook;
struct resolver;
struct routes;
struct trace;
struct upstreams;

/* cache, upstreams and stats are borrowed, routes for the call only. max_tasks bounds the questions
 * in flight. NULL out of memory. */
struct resolver *resolver_new(struct loop *loop, struct cache *cache, struct upstreams *upstreams,
                              const struct route_options *routes, size_t max_tasks,
                              struct stats *stats);

/*
 * The names answered here from now on; borrowed, NULL for none. They are looked at after the cache:
 * a hit costs nothing more, as no answer about them is ever stored. So when the table changes while
 * the cache has entries, whoever changes it removes those of which local_names_has() says yes,
 * after each worker has the new table; what a task that began before brings later is not stored.
 */
void resolver_set_local(struct resolver *resolver, const struct local_names *names);

/*
 * A new configuration while it serves: other zones and upstreams, another table of names answered
 * here (borrowed until the next; see resolver_set_local() for what the cache has of them), another
 * bound on tasks. May be the same again, or but for a zone or two.
 *
 * When it returns ERR_OK nothing of this resolver and its upstreams refers to the former options
 * and table, nor to routes. Upstreams in both keep their connections and what was learned of them;
 * upstreams_settle() says what becomes of those that are in none any more. Questions that run are
 * answered by the former zones and upstreams; equal ones that come now do not join them, and the
 * cache does not keep their answers. What it has stays, also of zones that are asked elsewhere now.
 *
 * ERR_NO_MEMORY: nothing has changed. Not from inside a waiter's call; waiters may be called.
 */
MUST_USE enum err resolver_reload(struct resolver *resolver, const struct route_options *routes,
                                  const struct local_names *local, size_t max_tasks);

/* Ends what runs: each waiter gets a SERVFAIL. */
void resolver_free(struct resolver *resolver);

void resolver_key(const struct resolver *resolver, struct cache_key *key,
                  const struct question *question, bool dnssec_ok, bool checking_disabled);

/* Hints for who looks up a batch (cache_prefetch() of cache/cache.h says how); the second belongs
 * into a read section. */
void resolver_prefetch(const struct resolver *resolver, const struct cache_key *key);
void resolver_prefetch_entry(const struct resolver *resolver, const struct cache_key *key);

/* An answer at hand: valid until cache_read_end() and the next call of this. */
bool resolver_find(struct resolver *resolver, const struct cache_key *key, struct answer *out);

/* Joins the running task of the key, or starts one. After resolver_find() of this key, which sees
 * whether aliases that are answered here lead to the one that is asked. */
enum resolver_result resolver_ask(struct resolver *resolver, const struct cache_key *key,
                                  struct waiter *waiter);

/* The network is another: that a question failed before now says nothing any more (RFC 9520 is
 * about servers that fail, not about a cable that was out), and it is asked again. */
void resolver_network_changed(struct resolver *resolver);

/* For an answer of resolver_find() that is due: asks for it anew, with nobody waiting, if that is
 * wanted, none of the workers does and there is room. In the same read section. */
void resolver_refresh(struct resolver *resolver, const struct cache_key *key);

/*
 * As resolver_find() and resolver_ask(), for a person who wants to see what is done. The trace is
 * ended by trace_close(), before the resolver is freed; NULL when TRACES_MAX of them are there or
 * memory is out. fresh: of the cache only what is stored from now on is used, zone cuts included.
 * A question that is being asked already is joined, which the trace says.
 */
struct trace *resolver_trace_new(struct resolver *resolver, bool fresh);
bool resolver_trace_find(struct resolver *resolver, const struct cache_key *key,
                         struct trace *trace, struct answer *out);
enum resolver_result resolver_trace_ask(struct resolver *resolver, const struct cache_key *key,
                                        struct trace *trace, struct waiter *waiter);

/* What would be done with a question that is asked now. Nothing is, and nothing is counted or
 * marked. In a read section. */
void resolver_look(const struct resolver *resolver, const struct cache_key *key,
                   struct outlook *out);

/* The zones with upstreams, in the order of the configuration; borrowed until the next turn. */
const struct routes *resolver_routes(const struct resolver *resolver);

/* Whether others wait for the same answer, so that the task still has a waiter when this one
 * leaves. */
bool resolver_is_shared(const struct resolver *resolver, const struct waiter *waiter);

/* The waiter's client is gone. The task goes on: others may join and the cache gains. */
void resolver_leave(struct resolver *resolver, struct waiter *waiter);

/* Tasks under way. */
size_t resolver_tasks(const struct resolver *resolver);

#endif
