/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_SCENARIO_SERVERS_H
#define NAILUP_TESTS_SCENARIO_SERVERS_H

/* The servers of a scenario. The ranges of the step answer each query, or the query waits. */

#include <stdbool.h>

#include "scenario/world.h"

/* Adds a server at this address, unless there is one. */
void servers_add(struct world *world, const struct addr *addr);

/* Adds a silent server at every address that ADJUST mints=N gives to servers. */
void servers_add_minted(struct world *world);

/* Returns the server at the address, whatever its port, or NULL. */
struct fake_server *servers_at(struct world *world, const struct addr *addr);

/* A new step has begun: tries its ranges on all waiting queries. */
void servers_look_again(struct world *world);

/* Returns the latest waiting query that matches the entry (NULL: any) at this server (family 0:
 * any), or NULL. */
struct out *servers_waiting(struct world *world, const struct addr *addr,
                            const struct entry *entry);

/* Returns true while the resolver waits for the answer. */
bool servers_is_open(const struct out *out);

/* Sends the entry's messages in the way of its ADJUST words. */
void servers_answer(struct world *world, struct out *out, const struct entry *entry);

#endif
