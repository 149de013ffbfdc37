/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The door to libfstrm. Its writer does the handshake and the frames. This file opens, reads and
 * writes without blocking, so that a silent reader delays only this thread, and no longer than the
 * drain allows. Invariants: a failure closes the stream to a reader, because it may have a part of
 * a frame. A file ends with a whole frame.
 */
#include "tap/frames.h"

#ifdef NAILUP_DNSTAP

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <fstrm.h>

#include "base/check.h"
#include "base/log.h"
#include "tap/drain.h"

enum {
    ANSWER_MS = 5000, /* the time for the reader's part of the handshake and of the end */
    FULL_MS = 1000,   /* between two attempts to write to a full disk */
    FILE_MODE = 0640,
};

static const char content_type[] = "protobuf:dnstap.Dnstap";

struct frames {
    const char *path;
    bool is_file;
    int fd;        /* -1: no reader. A file stays open */
    off_t written; /* bytes of a file */
    atomic_bool must_reopen;
    int next_fd; /* of the file that replaces this one; -1: none */
    struct drain *drain;
    struct fstrm_writer *writer; /* NULL: no stream */
    bool is_missed;              /* the log has mentioned the missing reader */
};

/* ---- the socket ---- */

static fstrm_res frames_open_socket(void *owner)
{
    struct frames *frames = owner;
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    if (strlen(frames->path) >= sizeof(at.sun_path))
        return fstrm_res_failure;
    strcpy(at.sun_path, frames->path);
    frames->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (frames->fd < 0)
        return fstrm_res_failure;
    if (connect(frames->fd, (struct sockaddr *)&at, sizeof(at)) == 0)
        return fstrm_res_success;
    int error = errno;
    close(frames->fd);
    frames->fd = -1;
    errno = error;
    return fstrm_res_failure;
}

static fstrm_res close_socket(void *owner)
{
    struct frames *frames = owner;
    if (frames->fd >= 0)
        close(frames->fd);
    frames->fd = -1;
    return fstrm_res_success;
}

static bool frames_is_passing(int error)
{
    return error == EAGAIN || error == EINTR;
}

/* A reader sends only control frames. */
static fstrm_res read_socket(void *owner, void *data, size_t count)
{
    struct frames *frames = owner;
    size_t done = 0;
    while (done < count) {
        if (!drain_wait(frames->drain, frames->fd, POLLIN, ANSWER_MS))
            return fstrm_res_failure;
        ssize_t got = recv(frames->fd, (char *)data + done, count - done, 0);
        if (got == 0)
            return fstrm_res_stop;
        if (got < 0 && !frames_is_passing(errno))
            return fstrm_res_failure;
        done += (size_t)MAX(got, 0);
    }
    return fstrm_res_success;
}

/* Takes len bytes from the front. Returns the first of the remaining parts. */
static struct iovec *frames_skip(struct iovec *parts, int *count, size_t len)
{
    while (*count > 0 && len >= parts->iov_len) {
        len -= parts->iov_len;
        parts++;
        (*count)--;
    }
    if (*count > 0) {
        parts->iov_base = (char *)parts->iov_base + len;
        parts->iov_len -= len;
    }
    return parts;
}

static fstrm_res write_socket(void *owner, const struct iovec *parts, int count)
{
    struct frames *frames = owner;
    struct iovec copy[IOV_MAX], *left = copy;
    MUST(count >= 0 && count <= IOV_MAX);
    memcpy(copy, parts, (size_t)count * sizeof(*parts));
    while (count > 0) {
        struct msghdr message = {.msg_iov = left, .msg_iovlen = (size_t)count};
        ssize_t sent = sendmsg(frames->fd, &message, MSG_NOSIGNAL);
        if (sent < 0 && !frames_is_passing(errno))
            return fstrm_res_failure;
        left = frames_skip(left, &count, (size_t)MAX(sent, 0));
        if (count > 0 && !drain_wait(frames->drain, frames->fd, POLLOUT, -1))
            return fstrm_res_failure;
    }
    return fstrm_res_success;
}

/* ---- the file ---- */

static fstrm_res open_nothing(void *owner)
{
    (void)owner;
    return fstrm_res_success;
}

