/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_RELOAD_HOST_H
#define NAILUP_DAEMON_RELOAD_HOST_H

struct cache;
struct control_view;
struct listen_sockets;
struct loop;

/* What a reload works on; borrowed. */
struct reload_host {
    struct loop *loop;
    const char *config_file;
    struct control_view *view; /* its config, listening and reloads are written */
    struct cache *cache;
    struct listen_sockets *sockets;
};

#endif
