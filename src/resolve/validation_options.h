/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_VALIDATION_OPTIONS_H
#define NAILUP_RESOLVE_VALIDATION_OPTIONS_H

/* The options of DNSSEC validation: filled by config, immutable, shared by all workers. */

#include <stdbool.h>
#include <stdint.h>

struct anchors;

/* In the order of the option's words. */
enum validate_mode {
    VALIDATE_NO,  /* nothing is validated */
    VALIDATE_LOG, /* verdicts are counted and logged; answers do not change */
    VALIDATE_YES,
};

/* Zones whose secure records answer for other names too (RFC 8198). In the order of the option's
 * words. */
enum aggressive_mode {
    AGGRESSIVE_NO,
    AGGRESSIVE_TOPS, /* the root and top-level domains */
    AGGRESSIVE_YES,  /* all zones */
};

struct validation_options {
    enum validate_mode mode;
    enum aggressive_mode aggressive;
    bool allow_sha1; /* algorithms 5 and 7 count */
    bool sentinel;   /* RFC 8509 */
    /* The date of the build: a wall clock before it is wrong. A machine without a battery starts
     * with such a clock. */
    int64_t clock_min_s;
    /* NULL in options made by hand: nothing is trusted. The table lives as long as the
     * configuration, or as long as the generation that has negative anchors set at run time. So it
     * changes with the options at a reload, and no task keeps a pointer into it between turns. */
    const struct anchors *anchors;
};

#endif
