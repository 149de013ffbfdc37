/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Two words of struct stats: the dates, and the zone. A reader between the two writes takes the
 * dates of one anchor for those of another one, which makes its sentence wrong once.
 */
#include "validate/anchor_dates.h"

#include "validate/anchors.h"

#define DATES_ARE_EXPIRED (UINT64_C(1) << 32)

static uint64_t dates_zone(uint32_t hash, uint32_t space)
{
    return (uint64_t)hash << 32 | space;
}

uint32_t anchor_dates_hash(struct name zone)
{
    return (uint32_t)name_hash(zone, 0);
}

void anchor_dates_note(struct stats *stats, const struct anchor_dates *dates)
{
    struct anchor_dates before;
    if (anchor_dates_read(stats, &before) && before.zone_hash == anchor_dates_hash(name_root()) &&
        before.zone_hash != dates->zone_hash)
        return;
    stats_write(&stats->anchor_zone, dates_zone(dates->zone_hash, dates->space));
    stats_write(&stats->anchor_dates, dates->at_s | (dates->is_expired ? DATES_ARE_EXPIRED : 0));
}

void anchor_dates_forget_any(struct stats *stats)
{
    stats_write(&stats->anchor_dates, 0);
}

void anchor_dates_forget(struct stats *stats, struct name zone)
{
    struct anchor_dates before;
    if (anchor_dates_read(stats, &before) && before.zone_hash == anchor_dates_hash(zone))
        anchor_dates_forget_any(stats);
}

const struct anchor *anchor_dates_find(const struct anchor_dates *dates,
                                       const struct anchors *anchors)
{
    for (size_t i = 0; anchors && i < anchors_count(anchors); i++) {
        const struct anchor *anchor = anchors_at(anchors, i);
        if (anchor->kind == ANCHOR_TRUSTED && anchor_dates_hash(anchor->zone) == dates->zone_hash)
            return anchor;
    }
    return NULL;
}

bool anchor_dates_read(const struct stats *stats, struct anchor_dates *out)
{
    uint64_t dates = stats_read(&stats->anchor_dates), zone = stats_read(&stats->anchor_zone);
    *out = (struct anchor_dates){.zone_hash = (uint32_t)(zone >> 32),
                                 .space = (uint32_t)zone,
                                 .at_s = (uint32_t)dates,
                                 .is_expired = dates & DATES_ARE_EXPIRED};
    return dates;
}

bool anchor_dates_contradict(const struct anchor_dates *dates, uint32_t now_s)
{
    bool is_past = now_s - dates->at_s <= INT32_MAX; /* RFC 1982 */
    return is_past == dates->is_expired;
}
