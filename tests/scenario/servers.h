/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_SCENARIO_SERVERS_H
#define NAILUP_TESTS_SCENARIO_SERVERS_H

/* The servers of a scenario: each query is answered from the ranges of the step, or waits. */

#include <stdbool.h>

#include "scenario/world.h"

/* Somebody is at this address from now on; nothing happens if somebody is already. */
void servers_add(struct world *world, const struct addr *addr);

/* One that is silent, at every address that ADJUST mints=N gives to servers. */
void servers_add_minted(struct world *world);

/* The server at the address, whatever its port; NULL: none. */
struct fake_server *servers_at(struct world *world, const struct addr *addr);

/* Asks the ranges again for all that waits: a new step has begun. */
void servers_look_again(struct world *world);

/* The latest query that waits for an answer and matches the entry (NULL: any), of this server
 * (family 0: of any); NULL: none. */
struct out *servers_waiting(struct world *world, const struct addr *addr,
                            const struct entry *entry);

/* True while the resolver waits for it. */
bool servers_is_open(const struct out *out);

/* Sends the entry's messages as its ADJUST words say. */
void servers_answer(struct world *world, struct out *out, const struct entry *entry);

#endif