/* Opens the path, whose content stays. */
static enum err frames_open_path(const char *path, int *fd, struct stat *status)
{
    *fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, FILE_MODE);
    if (*fd < 0)
        return err_from_errno(errno);
    if (fstat(*fd, status) == 0 && S_ISREG(status->st_mode))
        return ERR_OK;
    close(*fd);
    *fd = -1;
    return ERR_INVALID;
}

/* A stream begins at the start of this file. */
static enum err frames_begin_file(struct frames *frames, int fd)
{
    frames->fd = fd;
    frames->written = 0;
    return ftruncate(fd, 0) ? err_from_errno(errno) : ERR_OK;
}

static enum err frames_open_file(struct frames *frames)
{
    struct stat status;
    int fd;
    enum err err = frames_open_path(frames->path, &fd, &status);
    return err ? err : frames_begin_file(frames, fd);
}

static bool frames_has_file(const struct frames *frames, const struct stat *other)
{
    struct stat status;
    return fstat(frames->fd, &status) == 0 && status.st_dev == other->st_dev &&
           status.st_ino == other->st_ino;
}

/* Whether the stream goes on in another file, to which the path leads now. */
static bool frames_has_next(struct frames *frames)
{
    struct stat status;
    int fd;
    if (!atomic_exchange(&frames->must_reopen, false))
        return frames->next_fd >= 0;
    enum err err = frames_open_path(frames->path, &fd, &status);
    if (err) {
        LOG(LOG_ERROR, "dnstap", "%s cannot be opened again, so messages go to the former file: %s",
            frames->path, err_str(err));
        return frames->next_fd >= 0;
    }
    if (frames->next_fd >= 0)
        close(frames->next_fd);
    frames->next_fd = fd;
    if (!frames_has_file(frames, &status))
        return true;
    close(fd);
    frames->next_fd = -1;
    return false;
}

/* Writes everything, or restores the length of the file. */
static bool write_once(struct frames *frames, struct iovec *left, int count)
{
    off_t at = frames->written;
    while (count > 0) {
        ssize_t written = pwritev(frames->fd, left, count, at);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            LOG_LIMITED(LOG_ERROR, "dnstap", "%s cannot be written: %s", frames->path,
                        err_str(err_from_errno(errno)));
            (void)!ftruncate(frames->fd, frames->written);
            return false;
        }
        at += written;
        left = frames_skip(left, &count, (size_t)written);
    }
    frames->written = at;
    return true;
}

/* Tries again after a failure: a full disk may get room. Gives up when another file is open. */
static fstrm_res frames_write_file(void *owner, const struct iovec *parts, int count)
{
    struct frames *frames = owner;
    struct iovec copy[IOV_MAX];
    MUST(count >= 0 && count <= IOV_MAX);
    for (;;) {
        memcpy(copy, parts, (size_t)count * sizeof(*parts));
        if (write_once(frames, copy, count))
            return fstrm_res_success;
        if (drain_is_ending(frames->drain) || frames_has_next(frames))
            return fstrm_res_failure;
        (void)drain_wait(frames->drain, -1, 0, FULL_MS);
    }
}

/* ---- libfstrm's writer ---- */

/* A stream without a read function has no handshake. */
static struct fstrm_rdwr *new_rdwr(struct frames *frames)
{
    struct fstrm_rdwr *rdwr = fstrm_rdwr_init(frames);
    if (!rdwr)
        return NULL;
    fstrm_rdwr_set_open(rdwr, frames->is_file ? open_nothing : frames_open_socket);
    fstrm_rdwr_set_close(rdwr, frames->is_file ? open_nothing : close_socket);
    fstrm_rdwr_set_write(rdwr, frames->is_file ? frames_write_file : write_socket);
    if (!frames->is_file)
        fstrm_rdwr_set_read(rdwr, read_socket);
    return rdwr;
}

static struct fstrm_writer *new_writer(struct frames *frames)
{
    struct fstrm_rdwr *rdwr = new_rdwr(frames);
    struct fstrm_writer_options *options = fstrm_writer_options_init();
    struct fstrm_writer *writer = NULL;
    if (rdwr && options &&
        fstrm_writer_options_add_content_type(options, content_type, sizeof(content_type) - 1) ==
            fstrm_res_success)
        writer = fstrm_writer_init(options, &rdwr);
    fstrm_writer_options_destroy(&options);
    if (rdwr)
        fstrm_rdwr_destroy(&rdwr);
    return writer;
}

