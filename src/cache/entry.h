/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CACHE_ENTRY_H
#define NAILUP_CACHE_ENTRY_H

/*
 * An answer in the cache's memory: one packed block, immutable from entry_write() until no reader
 * can see it. The key's name is not stored twice: it is the QNAME in the message, in lower case.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/answer.h"
#include "cache/key.h"

struct entry {
    uint64_t stored_at; /* us */
    uint32_t ttl_s;
    uint32_t next_retired; /* used by writers under the shard's lock; readers never look */
    uint16_t message_len;
    uint16_t ttl_count;
    uint16_t ede[2];
    uint32_t space; /* the key's space */
    uint8_t name_len;
    uint8_t flags_security; /* bits 0-3: the key's flags; bits 4-7: enum security */
    uint8_t view;
    uint8_t kind_ede; /* bits 0-1: enum answer_kind; bits 2-3: the number of EDE codes; bits 4-7:
                         of a failure the error, counted from ERR_TLS_NOT_SPOKEN as 1, or
                         ENTRY_EXTRA; of others ENTRY_SIGNED, ENTRY_EXTRA or 0 */
    uint8_t bytes[];  /* the message; from the next even byte the TTL offsets; then, with
                         ENTRY_EXTRA, the text of a failure, or stale_s of a stale answer; with
                         ENTRY_SIGNED, struct answer_signed without padding */
};

enum { ENTRY_SIGNED = 1, ENTRY_EXTRA = 15, ENTRY_FLAGS_MASK = 15, ENTRY_SECURITY_SHIFT = 4 };

enum { ENTRY_MESSAGE_AT = offsetof(struct entry, bytes), ENTRY_QUESTION_AT = 12 };

/* Returns whether the answer can be stored under the key: it may be cached, is not too large, and
 * its question is the key's in lower case. */
bool entry_fits(const struct cache_key *key, const struct answer *answer);

/* Returns the bytes that the entry of this answer takes. */
size_t entry_size(const struct answer *answer);

/* Fills in the entry. It needs entry_size() bytes, and entry_fits() must be true. */
void entry_write(struct entry *entry, const struct cache_key *key, const struct answer *answer);

/* Shows the entry as an answer that borrows from it. */
void entry_view(const struct entry *entry, struct answer *out);

/* Makes the key that the entry was stored under, with its hash. */
void entry_key(const struct entry *entry, uint64_t seed, struct cache_key *out);

/* Returns whether the entry was stored under this key. Does not compare hashes. */
bool entry_matches(const struct entry *entry, const struct cache_key *key);

static inline uint8_t entry_flags(const struct entry *entry)
{
    return entry->flags_security & ENTRY_FLAGS_MASK;
}

#endif
