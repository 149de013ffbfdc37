/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CACHE_VISIT_H
#define NAILUP_CACHE_VISIT_H

/* The items that a walk over the cache shows (cache_walk()), and filters for stores. */

#include <stdbool.h>
#include <stdint.h>

#include "cache/answer.h"
#include "dns/name.h"

struct cache_item {
    struct answer answer; /* borrowed for the visit; may have expired */
    uint8_t flags, view;  /* parts of its key; the message's question has the others */
    uint32_t space;       /* likewise */
    bool is_marked;       /* found since it was stored, or since SIEVE cleared the mark */
};

enum cache_verdict { CACHE_KEEP, CACHE_DROP };

/* Runs in a read section, so it must not wait. */
typedef enum cache_verdict (*cache_visit)(void *context, const struct cache_item *item);

/* Decides which answers from a file or an operator may be stored. */
struct cache_filter {
    /* name is the QNAME in lower case. NULL: every answer may be stored. */
    bool (*may_store)(const void *context, struct name name, const struct answer *answer);
    const void *context;
};

static inline bool cache_filter_takes(const struct cache_filter *filter, struct name name,
                                      const struct answer *answer)
{
    return !filter->may_store || filter->may_store(filter->context, name, answer);
}

#endif
