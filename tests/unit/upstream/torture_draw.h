/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_UPSTREAM_TORTURE_DRAW_H
#define NAILUP_TESTS_UPSTREAM_TORTURE_DRAW_H

#include <stdint.h>

/* Returns a number below bound. A separate generator, so that the draws of the code under
 * test do not change the script. */
static inline uint64_t torture_draw(uint64_t *random, uint64_t bound)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return *random % bound;
}

#endif
