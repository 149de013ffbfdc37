/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_SCENARIO_HELD_H
#define NAILUP_TESTS_SCENARIO_HELD_H

/* The zones of auth-zones. In the daemon, a thread of the zone keeper reads them. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct config;
struct zone_set;

/* Reads all zones of the configuration. A zone has no data if its file is missing, or if its digest
 * does not match or has no valid signature at this time of the wall clock. Returns NULL if there
 * are no zones, or if a file is malformed: then why is a sentence. */
struct zone_set *held_open(const struct config *config, int64_t wall_s, char *why, size_t size);

#endif
