/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BASE_PRIVATE_FILE_H
#define NAILUP_BASE_PRIVATE_FILE_H

/*
 * A file of this user's alone (mode 0600) that is replaced as a whole: written beside the old one
 * (path with ".new" at its end), and put in its place when all of it is on the disk. A crash leaves
 * the old or the new one. The calls block.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/span.h"

struct private_file {
    const char *path; /* borrowed */
    char *beside;
    int fd;
};

/* Begins a new file; what an earlier crash left beside the old one is removed. Not for two callers
 * at once. ERR_NOT_FOUND (no such folder), ERR_PERMISSION, ERR_NO_FILES, ERR_NO_MEMORY, ERR_IO. */
MUST_USE enum err private_file_begin(struct private_file *file, const char *path);

/* Whether what is at path may be somebody's who would miss it: a file that does not begin with
 * these bytes, or that cannot be read. No file, an empty one and a symbolic link, whose target
 * stays as it is, are not, nor is a folder, which nothing is put in the place of. */
bool private_file_is_foreign(const char *path, struct span magic);

/* ERR_NO_SPACE: the disk is full; ERR_IO. */
MUST_USE enum err private_file_write(struct private_file *file, struct span bytes);

/* Puts it in the place of the old one. The file is ended also on error; then the old one stays.
 * Errors as of private_file_write(), and of the rename. */
MUST_USE enum err private_file_finish(struct private_file *file);

/* Ends it instead; the old one stays. */
void private_file_abandon(struct private_file *file);

/* Opens a plain file to read; the descriptor is the caller's. ERR_NOT_FOUND; ERR_PERMISSION: others
 * may read or write it, or its owner is not us; ERR_INVALID: no plain file (a symbolic link is not
 * followed). */
MUST_USE enum err private_file_open(int *fd, const char *path);

#endif
