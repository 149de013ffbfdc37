/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_CABLE_LINE_H
#define NAILUP_BENCH_CABLE_LINE_H

/*
 * Packets on their way: each is lost, dropped, or kept until it is due. Time is an argument; no
 * system call is made here.
 *
 * A packet is in one of three places: with the caller (between cable_line_blank() or
 * cable_line_take() and the next call), in the delay line, or spare. So there are at most queue_max
 * + 1 packets, and none is allocated once that many exist.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cable_packet.h"
#include "delay_line.h"

enum { CABLE_MTU_MIN = 576, CABLE_MTU_MAX = 65535, CABLE_QUEUE_MAX = 65536 };

/* These settings may change while packets are under way. A change applies to later packets. */
struct cable_settings {
    double delay_ms;  /* the delay of a round trip, half of it in each direction */
    double jitter_ms; /* the largest random extra delay of a round trip */
    double loss_percent;
    bool reorder; /* jitter lets packets overtake each other */
};

struct cable_counters {
    uint64_t packets, bytes; /* packets that arrived */
    uint64_t lost;           /* packets that the configured loss took */
    uint64_t dropped_full;   /* packets that found queue_max others under way */
    uint64_t foreign;        /* packets that were not between here and there */
    uint64_t delivered;
    uint64_t refused; /* packets that were due, but that the kernel refused */
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

/* The caller sets settings, ends, mtu and queue_max before the first packet. */
void cable_line_init(struct cable_line *line);

/* Frees all packets, also those under way. */
void cable_line_deinit(struct cable_line *line);

/* Returns a packet with room for mtu bytes, or NULL if out of memory. */
struct cable_packet *cable_line_blank(struct cable_line *line);

/* Takes a packet that arrived at now_us. Its len is set. */
void cable_line_add(struct cable_line *line, struct cable_packet *packet, uint64_t now_us);

/* Returns the next packet that is due, turned round, or NULL. The caller then passes it to
 * cable_line_give(), which counts it. */
struct cable_packet *cable_line_take(struct cable_line *line, uint64_t now_us);
void cable_line_give(struct cable_line *line, struct cable_packet *packet, bool was_delivered);

/* Takes back a packet that the caller has not filled. */
void cable_line_spare(struct cable_line *line, struct cable_packet *packet);

static inline uint64_t cable_line_next_us(const struct cable_line *line)
{
    return delay_line_next_us(&line->line);
}

#endif
