/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_NET_FILE_COUNT_H
#define NAILUP_NET_FILE_COUNT_H

/* Private to src/net: how many files the outgoing sockets of a loop have, and may have. */

#include <stdbool.h>

enum file_use { FILE_DIAL, FILE_UDP };

/* UDP queries of one loop at once, however many files there are: servers that do not answer must
 * not make it open sockets without end. A query beyond that waits in line (udp_sockets.h). */
enum { FILE_UDP_MAX = 8192 };

struct file_count {
    unsigned max, taken;
    unsigned udp_max, udp_taken;
};

void file_count_init(struct file_count *count); /* no bound but FILE_UDP_MAX */

/* UDP queries leave a quarter of max to dials, and take FILE_UDP_MAX at most. */
void file_count_limit(struct file_count *count, unsigned max);

/* Takes one more; false: all are taken. */
bool file_count_take(struct file_count *count, enum file_use use);
void file_count_give(struct file_count *count, enum file_use use);

#endif
