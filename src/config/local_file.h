/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_LOCAL_FILE_H
#define NAILUP_CONFIG_LOCAL_FILE_H

/* Reads a whole hosts file or block list. Any thread. */

#include "base/err.h"
#include "base/span.h"

enum {
    LOCAL_FILE_MAX = 512 * 1024 * 1024, /* bytes of one file */
    LOCAL_FILE_WHY_MAX = 256,
};

/* ERR_OK: the caller passes *text to local_file_free(). Otherwise why has the reason: not a regular
 * file, no permission, too large. */
MUST_USE enum err local_file_read(const char *path, struct span *text,
                                  char why[LOCAL_FILE_WHY_MAX]);
void local_file_free(struct span text);

#endif
