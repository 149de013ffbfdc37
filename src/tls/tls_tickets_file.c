/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Reads and replaces a private file (tls_tickets_file.h). What is checked is checked on the open
 * descriptor, never on a name that may be another file a moment later.
 */

#include "tls/tls_tickets_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/crypto.h>

static enum err tls_tickets_file_last_error(void)
{
    return err_from_errno(errno);
}

/* ---------------------------------------------------------------- reading */

static enum err check_owner(int fd, size_t max, size_t *len)
{
    struct stat found;

    if (fstat(fd, &found) < 0)
        return ERR_IO;
    if (!S_ISREG(found.st_mode))
        return ERR_INVALID;
    if (found.st_uid != geteuid() || (found.st_mode & (S_IRWXG | S_IRWXO)))
        return ERR_PERMISSION;
    if (found.st_size < 0 || (uintmax_t)found.st_size > max)
        return ERR_INVALID;
    *len = (size_t)found.st_size;
    return ERR_OK;
}

/* Exactly len bytes: a file that shrinks or grows under the reader is torn. */
static enum err tls_tickets_file_read_all(int fd, uint8_t *data, size_t len)
{
    size_t done = 0;
    uint8_t more;
    ssize_t got;

    while (done < len) {
        got = read(fd, data + done, len - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? ERR_IO : ERR_INVALID;
        done += (size_t)got;
    }
    got = read(fd, &more, 1);
    if (got == 0)
        return ERR_OK;
    return got < 0 ? ERR_IO : ERR_INVALID;
}

static enum err tls_tickets_file_read_open(int fd, size_t max, uint8_t **data, size_t *len)
{
    enum err err = check_owner(fd, max, len);

    if (err)
        return err;
    *data = OPENSSL_malloc(*len + 1); /* an empty file too has memory */
    if (!*data)
        return ERR_NO_MEMORY;
    err = tls_tickets_file_read_all(fd, *data, *len);
    if (err)
        tls_tickets_file_wipe(*data, *len);
    return err;
}

/* O_NONBLOCK: opening a FIFO must not wait for a writer. */
enum err tls_tickets_file_read(const char *path, size_t max, uint8_t **data, size_t *len)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    enum err err;

    if (fd < 0)
        return errno == ELOOP || errno == ENXIO ? ERR_INVALID : tls_tickets_file_last_error();
    err = tls_tickets_file_read_open(fd, max, data, len);
    close(fd);
    return err;
}

void tls_tickets_file_wipe(uint8_t *data, size_t len)
{
    OPENSSL_clear_free(data, len);
}

/* ---------------------------------------------------------------- writing */

static enum err tls_tickets_file_write_all(int fd, struct span bytes)
{
    struct span done;

    while (bytes.len > 0) {
        ssize_t put = write(fd, bytes.data, bytes.len);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return tls_tickets_file_last_error();
        if (put == 0 || !span_take(&bytes, (size_t)put, &done))
            return ERR_IO;
    }
    return ERR_OK;
}

/* The mode is that of open() but for what the umask takes away: never more than 0600. */
static enum err write_beside(const char *beside, struct span bytes)
{
    int fd;
    enum err err;

    if (unlink(beside) < 0 && errno != ENOENT)
        return tls_tickets_file_last_error();
    fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (fd < 0)
        return tls_tickets_file_last_error();
    err = tls_tickets_file_write_all(fd, bytes);
    if (!err && (fchmod(fd, S_IRUSR | S_IWUSR) < 0 || fsync(fd) < 0))
        err = tls_tickets_file_last_error();
    if (close(fd) < 0 && !err)
        err = tls_tickets_file_last_error();
    return err;
}

/* The rename is done; that it lasts is tried for. Folders that we may write to but not read are
 * none of our business. */
static void tls_tickets_file_sync_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
    free(folder);
}

static enum err replace(const char *path, const char *beside, struct span bytes)
{
    enum err err = write_beside(beside, bytes);

    if (!err && rename(beside, path) < 0)
        err = tls_tickets_file_last_error();
    if (err)
        (void)unlink(beside);
    else
        tls_tickets_file_sync_folder(path);
    return err;
}

enum err tls_tickets_file_replace(const char *path, struct span bytes)
{
    char *beside;
    enum err err;

    if (asprintf(&beside, "%s.new", path) < 0)
        return ERR_NO_MEMORY;
    err = replace(path, beside, bytes);
    free(beside);
    return err;
}
