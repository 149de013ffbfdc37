/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_STRATEGY_ITERATE_H
#define NAILUP_RESOLVE_STRATEGY_ITERATE_H

/*
 * Recursion: from the closest known zone cut down to the zone that has the name, following the
 * referrals of authoritative servers. iterate starts at the servers of the root, stub at the
 * servers of a configured zone; the descent is the same.
 */

#include "resolve/strategy.h"

enum {
    ITERATE_REFUSALS_MAX = 4,    /* of minimised QNAMEs at one cut, before the whole one is sent */
    DESCENT_LOOKUPS_AT_ONCE = 2, /* servers of a cut whose addresses are looked up together */
    DESCENT_LOOKUPS_MAX = 6,     /* servers of one cut whose addresses are looked up in all */
    DESCENT_ABSENT_MAX = 4,      /* servers of one cut that turn out to have no address */
};

/* Tags of its subtasks. */
enum {
    ITERATE_TAG_ALIAS,           /* the target of an alias */
    ITERATE_TAG_PRIMING,         /* the servers of the root */
    DESCENT_TAG_ADDRESS = 0x100, /* a server's address: plus its place times two, plus 1 for IPv6 */
};

extern const struct strategy iterate_strategy;
extern const struct strategy stub_strategy;

#endif
