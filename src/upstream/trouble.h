/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_TROUBLE_H
#define NAILUP_UPSTREAM_TROUBLE_H

/*
 * Of which failures of one upstream the log tells: of the first after it was well, and then once in
 * a while as long as it lasts, however often it is dialled. Where thousands fail at once they take
 * turns. Pure: the instant is an argument.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"

#define TROUBLE_AGAIN_US (60 * US_PER_S)

/* Of all upstreams together: so many lines at once, and then one a second. */
enum { TROUBLE_LINES_MAX = 20 };

struct trouble {
    bool is_told;    /* the last line about it says that it is ill */
    uint32_t untold; /* failures since */
    uint64_t told_at;
};

/* What all upstreams share; zero at the start. */
struct trouble_lines {
    uint64_t paid_at; /* when all lines so far are paid for, at one a second */
};

/* One more failure: whether it is told, and then how many there were since the last that was. */
bool trouble_fail(struct trouble *trouble, struct trouble_lines *lines, uint64_t now,
                  uint32_t *untold);

/* It is well: whether that is news to who reads the log. */
bool trouble_end(struct trouble *trouble);

#endif
