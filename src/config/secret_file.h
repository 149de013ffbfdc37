/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_SECRET_FILE_H
#define NAILUP_CONFIG_SECRET_FILE_H

/* Reads a file with secrets, which other users must not be able to read or write. */

#include <stddef.h>
#include <sys/types.h>

/* Reads at most max bytes, without a NUL. Returns the length, or -1 with a sentence in why, which
 * has static storage or lasts until the next call of strerror(). Blocks. */
ssize_t secret_file_read(const char *path, char *out, size_t max, const char **why);

#endif
