/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RECURSE_QNAME_MIN_H
#define NAILUP_RECURSE_QNAME_MIN_H

/*
 * QNAME minimisation (RFC 9156): which name and type the servers of a zone are asked for, so that
 * each sees no more of the question than it needs. Pure; any thread.
 *
 *   qname_min_init(&min, true);
 *   loop: qname_min_next(&min, &question, zone, &ask)
 *         NOERROR: qname_min_passed(&min, &ask); referral: go on with its zone
 *         what a server that cannot do so may say (NXDOMAIN, REFUSED): qname_min_stop(&min)
 *   until qname_min_is_whole(&question, &ask)
 */

#include <stdbool.h>
#include <stdint.h>

#include "dns/question.h"

/* RFC 9156 section 2.3. */
enum {
    MAX_MINIMISE_COUNT = 10, /* minimised questions for one name */
    MINIMISE_ONE_LAB = 4,    /* of them, those that show one label more than the one before */
};

struct qname_min {
    bool on;
    uint8_t count;  /* minimised questions that were given out */
    uint8_t passed; /* labels of the longest name that is known to be there */
};

void qname_min_init(struct qname_min *min, bool on);

/*
 * What to ask the servers of the zone, at or above the question's name (MUST). The name borrows
 * from the question. Type A hides the true one (section 2.1). A label that begins with an
 * underscore is shown together with those before it: there is hardly a cut above it (section 2.3).
 */
void qname_min_next(struct qname_min *min, const struct question *question, struct name zone,
                    struct question *out);

/* The servers answered the minimised question with NOERROR: its name is there and is no cut. */
void qname_min_passed(struct qname_min *min, const struct question *asked);

/* From now on the whole question is asked. */
void qname_min_stop(struct qname_min *min);

/* Whether silence of the zone's servers may mean that they drop minimised questions. Those of the
 * root and of top-level domains know better: to ask them for the whole name once more would only
 * cost time, and tell them. */
bool qname_min_may_be_dropped(struct name zone);

static inline bool qname_min_is_whole(const struct question *question, const struct question *shown)
{
    return shown->name.len == question->name.len && shown->type == question->type;
}

#endif
