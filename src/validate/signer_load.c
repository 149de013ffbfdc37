/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* A leaky bucket for each place of a table by hash. */
#include "validate/signer_load.h"

#include <string.h>

#include "base/check.h"
#include "base/rand.h"

void signer_load_init(struct signer_load *load)
{
    memset(load, 0, sizeof(*load));
    load->seed = rand_u64();
}

static size_t signer_load_at(const struct signer_load *load, struct name zone)
{
    return name_hash(zone, load->seed) & (SIGNER_LOAD_PLACES - 1);
}

static uint64_t signer_load_left(const struct signer_place *place, uint64_t now_us)
{
    uint64_t passed_us = now_us > place->at ? now_us - place->at : 0;
    uint64_t share_us = passed_us / 100 * SIGNER_LOAD_PERCENT;
    return place->used_us > share_us ? place->used_us - share_us : 0;
}

void signer_load_add(struct signer_load *load, struct name zone, uint64_t took_us, uint64_t now_us)
{
    struct signer_place *place = &load->places[signer_load_at(load, zone)];
    place->used_us = signer_load_left(place, now_us) + took_us;
    place->at = MAX(place->at, now_us);
}

bool signer_load_is_above(const struct signer_load *load, struct name zone, uint64_t now_us)
{
    const struct signer_place *place = &load->places[signer_load_at(load, zone)];
    return signer_load_left(place, now_us) > SIGNER_LOAD_BURST_US;
}
