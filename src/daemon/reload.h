/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_RELOAD_H
#define NAILUP_DAEMON_RELOAD_H

/*
 * How the running daemon comes to serve with another configuration, or with other servers for a
 * zone: one change at a time, from whoever asks to the last worker's word that it has switched.
 *
 *   a thread reads the file (daemon/loading.h), beside other changes
 *   idle -> switching  every worker takes the new generation (daemon/generation.h)
 *        -> forgetting the cache is rid of what it may not say any more (daemon/forget.h) -> idle
 *
 * A change of forwards begins at switching, and serves all who wait for one. Reloads that are asked
 * for while a file is read wait for the next, all of them together: a hundred signals at once are
 * two reloads. As long as too many generations are in use the next one waits too.
 *
 * The main thread's.
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
struct workers;

/* What a reload works on; borrowed. */
struct reload_host {
    struct loop *loop;
    const char *config_file;
    struct control_view *view; /* its config, listening and reloads are written */
    struct cache *cache;
    struct listen_sockets *sockets;
};

/* The first generation is of this configuration, which is taken. *config becomes NULL, on error
 * too. NULL: out of memory. */
struct reload *reload_new(const struct reload_host *host, struct config **config,
                          struct certificate *certificate);

/* What is in effect; borrowed until the loop runs again. */
struct generation *reload_current(struct reload *reload);

/* The workers have been started with that, and the view is filled but for what is written here.
 * *listening, which they serve, is taken and becomes NULL. */
void reload_begin(struct reload *reload, struct workers *workers, struct listening **listening);

/* The file is to be read anew: who asks is a signal, or a command that gets its answer. */
void reload_by_signal(struct reload *reload);
void reload_by_call(struct reload *reload, struct call *call);

/* A command that shows, sets or takes back what zones are asked of. */
void reload_forward(struct reload *reload, struct call *call);

/* The daemon ends: who waits is refused, and so is who comes. */
void reload_end(struct reload *reload);

/* No worker is left, nor the control socket; the loop still is. Waits for the thread that reads a
 * file, if one does. False: it hangs there; then neither this nor the loop may be freed. NULL is
 * fine. */
MUST_USE bool reload_join(struct reload *reload);

/* When the loop is freed, which runs what mail there is. NULL is fine. */
void reload_free(struct reload *reload);

#endif
