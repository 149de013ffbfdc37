/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BASE_FILE_H
#define NAILUP_BASE_FILE_H

#include <stddef.h>
#include <sys/types.h>

/* Reads an open file until its end or max bytes, and continues after a signal. Returns the number
 * of bytes, or -1 with errno. Blocks. */
ssize_t file_read(int fd, void *out, size_t max);

/* Reads the file at this path as file_read() does. */
ssize_t file_read_path(const char *path, void *out, size_t max);

#endif
