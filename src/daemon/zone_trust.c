/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Copies the anchors of a generation, and compares what two copies say about a zone
 * (zone_trust.h). */
#include "daemon/zone_trust.h"

#include <stdlib.h>

#include "resolve/views.h"
#include "validate/anchors.h"

struct zone_trust {
    bool is_wanted;
    bool allow_sha1;
    int64_t clock_min_s;
    struct anchors *anchors; /* owned */
    struct apex_rules rules;
};

struct zone_trust *zone_trust_new(const struct route_options *route)
{
    const struct validation_options *validation = &route->validation;
    struct zone_trust *trust = calloc(1, sizeof(*trust));

    if (!trust)
        return NULL;
    trust->is_wanted = views_enforce(route) && validation->anchors;
    trust->allow_sha1 = validation->allow_sha1;
    trust->clock_min_s = validation->clock_min_s;
    if (trust->is_wanted && !(trust->anchors = anchors_copy(validation->anchors))) {
        free(trust);
        return NULL;
    }
    return trust;
}

void zone_trust_free(struct zone_trust *trust)
{
    if (!trust)
        return;
    anchors_free(trust->anchors);
    free(trust);
}

const struct apex_rules *zone_trust_rules(struct zone_trust *trust, int64_t now_s)
{
    if (!trust || !trust->is_wanted)
        return NULL;
    trust->rules = (struct apex_rules){
        .anchors = trust->anchors,
        .allow_sha1 = trust->allow_sha1,
        .clock = {.now_s = (uint32_t)now_s, .is_behind = now_s < trust->clock_min_s},
    };
    return &trust->rules;
}

/* Returns the anchor of exactly this zone; NULL: none is wanted, or none exists. */
static const struct anchor *anchor_of(const struct zone_trust *trust, struct name zone)
{
    const struct anchor *anchor =
        trust && trust->is_wanted ? anchors_find(trust->anchors, zone) : NULL;

    return anchor && anchor->kind == ANCHOR_TRUSTED && name_equal(anchor->zone, zone) ? anchor
                                                                                      : NULL;
}

bool zone_trust_differs(const struct zone_trust *a, const struct zone_trust *b, struct name zone)
{
    const struct anchor *one = anchor_of(a, zone), *other = anchor_of(b, zone);

    if (!one || !other)
        return one != other;
    if (one->count != other->count || a->allow_sha1 != b->allow_sha1)
        return true;
    for (size_t i = 0; i < one->count; i++)
        if (one->record[i].type != other->record[i].type ||
            !span_equal(one->record[i].rdata, other->record[i].rdata))
            return true;
    return false;
}
