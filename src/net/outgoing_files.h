/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_NET_OUTGOING_FILES_H
#define NAILUP_NET_OUTGOING_FILES_H

struct loop;

/* How many files the sockets of a loop may take from now on that ask others: dialled connections and
 * UDP queries. Without it there is no bound but the process's. Clients' connections are bounded
 * elsewhere, so neither side can take the files of the other. Nothing happens when out of memory.
 * The loop's thread. */
void outgoing_files_limit(struct loop *loop, unsigned max);

#endif
