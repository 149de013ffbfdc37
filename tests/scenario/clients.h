/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_SCENARIO_CLIENTS_H
#define NAILUP_TESTS_SCENARIO_CLIENTS_H

/* The clients of a scenario: queries over UDP, each from a different port, and connections with
 * names. */

#include "base/span.h"
#include "scenario/world.h"

/* Sends the bytes as a datagram from the address (family 0: 127.0.0.1). */
void clients_send_udp(struct world *world, const struct addr *from, struct span message);

/* Opens a connection with this name. Returns NULL if there are too many. */
struct client *clients_open(struct world *world, const char *name, const struct addr *from);
struct client *clients_find(struct world *world, const char *name);

/* Moves the answers of all clients into world->gots. */
void clients_collect(struct world *world);

#endif
