/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Reads small files that may hold secrets, and wipes all bytes that it does not hand out
 * (tls_file.h). */
#include "tls/tls_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

static enum err err_of_open(int number)
{
    switch (number) {
    case ENOENT:
    case ENOTDIR:
        return ERR_NOT_FOUND;
    case EACCES:
    case EPERM:
        return ERR_PERMISSION;
    case EMFILE:
    case ENFILE:
        return ERR_NO_FILES;
    default:
        return ERR_IO;
    }
}

/* O_NONBLOCK: a FIFO must not stop the start until a writer comes. */
static enum err open_regular_file(const char *path, int *fd, char why[TLS_WHY_MAX])
{
    struct stat status;

    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0)
        return tls_why(why, err_of_open(errno), "cannot read %s: %s", path, strerror(errno));
    if (fstat(*fd, &status) == 0 && S_ISREG(status.st_mode))
        return ERR_OK;
    close(*fd);
    return tls_why(why, ERR_INVALID, "%s is not a regular file", path);
}

static enum err read_open_file(int fd, const char *path, char **text, size_t *len,
                               char why[TLS_WHY_MAX])
{
    struct stat status;
    if (fstat(fd, &status) || status.st_size > TLS_FILE_MAX)
        return tls_why(why, ERR_TOO_LARGE, "%s is larger than %d bytes", path, TLS_FILE_MAX);
    *len = (size_t)status.st_size;
    *text = malloc(*len + 1);
    if (!*text)
        return tls_why(why, ERR_NO_MEMORY, "out of memory while reading %s", path);
    ssize_t got = file_read(fd, *text, *len);
    if (got < 0) {
        int number = errno;
        tls_file_free(text, *len);
        return tls_why(why, ERR_IO, "cannot read %s: %s", path, strerror(number));
    }
    *len = (size_t)got;
    (*text)[*len] = 0;
    return ERR_OK;
}

enum err tls_read_file(const char *path, char **text, size_t *len, char why[TLS_WHY_MAX])
{
    int fd;
    enum err err = open_regular_file(path, &fd, why);

    *text = NULL;
    *len = 0;
    if (err)
        return err;
    err = read_open_file(fd, path, text, len, why);
    close(fd);
    return err;
}

void tls_file_free(char **text, size_t len)
{
    if (*text)
        explicit_bzero(*text, len);
    free(*text);
    *text = NULL;
}
