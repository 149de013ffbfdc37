/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_SETTINGS_H
#define NAILUP_DAEMON_SETTINGS_H

/*
 * The settings that the running daemon has besides its file: forwards, negative trust anchors and
 * the captive portal from commands, trust anchors that it keeps up to date, and the addresses of
 * upstreams by name. Runs the commands that show and change them, and ends what lasts only for a
 * time.
 *
 *   command, timer, new keys or addresses -> pending -> a change (daemon/reload.h) takes them
 *
 * A command that changes something waits until a change has put it into effect. Main thread only.
 */

#include <stdbool.h>
#include <stddef.h>

#include "config/runtime_zones.h"
#include "daemon/asker.h"
#include "daemon/generation.h"

struct call;
struct config;
struct control_view;
struct forget;
struct loop;
struct outgoing_ports;
struct settings;

/* The owner of the settings; all borrowed. */
struct settings_host {
    struct loop *loop;
    struct control_view *view; /* has the configuration in effect; settings write has_portal */
    size_t *asker_count;       /* of all lists of askers */
    bool (*is_changing)(void *context); /* whether a change is under way */
    void (*on_pending)(void *context);  /* settings have changed */
    void *context;
};

/* The first configuration brings the settings that outlive a restart. NULL: out of memory. */
struct settings *settings_new(const struct settings_host *host, const struct config *config);

/* Begins to keep trust anchors and addresses up to date. */
void settings_begin(struct settings *settings, const struct config *config,
                    const struct outgoing_ports *ports);

/* Whether a setting has changed since settings_take(). */
bool settings_are_pending(const struct settings *settings);

/* Returns the settings for a generation. They borrow from the settings until one changes. */
struct generation_settings settings_now(const struct settings *settings);

/* Returns the settings for a generation of a new file: forwards that do not fit it are left out.
 * *kept is their memory. */
struct generation_settings settings_for_file(struct settings *settings, const struct config *config,
                                             struct runtime_zones *kept);

/* Keeps the former file, because no generation of the new one could be made. */
void settings_undo_file(struct settings *settings, const struct config *config);

/* Drops the forwards that do not fit the new file, once no later step can fail. The cache forgets
 * their answers. */
void settings_use_file(struct settings *settings, const struct config *config,
                       const struct outgoing_ports *ports, struct forget *forget);

/* A change begins that includes all settings: moves the askers that wait for one to served. The
 * cache forgets the answers of former servers of their zones. forget is NULL for a change that has
 * failed already. */
void settings_take(struct settings *settings, struct askers *served, struct forget *forget);

/* The change failed: the settings are pending again after a while. */
void settings_retry_later(struct settings *settings);

/* The command that shows, sets or removes the servers of a zone. */
void settings_forward(struct settings *settings, struct call *call);

/* The command that shows, adds or removes negative trust anchors. They end by themselves. */
void settings_nta(struct settings *settings, struct call *call);

/* The command that sets, ends or shows the captive portal, which ends by itself. */
void settings_portal(struct settings *settings, struct call *call);

/* The command that shows the upstreams by name and their addresses. */
void settings_hosts(struct settings *settings, struct call *call);

/* Resolves again the names that could not be resolved. */
void settings_network_changed(struct settings *settings);

/* Stops all timers and queries, and refuses the commands that wait or come later. */
void settings_end(struct settings *settings);

/* NULL is fine. */
void settings_free(struct settings *settings);

#endif
