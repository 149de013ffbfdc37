/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The file of a Unix socket outlives a killed process, so this connects to an existing file to
 * learn whether it has a listener. Two daemons that start at the same instant could both find it
 * dead; their DNS listeners, which open first, prevent that.
 */

#include "control/local_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 64 };

static enum err local_socket_fail(enum err err, char *why, size_t why_size, const char *path,
                                  const char *what)
{
    snprintf(why, why_size, "%.120s: %s", path, what);
    return err;
}

static enum err fail_errno(char *why, size_t why_size, const char *path)
{
    int number = errno;
    const char *what = strerror(number);

    if (number == ENOENT)
        what = "there is no such directory; create it or change the path";
    else if (number == EACCES || number == EPERM)
        what = "permission denied; make the directory writable for this user or change the path";
    return local_socket_fail(err_from_errno(number), why, why_size, path, what);
}

static void local_socket_fill(struct sockaddr_un *address, const char *path)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(address->sun_path, path, strlen(path) + 1);
}

/* Whether a process accepts connections at path. A full backlog (EAGAIN) counts as one too. */
static bool is_alive(const char *path)
{
    struct sockaddr_un address;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool alive;

    if (fd < 0)
        return true; /* unknown, so keep the file */
    local_socket_fill(&address, path);
    alive = connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 ||
            (errno != ECONNREFUSED && errno != ENOENT);
    close(fd);
    return alive;
}

static enum err clear_path(const char *path, char *why, size_t why_size)
{
    struct stat found;

    if (lstat(path, &found) != 0)
        return errno == ENOENT ? ERR_OK : fail_errno(why, why_size, path);
    if (!S_ISSOCK(found.st_mode))
        return local_socket_fail(
            ERR_INVALID, why, why_size, path,
            "a file that is not a socket is there; remove it or change the path");
    if (is_alive(path))
        return local_socket_fail(ERR_ADDRESS_IN_USE, why, why_size, path,
                                 "another daemon listens there; stop it or change the path");
    if (unlink(path) != 0 && errno != ENOENT)
        return fail_errno(why, why_size, path);
    return ERR_OK;
}

/* Linux gives the file the socket's mode minus the umask, so the file has its final mode from the
 * start and is never open wider. */
static bool bind_with_mode(int fd, const struct sockaddr_un *address, mode_t mode)
{
    mode_t mask = umask(0);
    bool bound =
        fchmod(fd, mode) == 0 && bind(fd, (const struct sockaddr *)address, sizeof(*address)) == 0;

    umask(mask);
    return bound;
}

/* Changes the owner through a descriptor of the socket itself: an attacker must not trick root into
 * giving away a file put in its place. */
static bool local_socket_set_owner(const struct local_socket *local,
                                   const struct local_place *place)
{
    struct stat found;
    int file = open(local->path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    bool given = file >= 0 && fstat(file, &found) == 0 && S_ISSOCK(found.st_mode) &&
                 found.st_dev == local->device && found.st_ino == local->inode &&
                 fchownat(file, "", place->uid, place->gid, AT_EMPTY_PATH) == 0;

    if (file >= 0)
        close(file);
    return given;
}

static enum err bind_and_listen(struct local_socket *local, const struct local_place *place,
                                char *why, size_t why_size)
{
    struct sockaddr_un address;
    struct stat made;

    local_socket_fill(&address, local->path);
    if (!bind_with_mode(local->fd, &address, place->mode))
        return fail_errno(why, why_size, local->path);
    if (lstat(local->path, &made) == 0) {
        local->device = made.st_dev;
        local->inode = made.st_ino;
    }
    bool is_to_be_given = place->uid != (uid_t)-1 || place->gid != (gid_t)-1;
    if (is_to_be_given && !local_socket_set_owner(local, place))
        return local_socket_fail(
            ERR_PERMISSION, why, why_size, local->path,
            "cannot set its owner and group; start as root, or as that owner and a "
            "member of that group (control.owner, control.group)");
    if (listen(local->fd, BACKLOG) != 0)
        return fail_errno(why, why_size, local->path);
    return ERR_OK;
}

enum err local_socket_open(struct local_socket *out, const struct local_place *place, char *why,
                           size_t why_size)
{
    const char *path = place->path;

    *out = (struct local_socket){.fd = -1};
    if (strlen(path) >= sizeof(out->path))
        return local_socket_fail(ERR_TOO_LARGE, why, why_size, path, "the path is too long");
    memcpy(out->path, path, strlen(path) + 1);
    enum err err = clear_path(path, why, why_size);
    if (err)
        return err;
    out->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (out->fd < 0)
        return fail_errno(why, why_size, path);
    err = bind_and_listen(out, place, why, why_size);
    if (err)
        local_socket_close(out);
    return err;
}

void local_socket_close(struct local_socket *local)
{
    struct stat found;

    if (local->fd < 0)
        return;
    close(local->fd);
    local->fd = -1;
    if (local->inode != 0 && lstat(local->path, &found) == 0 && found.st_dev == local->device &&
        found.st_ino == local->inode)
        unlink(local->path);
}
