/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_RESOLVER_H
#define NAILUP_RESOLVE_RESOLVER_H

/*
 * The entry point for answers: from the cache, from local data, from a task that already runs for
 * the same question, or from a new task. One resolver for each worker, on the worker's thread.
 *
 *   cache_read_begin();
 *   resolver_key(resolver, view, &key, &question, flags);
 *   if (resolver_find(resolver, view, &key, &answer)) ...send a copy...
 *   else resolver_ask(resolver, view, &key, waiter);
 *   cache_read_end();
 *
 * view is the number of the client's view: its place in route_options.views, counted from 1, or
 * RESOLVER_NO_VIEW. A key belongs to the view that it was made for and to the present
 * configuration: it does not outlive resolver_reload().
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

struct delegation;
struct local_names;
struct loop;
struct outlook;
struct resolver;
struct routes;
struct trace;
struct upstreams;
struct zone_set;

/* Each call has the number of the client's view. This one is for clients that no view takes. */
enum { RESOLVER_NO_VIEW = 0 };

/* cache, upstreams and stats are borrowed, routes for the call only. max_tasks bounds the tasks.
 * NULL out of memory. */
struct resolver *resolver_new(struct loop *loop, struct cache *cache, struct upstreams *upstreams,
                              const struct route_options *routes, size_t max_tasks,
                              struct stats *stats);

/*
 * Sets the local data of clients without a view; borrowed, NULL for none. It comes after the cache,
 * so a hit costs nothing more, and no answer from it is ever stored. A caller that changes it while
 * the cache has entries first gives it to each worker and then removes the entries for which
 * local_names_has() is true. Answers of tasks that began before are not stored.
 */
void resolver_set_local(struct resolver *resolver, const struct local_names *names);

/*
 * Sets the zones held here; borrowed, NULL for none. Like local data, they come after the cache. A
 * caller that changes them while the cache has entries first gives them to each worker, and then
 * removes the entries of zones that answer clients now and did not before.
 */
void resolver_set_zones(struct resolver *resolver, const struct zone_set *zones);

/*
 * Applies a new configuration while the resolver serves: zones, upstreams, local data (borrowed
 * until the next call; see resolver_set_local() about the cache), and the bound on tasks.
 *
 * After ERR_OK nothing in this resolver and its upstreams refers to the former options, the former
 * local data or routes. Upstreams in both configurations keep their connections and all that was
 * learned about them; upstreams_settle() decides about the others. Running tasks end with the
 * former zones and upstreams. Equal new questions do not join them, and the cache does not keep
 * their answers. Cached answers stay, even where a zone has other servers now.
 *
 * ERR_NO_MEMORY: nothing has changed. Must not be called from a waiter's call; may call waiters.
 */
MUST_USE enum err resolver_reload(struct resolver *resolver, const struct route_options *routes,
                                  const struct local_names *local, size_t max_tasks);

/* Ends all tasks: each waiter gets a SERVFAIL. */
void resolver_free(struct resolver *resolver);

void resolver_key(const struct resolver *resolver, unsigned view, struct cache_key *key,
                  const struct question *question, bool dnssec_ok, bool checking_disabled);

/* Prefetches for a batch of look-ups (cache_prefetch() in cache/cache.h). The second call needs a
 * read section. */
void resolver_prefetch(const struct resolver *resolver, const struct cache_key *key);
void resolver_prefetch_entry(const struct resolver *resolver, const struct cache_key *key);

/* Finds an answer that needs no waiting. It is valid until cache_read_end() or the next call of
 * this function. */
bool resolver_find(struct resolver *resolver, unsigned number, const struct cache_key *key,
                   struct answer *out);

/* Finds the answer to a query without RD, only in local data and in zones held here, with
 * referrals. The answer shows nothing that other clients asked for. */
bool resolver_find_local(struct resolver *resolver, unsigned view, const struct cache_key *key,
                         struct answer *out);

/* Whether the view's local data drops the question of this key, for which resolver_find() or
 * resolver_find_local() has just found no answer: the client gets none. resolver_ask() refuses it.
 */
bool resolver_drops(const struct resolver *resolver, const struct cache_key *key);

/* Replaces resolver_find() before resolver_ask() of a question that only servers may answer: what
 * local data said about an earlier question, perhaps of another view, no longer counts. */
void resolver_pass_local(struct resolver *resolver);

/* Joins the running task of the key, or starts one. Call it after resolver_find() of this key,
 * which sees whether local aliases lead to another name, or after resolver_pass_local(). */
enum resolver_result resolver_ask(struct resolver *resolver, unsigned view,
                                  const struct cache_key *key, struct waiter *waiter);

/* Notes that the network changed: older failures are no longer served, because RFC 9520 is about
 * servers that fail and not about an unplugged cable. */
void resolver_network_changed(struct resolver *resolver);

/* Starts a task without waiters for an answer of resolver_find() that is due, if refreshing is
 * enabled, no other worker has claimed it and there is room. In the same read section. */
void resolver_refresh(struct resolver *resolver, unsigned view, const struct cache_key *key);

/*
 * Like resolver_find() and resolver_ask(), with a trace for a person. trace_close() ends the trace
 * before the resolver is freed. NULL: TRACES_MAX run already, or out of memory. fresh: nothing that
 * was cached before now is used, not even zone cuts. A question that is already being asked is
 * joined, and the trace says so.
 */
struct trace *resolver_trace_new(struct resolver *resolver, bool fresh);
bool resolver_trace_find(struct resolver *resolver, unsigned number, const struct cache_key *key,
                         struct trace *trace, struct answer *out);
enum resolver_result resolver_trace_ask(struct resolver *resolver, unsigned view,
                                        const struct cache_key *key, struct trace *trace,
                                        struct waiter *waiter);

/* Shows what would happen to a question now. Nothing is asked, counted or marked. In a read
 * section. */
void resolver_look(struct resolver *resolver, unsigned number, const struct cache_key *key,
                   struct outlook *out);

/* Finds the closest known zone cut at or above a name (lower case) as clients of this view see it,
 * with the addresses of its servers that the cache has. Returns false where nothing is known, and
 * where no recursion resolves the name. Asks and marks nothing. In a read section. */
bool resolver_find_cut(const struct resolver *resolver, unsigned view, struct name name,
                       struct delegation *out);

/* Finds the number of the view with this name ("": of clients without a view). Numbers are valid
 * until the next reload. False: no view has this name. */
bool resolver_find_view(const struct resolver *resolver, const char *name, unsigned *number);

/* Returns the zones with upstreams of clients without a view in the order of the configuration;
 * borrowed until the next turn. */
const struct routes *resolver_routes(const struct resolver *resolver);

/* Whether other waiters wait for the same answer, so that the task has one when this one leaves. */
bool resolver_is_shared(const struct resolver *resolver, const struct waiter *waiter);

/* Removes a waiter whose client is gone. The task continues: others may join, and the cache keeps
 * the answer. */
void resolver_leave(struct resolver *resolver, struct waiter *waiter);

/* Returns the number of running tasks. */
size_t resolver_tasks(const struct resolver *resolver);

#endif
