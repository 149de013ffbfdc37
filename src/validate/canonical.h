/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_VALIDATE_CANONICAL_H
#define NAILUP_VALIDATE_CANONICAL_H

/*
 * The bytes that a signature covers (RFC 4034 sections 3.1.8.1 and 6.2, RFC 6840 section 5.1).
 * Pure; any thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "validate/rrsets.h"
#include "validate/rrsig.h"

/* Bytes that one signature may cover: a full message and its names without compression. */
enum { CANONICAL_MAX = 160 * 1024 };

/* Returns whether the canonical form of this type has its names in lower case. */
bool canonical_has_folded_names(uint16_t type);

/*
 * Writes the signed bytes of the RRset under this signature to out: the signature's RDATA without
 * the signature, then each record once, in canonical form and order, with the original TTL, and
 * with the owner "*.closest encloser" where the signature has fewer labels than the owner. Returns
 * their length; 0: they exceed max bytes. rrsig_check() has accepted the signature for this owner.
 */
size_t canonical_write(uint8_t *out, size_t max, const struct rrsets *sets, const struct rrset *set,
                       const struct rrsig *sig);

#endif
