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
    ino_t inode; /* of the file we made: only that one is removed */
    char path[108];
};

/* Where the file is, and who may use it. */
struct local_place {
    const char *path;
    mode_t mode;
    uid_t uid; /* (uid_t)-1: who makes it */
    gid_t gid; /* likewise */
};

/* A socket at the path where nobody listens is replaced; where somebody does it is
 * ERR_ADDRESS_IN_USE; a file that is no socket stays. Who may use the file is decided before the
 * first can. why gets a sentence that says what to do. While it runs the process has no umask: no
 * other thread makes files then. */
MUST_USE enum err local_socket_open(struct local_socket *out, const struct local_place *place,
                                    char *why, size_t why_size);

/* Closes it and removes its file, if it is still ours. Twice is fine. */
void local_socket_close(struct local_socket *socket);

#endif
