/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_ZONE_ZONE_FILE_H
#define NAILUP_ZONE_ZONE_FILE_H

/*
 * Reads a zone from the text of a master file (RFC 1035 section 5, RFC 2308 section 4 for $TTL, RFC
 * 3597 for unknown types). $INCLUDE is refused, because nailupd notices changes of one file for
 * each zone.
 */

#include <stddef.h>

#include "base/err.h"
#include "base/span.h"
#include "zone/zone_fault.h"

struct zone_builder;

/*
 * Adds all records of the text to the builder. A relative name gets the builder's origin until
 * $ORIGIN sets another. A record without a TTL gets the one of $TTL, or the last one. ERR_INVALID,
 * ERR_OUT_OF_ZONE and ERR_LIMIT: *fault says what and where; ERR_NO_MEMORY. After an error the
 * builder holds the records before it.
 */
MUST_USE enum err zone_file_read(struct zone_builder *builder, struct span text,
                                 struct zone_file_fault *fault);

#endif
