/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONTROL_LOCAL_SOCKET_H
#define NAILUP_CONTROL_LOCAL_SOCKET_H

/* A listening Unix socket with its file: made, taken over from a dead process, removed. */

#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

struct local_socket {
    int fd; /* non-blocking; -1: closed */
    dev_t device;
    ino_t inode; /* identifies the file that we made; no other file is removed */
    char path[108];
};

/* The path of the file and its owner and mode. */
struct local_place {
    const char *path;
    mode_t mode;
    uid_t uid; /* (uid_t)-1: the user of the process */
    gid_t gid; /* likewise */
};

/* Replaces a socket at the path that has no listener. A socket with a listener is
 * ERR_ADDRESS_IN_USE. Leaves a file of another kind alone. Owner and mode are set before the first
 * client can connect. On error why gets a sentence that says what to do. The process has no umask
 * during
 * the call: no other thread may make files then. */
MUST_USE enum err local_socket_open(struct local_socket *out, const struct local_place *place,
                                    char *why, size_t why_size);

/* Closes the socket and removes its file, if the file is still ours. A second call is fine. */
void local_socket_close(struct local_socket *local);

#endif
