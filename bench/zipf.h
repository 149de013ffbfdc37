/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_ZIPF_H
#define NAILUP_BENCH_ZIPF_H

/*
 * Draws from 0 .. n-1, where number k has a weight of 1 / (k + 1)^s, like the popularity of names.
 * One look-up per draw by Walker's alias method; 8 bytes for each number.
 */

#include <stdint.h>

#include "base/err.h"

struct zipf {
    uint32_t count;
    struct zipf_cell {
        uint32_t keep;  /* how often the cell yields its own number, as a share of 2^32 */
        uint32_t other; /* the number in the other cases */
    } * cells;
};

/* count is 1 to 2^28. s is at least 0; with 0 all numbers are equally likely. */
MUST_USE enum err zipf_init(struct zipf *zipf, uint32_t count, double s);
void zipf_deinit(struct zipf *zipf);

/* random: 64 fresh bits. */
static inline uint32_t zipf_draw(const struct zipf *zipf, uint64_t random)
{
    uint32_t at = (uint32_t)((random >> 32) * zipf->count >> 32);
    return (uint32_t)random < zipf->cells[at].keep ? at : zipf->cells[at].other;
}

#endif
