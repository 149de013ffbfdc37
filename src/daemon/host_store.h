/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_HOST_STORE_H
#define NAILUP_DAEMON_HOST_STORE_H

/*
 * upstream.host-file on the disk: read once at the start, and replaced as a whole. Each problem is
 * logged once. The calls block. Main thread only.
 */

#include <stdbool.h>

struct host_file;

/* {0}: no file. */
struct host_store {
    char *path;      /* NULL: nothing is saved */
    bool has_warned; /* the file cannot be written */
};

/* Opens the store at this path and reads the file into *out, which is empty where the file is
 * missing, damaged, or not private. A file of another kind stays as it is and is not
 * read. An empty path means no file. */
void host_store_open(struct host_store *store, const char *path, struct host_file *out);

/* Whether host_store_save() writes. */
bool host_store_is_open(const struct host_store *store);

void host_store_save(struct host_store *store, const struct host_file *file);

void host_store_deinit(struct host_store *store);

#endif
