/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_NET_OUTGOING_PORTS_H
#define NAILUP_NET_OUTGOING_PORTS_H

/*
 * The source ports of UDP queries. Each is drawn at random from 1024 to 65535, so that an off-path
 * attacker has to guess it (RFC 5452 section 9.2). The system's own range has 28,232 ports by
 * default (14.8 bits); the whole range has 64,512 (15.98 bits). The queries of a burst to one
 * server may share a port (udp_query.c).
 *
 * A socket with a port that we chose is closed after its queries, because the kernel keeps such a
 * port until then. Disconnecting gives back a port that the kernel chose. So a draw that falls
 * in the system's range lets the system draw again there, which keeps every port equally likely and
 * costs no new socket.
 */

#include <stdbool.h>
#include <stdint.h>

struct loop;

enum {
    OUTGOING_PORT_FIRST = 1024,
    OUTGOING_PORT_LAST = 65535,
    OUTGOING_PORT_SYSTEM = 0,     /* the system draws */
    OUTGOING_PORT_DRAWS_MAX = 16, /* draws for one query while ports are taken */
};

struct outgoing_ports {
    uint64_t left_out[(OUTGOING_PORT_LAST + 1) / 64];
    unsigned count; /* ports from OUTGOING_PORT_FIRST on that are not left out */
    uint16_t system_first, system_last; /* both 0: unknown, so the system never draws */
};

/* Starts with all ports, and an unknown system range. */
void outgoing_ports_init(struct outgoing_ports *ports);

/* Leaves out first to last, both included. Ignores ports outside the range. */
void outgoing_ports_leave_out(struct outgoing_ports *ports, uint16_t first, uint16_t last);

/* Sets net.ipv4.ip_local_port_range, which also applies to IPv6. */
void outgoing_ports_set_system(struct outgoing_ports *ports, uint16_t first, uint16_t last);

bool outgoing_ports_have(const struct outgoing_ports *ports, uint16_t port);

/* Draws a port, each with equal probability. Returns OUTGOING_PORT_SYSTEM for a port in the
 * system's range, or if all ports are left out. */
uint16_t outgoing_ports_draw(const struct outgoing_ports *ports);

/* Makes later sockets of the loop use a copy of these ports. If this is never called, the system
 * draws a port for every query. *fallbacks, a counter of struct stats, counts the queries whose
 * draws were all taken; it must live as long as the loop. Does nothing when out of memory. On the
 * loop's thread. */
void outgoing_ports_use(struct loop *loop, const struct outgoing_ports *ports, uint64_t *fallbacks);

#endif
