/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TRANSFER_XFR_SCHEDULE_H
#define NAILUP_TRANSFER_XFR_SCHEDULE_H

/*
 * When to ask which primary of a zone (RFC 1034 section 4.3.5, RFC 1996). A round asks one primary
 * after the other until one of them confirms our version or gives a newer one. A round begins after
 * REFRESH, after a failed round when RETRY has passed, or when a NOTIFY comes. Pure: instants and
 * randomness are arguments.
 *
 * Invariant: one round runs at a time, and a NOTIFY during a round makes one further round.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"

enum {
    XFR_INTERVAL_MIN_S = 5,             /* a shorter REFRESH or RETRY counts as this */
    XFR_INTERVAL_MAX_S = 4 * 7 * 86400, /* the longest interval */
    XFR_EXPIRE_MIN_S = 60,              /* a shorter EXPIRE counts as this */
    XFR_NO_ZONE_RETRY_S = 5,            /* after the first failed round without a version */
    XFR_NO_ZONE_RETRY_MAX_S = 3600,
    XFR_DOUBLINGS_MAX = 10, /* how often the pause after failed rounds doubles */
    XFR_LAST_SHARE = 4,     /* an unconfirmed version is urgent in the last quarter of its time */
};

/* NOTIFYs begin rounds no closer to each other than this. */
#define XFR_NOTIFY_PAUSE_US (1 * US_PER_S)
#define XFR_NEVER UINT64_MAX

/* Half of the shortest EXPIRE bounds REFRESH, which must not fall below its own minimum. */
_Static_assert((int)XFR_EXPIRE_MIN_S / 2 >= (int)XFR_INTERVAL_MIN_S, "a round each few seconds");

enum xfr_phase {
    XFR_IDLE,   /* waits for next_at */
    XFR_ASKING, /* the caller asks a primary and reports the result */
};

/* The intervals of a SOA record, in seconds. */
struct xfr_times {
    uint32_t refresh, retry, expire;
};

/* Read freely; change by the functions below. */
struct xfr_schedule {
    unsigned primaries; /* their number, at least 1 */
    enum xfr_phase phase;
    unsigned primary;       /* index of the one to ask */
    unsigned tried;         /* primaries that failed in this round */
    uint32_t failed_rounds; /* rounds that failed in succession */
    uint64_t next_at;       /* idle: begin of the next round */
    uint64_t round_at;      /* begin of the last round; 0: none */
    bool is_notified;       /* a NOTIFY came during the round */
    bool is_prompted;       /* a NOTIFY asked for this round, or when idle for the next one */
    bool has_version;
    uint32_t serial; /* of our version */
    struct xfr_times times;
    uint64_t expires_at; /* of our version */
};

/* Returns the seconds after which an unconfirmed version expires: EXPIRE, or XFR_EXPIRE_MIN_S if
 * that is longer. */
uint32_t xfr_expire_s(const struct xfr_times *times);

/* Begins without a version: the first round is due at once. */
void xfr_schedule_init(struct xfr_schedule *schedule, unsigned primaries, uint64_t now);

/* Call it before the first round, for a version from a previous run. The version expires at this
 * instant, which may be in the past. The first round is still due at once, because a NOTIFY may
 * have been missed.
 */
void xfr_schedule_hold(struct xfr_schedule *schedule, uint32_t serial,
                       const struct xfr_times *times, uint64_t expires_at);

/* Begins a round when one is due. Returns whether the caller must ask the primary now, also after a
 * failure of the previous one; the caller then calls one of the three functions below. */
bool xfr_schedule_begin(struct xfr_schedule *schedule, uint64_t now);

/* Notes that the primary has the serial that we hold. */
void xfr_schedule_on_current(struct xfr_schedule *schedule, uint64_t now, uint64_t random);

/* Notes that the primary gave a new version. */
void xfr_schedule_on_version(struct xfr_schedule *schedule, uint32_t serial,
                             const struct xfr_times *times, uint64_t now, uint64_t random);

/* Notes that the primary failed, or that its version is older. Returns whether another primary is
 * asked at once: its index is in primary, and the phase stays. */
bool xfr_schedule_on_failure(struct xfr_schedule *schedule, uint64_t now, uint64_t random);

/* Notes that a primary has the serial that we hold, although its round fails: our version expires
 * later. */
void xfr_schedule_confirm(struct xfr_schedule *schedule, uint64_t now);

/* Takes a NOTIFY from the primary of this index, or from another allowed source (any index that is
 * too high). serial is NULL when the message names none. Does nothing and returns false when our
 * version is in force and the message names no newer one. */
bool xfr_schedule_on_notify(struct xfr_schedule *schedule, unsigned primary, const uint32_t *serial,
                            uint64_t now);

/* Whether the round goes before the rounds of other zones: a NOTIFY requested it, or our version
 * has expired or is about to. A zone without a version has no priority, because its primaries may
 * be dead. */
bool xfr_schedule_is_urgent(const struct xfr_schedule *schedule, uint64_t now);

/* When to call xfr_schedule_begin() next; XFR_NEVER while a round runs. */
uint64_t xfr_schedule_wakes_at(const struct xfr_schedule *schedule);

#endif
