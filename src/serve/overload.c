/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The level of overload.h: when a level applies, how high it is, and which client is above it. net
 * measures the age of datagrams, and the caller drops them. Invariant: a client that asks no more
 * than the level in a window loses nothing that is younger than OVERLOAD_DEAD_US, unless it shares
 * a counter of each row with clients that ask more.
 */
#include "serve/overload.h"

#include <string.h>

#include "base/check.h"

void overload_init(struct overload *overload)
{
    memset(overload, 0, sizeof(*overload));
}

static void overload_end(struct overload *overload)
{
    bool is_unshared = overload->is_unshared;
    unsigned changes = overload->share_changes + 1;
    uint32_t lost = overload->lost;
    overload_init(overload);
    overload->is_unshared = is_unshared;
    overload->share_changes = changes;
    overload->lost = lost;
}

/* ---- clients above the level ---- */

/* The place of the client, or a free one; NULL: all are in use. */
static struct overload_busy *find_busy(struct overload *overload, uint64_t client)
{
    struct overload_busy *free_place = NULL;
    for (unsigned i = 0; i < OVERLOAD_BUSY_TRIES; i++) {
        struct overload_busy *busy = &overload->busy[(client + i) % OVERLOAD_BUSY_MAX];
        if (busy->is_taken && busy->client == client)
            return busy;
        if (!busy->is_taken && !free_place)
            free_place = busy;
    }
    return free_place;
}

static void note_busy(struct overload_busy *busy, uint64_t client, const struct addr *addr)
{
    if (busy->is_taken)
        return;
    *busy = (struct overload_busy){
        .is_taken = true,
        .client = client,
        .addr = *addr,
        .share = OVERLOAD_SHARE_WHOLE,
        .weight = OVERLOAD_ONE,
        .last_weight = OVERLOAD_ONE,
    };
}

static uint32_t *overload_counter(uint32_t counters[OVERLOAD_ROWS][OVERLOAD_COUNTERS], unsigned row,
                                  uint64_t client)
{
    return &counters[row][client >> 32 * row & (OVERLOAD_COUNTERS - 1)];
}

/* A client's average, multiplied by OVERLOAD_SMOOTH, in sixteenths. */
static uint32_t usual_of(struct overload *overload, uint64_t client)
{
    uint32_t usual = UINT32_MAX;
    for (unsigned row = 0; row < OVERLOAD_ROWS; row++)
        usual = MIN(usual, *overload_counter(overload->usual, row, client));
    return usual;
}

/* A little more than the level passes, and overload_drops() takes the rest. So the level can
 * rise. */
static uint32_t overload_share_of(struct overload *overload, const struct overload_busy *busy)
{
    uint64_t level = overload->fair / OVERLOAD_ONE, passes = level + level / 8 + 1;
    uint64_t usual = usual_of(overload, busy->client) / (OVERLOAD_SMOOTH * OVERLOAD_ONE);
    if (usual <= passes + passes / 4)
        return OVERLOAD_SHARE_WHOLE;
    return (uint32_t)MAX(passes * OVERLOAD_SHARE_WHOLE / usual, OVERLOAD_SHARE_LEAST);
}

static bool is_other_share(uint32_t from, uint32_t to)
{
    uint32_t change = from > to ? from - to : to - from;
    return change > from / 8 || (from == OVERLOAD_SHARE_WHOLE) != (to == OVERLOAD_SHARE_WHOLE);
}

static bool has_other_shares(struct overload *overload)
{
    for (unsigned i = 0; i < OVERLOAD_BUSY_MAX; i++) {
        struct overload_busy *busy = &overload->busy[i];
        if (busy->is_taken && is_other_share(busy->share, overload_share_of(overload, busy)))
            return true;
    }
    return false;
}

/* A change of the kernel's filter costs up to a millisecond. */
static void choose_shares(struct overload *overload, uint64_t now)
{
    if (overload->is_unshared || now - overload->shared_at < OVERLOAD_THIN_US ||
        !has_other_shares(overload))
        return;
    for (unsigned i = 0; i < OVERLOAD_BUSY_MAX; i++) {
        struct overload_busy *busy = &overload->busy[i];
        if (!busy->is_taken)
            continue;
        busy->share = overload_share_of(overload, busy);
        busy->last_weight = busy->weight;
        busy->weight = OVERLOAD_ONE * OVERLOAD_SHARE_WHOLE / busy->share;
        busy->is_taken = busy->share < OVERLOAD_SHARE_WHOLE;
    }
    overload->shared_at = now;
    overload->share_changes++;
}

