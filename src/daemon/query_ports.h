/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_QUERY_PORTS_H
#define NAILUP_DAEMON_QUERY_PORTS_H

/*
 * The source ports of UDP queries to upstreams: all from 1024 on, except
 *
 * - the ports of net.ipv4.ip_local_reserved_ports, which the operator keeps free for a service;
 * - the ports that the configuration listens on, so that a reload or restart finds them free;
 * - the ports that other processes listen on now, so that they can restart too.
 *
 * A file of /proc that cannot be read excludes no port. ProcSubset=pid in a systemd unit hides
 * these files.
 */

#include <stdio.h>

#include "net/outgoing_ports.h"

struct config;

enum {
    /* Beyond this number, ports of other processes stay in the range: bind() then finds them taken.
     */
    QUERY_PORTS_LISTENING_MAX = 1024,
    QUERY_PORTS_LINES_MAX = 65536, /* how many lines of each socket table are read */
};

/* Reads /proc. Main thread, at the start and at each reload. */
void query_ports_read(struct outgoing_ports *ports, const struct config *config);

/* The parts of query_ports_read(), exported for its test. Each reads one file. The format of
 * reserved is "8080,9000-9100", and the format of sockets is that of /proc/net/udp. Excludes at
 * most *most ports, and subtracts them from *most. */
void query_ports_take_reserved(struct outgoing_ports *ports, FILE *reserved);
void query_ports_take_system(struct outgoing_ports *ports, FILE *range);
void query_ports_take_listening(struct outgoing_ports *ports, FILE *sockets, unsigned *most);

#endif
