/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RECURSE_QNAME_MIN_H
#define NAILUP_RECURSE_QNAME_MIN_H

/*
 * QNAME minimisation (RFC 9156): chooses the name and type that the servers of a zone are asked
 * for, so that each sees no more of the question than it needs. Pure; any thread.
 *
 *   qname_min_init(&min, true);
 *   loop: qname_min_next(&min, &question, zone, &ask)
 *         NOERROR: qname_min_passed(&min, &ask); referral: go on with its zone
 *         NXDOMAIN, REFUSED, which may mean an old server: qname_min_stop(&min)
 *   until qname_min_is_whole(&question, &ask)
 */

#include <stdbool.h>
#include <stdint.h>

#include "dns/question.h"

/* RFC 9156 section 2.3. */
enum {
    MAX_MINIMISE_COUNT = 10, /* minimised questions for one name */
    MINIMISE_ONE_LAB = 4,    /* of these, the questions that each show one more label */
};

struct qname_min {
    bool on;
    uint8_t count;  /* minimised questions made so far */
    uint8_t passed; /* labels of the longest name that is known to exist */
};

void qname_min_init(struct qname_min *min, bool on);

/*
 * Returns the question for the servers of the zone, which is at or above the QNAME (MUST). The name
 * borrows from the question. Type A hides the true type (section 2.1). A label that begins with an
 * underscore is shown together with the next, because a cut above it is rare (section 2.3).
 */
void qname_min_next(struct qname_min *min, const struct question *question, struct name zone,
                    struct question *out);

/* Notes that the servers answered the minimised question with NOERROR: its name exists and is not a
 * cut. */
void qname_min_passed(struct qname_min *min, const struct question *asked);

/* Shows the whole question from now on. */
void qname_min_stop(struct qname_min *min);

/* Whether the zone's servers may drop minimised questions and so stay silent. Servers of the root
 * and of top-level domains do not: a second query with the whole QNAME would cost time and reveal
 * the name. */
bool qname_min_may_be_dropped(struct name zone);

static inline bool qname_min_is_whole(const struct question *question, const struct question *shown)
{
    return shown->name.len == question->name.len && shown->type == question->type;
}

#endif