void overload_forbid_shares(struct overload *overload)
{
    overload->is_unshared = true;
    memset(overload->busy, 0, sizeof(overload->busy));
}

void overload_allow_shares(struct overload *overload)
{
    overload->is_unshared = false;
}

/* ---- windows ---- */

static void begin_window(struct overload *overload, uint64_t now)
{
    memset(overload->counts, 0, sizeof(overload->counts));
    for (unsigned i = 0; i < OVERLOAD_BUSY_MAX; i++)
        overload->busy[i].seen = 0;
    overload->asked = overload->read = overload->served = overload->dead = 0;
    overload->lost_before = overload->lost;
    overload->is_half_full = false;
    overload->began_at = now;
    overload->length_us = MAX((uint64_t)OVERLOAD_WINDOW_US, OVERLOAD_GAPS * overload->gap_us);
    overload->length_us = MIN(overload->length_us, (uint64_t)OVERLOAD_WINDOW_MAX_US);
    overload->least_age_us = UINT64_MAX;
}

/* The datagrams of this window that the kernel dropped because its queue was full. It counts those
 * that it thinned as well, and their number is an estimate. */
static uint32_t count_overflow(const struct overload *overload)
{
    if (!overload->is_half_full)
        return 0;
    uint32_t lost = overload->lost - overload->lost_before;
    uint32_t thinned = overload->asked / OVERLOAD_ONE - overload->read;
    return lost > thinned ? lost - thinned : 0;
}

static bool overflows(const struct overload *overload)
{
    return count_overflow(overload) > overload->read / 8;
}

/* Before there is a level, the last window counts as usual. A queue that overflows is read without
 * a pause, so its windows are equal, and a new load counts soon. */
static unsigned windows_in_average(const struct overload *overload)
{
    if (overload->state != OVERLOAD_SHEDDING)
        return 1;
    return overflows(overload) ? 2 : OVERLOAD_SMOOTH;
}

/* A full queue loses the same part of all clients' datagrams. */
static void smooth(struct overload *overload, uint64_t now)
{
    unsigned windows = windows_in_average(overload);
    uint64_t read = MAX(overload->read, 1), came = read + count_overflow(overload);
    double scale =
        (double)came / (double)read * OVERLOAD_WINDOW_US / (double)(now - overload->began_at);
    for (unsigned row = 0; row < OVERLOAD_ROWS; row++) {
        for (unsigned i = 0; i < OVERLOAD_COUNTERS; i++) {
            uint32_t *usual = &overload->usual[row][i];
            uint32_t asked =
                (uint32_t)MIN(overload->counts[row][i] * scale, (double)OVERLOAD_ASKED_MAX);
            *usual = *usual - *usual / windows + asked * (OVERLOAD_SMOOTH / windows);
        }
    }
}

/* In sixteenths. */
static uint64_t sum_up_to(const uint32_t *usual, uint32_t fair)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < OVERLOAD_COUNTERS; i++)
        sum += MIN(usual[i], fair * OVERLOAD_SMOOTH);
    return sum / OVERLOAD_SMOOTH;
}

/* The highest level with which the clients, asking as they usually do, would get no more than the
 * capacity, and 1 at least. In sixteenths. */
static uint32_t find_fair(const struct overload *overload)
{
    uint64_t most = (uint64_t)overload->capacity * OVERLOAD_ONE;
    uint32_t low = OVERLOAD_ONE, high = OVERLOAD_LEVEL_MAX * OVERLOAD_ONE;
    while (low < high) {
        uint32_t fair = low + (high - low + 1) / 2;
        if (sum_up_to(overload->usual[0], fair) <= most)
            low = fair;
        else
            high = fair - 1;
    }
    return low;
}

/* A window has whole queries. Their rest counts in the next window, or the clients of a slow server
 * would lose up to half of its capacity. */
static void set_level(struct overload *overload)
{
    overload->fair = find_fair(overload);
    uint64_t fair = overload->fair * overload->length_us / OVERLOAD_WINDOW_US;
    overload->level = (uint32_t)((fair + overload->fair_rest) / OVERLOAD_ONE);
    overload->fair_rest = (uint32_t)((fair + overload->fair_rest) % OVERLOAD_ONE);
}

/* The kernel's queue stays full although datagrams are dropped: reading all of them takes more CPU
 * than there is. */
