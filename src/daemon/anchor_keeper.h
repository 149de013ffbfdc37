/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_ANCHOR_KEEPER_H
#define NAILUP_DAEMON_ANCHOR_KEEPER_H

/*
 * Keeps dnssec.trust-anchor-file up to date (RFC 5011): asks a worker for the zone's DNSKEY records
 * when validate/anchor_update.h says so, and writes the file as a whole. Nothing is asked before a
 * worker has validated an answer.
 *
 *   idle -> asking   an inquiry (daemon/inquiry.h) goes to the first worker, with CD, in the first
 *                    view that validates
 *        -> idle     the set is verified on main, the table changes, the file is written
 *
 * Main thread only.
 */

#include <stdbool.h>

struct anchor_keeper;
struct anchor_point;
struct config;
struct inquirer;

/* on_changed comes when the trusted keys have changed. NULL: out of memory. */
struct anchor_keeper *anchor_keeper_new(const struct inquirer *home);

/* Follows this configuration from now on. If another program has changed the file since the last
 * read or write, the file replaces the state of the keeper. Otherwise the keeper continues with its
 * state. */
void anchor_keeper_configure(struct anchor_keeper *keeper, const struct config *config);

/* Returns the state of the zone's anchors, or NULL: none is kept up to date. Borrowed until the
 * loop runs again. */
const struct anchor_point *anchor_keeper_point(const struct anchor_keeper *keeper);

/* Begins to ask. Call it when the workers run. */
void anchor_keeper_begin(struct anchor_keeper *keeper);

/* Sends no letter from now on. */
void anchor_keeper_end(struct anchor_keeper *keeper);

/* Call it after the loop has been freed. NULL is fine. */
void anchor_keeper_free(struct anchor_keeper *keeper);

#endif
