/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Packs answers into entries and shows them again. Where an entry lies and who may see it is the
 * shard's affair. Invariant: nothing of an entry but next_retired changes after entry_write(). */
#include "cache/entry.h"

#include <string.h>

#include "base/check.h"
#include "base/err.h"

static size_t offsets_at(size_t message_len)
{
    return (message_len + 1) & ~(size_t)1;
}

/* The name, type and class of the question in the message. */
static bool has_question(const uint8_t *message, const struct cache_key *key)
{
    const uint8_t *question = message + ENTRY_QUESTION_AT;
    return memcmp(question, key->name, key->name_len) == 0 &&
           get_u16(question + key->name_len) == key->type &&
           get_u16(question + key->name_len + 2) == key->cls;
}

bool entry_fits(const struct cache_key *key, const struct answer *answer)
{
    struct span message = answer->message;
    if (answer->ttl_s == 0 || message.len > UINT16_MAX || answer->ede_count > 2)
        return false;
    return message.len >= ENTRY_QUESTION_AT + key->name_len + 4u && has_question(message.data, key);
}

size_t entry_size(const struct answer *answer)
{
    return ENTRY_MESSAGE_AT + offsets_at(answer->message.len) +
           sizeof(uint16_t) * answer->ttl_count;
}

_Static_assert(ERR_TLS_FAILED - ERR_TLS_NOT_SPOKEN < 15, "the errors of TLS fit four bits");

static unsigned pack_error(uint8_t error)
{
    return error >= ERR_TLS_NOT_SPOKEN && error <= ERR_TLS_FAILED ? error - ERR_TLS_NOT_SPOKEN + 1u
                                                                  : 0;
}

static uint8_t unpack_error(unsigned packed)
{
    return packed ? (uint8_t)(packed - 1 + ERR_TLS_NOT_SPOKEN) : 0;
}

void entry_write(struct entry *entry, const struct cache_key *key, const struct answer *answer)
{
    MUST(answer->message.len <= UINT16_MAX);
    entry->stored_at = answer->stored_at;
    entry->ttl_s = answer->ttl_s;
    entry->next_retired = 0;
    entry->message_len = (uint16_t)answer->message.len;
    entry->ttl_count = answer->ttl_count;
    entry->ede[0] = answer->ede[0];
    entry->ede[1] = answer->ede[1];
    entry->name_len = key->name_len;
    entry->flags = key->flags;
    entry->view = key->view;
    entry->kind_ede =
        (uint8_t)(answer->kind | answer->ede_count << 2 | pack_error(answer->error) << 4);
    memcpy(entry->bytes, answer->message.data, answer->message.len);
    if (answer->ttl_count > 0)
        memcpy(entry->bytes + offsets_at(answer->message.len), answer->ttl_offsets,
               sizeof(uint16_t) * answer->ttl_count);
}

void entry_view(const struct entry *entry, struct answer *out)
{
    out->message = span_of(entry->bytes, entry->message_len);
    out->ttl_offsets =
        (const uint16_t *)(const void *)(entry->bytes + offsets_at(entry->message_len));
    out->ttl_count = entry->ttl_count;
    out->kind = entry->kind_ede & 3;
    out->ede_count = entry->kind_ede >> 2 & 3;
    out->error = unpack_error(entry->kind_ede >> 4);
    out->ede[0] = entry->ede[0];
    out->ede[1] = entry->ede[1];
    out->ttl_s = entry->ttl_s;
    out->stored_at = entry->stored_at;
}

void entry_key(const struct entry *entry, uint64_t seed, struct cache_key *out)
{
    const uint8_t *question = entry->bytes + ENTRY_QUESTION_AT;
    out->name_len = entry->name_len;
    out->flags = entry->flags;
    out->view = entry->view;
    memcpy(out->name, question, entry->name_len);
    out->type = get_u16(question + entry->name_len);
    out->cls = get_u16(question + entry->name_len + 2);
    out->hash = key_hash(out, seed);
}

bool entry_matches(const struct entry *entry, const struct cache_key *key)
{
    return entry->name_len == key->name_len && entry->flags == key->flags &&
           entry->view == key->view && has_question(entry->bytes, key);
}

bool entry_has_name(const struct entry *entry, const struct cache_key *key)
{
    return entry->name_len == key->name_len &&
           memcmp(entry->bytes + ENTRY_QUESTION_AT, key->name, key->name_len) == 0;
}
