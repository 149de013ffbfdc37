/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_SELECT_H
#define NAILUP_UPSTREAM_SELECT_H

/*
 * Which upstream of a group to ask next: the fast and healthy ones, with exploration. Pure: facts
 * in, index out.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One in this many choices goes to a healthy server that is not the best, so that the facts about
 * the others stay fresh. */
enum { SELECT_EXPLORE = 20 };

/* Servers within this time of the best share the load. */
#define SELECT_BAND_US UINT64_C(2000)

struct select_facts {
    uint64_t srtt_us; /* 0: not measured, which comes first */
    uint32_t tried;   /* attempts at it for this question */
    bool ill;         /* silent recently, or its port is closed */
    bool second;      /* asked after the others: not of the preferred IP version */
    bool strips;      /* asked after all others, ill ones too: it leaves out the signatures that the
                         question needs */
    bool doubtful; /* may be lame: asked after two tries of each healthy server, or one of each ill
                      server */
    bool bad;      /* not asked again: its answer to this question was useless */
};

/* The index to ask, or -1 if all are bad. */
int select_next(const struct select_facts *facts, size_t count, uint64_t random);

/* The order of asking if no server answered, without exploration: order[i] is 1 for the servers
 * that share the first choice, 2 for the next ones, and so on; 0 for bad ones. */
void select_order(const struct select_facts *facts, size_t count, uint32_t *order);

#endif
