/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TRANSFER_ZONE_STORE_H
#define NAILUP_TRANSFER_ZONE_STORE_H

/*
 * The files that keep transferred zones over a restart, one for each zone in a folder of ours. A
 * file is replaced as a whole (base/private_file.h), so a crash leaves the old version or the new
 * one. Its time of modification says when a primary last confirmed the version. The calls wait for
 * the disk.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "dns/name.h"

struct zone_data;

enum { ZONE_STORE_PATH_MAX = 4096 };

/* Writes the path of a zone's file. ERR_TOO_LARGE: the folder's path is too long. */
MUST_USE enum err zone_store_path(char out[ZONE_STORE_PATH_MAX], const char *folder,
                                  struct name zone);

/* Reads the version in a file; the caller owns the reference. *confirmed_at_s is its time in
 * seconds since 1970. Errors are those of private_file_read() and zone_image_read(). */
MUST_USE enum err zone_store_load(const char *path, struct name zone, size_t max_bytes,
                                  struct zone_data **out, int64_t *confirmed_at_s);

/* Replaces the file. Errors as those of private_file.h. */
MUST_USE enum err zone_store_save(const char *path, const struct zone_data *zone);

/* Notes that a primary has confirmed the version in the file just now. */
MUST_USE enum err zone_store_confirm(const char *path);

#endif
