/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Packs answers into entries and shows them again. The cache decides where an entry lies and which
 * readers see it. Invariant: only next_retired changes after entry_write(). */
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

static size_t extra_at(size_t message_len, size_t ttl_count)
{
    return offsets_at(message_len) + sizeof(uint16_t) * ttl_count;
}

static size_t text_size(const struct answer *answer)
{
    return strnlen(answer->text, ANSWER_TEXT_MAX - 1) + 1;
}

/* until_s and signer_labels. */
enum { SIGNED_BYTES = 5 };

static size_t extra_size(const struct answer *answer)
{
    if (answer->stale_s)
        return sizeof(answer->stale_s);
    return answer->text ? text_size(answer) : answer->signatures.until_s ? SIGNED_BYTES : 0;
}

size_t entry_size(const struct answer *answer)
{
    return ENTRY_MESSAGE_AT + extra_at(answer->message.len, answer->ttl_count) + extra_size(answer);
}

_Static_assert(sizeof(struct entry) == 32 && ENTRY_MESSAGE_AT == 32, "an entry did not grow");

_Static_assert(ERR_COUNT - ERR_TLS_NOT_SPOKEN < ENTRY_EXTRA,
               "the errors that clients see fit into four bits");

/* Packs the fields that few answers have: the error of a failure, or a mark that more bytes follow.
 * These bytes are the text of a failure, the age of a stale answer, or the signature data of a
 * secure answer. A failure is never stale. */
static unsigned pack_rare(const struct answer *answer)
{
    uint8_t error = answer->error;
    if (answer->stale_s || answer->text)
        return ENTRY_EXTRA;
    if (answer->signatures.until_s)
        return ENTRY_SIGNED;
    return error >= ERR_TLS_NOT_SPOKEN && error < ERR_COUNT ? error - ERR_TLS_NOT_SPOKEN + 1u : 0;
}

static void unpack_rare(const struct entry *entry, unsigned packed, struct answer *out)
{
    const uint8_t *extra = entry->bytes + extra_at(entry->message_len, entry->ttl_count);
    if (out->kind == ANSWER_FAILURE && packed == ENTRY_EXTRA) {
        out->text = (const char *)extra;
    } else if (out->kind == ANSWER_FAILURE) {
        out->error = (uint8_t)(packed - 1 + ERR_TLS_NOT_SPOKEN);
    } else if (packed == ENTRY_EXTRA) {
        memcpy(&out->stale_s, extra, sizeof(out->stale_s));
    } else {
        memcpy(&out->signatures.until_s, extra, sizeof(out->signatures.until_s));
        out->signatures.signer_labels = extra[sizeof(out->signatures.until_s)];
    }
}

static void write_extra(uint8_t *extra, const struct answer *answer)
{
    if (answer->stale_s) {
        memcpy(extra, &answer->stale_s, sizeof(answer->stale_s));
        return;
    }
    if (!answer->text) {
        memcpy(extra, &answer->signatures.until_s, sizeof(answer->signatures.until_s));
        extra[sizeof(answer->signatures.until_s)] = answer->signatures.signer_labels;
        return;
    }
    size_t size = text_size(answer);
    memcpy(extra, answer->text, size - 1);
    extra[size - 1] = 0;
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
    entry->flags_security = (uint8_t)(key->flags | answer->security << ENTRY_SECURITY_SHIFT);
    entry->view = key->view;
    entry->space = key->space;
    entry->kind_ede =
        (uint8_t)(answer->kind | (unsigned)answer->ede_count << 2 | pack_rare(answer) << 4);
    memcpy(entry->bytes, answer->message.data, answer->message.len);
    if (answer->ttl_count > 0)
        memcpy(entry->bytes + offsets_at(answer->message.len), answer->ttl_offsets,
               sizeof(uint16_t) * answer->ttl_count);
    if (extra_size(answer))
        write_extra(entry->bytes + extra_at(answer->message.len, answer->ttl_count), answer);
}

void entry_view(const struct entry *entry, struct answer *out)
{
    out->message = span_of(entry->bytes, entry->message_len);
    out->ttl_offsets =
        (const uint16_t *)(const void *)(entry->bytes + offsets_at(entry->message_len));
    out->ttl_count = entry->ttl_count;
    out->kind = entry->kind_ede & 3;
    out->ede_count = entry->kind_ede >> 2 & 3;
    out->error = 0;
    out->ede[0] = entry->ede[0];
    out->ede[1] = entry->ede[1];
    out->is_due = false;
    out->security = entry->flags_security >> ENTRY_SECURITY_SHIFT;
    out->signatures = (struct answer_signed){0};
    out->ttl_s = entry->ttl_s;
    out->stale_s = 0;
    out->stored_at = entry->stored_at;
    out->text = NULL;
    if (entry->kind_ede >> 4)
        unpack_rare(entry, entry->kind_ede >> 4, out);
}

void entry_key(const struct entry *entry, uint64_t seed, struct cache_key *out)
{
    const uint8_t *question = entry->bytes + ENTRY_QUESTION_AT;
    out->name_len = entry->name_len;
    out->flags = entry_flags(entry);
    out->view = entry->view;
    out->space = entry->space;
    memcpy(out->name, question, entry->name_len);
    out->type = get_u16(question + entry->name_len);
    out->cls = get_u16(question + entry->name_len + 2);
    out->hash = key_hash(out, seed);
}

bool entry_matches(const struct entry *entry, const struct cache_key *key)
{
    return entry->name_len == key->name_len && entry_flags(entry) == key->flags &&
           entry->view == key->view && entry->space == key->space &&
           has_question(entry->bytes, key);
}
