/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The level of overload.h: when there is one, where it lies, and which client is above it. net
 * measures the age of datagrams, and the caller drops them.
 * Invariant: a client that asks no more than the level in a window loses nothing that is younger
 * than OVERLOAD_DEAD_US, unless it shares a counter of each row with clients that ask more.
 */
#include "serve/overload.h"

#include <string.h>

#include "base/check.h"

void overload_init(struct overload *overload)
{
    memset(overload, 0, sizeof(*overload));
}

/* ---- windows ---- */

static void begin_window(struct overload *overload, uint64_t now)
{
    memset(overload->counts, 0, sizeof(overload->counts));
    overload->asked = overload->served = overload->dead = 0;
    overload->began_at = now;
    overload->least_age_us = UINT64_MAX;
}

/* Before there is a level, the last window counts as usual. */
static void smooth(struct overload *overload)
{
    bool is_first = overload->state != OVERLOAD_SHEDDING;
    for (unsigned row = 0; row < OVERLOAD_ROWS; row++) {
        for (unsigned i = 0; i < OVERLOAD_COUNTERS; i++) {
            uint32_t *usual = &overload->usual[row][i], asked = overload->counts[row][i];
            *usual = is_first ? asked * OVERLOAD_SMOOTH : *usual - *usual / OVERLOAD_SMOOTH + asked;
        }
    }
}

static uint64_t sum_up_to(const uint32_t *usual, uint32_t level)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < OVERLOAD_COUNTERS; i++)
        sum += MIN(usual[i], level * OVERLOAD_SMOOTH);
    return sum / OVERLOAD_SMOOTH;
}

/* The highest level with which the clients, asking as they usually do, would get no more than the
 * capacity, and 1 at least. */
static uint32_t find_level(const struct overload *overload)
{
    uint32_t low = 1, high = OVERLOAD_LEVEL_MAX;
    while (low < high) {
        uint32_t level = low + (high - low + 1) / 2;
        if (sum_up_to(overload->usual[0], level) <= overload->capacity)
            low = level;
        else
            high = level - 1;
    }
    return low;
}

/* One window says little: answers of upstreams cost time in later windows, and other processes may
 * hold up a worker. The average of what was served keeps the capacity from moving too far. */
static uint32_t note_served(struct overload *overload, uint64_t now)
{
    uint64_t length_us = now - overload->began_at;
    uint32_t served = (uint32_t)(overload->served * OVERLOAD_WINDOW_US / length_us);
    if (overload->dead == 0)
        overload->usual_served += served - overload->usual_served / OVERLOAD_SMOOTH;
    return served;
}

/* While the queue gets older, more was served than the CPU can serve. While it gets younger,
 * old datagrams are being dropped, and nothing is learned. While the queue is young, a little more
 * is served, and more with each window. */
static void adapt(struct overload *overload, uint64_t now)
{
    uint32_t served = note_served(overload, now);
    uint32_t usual = overload->usual_served / OVERLOAD_SMOOTH;
    uint32_t floor =
        MAX(overload->capacity - overload->capacity / OVERLOAD_FALL, usual - usual / OVERLOAD_FALL);
    bool is_young = overload->least_age_us < OVERLOAD_YOUNG_US;
    bool ages = overload->least_age_us > overload->last_age_us;
    overload->last_age_us = overload->least_age_us;
    overload->young_windows = is_young ? MIN(overload->young_windows + 1, OVERLOAD_RISES) : 0;
    if (overload->dead > 0)
        overload->capacity = MAX(overload->capacity, served);
    else if (!is_young && ages)
        overload->capacity = MIN(overload->capacity, MAX(floor, served - served / 16));
    else if (is_young && overload->served < overload->asked)
        overload->capacity += overload->capacity * overload->young_windows / OVERLOAD_RISE + 1;
    overload->level = find_level(overload);
}

/* The queue is young and nothing had to be dropped for that. */
static bool is_calm(const struct overload *overload)
{
    return overload->least_age_us < OVERLOAD_YOUNG_US && overload->served == overload->asked;
}

static void end_window(struct overload *overload, uint64_t now)
{
    bool is_old = overload->least_age_us > OVERLOAD_OLD_US;
    overload->old_windows = is_old ? overload->old_windows + 1 : 0;
    overload->calm_windows = is_calm(overload) ? overload->calm_windows + 1 : 0;
    if (overload->calm_windows >= OVERLOAD_CALM_WINDOWS) {
        overload_init(overload);
        return;
    }
    smooth(overload);
    if (overload->state == OVERLOAD_COUNTING && overload->old_windows >= OVERLOAD_OLD_WINDOWS) {
        overload->state = OVERLOAD_SHEDDING;
        overload->capacity = overload->served;
        overload->usual_served = overload->served * OVERLOAD_SMOOTH;
    }
    if (overload->state == OVERLOAD_SHEDDING)
        adapt(overload, now);
    begin_window(overload, now);
}

void overload_note_read(struct overload *overload, uint64_t now, uint64_t age_us)
{
    if (overload->state == OVERLOAD_CALM) {
        if (age_us <= OVERLOAD_YOUNG_US)
            return;
        overload->state = OVERLOAD_COUNTING;
        begin_window(overload, now);
    } else if (now - overload->began_at >= OVERLOAD_WINDOW_US) {
        end_window(overload, now);
    }
    overload->age_us = age_us;
    overload->least_age_us = MIN(overload->least_age_us, age_us);
}

/* ---- datagrams ---- */

/* Whether the client is above the level: in this window, and usually. */
static bool is_above(struct overload *overload, uint64_t client)
{
    uint32_t now = UINT32_MAX, usual = UINT32_MAX;
    for (unsigned row = 0; row < OVERLOAD_ROWS; row++) {
        uint64_t at = client >> 32 * row & (OVERLOAD_COUNTERS - 1);
        uint32_t asked = ++overload->counts[row][at];
        now = MIN(now, asked);
        usual = MIN(usual, overload->usual[row][at]);
    }
    return now > overload->level && (usual + now) / OVERLOAD_SMOOTH >= overload->level;
}

bool overload_drops(struct overload *overload, uint64_t client)
{
    bool above = is_above(overload, client), dead = overload->age_us > OVERLOAD_DEAD_US;
    overload->asked++;
    if (overload->state != OVERLOAD_SHEDDING || !(above || dead)) {
        overload->served++;
        return false;
    }
    overload->dead += dead;
    return true;
}
