/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_SERVER_QUOTA_H
#define NAILUP_SERVE_SERVER_QUOTA_H

/*
 * The bounds that all workers share: queries that wait, stream connections in all and per address.
 * What was taken is given back exactly once. Any thread.
 */

#include <stdbool.h>

#include "base/addr.h"
#include "serve/server_options.h"

struct server_quota;

/* One for all workers; NULL out of memory. Freed after the last server. */
struct server_quota *server_quota_new(const struct server_options *options);
void server_quota_free(struct server_quota *quota);

/* A place for one query that waits; false: all are taken. */
MUST_USE bool server_quota_take_waiting(struct server_quota *quota);
void server_quota_give_waiting(struct server_quota *quota);

/* A place for one stream connection of this address (its port is not looked at); false: all are
 * taken, or all that one address may have. */
MUST_USE bool server_quota_take_client(struct server_quota *quota, const struct addr *client);
void server_quota_give_client(struct server_quota *quota, const struct addr *client);

/* What is taken now. */
uint32_t server_quota_waiting(const struct server_quota *quota);
uint32_t server_quota_clients(struct server_quota *quota);

#endif
