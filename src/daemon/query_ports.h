/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_QUERY_PORTS_H
#define NAILUP_DAEMON_QUERY_PORTS_H

/*
 * The ports that UDP queries to upstreams may come from: all from 1024 on, except
 *
 * - the ports of net.ipv4.ip_local_reserved_ports, which the operator keeps free for a service;
 * - the ports that the configuration listens on, so that a reload or restart finds them free;
 * - the ports that other processes listen on now, so that they too can restart.
 *
 * A file of /proc that cannot be read excludes no port. ProcSubset=pid in a systemd unit would hide
 * these files.
 */

#include <stdio.h>

#include "net/outgoing_ports.h"

struct config;

enum {
    /* Ports of other processes beyond this number stay in the range: bind() shows that such a
     * port is taken. */
    QUERY_PORTS_LISTENING_MAX = 1024,
    QUERY_PORTS_LINES_MAX = 65536, /* of each table of sockets that is read */
};

/* Reads /proc. Main's thread, at the start and with each reload. */
void query_ports_read(struct outgoing_ports *ports, const struct config *config);

/* For query_ports_read() and its test; each reads one file. reserved: "8080,9000-9100". sockets: as
 * /proc/net/udp has them; leaves out at most *most ports and counts it down. */
void query_ports_take_reserved(struct outgoing_ports *ports, FILE *reserved);
void query_ports_take_system(struct outgoing_ports *ports, FILE *range);
void query_ports_take_listening(struct outgoing_ports *ports, FILE *sockets, unsigned *most);

#endif
