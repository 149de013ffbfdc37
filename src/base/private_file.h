/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BASE_PRIVATE_FILE_H
#define NAILUP_BASE_PRIVATE_FILE_H

/*
 * A private file (mode 0600, owned by this user) that is replaced as a whole: a new file is written
 * beside the old one (path with ".new" at its end) and renamed over it once it is on the disk. A
 * crash leaves the old file or the new one. The calls block.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/span.h"

struct private_file {
    const char *path; /* borrowed */
    char *beside;
    int fd;
};

/* Begins a new file, and removes the leftover of an earlier crash. Not for two callers at once.
 * ERR_NOT_FOUND (no such folder), ERR_PERMISSION, ERR_NO_FILES, ERR_NO_MEMORY, ERR_IO. */
MUST_USE enum err private_file_begin(struct private_file *file, const char *path);

/* Errors: ERR_NO_SPACE (the disk is full) and ERR_IO. */
MUST_USE enum err private_file_write(struct private_file *file, struct span bytes);

/* Replaces the old file. On error the old file stays; the new one is gone in both cases. Returns
 * the errors of private_file_write() and of the rename. */
MUST_USE enum err private_file_finish(struct private_file *file);

/* Drops the new file; the old one stays. */
void private_file_abandon(struct private_file *file);

/* Does the three steps for bytes that are in memory. */
MUST_USE enum err private_file_replace(const char *path, struct span bytes);

/* Replaces a file that other users may read. The file keeps its mode, and a new file gets 0644. */
MUST_USE enum err private_file_replace_shared(const char *path, struct span bytes);

/* Whether a replacement would destroy a foreign file: a regular file that does not begin
 * with these bytes or cannot be read, or a special file. A missing file, an empty one, a symbolic
 * link (its target stays as it is) and a folder, which a rename cannot replace, are not foreign. */
bool private_file_is_foreign(const char *path, struct span magic);

/* Opens a private file to read; the caller owns the descriptor. ERR_NOT_FOUND. ERR_PERMISSION:
 * others may read or write it, or we do not own it. ERR_INVALID: not a regular file (a symbolic
 * link is not followed). */
MUST_USE enum err private_file_open(int *fd, const char *path);

/* Reads a private file of at most max bytes into *data, which the caller gives to
 * private_file_wipe(). Returns the errors of private_file_open(), ERR_INVALID if the file is larger
 * or changes meanwhile, ERR_IO and ERR_NO_MEMORY. */
MUST_USE enum err private_file_read(const char *path, size_t max, uint8_t **data, size_t *len);

/* Overwrites and frees bytes that may be secret. */
void private_file_wipe(uint8_t *data, size_t len);

#endif
