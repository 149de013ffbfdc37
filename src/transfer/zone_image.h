/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TRANSFER_ZONE_IMAGE_H
#define NAILUP_TRANSFER_ZONE_IMAGE_H

/*
 * A version of a zone as bytes, for a private file of nailup: a magic, the origin, the records in
 * the zone's order, an end mark and a hash of it all. Another version of nailup may not read it;
 * then the zone comes from its primary again. Pure.
 */

#include <stddef.h>

#include "base/err.h"
#include "base/span.h"
#include "dns/name.h"

struct zone_data;

#define ZONE_IMAGE_MAGIC "nailup zone 1\n"

/* Gives the bytes to put, in pieces of some ten kilobytes. Returns the first error of put. */
MUST_USE enum err zone_image_write(const struct zone_data *zone,
                                   enum err (*put)(void *owner, struct span bytes), void *owner);

/* Makes the version from its bytes; the caller owns the reference. ERR_FOREIGN: no image, or one of
 * another zone. ERR_INVALID: truncated, changed, or not a zone. ERR_LIMIT: max_bytes of the zone.
 * ERR_NO_MEMORY. */
MUST_USE enum err zone_image_read(struct span bytes, struct name origin, size_t max_bytes,
                                  struct zone_data **out);

#endif
