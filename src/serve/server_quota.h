/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_SERVER_QUOTA_H
#define NAILUP_SERVE_SERVER_QUOTA_H

/*
 * The bounds that all workers share: waiting queries and stream connections, in all and for each
 * client (client_prefix.h), and the queries a second of each client. A taken place is given back
 * exactly once. Any thread.
 *
 * Stream connections of allowed clients, of refused clients, and of proxies that have not named
 * their client have separate places: none takes the places of the others.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "serve/server_options.h"

struct server_quota;

/*
 * One for all workers; NULL out of memory. Freed after the last server.
 *
 * before is NULL, or the quota that servers leave for this one (server_reload()). Each server
 * brings the places that it has taken, even above lower new bounds; then no more are taken until
 * there are fewer. The connections of both quotas together keep to the bounds. The counts of
 * clients' queries a second go on, unless the size of that table or the length of client prefixes
 * has changed.
 */
struct server_quota *server_quota_new(const struct server_options *options,
                                      const struct server_quota *before);
void server_quota_free(struct server_quota *quota);

/* The number of a client in all calls: a hash of its prefix with a seed of the process. */
uint64_t server_quota_client(const struct server_quota *quota, const struct addr *client);

/* The bits of its address that make a client. */
uint8_t server_quota_prefix_bits(const struct server_quota *quota, const struct addr *client);

enum server_quota_result { QUOTA_TAKEN, QUOTA_FULL, QUOTA_CLIENT_FULL, QUOTA_NO_FILES };

/* Takes a place for one waiting query of this client. No client gets more than its bound. In rare
 * cases a client below its bound is refused, because two small hashes identify clients. This
 * happens to fewer than one client in a million while a handful of others are at their bound. */
MUST_USE enum server_quota_result server_quota_take_waiting(struct server_quota *quota,
                                                            uint64_t client);
void server_quota_give_waiting(struct server_quota *quota, uint64_t client);

/* The waiting queries of this client: never fewer than there are, and rarely more. */
uint32_t server_quota_waiting_of(struct server_quota *quota, uint64_t client);

struct rate_limit;

/* The limit for queries over UDP of clients with this view; NULL: none. A view that the quota's
 * options lack has the limit of clients without a view: a worker may keep former views for lack of
 * memory. Lives as long as the quota. */
struct rate_limit *server_quota_rate_limit(const struct server_quota *quota, unsigned view);

struct view_rows;

/* The counters of the views (view_rows.h). A view keeps its counters in the quota that follows.
 * Lives as long as the quota. */
const struct view_rows *server_quota_view_rows(const struct server_quota *quota);

/* Whether there is a limit in any view. */
bool server_quota_limits_rate(const struct server_quota *quota);

enum {
    SERVER_QUOTA_REFUSED_MAX = 64,     /* connections of refused clients in the process */
    SERVER_QUOTA_REFUSED_EACH_MAX = 4, /* of one refused client */
    SERVER_QUOTA_REFUSED_FILES = 16,   /* refused clients get one file in this many */
    /* Connections of proxies whose header has not come. They wait for a moment only, and each takes
     * a place of its client afterwards. */
    SERVER_QUOTA_PROXY_MAX = 1024,
    SERVER_QUOTA_PROXY_FILES = 16, /* they get one file in this many */
};

/* Bounds the descriptors of clients' connections in addition to the options, for this quota and its
 * successors. If this is never called, only the options apply. */
void server_quota_bound_files(struct server_quota *quota, uint32_t max);

enum place_kind { PLACE_ALLOWED, PLACE_REFUSED, PLACE_PROXY };

/* The place of one stream connection: its client, whose port does not matter, and the kind of
 * client.
 */
struct client_place {
    struct addr client;
    enum place_kind kind;
};

MUST_USE enum server_quota_result server_quota_take_client(struct server_quota *quota,
                                                           const struct client_place *place);
void server_quota_give_client(struct server_quota *quota, const struct client_place *place);

/* Moves a connection to another client or kind: *place becomes *to if the bounds allow it, else it
 * stays. For clients that the access list of a reload refuses or allows, and for clients that a
 * proxy names. */
MUST_USE enum server_quota_result server_quota_change_client(struct server_quota *quota,
                                                             struct client_place *place,
                                                             const struct client_place *to);

/* The bytes that the stream clients of all workers hold, and their bound (stream_memory.h). A
 * worker passes its last count and its new one. */
void server_quota_add_memory(struct server_quota *quota, size_t told_bytes, size_t held_bytes);
size_t server_quota_memory(const struct server_quota *quota);
size_t server_quota_max_memory(const struct server_quota *quota);

enum { SERVER_QUOTA_WEIGHTS = 64 };

/* The same bytes by the weight class of their clients (stream_memory.h), as each worker has counted
 * them last. */
void server_quota_add_weights(struct server_quota *quota,
                              const size_t told_bytes[SERVER_QUOTA_WEIGHTS],
                              const size_t held_bytes[SERVER_QUOTA_WEIGHTS]);
void server_quota_weights(const struct server_quota *quota, size_t bytes[SERVER_QUOTA_WEIGHTS]);

/* Whether interval_us have passed since this was last true for any worker. */
bool server_quota_may_trim(struct server_quota *quota, uint64_t now, uint64_t interval_us);

/* Moves a place from one quota to the next, whatever the bounds. The first returns the client's
 * number in the new quota. */
uint64_t server_quota_move_waiting(struct server_quota *to, struct server_quota *from,
                                   uint64_t client, const struct addr *addr);
void server_quota_move_client(struct server_quota *to, struct server_quota *from,
                              const struct client_place *place);

/* The taken places; for connections, those of all kinds. */
uint32_t server_quota_waiting(const struct server_quota *quota);
uint32_t server_quota_clients(struct server_quota *quota);

#endif
