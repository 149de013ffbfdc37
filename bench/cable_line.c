/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Decides the fate of a packet. Invariant: packets == lost + dropped_full + foreign + delivered +
 * refused + packets in the delay line.
 */

#include "cable_line.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/rand.h"

void cable_line_init(struct cable_line *line)
{
    memset(line, 0, sizeof(*line));
    delay_line_init(&line->line);
}

void cable_line_deinit(struct cable_line *line)
{
    struct cable_packet *packet;
    while ((packet = cable_line_take(line, UINT64_MAX)))
        cable_line_spare(line, packet);
    while ((packet = line->spare)) {
        line->spare = packet->next_spare;
        free(packet);
    }
    delay_line_deinit(&line->line);
}

/* Takes the packet that came back last, because its memory is warm. */
struct cable_packet *cable_line_blank(struct cable_line *line)
{
    struct cable_packet *packet = line->spare;
    if (!packet)
        return malloc(sizeof(*packet) + line->mtu);
    line->spare = packet->next_spare;
    return packet;
}

void cable_line_spare(struct cable_line *line, struct cable_packet *packet)
{
    packet->next_spare = line->spare;
    line->spare = packet;
}

static bool cable_line_is_lost(const struct cable_line *line)
{
    return line->settings.loss_percent > 0 &&
           (double)rand_u32() < line->settings.loss_percent / 100 * 4294967296.0;
}

/* Without reordering, no packet is due before the packet ahead of it. A late packet delays those
 * behind it, as in a queue. */
static uint64_t due_us(struct cable_line *line, uint64_t now_us)
{
    const struct cable_settings *settings = &line->settings;
    uint64_t due = now_us + (uint64_t)(settings->delay_ms * 500);
    if (settings->jitter_ms > 0)
        due += rand_below((uint64_t)(settings->jitter_ms * 500) + 1);
    if (!settings->reorder)
        due = MAX(due, line->last_due_us);
    line->last_due_us = MAX(due, line->last_due_us);
    return due;
}

/* Returns false if the packet goes no further. It has been counted then. */
static bool is_taken(struct cable_line *line, struct cable_packet *packet)
{
    struct cable_counters *counters = &line->counters;
    counters->packets++;
    counters->bytes += packet->len;
    if (!cable_packet_turn(&line->ends, packet->bytes, packet->len))
        return counters->foreign++, false;
    if (cable_line_is_lost(line))
        return counters->lost++, false;
    if (delay_line_count(&line->line) >= line->queue_max)
        return counters->dropped_full++, false;
    return true;
}

void cable_line_add(struct cable_line *line, struct cable_packet *packet, uint64_t now_us)
{
    if (!is_taken(line, packet)) {
        cable_line_spare(line, packet);
        return;
    }
    packet->delayed.due_us = due_us(line, now_us);
    if (delay_line_add(&line->line, &packet->delayed) != ERR_OK) {
        line->counters.dropped_full++;
        cable_line_spare(line, packet);
    }
}

struct cable_packet *cable_line_take(struct cable_line *line, uint64_t now_us)
{
    struct delayed *item = delay_line_take(&line->line, now_us);
    return item ? CONTAINER_OF(item, struct cable_packet, delayed) : NULL;
}

void cable_line_give(struct cable_line *line, struct cable_packet *packet, bool was_delivered)
{
    if (was_delivered)
        line->counters.delivered++;
    else
        line->counters.refused++;
    cable_line_spare(line, packet);
}
