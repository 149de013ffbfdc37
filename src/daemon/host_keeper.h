/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_HOST_KEEPER_H
#define NAILUP_DAEMON_HOST_KEEPER_H

/*
 * Keeps the addresses of upstreams that the configuration names by host: queries each name when
 * daemon/host_book.h says so, and reports changes of the addresses.
 *
 *   with upstream.bootstrap   an exchange with these servers, on main's loop
 *   without                   an inquiry (daemon/inquiry.h) to the first worker
 *
 * At most HOST_ROUNDS_MAX names are asked for at a time. With upstream.host-file, addresses outlive
 * a restart: HOST_SAVE_SOON_S after a change, and each HOST_SAVE_S while names answer, the file is
 * replaced (daemon/host_store.h), on main. Main thread only.
 */

#include "config/zone_hosts.h"

struct call;
struct config;
struct host_keeper;
struct inquirer;
struct outgoing_ports;

enum {
    HOST_ROUNDS_MAX = 3,
    HOST_SAVE_SOON_S = 1, /* names that answer together are saved together */
    HOST_SAVE_S = 3600,
    HOST_SAVED_AGE_MAX_S = 7 * 86400, /* older addresses may belong to another host by now */
};

/* on_changed comes when addresses have changed. NULL: out of memory. */
struct host_keeper *host_keeper_new(const struct inquirer *home);

/* Reads upstream.host-file, before the first configuration takes effect: its names have the
 * addresses of the file at once. */
void host_keeper_recall(struct host_keeper *keeper, const struct config *config);

/* Follows this configuration from now on, and sends its own queries from these ports. Names that it
 * shares with the former one keep their addresses. */
void host_keeper_configure(struct host_keeper *keeper, const struct config *config,
                           const struct outgoing_ports *ports);

/* The addresses that are known now. Borrowed until the loop runs again. */
const struct zone_hosts *host_keeper_hosts(const struct host_keeper *keeper);

/* Begins to ask. Call it when the workers run. */
void host_keeper_begin(struct host_keeper *keeper);

/* Asks again for names that could not be resolved. */
void host_keeper_network_changed(struct host_keeper *keeper);

/* Fills the call's reply with the names and their addresses; the caller calls call_done(). */
void host_keeper_show(const struct host_keeper *keeper, struct call *call);

/* Ends all inquiries, closes the sockets, and saves the changes that the file does not have yet. */
void host_keeper_end(struct host_keeper *keeper);

/* Call it after host_keeper_end() and after the loop has been freed. NULL is fine. */
void host_keeper_free(struct host_keeper *keeper);

#endif
