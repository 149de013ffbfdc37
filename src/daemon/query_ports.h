/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_QUERY_PORTS_H
#define NAILUP_DAEMON_QUERY_PORTS_H

/*
 * Which ports UDP queries to upstreams may come from: all from 1024 on without
 *
 * - those of net.ipv4.ip_local_reserved_ports, which the operator keeps free for a service;
 * - those that the configuration listens on, so that a reload or restart finds them free;
 * - those that other processes listen on now, so that they too can restart.
 *
 * What /proc does not say counts as nothing. In a systemd unit, ProcSubset=pid would hide it.
 */

#include <stdio.h>

#include "net/outgoing_ports.h"

struct config;

enum {
    /* A machine on which others listen on more ports does not narrow the range further: a port that
     * is taken is found out by binding to it. */
    QUERY_PORTS_LISTENING_MAX = 1024,
    QUERY_PORTS_LINES_MAX = 65536, /* of each table of sockets that is read */
};

/* Reads /proc. Main's thread, at the start and with each reload. */
void query_ports_read(struct outgoing_ports *ports, const struct config *config);

/* For query_ports_read() and its test: take one file each. reserved: "8080,9000-9100". sockets: as
 * /proc/net/udp has them; leaves out at most *most ports and counts it down. */
void query_ports_take_reserved(struct outgoing_ports *ports, FILE *reserved);
void query_ports_take_system(struct outgoing_ports *ports, FILE *range);
void query_ports_take_listening(struct outgoing_ports *ports, FILE *sockets, unsigned *most);

#endif
