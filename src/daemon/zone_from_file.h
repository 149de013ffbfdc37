/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_ZONE_FROM_FILE_H
#define NAILUP_DAEMON_ZONE_FROM_FILE_H

/* Reads a version of a zone from its file. Blocks: never on a worker or on main. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "dns/name.h"
#include "validate/zonemd.h"

struct zone_data;

enum { ZONE_FROM_FILE_WHY_MAX = 768 };

/* Tells two contents of a file apart without reading them. */
struct zone_file_stamp {
    int64_t seconds, nanoseconds; /* of the last change of its contents */
    uint64_t size_bytes, inode;
};

/* Reads the stamp. Returns false when there is no such file. */
bool zone_from_file_stamp(const char *path, struct zone_file_stamp *out);

bool zone_from_file_is_same(const struct zone_file_stamp *a, const struct zone_file_stamp *b);

/* Reads the zone and checks its digest. On an error *data is NULL, and why is a sentence that
 * begins with the file, and with the line if one is at fault. */
MUST_USE enum err zone_from_file(const char *path, struct name origin, size_t max_bytes,
                                 enum zonemd_mode zonemd, struct zone_data **data,
                                 char why[ZONE_FROM_FILE_WHY_MAX]);

/* Returns NULL, or the fault that the digest of a version shows: static text. */
const char *zone_digest_fault(const struct zone_data *data, enum zonemd_mode zonemd);

#endif
