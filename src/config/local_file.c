/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Reads a whole file. The file is copied, not mapped: shortening a mapped file kills the process
 * that reads it. A file that grows meanwhile is read up to its first size.
 */
#include "config/local_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum err local_file_refuse(char why[LOCAL_FILE_WHY_MAX], const char *path,
                                  const char *reason)
{
    snprintf(why, LOCAL_FILE_WHY_MAX, "%.160s %s", path, reason);
    return ERR_IO;
}

static enum err local_file_read_all(int fd, uint8_t *data, size_t size, size_t *len)
{
    *len = 0;
    while (*len < size) {
        ssize_t got = read(fd, data + *len, size - *len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return ERR_IO;
        if (got == 0)
            break;
        *len += (size_t)got;
    }
    return ERR_OK;
}

static enum err local_file_read_open(int fd, const char *path, struct span *text,
                                     char why[LOCAL_FILE_WHY_MAX])
{
    struct stat status;
    size_t len;
    if (fstat(fd, &status) != 0)
        return local_file_refuse(why, path, "cannot be read");
    if (!S_ISREG(status.st_mode))
        return local_file_refuse(why, path, "is not a regular file");
    if (status.st_size > LOCAL_FILE_MAX)
        return local_file_refuse(why, path, "is larger than 512 MiB; split or shorten it");
    size_t size = (size_t)status.st_size;
    uint8_t *data = malloc(size + 1);
    if (!data)
        return local_file_refuse(why, path, "does not fit into memory");
    if (local_file_read_all(fd, data, size, &len)) {
        free(data);
        return local_file_refuse(why, path, "cannot be read");
    }
    *text = span_of(data, len);
    return ERR_OK;
}

enum err local_file_read(const char *path, struct span *text, char why[LOCAL_FILE_WHY_MAX])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO is refused, not waited for */
    if (fd < 0) {
        char reason[80];
        snprintf(reason, sizeof(reason), "cannot be read: %.60s", strerror(errno));
        return local_file_refuse(why, path, reason);
    }
    enum err err = local_file_read_open(fd, path, text, why);
    close(fd);
    return err;
}

void local_file_free(struct span text)
{
    free((void *)(uintptr_t)text.data);
}