static void note_overflow(struct overload *overload)
{
    overload->overflow_windows = overflows(overload) ? overload->overflow_windows + 1 : 0;
}

static bool is_swamped(const struct overload *overload)
{
    return overload->overflow_windows >= OVERLOAD_SWAMPED_WINDOWS;
}

static bool is_all_served(const struct overload *overload)
{
    return overload->served * OVERLOAD_ONE == overload->asked && count_overflow(overload) == 0;
}

/* A half-full queue may be young only because it is short. */
static bool is_young(const struct overload *overload)
{
    return overload->least_age_us < OVERLOAD_YOUNG_US && !overload->is_half_full;
}

/* A queue that stays full cannot get older. */
static bool is_getting_older(const struct overload *overload)
{
    uint64_t age_us = overload->least_age_us, last_us = overload->last_age_us;
    return age_us > last_us || (overload->is_half_full && age_us >= last_us - last_us / 8);
}

/* The queue shows what a lower capacity does after the queries have left that waited before, and
 * after the kernel has new shares. Until then, a second step down would be one too many. */
static bool has_just_fallen(const struct overload *overload, uint64_t now)
{
    uint64_t until_thinned_us = overload->is_unshared ? 0 : OVERLOAD_THIN_US;
    return now - overload->fell_at < overload->least_age_us + until_thinned_us;
}

/* A single window is not a good measure: answers of upstreams cost time in later windows, and other
 * processes may hold up a worker. The best window since the last step says what the worker can
 * serve, and soon says it when queries begin to cost more. */
static void fall(struct overload *overload, uint64_t now)
{
    uint32_t sustained = overload->sustained, capacity = overload->capacity;
    sustained = MAX(overload->best, sustained - sustained / OVERLOAD_FALL);
    capacity -= MIN(capacity, capacity / OVERLOAD_RISE + 1);
    overload->capacity = MIN(capacity, sustained - sustained / OVERLOAD_SPARE);
    overload->sustained = sustained;
    overload->best = 0;
    overload->fell_at = now;
}

static void rise(struct overload *overload)
{
    overload->capacity += overload->capacity * overload->young_windows / OVERLOAD_RISE + 1;
}

/* While the queue gets older, or stays full, more was served than the CPU can serve. While it
 * gets younger, old datagrams are being dropped, and nothing is learned. While the queue is young
 * and the capacity is used, a little more is served, and more with each window. */
static void adapt(struct overload *overload, uint64_t now, uint32_t served)
{
    bool young = is_young(overload);
    bool must_fall = !young && is_getting_older(overload) && !has_just_fallen(overload, now);
    bool is_used = served + served / 16 >= overload->capacity;
    overload->best = MAX(overload->best, served);
    overload->last_age_us = overload->least_age_us;
    overload->young_windows = young ? MIN(overload->young_windows + 1, OVERLOAD_RISES) : 0;
    if (must_fall && (overload->dead > 0 || !is_swamped(overload)))
        fall(overload, now);
    else if ((overload->dead > 0 || is_swamped(overload)) && !has_just_fallen(overload, now))
        overload->capacity = MAX(overload->capacity, served);
    else if (young && is_used && !is_all_served(overload))
        rise(overload);
}

/* The queue is young although nothing was dropped. */
static bool is_calm(const struct overload *overload)
{
    return is_young(overload) && is_all_served(overload);
}

/* The queue stayed old, or it stayed full and was too short to get old. */
static bool is_under_pressure(const struct overload *overload)
{
    if (overload->least_age_us > OVERLOAD_OLD_US)
        return true;
    return overload->lost != overload->lost_before && overload->least_age_us > OVERLOAD_FULL_US;
}

/* Queries in OVERLOAD_WINDOW_US. */
static uint32_t served_of(const struct overload *overload, uint64_t now)
{
    return (uint32_t)(overload->served * (uint64_t)OVERLOAD_WINDOW_US / (now - overload->began_at));
}

/* A worker that gets the CPU now and then would serve much in one short window and nothing in the
 * next. A gap in which no datagram waited only shows that none came. */
static void note_gap(struct overload *overload, uint64_t now, uint64_t age_us)
{
    uint64_t gap_us = overload->read_at ? MIN(now - overload->read_at, age_us) : 0;
    overload->gap_us = MAX(overload->gap_us, gap_us);
    overload->read_at = now;
}

