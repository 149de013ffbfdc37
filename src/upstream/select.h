/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_SELECT_H
#define NAILUP_UPSTREAM_SELECT_H

/*
 * Which upstream of a group is asked next: the fast and well, with exploration. Pure: facts in,
 * index out.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One in so many choices goes to another well server than the best, so that what is known of the
 * others stays fresh. */
enum { SELECT_EXPLORE = 20 };

/* Servers this near to the best share the load. */
#define SELECT_BAND_US UINT64_C(2000)

struct select_facts {
    uint64_t srtt_us; /* 0: not measured yet: asked before those that are */
    uint32_t tried;   /* attempts at it for this question */
    bool ill;         /* silent lately, or nothing listens */
    bool second;      /* asked where the others fail: of another IP version than is preferred */
    bool doubtful;    /* asked where the others were tried twice: it may not know the answer */
    bool bad;         /* answered this question, and was of no use */
};

/* The index to ask, or -1 when every one of them is bad. */
int select_next(const struct select_facts *facts, size_t count, uint64_t random);

/* In which order they would be asked if none answered: order[i] is 1 for those that share the first
 * choice, 2 for those of the next, and so on; 0 for the bad. Exploration apart. */
void select_order(const struct select_facts *facts, size_t count, uint32_t *order);

#endif
