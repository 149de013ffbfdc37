/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_SINGLE_USE_H
#define NAILUP_UPSTREAM_SINGLE_USE_H

/*
 * Does a server answer only one query per connection, and ignore or drop the rest? Detected by
 * connections in a row that did so, and remembered for a while. Pure: the instant is an argument.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"
#include "upstream/conn_state.h"

enum { SINGLE_USE_STRIKES = 2 }; /* connections in a row that fell silent after one answer */

#define SINGLE_USE_US (600 * US_PER_S) /* how long it is remembered */

struct single_use {
    uint64_t until_at;
    uint32_t strikes;
};

static inline bool single_use_is_known(const struct single_use *single, uint64_t now)
{
    return now < single->until_at;
}

/* A connection ended that carried so many requests and got so many answers. True when this was the
 * one that proves it. */
bool single_use_note(struct single_use *single, uint32_t requests, uint32_t answers,
                     enum conn_end why, uint64_t now);

#endif
