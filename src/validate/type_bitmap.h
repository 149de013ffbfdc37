/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_VALIDATE_TYPE_BITMAP_H
#define NAILUP_VALIDATE_TYPE_BITMAP_H

/*
 * The set of types at the end of an NSEC or NSEC3 record (RFC 4034 section 4.1.2): windows of up to
 * 256 types, each with its number, a length and the bits. Borrows; pure; any thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"

/* Returns whether the bitmap is readable: windows in ascending order, each with 1 to 32 bytes that
 * fit. An empty bitmap is sound. */
bool type_bitmap_is_sound(struct span bitmap);

/* Returns whether the sound bitmap has the type. */
bool type_bitmap_has(struct span bitmap, uint16_t type);

/* Returns whether the sound bitmap has no types other than these. */
bool type_bitmap_has_only(struct span bitmap, const uint16_t *types, size_t count);

#endif
