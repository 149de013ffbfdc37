/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_VALIDATE_DENIAL_TYPES_H
#define NAILUP_VALIDATE_DENIAL_TYPES_H

/*
 * The meaning of the types in an NSEC or NSEC3 record: of which names the record may speak, and
 * what it denies at its owner. The owner is the name that the types belong to; for NSEC3 the name
 * whose hash is the record's owner. The bitmap is sound. Pure; any thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"
#include "dns/name.h"

/*
 * The one decision whether a record of the zone may speak of this name and type (RFC 6840 sections
 * 4.1 and 4.4). The type matters only where the name is the owner.
 *
 * - Only the apex has a SOA record. Another owner with one is the apex of a child.
 * - The apex says nothing about its DS record, which is above. Nothing is above the root.
 * - A record at a zone cut says nothing about its owner except the DS record.
 * - A record at a zone cut or a DNAME says nothing about names below its owner.
 */
bool denial_types_may_speak(struct span types, struct name zone, struct name owner,
                            struct name name, uint16_t type);

/* Returns whether the owner is a zone cut, seen from above: NS without SOA. */
bool denial_types_are_cut(struct span types);

/* Returns whether the owner answers a question of this type with NODATA. An alias answers for all
 * types but NSEC, which may be beside it. Types that only questions have, such as ANY, ask for any
 * data. */
bool denial_types_deny(struct span types, uint16_t type);

/* Returns whether the owner does not exist, and the record is a compact denial (RFC 9824). */
bool denial_types_deny_name(struct span types);

#endif
