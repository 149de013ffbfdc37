/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* All checks examine the open descriptor, never a name that may lead to another file a moment
 * later. The caller knows the content. */
#include "base/private_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

static enum err private_file_last_error(void)
{
    return err_from_errno(errno);
}

/* ---- writing ---- */

/* The umask can only narrow the mode of open(): never more than 0600. */
static enum err open_beside(struct private_file *file)
{
    if (unlink(file->beside) < 0 && errno != ENOENT)
        return private_file_last_error();
    file->fd =
        open(file->beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
    return file->fd < 0 ? private_file_last_error() : ERR_OK;
}

enum err private_file_begin(struct private_file *file, const char *path)
{
    *file = (struct private_file){.path = path, .fd = -1};
    if (asprintf(&file->beside, "%s.new", path) < 0)
        return ERR_NO_MEMORY;
    enum err err = open_beside(file);
    if (err)
        free(file->beside);
    return err;
}

enum err private_file_write(struct private_file *file, struct span bytes)
{
    struct span done;
    while (bytes.len > 0) {
        ssize_t put = write(file->fd, bytes.data, bytes.len);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return private_file_last_error();
        if (put == 0 || !span_take(&bytes, (size_t)put, &done))
            return ERR_IO;
    }
    return ERR_OK;
}

/* Tries to make the rename durable. A folder that we may write to but not read is left alone. */
static void private_file_sync_folder(const char *path)
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

static enum err private_file_sync_and_rename(struct private_file *file)
{
    enum err err = ERR_OK;
    if (fchmod(file->fd, S_IRUSR | S_IWUSR) < 0 || fsync(file->fd) < 0)
        err = private_file_last_error();
    if (close(file->fd) < 0 && !err)
        err = private_file_last_error();
    if (!err && rename(file->beside, file->path) < 0)
        err = private_file_last_error();
    return err;
}

enum err private_file_finish(struct private_file *file)
{
    enum err err = private_file_sync_and_rename(file);
    if (err)
        (void)unlink(file->beside);
    else
        private_file_sync_folder(file->path);
    free(file->beside);
    return err;
}

enum err private_file_replace(const char *path, struct span bytes)
{
    struct private_file file;
    enum err err = private_file_begin(&file, path);

    if (err)
        return err;
    err = private_file_write(&file, bytes);
    if (!err)
        return private_file_finish(&file);
    private_file_abandon(&file);
    return err;
}

void private_file_abandon(struct private_file *file)
{
    close(file->fd);
    (void)unlink(file->beside);
    free(file->beside);
}

/* ---- reading ---- */

static enum err private_file_check(int fd)
{
    struct stat found;
    if (fstat(fd, &found) < 0)
        return ERR_IO;
    if (!S_ISREG(found.st_mode))
        return ERR_INVALID;
    if (found.st_uid != geteuid() || (found.st_mode & (S_IRWXG | S_IRWXO)))
        return ERR_PERMISSION;
    return ERR_OK;
}

/* O_NONBLOCK: opening a FIFO must not wait for a writer. */
enum err private_file_open(int *fd, const char *path)
{
    *fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (*fd < 0)
        return errno == ELOOP || errno == ENXIO ? ERR_INVALID : private_file_last_error();
    enum err err = private_file_check(*fd);
    if (err)
        close(*fd);
    return err;
}

/* Reads exactly len bytes: the file must not shrink or grow under the reader. */
static enum err private_file_read_exactly(int fd, uint8_t *data, size_t len)
{
    uint8_t more;
    ssize_t got = file_read(fd, data, len);

    if (got < 0)
        return ERR_IO;
    if ((size_t)got < len)
        return ERR_INVALID;
    got = file_read(fd, &more, 1);
    if (got < 0)
        return ERR_IO;
    return got == 0 ? ERR_OK : ERR_INVALID;
}

static enum err private_file_read_open(int fd, size_t max, uint8_t **data, size_t *len)
{
    struct stat found;

    if (fstat(fd, &found) < 0)
        return ERR_IO;
    if (found.st_size < 0 || (uintmax_t)found.st_size > max)
        return ERR_INVALID;
    *len = (size_t)found.st_size;
    *data = malloc(*len + 1); /* also for an empty file */
    if (!*data)
        return ERR_NO_MEMORY;
    enum err err = private_file_read_exactly(fd, *data, *len);
    if (err)
        private_file_wipe(*data, *len);
    return err;
}

enum err private_file_read(const char *path, size_t max, uint8_t **data, size_t *len)
{
    int fd;
    enum err err = private_file_open(&fd, path);

    if (err)
        return err;
    err = private_file_read_open(fd, max, data, len);
    close(fd);
    return err;
}

void private_file_wipe(uint8_t *data, size_t len)
{
    explicit_bzero(data, len);
    free(data);
}

static bool begins_with(int fd, struct span magic)
{
    uint8_t byte;
    for (size_t i = 0; i < magic.len; i++)
        if (pread(fd, &byte, 1, (off_t)i) != 1 || byte != magic.data[i])
            return false;
    return true;
}

enum err private_file_replace_shared(const char *path, struct span bytes)
{
    struct stat status;
    bool is_there = stat(path, &status) == 0;
    enum err err = private_file_replace(path, bytes);
    if (!err && chmod(path, is_there ? status.st_mode & 0777 : 0644))
        return ERR_IO;
    return err;
}

/* Checks the type before it opens the file, because opening a device may have an effect. */
bool private_file_is_foreign(const char *path, struct span magic)
{
    struct stat found;
    if (lstat(path, &found) < 0)
        return false; /* the writer gets the error */
    if (S_ISLNK(found.st_mode) || S_ISDIR(found.st_mode))
        return false;
    if (!S_ISREG(found.st_mode))
        return true;
    if (found.st_size == 0)
        return false;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return errno != ENOENT;
    bool is_foreign = !begins_with(fd, magic);
    close(fd);
    return is_foreign;
}
