/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_CABLE_LINE_H
#define NAILUP_BENCH_CABLE_LINE_H

/*
 * Packets on their way: each is lost, dropped, or kept until it is due. Time is an argument; no
 * system call is made here.
 *
 * A packet is in one of three places: with the caller (between cable_line_blank() or
 * cable_line_take() and the next call), in the delay line, or spare. So there are at most
 * queue_max + 1 of them, and none is allocated once so many have been.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cable_packet.h"
#include "delay_line.h"

enum { CABLE_MTU_MIN = 576, CABLE_MTU_MAX = 65535, CABLE_QUEUE_MAX = 65536 };

/* May change while packets are under way; it is for those that come afterwards. */
struct cable_settings {
    double delay_ms;  /* of the round trip: half of it each way */
    double jitter_ms; /* up to that much more for a round trip, at random */
    double loss_percent;
    bool reorder; /* whether jitter lets packets overtake */
};

struct cable_counters {
    uint64_t packets, bytes; /* that came */
    uint64_t lost;           /* as the loss wants it */
    uint64_t dropped_full;   /* queue_max were under way */
    uint64_t foreign;        /* not from one end to the other */
    uint64_t delivered;
    uint64_t refused; /* due, but the kernel did not take them */
};

struct cable_packet {
    struct delayed delayed;
    struct cable_packet *next_spare;
    size_t len;
    uint8_t bytes[];
};

struct cable_line {
    struct cable_settings settings;
    struct cable_ends ends;
    size_t mtu, queue_max;
    struct delay_line line;
    struct cable_packet *spare;
    uint64_t last_due_us;
    struct cable_counters counters;
};

/* settings, ends, mtu and queue_max are set by the caller before the first packet. */
void cable_line_init(struct cable_line *line);

/* All packets are freed, those that are under way, too. */
void cable_line_deinit(struct cable_line *line);

/* One to read mtu bytes into; NULL without memory. */
struct cable_packet *cable_line_blank(struct cable_line *line);

/* Takes a packet that arrived at now_us, its len set. */
void cable_line_add(struct cable_line *line, struct cable_packet *packet, uint64_t now_us);

/* The next one that is due by now, turned round; NULL: none is. Afterwards it goes to
 * cable_line_give(), which counts it. */
struct cable_packet *cable_line_take(struct cable_line *line, uint64_t now_us);
void cable_line_give(struct cable_line *line, struct cable_packet *packet, bool was_delivered);

/* Gives back a blank that nothing was read into. */
void cable_line_spare(struct cable_line *line, struct cable_packet *packet);

static inline uint64_t cable_line_next_us(const struct cable_line *line)
{
    return delay_line_next_us(&line->line);
}

#endif
