/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_VALIDATE_NSEC_H
#define NAILUP_VALIDATE_NSEC_H

/*
 * One NSEC record (RFC 4034 section 4): the types of its owner, and the span of names up to the
 * next one. denial.h decides whether the record may speak of a name at all. Borrows; pure; any
 * thread.
 */

#include <stdbool.h>

#include "base/err.h"
#include "base/span.h"
#include "dns/name.h"

struct nsec {
    struct name owner;
    struct name next;
    struct span types; /* a sound type bitmap */
};

/* Reads the record. False: it is malformed, or its owner or next name is not within the zone (trap
 * 2), or the span ends before it starts without being the last of the zone. */
MUST_USE bool nsec_read(struct nsec *out, struct name zone, struct name owner, struct span rdata);

/* Returns whether the name is strictly between owner and next. The last record of the zone, whose
 * next name is the apex, ends after every name. The name is within the zone. */
bool nsec_spans(const struct nsec *nsec, struct name zone, struct name name);

/* Returns whether the next name is strictly below the name, which is in the span: it exists, but
 * has no records (an empty non-terminal). */
bool nsec_leads_below(const struct nsec *nsec, struct name name);

#endif
