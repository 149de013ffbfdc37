/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * A configuration from a file. Invariant: no more than CONFIG_FILE_MAX bytes and one are read,
 * whatever the path leads to.
 */
#include "config/config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/loader.h"

/* Reads at most one byte more than a file may have. -1: errno says why. */
static ssize_t load_file_read_all(int fd, char *text)
{
    size_t len = 0;
    while (len <= CONFIG_FILE_MAX) {
        ssize_t got = read(fd, text + len, CONFIG_FILE_MAX + 1 - len);
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

static ssize_t load_file_read_file(const char *path, char *text)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t len = load_file_read_all(fd, text);
    int number = errno;
    close(fd);
    errno = number;
    return len;
}

enum err config_load(const char *path, struct config **out, struct buf *errors)
{
    char reason[128];
    *out = NULL;
    char *text = malloc(CONFIG_FILE_MAX + 1);
    if (!text) {
        problems_print_one(path, errors, "out of memory");
        return ERR_NO_MEMORY;
    }
    ssize_t len = load_file_read_file(path, text);
    enum err err = ERR_INVALID;
    if (len < 0) {
        snprintf(reason, sizeof(reason), "cannot be read: %s%s", strerror(errno),
                 errno == EACCES ? "; let the user that nailupd runs as read it" : "");
        problems_print_one(path, errors, reason);
    } else {
        err = load_text(path, span_of(text, (size_t)len), true, out, errors);
    }
    free(text);
    return err;
}