static void end_window(struct overload *overload, uint64_t now)
{
    overload->old_windows = is_under_pressure(overload) ? overload->old_windows + 1 : 0;
    overload->calm_windows = is_calm(overload) ? overload->calm_windows + 1 : 0;
    if (overload->calm_windows >= OVERLOAD_CALM_WINDOWS) {
        overload_end(overload);
        return;
    }
    smooth(overload, now);
    uint32_t served = served_of(overload, now);
    if (overload->state == OVERLOAD_COUNTING && overload->old_windows >= OVERLOAD_OLD_WINDOWS) {
        overload->state = OVERLOAD_SHEDDING;
        overload->capacity = served;
        overload->sustained = served;
    }
    if (overload->state == OVERLOAD_SHEDDING) {
        note_overflow(overload);
        adapt(overload, now, served);
    }
    begin_window(overload, now);
    overload->gap_us -= overload->gap_us / OVERLOAD_SMOOTH;
    if (overload->state == OVERLOAD_SHEDDING) {
        set_level(overload);
        choose_shares(overload, now);
    }
}

void overload_note_quiet(struct overload *overload, uint64_t now)
{
    if (overload_is_on(overload) && now - overload->began_at >= OVERLOAD_QUIET_US)
        overload_end(overload);
}

static bool begins(const struct overload *overload, const struct overload_queue *queue)
{
    if (queue->age_us > OVERLOAD_YOUNG_US)
        return true;
    return queue->age_us > OVERLOAD_FULL_US && queue->lost != overload->lost;
}

void overload_note_read(struct overload *overload, uint64_t now, const struct overload_queue *queue)
{
    overload_note_quiet(overload, now);
    bool must_begin = !overload_is_on(overload) && begins(overload, queue);
    if (overload_is_on(overload))
        note_gap(overload, now, queue->age_us);
    overload->lost = queue->lost;
    if (must_begin) {
        overload->state = OVERLOAD_COUNTING;
        begin_window(overload, now);
    } else if (overload_is_on(overload) && now - overload->began_at >= overload->length_us) {
        end_window(overload, now);
    }
    if (!overload_is_on(overload))
        return;
    overload->age_us = queue->age_us;
    overload->is_read_shared = now - overload->shared_at >= queue->age_us;
    overload->least_age_us = MIN(overload->least_age_us, queue->age_us);
    overload->is_half_full |= queue->is_half_full;
}

/* ---- datagrams ---- */

/* Returns the count of the client in this window. */
static uint32_t overload_count_asked(struct overload *overload, uint64_t client, uint32_t weight)
{
    uint32_t asked = UINT32_MAX;
    overload->asked += weight;
    for (unsigned row = 0; row < OVERLOAD_ROWS; row++) {
        uint32_t *counter = overload_counter(overload->counts, row, client);
        *counter += weight;
        asked = MIN(asked, *counter);
    }
    return asked;
}

/* Whether the client is above the level: in this window, and usually. */
static bool is_above(struct overload *overload, uint64_t client)
{
    uint32_t asked = overload_count_asked(overload, client, OVERLOAD_ONE);
    if (asked <= overload->level * OVERLOAD_ONE)
        return false;
    uint64_t of_window = (uint64_t)asked * OVERLOAD_WINDOW_US / overload->length_us;
    return (usual_of(overload, client) + of_window) / OVERLOAD_SMOOTH >= overload->fair;
}

/* One datagram of a thinned client represents several that the kernel has dropped. They count as
 * asked, and the level bounds the datagrams that arrive. */
static bool is_thinned_above(struct overload *overload, struct overload_busy *busy)
{
    uint32_t weight = overload->is_read_shared ? busy->weight : busy->last_weight;
    overload_count_asked(overload, busy->client, weight);
    return ++busy->seen > overload->level;
}

static bool is_client_above(struct overload *overload, uint64_t client, const struct addr *addr)
{
    struct overload_busy *busy = find_busy(overload, client);
    if (busy && overload_is_thinned(busy))
        return is_thinned_above(overload, busy);
    bool above = is_above(overload, client);
    if (above && busy && overload->state == OVERLOAD_SHEDDING)
        note_busy(busy, client, addr);
    return above;
}

bool overload_drops(struct overload *overload, uint64_t client, const struct addr *addr)
{
    overload->read++;
    bool above = is_client_above(overload, client, addr);
    bool dead = overload->age_us > OVERLOAD_DEAD_US;
    above = above && !is_swamped(overload);
    if (overload->state != OVERLOAD_SHEDDING || !(above || dead)) {
        overload->served++;
        return false;
    }
    overload->dead += dead;
    return true;
}
