/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Reads a bounded file into memory (file.h). The caller checks what the descriptor leads to. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

ssize_t file_read(int fd, void *out, size_t max)
{
    size_t len = 0;

    while (len < max) {
        ssize_t got = read(fd, (char *)out + len, max - len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        len += (size_t)got;
    }
    return (ssize_t)len;
}

ssize_t file_read_path(const char *path, void *out, size_t max)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -1;
    ssize_t len = file_read(fd, out, max);
    int number = errno;
    close(fd);
    errno = number;
    return len;
}
