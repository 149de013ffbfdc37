/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_TROUBLE_H
#define NAILUP_UPSTREAM_TROUBLE_H

/*
 * Which failures of an upstream the log reports: the first one of each reason, and then one every
 * TROUBLE_AGAIN_US while the trouble lasts, however often the pool dials. If thousands of upstreams
 * fail at once, they share a budget of lines. Pure: the instant is an argument.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"

#define TROUBLE_AGAIN_US (60 * US_PER_S)

/* For all upstreams together: this many lines at once, and then one a second. */
enum { TROUBLE_LINES_MAX = 20 };

struct trouble {
    bool is_told;    /* the last log line about this upstream reported a failure */
    uint32_t untold; /* failures since that line */
    uint64_t told_at;
    uint64_t told_reasons; /* reported since told_at: the bit of each reason, modulo 64 */
};

/* The budget that all upstreams share; zero at the start. */
struct trouble_lines {
    uint64_t paid_at; /* when the lines so far are paid for, at one a second */
};

/* Notes a failure, with the number of its reason. Returns whether to log it, and how many unlogged
 * failures came before. A server that restarts with a wrong certificate fails first as a dial, so a
 * new reason gets its line at once. */
bool trouble_fail(struct trouble *trouble, struct trouble_lines *lines, unsigned reason,
                  uint64_t now, uint32_t *untold);

/* Notes that the upstream works. Returns whether to log that, because the log reported a failure
 * before. */
bool trouble_end(struct trouble *trouble);

#endif
