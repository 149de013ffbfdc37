/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Copies and their bound. Invariant: *held_bytes is the sum of size_bytes of all held answers. */
#include "resolve/held_answer.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "cache/compose.h"

static size_t held_size(const struct answer *answer, struct span message)
{
    return sizeof(struct held_answer) + message.len + sizeof(*answer) + answer->message.len +
           answer->ttl_count * sizeof(*answer->ttl_offsets);
}

struct held_answer *held_answer_new(size_t *held_bytes, const struct answer *answer,
                                    struct span message)
{
    size_t size = held_size(answer, message);
    if (size > HELD_ANSWERS_BYTES_MAX - *held_bytes)
        return NULL;
    struct held_answer *held = malloc(sizeof(*held) + message.len);
    if (!held)
        return NULL;
    held->answer = compose_dup(answer);
    if (!held->answer) {
        free(held);
        return NULL;
    }
    held->size_bytes = size;
    held->message_len = message.len;
    memcpy(held->message, message.data, message.len);
    *held_bytes += size;
    return held;
}

struct answer *held_answer_take(size_t *held_bytes, struct held_answer *held)
{
    struct answer *answer = held->answer;
    MUST(*held_bytes >= held->size_bytes);
    *held_bytes -= held->size_bytes;
    free(held);
    return answer;
}

void held_answer_free(size_t *held_bytes, struct held_answer *held)
{
    if (held)
        free(held_answer_take(held_bytes, held));
}
