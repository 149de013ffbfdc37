/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Rounds and pauses. The pauses lose up to a tenth at random, so that many zones and many resolvers
 * do not ask together.
 */
#include "transfer/xfr_schedule.h"

#include "base/check.h"
#include "transfer/xfr_serial.h"

static uint64_t jittered_us(uint64_t seconds, uint64_t random)
{
    uint64_t us = seconds * US_PER_S;
    return us - random % (us / 10 + 1);
}

static uint32_t interval_s(uint32_t seconds)
{
    return MIN(MAX(seconds, (uint32_t)XFR_INTERVAL_MIN_S), (uint32_t)XFR_INTERVAL_MAX_S);
}

uint32_t xfr_expire_s(const struct xfr_times *times)
{
    return MAX(times->expire, (uint32_t)XFR_EXPIRE_MIN_S);
}

/* A zone whose EXPIRE is shorter than its REFRESH must not expire between two rounds. */
static uint32_t refresh_s(const struct xfr_times *times)
{
    return MIN(interval_s(times->refresh), xfr_expire_s(times) / 2);
}

static uint32_t retry_s(const struct xfr_schedule *schedule)
{
    uint32_t doublings = MIN(schedule->failed_rounds - 1, (uint32_t)XFR_DOUBLINGS_MAX);
    if (!schedule->has_version)
        return MIN((uint32_t)XFR_NO_ZONE_RETRY_S << doublings, (uint32_t)XFR_NO_ZONE_RETRY_MAX_S);
    uint32_t retry = MIN(interval_s(schedule->times.retry), refresh_s(&schedule->times));
    uint64_t grown = (uint64_t)retry << doublings;
    return (uint32_t)MIN(grown, (uint64_t)refresh_s(&schedule->times));
}

void xfr_schedule_init(struct xfr_schedule *schedule, unsigned primaries, uint64_t now)
{
    MUST(primaries > 0);
    *schedule =
        (struct xfr_schedule){.primaries = primaries, .next_at = now, .expires_at = XFR_NEVER};
}

void xfr_schedule_hold(struct xfr_schedule *schedule, uint32_t serial,
                       const struct xfr_times *times, uint64_t expires_at)
{
    MUST(schedule->phase == XFR_IDLE);
    schedule->has_version = true;
    schedule->serial = serial;
    schedule->times = *times;
    schedule->expires_at = expires_at;
}

bool xfr_schedule_begin(struct xfr_schedule *schedule, uint64_t now)
{
    if (schedule->phase == XFR_ASKING || now < schedule->next_at)
        return false;
    schedule->phase = XFR_ASKING;
    schedule->round_at = now;
    schedule->tried = 0;
    return true;
}

static void end_round(struct xfr_schedule *schedule, uint64_t now, uint64_t pause_us)
{
    MUST(schedule->phase == XFR_ASKING);
    schedule->phase = XFR_IDLE;
    schedule->next_at = now + pause_us;
    if (schedule->is_notified)
        schedule->next_at =
            MIN(schedule->next_at, MAX(now, schedule->round_at + XFR_NOTIFY_PAUSE_US));
    schedule->is_prompted = schedule->is_notified;
    schedule->is_notified = false;
}

void xfr_schedule_confirm(struct xfr_schedule *schedule, uint64_t now)
{
    MUST(schedule->has_version);
    schedule->expires_at = now + xfr_expire_s(&schedule->times) * US_PER_S;
}

void xfr_schedule_on_current(struct xfr_schedule *schedule, uint64_t now, uint64_t random)
{
    xfr_schedule_confirm(schedule, now);
    schedule->failed_rounds = 0;
    end_round(schedule, now, jittered_us(refresh_s(&schedule->times), random));
}

void xfr_schedule_on_version(struct xfr_schedule *schedule, uint32_t serial,
                             const struct xfr_times *times, uint64_t now, uint64_t random)
{
    schedule->has_version = true;
    schedule->serial = serial;
    schedule->times = *times;
    xfr_schedule_on_current(schedule, now, random);
}

bool xfr_schedule_on_failure(struct xfr_schedule *schedule, uint64_t now, uint64_t random)
{
    MUST(schedule->phase == XFR_ASKING);
    schedule->primary = (schedule->primary + 1) % schedule->primaries;
    schedule->tried++;
    if (schedule->tried < schedule->primaries)
        return true;
    schedule->failed_rounds++;
    end_round(schedule, now, jittered_us(retry_s(schedule), random));
    return false;
}

bool xfr_schedule_on_notify(struct xfr_schedule *schedule, unsigned primary, const uint32_t *serial,
                            uint64_t now)
{
    bool is_in_force = schedule->has_version && now < schedule->expires_at;
    if (serial && is_in_force && !xfr_serial_is_newer(*serial, schedule->serial))
        return false;
    if (schedule->phase == XFR_ASKING) {
        schedule->is_notified = true;
        return true;
    }
    schedule->is_prompted = true;
    if (primary < schedule->primaries)
        schedule->primary = primary;
    uint64_t earliest = schedule->round_at ? schedule->round_at + XFR_NOTIFY_PAUSE_US : now;
    schedule->next_at = MIN(schedule->next_at, MAX(now, earliest));
    return true;
}

bool xfr_schedule_is_urgent(const struct xfr_schedule *schedule, uint64_t now)
{
    uint64_t last_us = xfr_expire_s(&schedule->times) * US_PER_S / XFR_LAST_SHARE;
    bool is_ending = schedule->has_version && now + last_us >= schedule->expires_at;
    return schedule->is_prompted || schedule->is_notified || is_ending;
}

uint64_t xfr_schedule_wakes_at(const struct xfr_schedule *schedule)
{
    return schedule->phase == XFR_ASKING ? XFR_NEVER : schedule->next_at;
}
