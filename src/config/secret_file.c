/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Invariant: no secret is used that other users may read. */
#include "config/secret_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

/* Returns NULL if the file may be used. */
static const char *secret_file_fault(int file, size_t max)
{
    struct stat status;
    if (fstat(file, &status))
        return strerror(errno);
    if (!S_ISREG(status.st_mode))
        return "not a regular file";
    if (status.st_mode & S_IRWXO)
        return "other users may read or write it; set its mode to 0640 or 0600";
    return (size_t)status.st_size > max ? "too large" : NULL;
}

ssize_t secret_file_read(const char *path, char *out, size_t max, const char **why)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        *why = strerror(errno);
        return -1;
    }
    ssize_t len = -1;
    *why = secret_file_fault(file, max);
    if (!*why && (len = file_read(file, out, max)) < 0)
        *why = strerror(errno);
    close(file);
    return len;
}
