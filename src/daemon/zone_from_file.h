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
#include "validate/apex.h"
#include "validate/zonemd.h"

struct zone_data;

enum { ZONE_FROM_FILE_WHY_MAX = 768 };

/* The checks of a version before it is used. */
struct zone_checks {
    enum zonemd_mode zonemd;
    const struct apex_rules *apex; /* NULL: nothing is validated */
};

/* Identifies the content of a file without reading it: another stamp means other content. */
struct zone_file_stamp {
    int64_t seconds, nanoseconds; /* when the contents last changed */
    uint64_t size_bytes, inode;
};

/* Reads the stamp. Returns false when there is no such file. */
bool zone_from_file_stamp(const char *path, struct zone_file_stamp *out);

bool zone_from_file_is_same(const struct zone_file_stamp *a, const struct zone_file_stamp *b);

/* Reads the zone and checks it (zone_from_file_check()). On an error *data is NULL, and why is a
 * sentence that begins with the file, and with the line if one is at fault. */
MUST_USE enum err zone_from_file(const char *path, struct name origin, size_t max_bytes,
                                 const struct zone_checks *checks, struct zone_data **data,
                                 char why[ZONE_FROM_FILE_WHY_MAX]);

/* Checks the signatures of a version's apex and its digest. Returns false when it must not be used:
 * then why is a sentence. */
bool zone_from_file_check(const struct zone_data *data, const struct zone_checks *checks,
                          char why[APEX_WHY_MAX]);

#endif
