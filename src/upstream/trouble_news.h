/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_TROUBLE_NEWS_H
#define NAILUP_UPSTREAM_TROUBLE_NEWS_H

/*
 * Remembers which failures the workers have already logged. All workers dial the same upstreams and
 * fail at about the same time, each with its own back-off: the operator needs one line and not one
 * for each worker. trouble.h is the same for one worker, and is asked first.
 *
 * One for the process. Any thread: a lock guards it, which is taken only where a worker has a line
 * to write. The instants are of one clock.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "upstream/trouble.h"

/* Upstreams in trouble that are remembered; a further one displaces the oldest. */
enum { TROUBLE_NEWS_MAX = 256 };

struct trouble_news_item {
    uint64_t upstream; /* 0: free */
    uint32_t pools;    /* how many pools of all workers are in trouble */
    struct trouble trouble;
};

struct trouble_news {
    pthread_mutex_t lock;
    struct trouble_news_item items[TROUBLE_NEWS_MAX];
};

void trouble_news_init(struct trouble_news *news);

/* Notes a failure that a pool would log; is_first: its first one since it last worked. upstream:
 * upstream_options_dial_hash(). Returns whether no worker has logged this reason in the last
 * TROUBLE_AGAIN_US. */
bool trouble_news_fail(struct trouble_news *news, uint64_t upstream, unsigned reason, bool is_first,
                       uint64_t now);

/* Ends the trouble of a pool, because its upstream works or the pool goes. Returns whether it was
 * the last pool in trouble: then the return of the upstream is news. */
bool trouble_news_end(struct trouble_news *news, uint64_t upstream);

#endif
