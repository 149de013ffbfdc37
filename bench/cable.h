/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_CABLE_H
#define NAILUP_BENCH_CABLE_H

/*
 * The cable's parts:
 *   cable.c          starts it and turns its loop
 *   cable_options.c  command line and settings
 *   cable_control.c  commands and figures
 *   cable_device.c   the TUN device
 *   cable_line.c     the fate of a packet, and its instant
 *   cable_packet.c   turning a packet round
 *
 * A program sends to the address "there"; the packet is read from the device, its addresses change
 * places, and after half the delay it is written back, so it comes from "there" to a listener at
 * "here". The answer goes the same way. Both ends are on this machine, with a distance between.
 */

#include <stdio.h>

#include "cable_device.h"
#include "cable_line.h"
#include "latency.h"
#include "poller.h"

struct cable_control;

struct cable {
    struct cable_line line;
    struct cable_device_options device;
    struct watch tun;
    int poller;
    uint64_t now_us;      /* the time of the poller's turn */
    uint64_t since_us;    /* when the figures began */
    double cpu_before_us; /* the CPU time that the process had used then */
    uint64_t overruns_before;
    struct latency late; /* in us, from the instant when a packet was due to its delivery */
    struct cable_control *control;
    bool use_stdin, json, stopping;
};

/* cable_options.c: reads the command line. Wrong use ends the process. */
void cable_options_parse(struct cable *cable, int argc, char **argv);
/* Changes a setting while the cable runs. Returns false and a reason in why. */
bool cable_set(struct cable_settings *settings, const char *name, const char *value,
               char why[CABLE_WHY_MAX]);
void cable_settings_json(const struct cable_settings *all, FILE *out);

/* cable_control.c */
MUST_USE enum err cable_control_open(struct cable *cable);
void cable_control_close(struct cable *cable);
void cable_stats_json(struct cable *cable, FILE *out);
void cable_stats_reset(struct cable *cable);

#endif
