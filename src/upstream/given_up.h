/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_GIVEN_UP_H
#define NAILUP_UPSTREAM_GIVEN_UP_H

/*
 * Servers of a zone that are dead: are all of them given up, and which does a failed exchange leave
 * given up for UPSTREAM_GIVEN_UP_US? A question to such a group is one round: a query for each,
 * without retransmission, so that every further name of a dead zone costs its client little, and a
 * server that comes back is found all the same. A round asks EXCHANGE_SILENT_MAX servers at most.
 * When one answers, its group is asked in full.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct upstream;

/* So many queries at least were in vain in an exchange that proves something: one lost does not. */
enum { GIVEN_UP_QUERIES = 3 };

/* Each is given up, or has no route; not all lack one. */
bool given_up_are_all(struct upstream *const *group, size_t count);

/* An exchange without any answer has failed; queries: that it sent; tried: how often it
 * turned to each of the group. */
void given_up_note(struct upstream *const *group, size_t count, const uint8_t *tried,
                   unsigned queries);

#endif
