/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Makes and compares keys. Whether a name is sound is dns/name's affair. Invariant: the hash is a
 * function of the other fields and the seed alone, so equal keys have equal hashes. */
#include "cache/key.h"

#include <stddef.h>
#include <string.h>

#include "base/hash.h"

enum { FIELDS_AT = offsetof(struct cache_key, type), NAME_AT = offsetof(struct cache_key, name) };

_Static_assert(NAME_AT - FIELDS_AT == 7, "the hashed fields of a key have padding between them");

static const uint8_t *fields(const struct cache_key *key)
{
    return (const uint8_t *)key + FIELDS_AT;
}

static size_t fields_len(const struct cache_key *key)
{
    return NAME_AT - FIELDS_AT + key->name_len;
}

uint64_t key_hash(const struct cache_key *key, uint64_t seed)
{
    return hash_bytes(fields(key), fields_len(key), seed);
}

void key_init(struct cache_key *key, uint64_t seed, const struct question *question, uint8_t flags,
              uint8_t view)
{
    key->name_len = name_fold(question->name, key->name).len;
    key->type = question->type;
    key->cls = question->cls;
    key->flags = flags;
    key->view = view;
    key->hash = key_hash(key, seed);
}

bool cache_key_equal(const struct cache_key *a, const struct cache_key *b)
{
    /* name_len is among the fields, so a difference in length shows before either name ends. */
    return a->hash == b->hash && a->name_len == b->name_len &&
           memcmp(fields(a), fields(b), fields_len(a)) == 0;
}
