/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* A set of ports and a draw from it (outgoing_ports.h). The daemon leaves ports out; udp_query.c
 * binds sockets to ports and has outgoing_ports_use(). */

#include "net/outgoing_ports.h"

#include "base/check.h"
#include "base/rand.h"

enum { PORTS = OUTGOING_PORT_LAST - OUTGOING_PORT_FIRST + 1, QUICK_DRAWS = 4 };

void outgoing_ports_init(struct outgoing_ports *ports)
{
    *ports = (struct outgoing_ports){.count = PORTS};
}

bool outgoing_ports_have(const struct outgoing_ports *ports, uint16_t port)
{
    return port >= OUTGOING_PORT_FIRST && !(ports->left_out[port / 64] >> port % 64 & 1);
}

void outgoing_ports_leave_out(struct outgoing_ports *ports, uint16_t first, uint16_t last)
{
    for (unsigned port = MAX(first, (unsigned)OUTGOING_PORT_FIRST); port <= last; port++) {
        ports->count -= outgoing_ports_have(ports, (uint16_t)port);
        ports->left_out[port / 64] |= UINT64_C(1) << port % 64;
    }
}

void outgoing_ports_set_system(struct outgoing_ports *ports, uint16_t first, uint16_t last)
{
    ports->system_first = first;
    ports->system_last = last;
}

static bool is_system_port(const struct outgoing_ports *ports, uint16_t port)
{
    return port >= ports->system_first && port <= ports->system_last;
}

/* Returns the port of the set that has exactly rank smaller ones in the set. */
static uint16_t port_of_rank(const struct outgoing_ports *ports, unsigned rank)
{
    unsigned word = OUTGOING_PORT_FIRST / 64;
    unsigned have;

    while (rank >= (have = (unsigned)__builtin_popcountll(~ports->left_out[word]))) {
        rank -= have;
        word++;
    }
    uint64_t bits = ~ports->left_out[word];
    for (; rank > 0; rank--)
        bits &= bits - 1;
    return (uint16_t)(word * 64 + (unsigned)__builtin_ctzll(bits));
}

/* Few ports are left out, so the first draw is nearly always in the set. */
static uint16_t draw_any(const struct outgoing_ports *ports)
{
    for (unsigned i = 0; i < QUICK_DRAWS; i++) {
        uint16_t port = (uint16_t)(OUTGOING_PORT_FIRST + rand_below(PORTS));
        if (outgoing_ports_have(ports, port))
            return port;
    }
    return port_of_rank(ports, (unsigned)rand_below(ports->count));
}

uint16_t outgoing_ports_draw(const struct outgoing_ports *ports)
{
    if (ports->count == 0)
        return OUTGOING_PORT_SYSTEM;
    uint16_t port = draw_any(ports);
    return is_system_port(ports, port) ? OUTGOING_PORT_SYSTEM : port;
}
