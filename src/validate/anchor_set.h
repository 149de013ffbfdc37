/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_VALIDATE_ANCHOR_SET_H
#define NAILUP_VALIDATE_ANCHOR_SET_H

/*
 * Finds out which keys of a zone sign its DNSKEY set, for anchor_update.h. It verifies every
 * signature, because a revoked key counts there by its own signature alone. Needs no anchor.
 */

#include <stdbool.h>

#include "base/span.h"
#include "dns/name.h"
#include "validate/anchor_update.h"
#include "validate/rrsig.h"
#include "validate/verify.h"

enum { ANCHOR_SET_VERIFICATIONS_MAX = 32 }; /* of one set */

/* Reads the answer to (zone, DNSKEY). *seen borrows from the message. False: it has no such set, or
 * one with more keys than ANCHOR_SEEN_MAX, or out of memory. A set without a verified signature is
 * read too. */
bool anchor_set_read(struct anchor_seen *seen, struct span message, struct name zone,
                     const struct rrsig_clock *clock, struct verifier *verifier);

#endif
