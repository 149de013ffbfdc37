/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_SERVER_QUOTA_H
#define NAILUP_SERVE_SERVER_QUOTA_H

/*
 * The bounds that all workers share: queries that wait and stream connections, in all and for each
 * client (client_prefix.h), and how fast each client asks. What was taken is given back exactly
 * once. Any thread.
 *
 * Stream connections of clients that may ask and of clients that the access list refuses have
 * places of their own: however many refused clients come, the places of the others stay free.
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
 * before is NULL, or the quota that servers will leave for this one (server_reload()), each with
 * all that it has taken: what they bring is taken even where the new bounds are lower, and then
 * nothing more until there is less; connections of both together keep to the bounds. Clients'
 * queries a second go on counting, unless the number of clients that are counted or what makes a
 * client has changed.
 */
struct server_quota *server_quota_new(const struct server_options *options,
                                      const struct server_quota *before);
void server_quota_free(struct server_quota *quota);

/* The client's number in what follows: a hash of its prefix with a seed of the process. */
uint64_t server_quota_client(const struct server_quota *quota, const struct addr *client);

enum server_quota_result { QUOTA_TAKEN, QUOTA_FULL, QUOTA_CLIENT_FULL, QUOTA_NO_FILES };

/* A place for one query of this client that waits. No client gets more than its bound; now and then
 * one that has less is refused, as clients are told apart by two small hashes: less than one in a
 * million while a handful of others are at their bound. */
MUST_USE enum server_quota_result server_quota_take_waiting(struct server_quota *quota,
                                                            uint64_t client);
void server_quota_give_waiting(struct server_quota *quota, uint64_t client);

/* Queries of this client that wait now: never less than there are, and rarely more. */
uint32_t server_quota_waiting_of(struct server_quota *quota, uint64_t client);

struct rate_limit;

/* Of queries over UDP; NULL: there is none. Lives as long as the quota. */
struct rate_limit *server_quota_rate_limit(const struct server_quota *quota);

enum {
    SERVER_QUOTA_REFUSED_MAX = 64,     /* connections of refused clients in the process */
    SERVER_QUOTA_REFUSED_EACH_MAX = 4, /* of one refused client */
    SERVER_QUOTA_REFUSED_FILES = 16,   /* refused clients get one of this many files */
};

/* Bounds the files that clients may take, whatever the options allow, for this quota and its
 * successors. Without a call there is no bound. */
void server_quota_bound_files(struct server_quota *quota, uint32_t max);

enum place_kind { PLACE_ALLOWED, PLACE_REFUSED };

/* The place of one stream connection: the client that it counts for (its port does not matter), and
 * the kind of client. */
struct client_place {
    struct addr client;
    enum place_kind kind;
};

MUST_USE enum server_quota_result server_quota_take_client(struct server_quota *quota,
                                                           const struct client_place *place);
void server_quota_give_client(struct server_quota *quota, const struct client_place *place);

/* The connection counts for another client from now on, or as another kind: *place becomes *to
 * when the bounds allow it, else it stays. A reload uses it for clients that the new access list
 * refuses or allows. */
MUST_USE enum server_quota_result server_quota_change_client(struct server_quota *quota,
                                                             struct client_place *place,
                                                             const struct client_place *to);

/* Bytes that the stream clients of all workers hold, and their bound (stream_memory.h). A worker
 * says what it had told before and what its clients hold now. */
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

/* From one quota to the next: given back there and taken here, whatever the bounds. The first
 * returns the client's number in the new one. */
uint64_t server_quota_move_waiting(struct server_quota *to, struct server_quota *from,
                                   uint64_t client, const struct addr *addr);
void server_quota_move_client(struct server_quota *to, struct server_quota *from,
                              const struct client_place *place);

/* The places that are taken now; for connections, those of both kinds. */
uint32_t server_quota_waiting(const struct server_quota *quota);
uint32_t server_quota_clients(struct server_quota *quota);

#endif
