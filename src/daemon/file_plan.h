/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_FILE_PLAN_H
#define NAILUP_DAEMON_FILE_PLAN_H

/*
 * Divides the files that this process may open. Transfers of zones and bootstrap servers get a
 * small share each. Clients may take half of the rest that the daemon does not need itself, so they
 * cannot take the files of upstreams, of the control socket and of listeners. Pure.
 */

#include <stddef.h>
#include <stdint.h>

enum {
    FILE_PLAN_MAIN = 12,    /* main's loop, signals, control socket, exporter, links, sleep */
    FILE_PLAN_WORKER = 6,   /* a worker's loop, and a client accepted only to be refused */
    FILE_PLAN_ZONES = 6,    /* the loop of the zones' thread, and a zone's file */
    FILE_PLAN_SPARE = 16,   /* nailupctl, scrapes, files that are open for a moment */
    FILE_PLAN_UPSTREAM = 4, /* the minimum that a worker needs for its upstreams */
    FILE_PLAN_SHARE = 16,   /* a divisor: visits to primaries and bootstrap get this part each */
    FILE_PLAN_BOOTSTRAP_MAX = 24, /* for the questions of all rounds (host_keeper.h): three UDP
                                     sockets and a connection each */
    FILE_PLAN_MAX = 1 << 30,      /* higher limits, "unlimited" included, count as this */
};

struct file_facts {
    uint64_t limit; /* RLIMIT_NOFILE */
    uint64_t open;  /* open files before the loops exist, with the workers' listening sockets */
    size_t workers;
    uint32_t max_nailed; /* as configured */
};

struct file_plan {
    uint32_t visits;    /* visits to primaries: 1 to XFR_GATE_VISITS_MAX (transfer/xfr_gate.h) */
    uint32_t bootstrap; /* connections and UDP queries of main: 1 to FILE_PLAN_BOOTSTRAP_MAX */
    uint32_t clients;   /* stream clients, at least one; a reload may raise server.max-clients up to
                           this */
    uint32_t nailed;    /* at least one for each worker */
    uint32_t upstream_each; /* connections and UDP queries of one worker, at least one; UDP queries
                               take FILE_UDP_MAX of them at most (net/file_count.h) */
};

struct file_plan file_plan_make(const struct file_facts *facts);

/* The number of workers that have enough files when each has this many listening sockets: at least
 * one, at most wanted. */
size_t file_plan_workers(uint64_t limit, size_t wanted, size_t sockets_each);

#endif
