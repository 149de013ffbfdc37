/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Collects the ports that queries must not use (query_ports.h). net draws a port for each query. */

#include "daemon/query_ports.h"

#include "base/check.h"
#include "base/log.h"
#include "config/config.h"

enum {
    STATE_CLOSE = 7,   /* a UDP socket that is not connected, so it is a service */
    STATE_LISTEN = 10, /* a TCP socket that listens */
};

void query_ports_take_reserved(struct outgoing_ports *ports, FILE *reserved)
{
    unsigned first, last;

    while (fscanf(reserved, "%u", &first) == 1) {
        last = first;
        int next = getc(reserved);
        if (next == '-' && fscanf(reserved, "%u", &last) == 1)
            next = getc(reserved);
        if (first > OUTGOING_PORT_LAST || last > OUTGOING_PORT_LAST)
            return;
        outgoing_ports_leave_out(ports, (uint16_t)first, (uint16_t)last);
        if (next != ',')
            return;
    }
}

void query_ports_take_system(struct outgoing_ports *ports, FILE *range)
{
    unsigned first, last;

    if (fscanf(range, "%u %u", &first, &last) == 2 && first <= last && last <= OUTGOING_PORT_LAST)
        outgoing_ports_set_system(ports, (uint16_t)first, (uint16_t)last);
}

void query_ports_take_listening(struct outgoing_ports *ports, FILE *sockets, unsigned *most)
{
    char line[512];

    for (unsigned i = 0; i < QUERY_PORTS_LINES_MAX && fgets(line, sizeof(line), sockets); i++) {
        unsigned port, state;
        if (sscanf(line, "%*u: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x", &port, &state) != 2)
            continue; /* the heading line */
        if (port > OUTGOING_PORT_LAST || (state != STATE_CLOSE && state != STATE_LISTEN) ||
            !outgoing_ports_have(ports, (uint16_t)port))
            continue;
        if (*most == 0)
            return;
        outgoing_ports_leave_out(ports, (uint16_t)port, (uint16_t)port);
        --*most;
    }
}

static void query_ports_exclude_own(struct outgoing_ports *ports, const struct addr *list,
                                    size_t count)
{
    for (size_t i = 0; i < count; i++)
        outgoing_ports_leave_out(ports, addr_port(&list[i]), addr_port(&list[i]));
}

void query_ports_read(struct outgoing_ports *ports, const struct config *config)
{
    static const char *const tables[] = {"/proc/net/udp", "/proc/net/udp6", "/proc/net/tcp",
                                         "/proc/net/tcp6"};
    unsigned most = QUERY_PORTS_LISTENING_MAX;
    FILE *file;

    outgoing_ports_init(ports);
    query_ports_exclude_own(ports, config->server.listen, config->server.listen_count);
    query_ports_exclude_own(ports, config->server.listen_tls, config->server.listen_tls_count);
    query_ports_exclude_own(ports, config->server.listen_https, config->server.listen_https_count);
    query_ports_exclude_own(ports, &config->metrics_listen, 1);
    if ((file = fopen("/proc/sys/net/ipv4/ip_local_reserved_ports", "re"))) {
        query_ports_take_reserved(ports, file);
        fclose(file);
    }
    if ((file = fopen("/proc/sys/net/ipv4/ip_local_port_range", "re"))) {
        query_ports_take_system(ports, file);
        fclose(file);
    }
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        if (!(file = fopen(tables[i], "re")))
            continue;
        query_ports_take_listening(ports, file, &most);
        fclose(file);
    }
    LOG(LOG_DEBUG, "daemon", "UDP queries come from %u ports", ports->count);
}
