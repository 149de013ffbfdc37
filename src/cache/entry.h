/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CACHE_ENTRY_H
#define NAILUP_CACHE_ENTRY_H

/*
 * An answer as it lies in the cache: one packed block, immutable from entry_write() until no reader
 * can see it any more. The name of its key is not stored again: it is the question's in the
 * message, in lower case.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/answer.h"
#include "cache/key.h"

struct entry {
    uint64_t stored_at; /* us */
    uint32_t ttl_s;
    uint32_t next_retired; /* the shard's, under its lock; readers never look */
    uint16_t message_len;
    uint16_t ttl_count;
    uint16_t ede[2];
    uint8_t name_len, flags, view;
    uint8_t kind_ede; /* enum answer_kind; shifted by 2 the number of EDE codes; by 4 the error that
                         is told, counted from ERR_TLS_NOT_SPOKEN as 1, or ENTRY_STALE */
    uint8_t bytes[];  /* the message; at the next even byte the offsets of its TTLs; behind them
                         stale_s if there is one */
};

enum { ENTRY_STALE = 15 };

enum { ENTRY_MESSAGE_AT = offsetof(struct entry, bytes), ENTRY_QUESTION_AT = 12 };

/* Whether the answer can be an entry under the key: it may be cached at all, is not too large and
 * its question is the key's, in lower case. */
bool entry_fits(const struct cache_key *key, const struct answer *answer);

/* Bytes of the entry for this answer. */
size_t entry_size(const struct answer *answer);

/* Fills the entry; there must be entry_size() bytes, and entry_fits() true. */
void entry_write(struct entry *entry, const struct cache_key *key, const struct answer *answer);

/* The entry as an answer that borrows from it. */
void entry_view(const struct entry *entry, struct answer *out);

/* The key it was stored under, with its hash. */
void entry_key(const struct entry *entry, uint64_t seed, struct cache_key *out);

/* Whether it was stored under this key. Does not look at the hash. */
bool entry_matches(const struct entry *entry, const struct cache_key *key);

/* When its time is over, in us. */
static inline uint64_t entry_ends_at(const struct entry *entry)
{
    return entry->stored_at + (uint64_t)entry->ttl_s * 1000000;
}

#endif
