/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_NET_OUTGOING_FILES_H
#define NAILUP_NET_OUTGOING_FILES_H

struct loop;

/* Bounds the descriptors that the outgoing sockets of a loop (dialled connections and UDP queries)
 * may take from now on. If this is never called, only the limit of the process applies. Clients'
 * connections have a separate bound, so that one side cannot take the descriptors of the other.
 * Does nothing when out of memory. On the loop's thread. */
void outgoing_files_limit(struct loop *loop, unsigned max);

#endif
