/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_NET_FILE_COUNT_H
#define NAILUP_NET_FILE_COUNT_H

/* Private to src/net: counts and bounds the descriptors (files) of a loop's outgoing sockets. */

#include <stdbool.h>

enum file_use { FILE_DIAL, FILE_UDP };

/* The most UDP sockets of a loop, even if more descriptors are free: silent servers must not make
 * it open sockets without end. Further queries wait in line (udp_query.h). */
enum { FILE_UDP_MAX = 8192 };

struct file_count {
    unsigned max, taken;
    unsigned udp_max, udp_taken;
};

void file_count_init(struct file_count *count); /* bounded only by FILE_UDP_MAX */

/* Sets the bound. UDP queries leave a quarter of it to dials and take FILE_UDP_MAX at most. */
void file_count_limit(struct file_count *count, unsigned max);

/* Counts one more descriptor; returns false if the bound is reached. */
bool file_count_take(struct file_count *count, enum file_use use);
void file_count_give(struct file_count *count, enum file_use use);

#endif
