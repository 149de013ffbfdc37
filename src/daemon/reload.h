/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_RELOAD_H
#define NAILUP_DAEMON_RELOAD_H

/*
 * Changes the configuration of the running daemon, or the servers of a zone: one change at a time,
 * from the command or signal that asks for it until the last worker has switched.
 *
 *   a thread reads the file (daemon/loading.h), while other changes run
 *   idle -> switching   every worker takes the new generation (daemon/generation.h)
 *        -> forgetting  the cache drops answers that are wrong now (daemon/forget.h) -> idle
 *
 * A change of forwards or negative trust anchors begins at switching and serves all commands that
 * wait for one. Reloads that are requested while a file is read wait together for the next one: a
 * hundred signals at once are two reloads. The next change also waits while too many generations
 * are in use.
 *
 * Main thread only.
 */

#include <stdbool.h>

#include "base/err.h"

struct cache;
struct call;
struct certificate;
struct config;
struct control_view;
struct generation;
struct listen_sockets;
struct listening;
struct loop;
struct reload;
struct settings;
struct workers;
struct zone_keeper;

/* The objects that a reload works on; all borrowed. */
struct reload_host {
    struct loop *loop;
    const char *config_file;
    struct control_view *view; /* reload writes its config, listening and reloads */
    struct cache *cache;
    struct listen_sockets *sockets;
    struct zone_keeper *zones;
};

/* Makes the first generation from this configuration and takes it: *config becomes NULL, on error
 * too. NULL: out of memory. */
struct reload *reload_new(const struct reload_host *host, struct config **config,
                          struct certificate *certificate);

/* The generation in effect; borrowed until the loop runs again. */
struct generation *reload_current(struct reload *reload);

/* The settings besides the file; they live as long as the reload. */
struct settings *reload_settings(struct reload *reload);

/* Begins to accept changes. The workers run with the current generation, and the caller has filled
 * the view except for the fields that this module writes. Takes *listening, the addresses that the
 * workers serve; it becomes NULL. */
void reload_begin(struct reload *reload, struct workers *workers, struct listening **listening);

/* Reads the file again: for a signal, or for a command that waits for the result. */
void reload_by_signal(struct reload *reload);
void reload_by_call(struct reload *reload, struct call *call);

/* Runs the command that shows the trust anchors of the current generation. */
void reload_anchors(struct reload *reload, struct call *call);

/* Refuses all commands that wait or come later, because the daemon stops. */
void reload_end(struct reload *reload);

/* Waits for the thread that reads a file, if there is one. Call it after the workers and the
 * control socket have ended, while the loop still exists. False: the thread hangs, so this and the
 * loop must not be freed. NULL is fine. */
MUST_USE bool reload_join(struct reload *reload);

/* Call it after the loop has been freed, which runs the mail that is left. NULL is fine. */
void reload_free(struct reload *reload);

#endif
