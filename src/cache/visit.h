/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CACHE_VISIT_H
#define NAILUP_CACHE_VISIT_H

/* What a walk over the cache (cache_walk() of cache/cache.h) shows of each answer. */

#include <stdbool.h>
#include <stdint.h>

#include <stdbool.h>

#include "cache/answer.h"
#include "dns/name.h"

struct cache_item {
    struct answer answer; /* borrowed for the visit; its time may be over */
    uint8_t flags, view;  /* of its key; the rest of the key is the message's question */
    bool marked;          /* it was found since it was stored, or since SIEVE looked */
};

enum cache_verdict { CACHE_KEEP, CACHE_DROP };

/* Called in a read section: it must not wait. */
typedef enum cache_verdict (*cache_visit)(void *context, const struct cache_item *item);

/* Decides which answers from outside may be stored. */
struct cache_filter {
    /* name: the question's, in lower case. NULL: all may. */
    bool (*may_store)(const void *context, struct name name, const struct answer *answer);
    const void *context;
};

static inline bool cache_filter_takes(const struct cache_filter *filter, struct name name,
                                      const struct answer *answer)
{
    return !filter->may_store || filter->may_store(filter->context, name, answer);
}

#endif