/* Shuts the socket down first, so that a failed writer does not wait for its end frames. */
static void drop_writer(struct frames *frames)
{
    if (!frames->is_file && frames->fd >= 0)
        shutdown(frames->fd, SHUT_RDWR);
    if (frames->writer)
        fstrm_writer_destroy(&frames->writer);
    if (!frames->is_file)
        close_socket(frames);
}

/* Logs once per outage. A file is never missed. */
static void log_missed(struct frames *frames, const char *what)
{
    if (!frames->is_missed && !frames->is_file)
        LOG(LOG_NOTICE, "dnstap",
            "%s %s; messages wait for a reader, and are lost when their ring is full", what,
            frames->path);
    frames->is_missed = true;
}

static void frames_change_file(struct frames *frames)
{
    drop_writer(frames);
    close(frames->fd);
    if (frames_begin_file(frames, frames->next_fd))
        LOG(LOG_ERROR, "dnstap", "%s cannot be emptied", frames->path);
    frames->next_fd = -1;
    LOG(LOG_INFO, "dnstap", "messages go to a new file %s", frames->path);
}

void frames_reopen(struct frames *frames)
{
    if (frames->is_file)
        atomic_store(&frames->must_reopen, true);
}

bool frames_open(struct frames *frames)
{
    if (frames_has_next(frames))
        frames_change_file(frames);
    if (frames->writer)
        return true;
    frames->writer = new_writer(frames);
    if (!frames->writer || fstrm_writer_open(frames->writer) != fstrm_res_success) {
        drop_writer(frames);
        log_missed(frames, "there is no reader at");
        return false;
    }
    if (!frames->is_file)
        LOG(LOG_INFO, "dnstap", "the reader at %s is connected", frames->path);
    frames->is_missed = false;
    return true;
}

bool frames_write(struct frames *frames, const struct span *payloads, size_t count)
{
    struct iovec parts[FRAMES_BATCH];
    MUST(count <= FRAMES_BATCH);
    for (size_t i = 0; i < count; i++)
        parts[i] = (struct iovec){(void *)payloads[i].data, payloads[i].len};
    if (fstrm_writer_writev(frames->writer, parts, (int)count) == fstrm_res_success)
        return true;
    drop_writer(frames);
    log_missed(frames, "lost the reader at");
    return false;
}

void frames_end(struct frames *frames)
{
    if (frames->writer)
        fstrm_writer_destroy(&frames->writer);
    if (!frames->is_file)
        close_socket(frames);
}

/* ---- life ---- */

enum err frames_new(struct frames **out, const char *path, bool is_file, struct drain *drain)
{
    struct frames *frames = calloc(1, sizeof(*frames));
    if (!frames)
        return ERR_NO_MEMORY;
    frames->path = path;
    frames->is_file = is_file;
    frames->drain = drain;
    frames->fd = frames->next_fd = -1;
    enum err err = is_file ? frames_open_file(frames) : ERR_OK;
    if (err) {
        frames_free(frames);
        return err;
    }
    *out = frames;
    return ERR_OK;
}

void frames_free(struct frames *frames)
{
    if (!frames)
        return;
    drop_writer(frames);
    if (frames->fd >= 0)
        close(frames->fd);
    if (frames->next_fd >= 0)
        close(frames->next_fd);
    free(frames);
}

#else

enum err frames_new(struct frames **out, const char *path, bool is_file, struct drain *drain)
{
    (void)drain;
    (void)out;
    (void)path;
    (void)is_file;
    return ERR_INVALID;
}

void frames_free(struct frames *frames)
{
    (void)frames;
}

void frames_reopen(struct frames *frames)
{
    (void)frames;
}

bool frames_open(struct frames *frames)
{
    (void)frames;
    return false;
}

bool frames_write(struct frames *frames, const struct span *payloads, size_t count)
{
    (void)frames;
    (void)payloads;
    (void)count;
    return false;
}

void frames_end(struct frames *frames)
{
    (void)frames;
}

#endif
