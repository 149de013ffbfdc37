/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Copies and their bound. Invariant: *held_bytes is the sum of size_bytes of all held messages. */
#include "resolve/held_message.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/units.h"
#include "dns/rrtype.h"

struct held_message *held_message_new(size_t *held_bytes, const struct exchange_answer *from,
                                      const struct validating *validating, uint64_t now)
{
    struct span bytes = from->message->bytes;
    size_t size = sizeof(struct held_message) + bytes.len;
    if (size > HELD_MESSAGES_BYTES_MAX - *held_bytes)
        return NULL;
    struct held_message *held = malloc(size);
    if (!held)
        return NULL;
    memcpy(held->bytes, bytes.data, bytes.len);
    message_move(&held->message, from->message, held->bytes);
    message_note_checked(&held->message);
    held->size_bytes = size;
    held->since = now;
    held->from = *from;
    held->from.message = &held->message;
    held->from.upstream = NULL;
    held->validating = *validating;
    held->is_harvest = false;
    *held_bytes += size;
    return held;
}

bool held_message_age(struct held_message *held, uint64_t now)
{
    uint32_t elapsed_s = (uint32_t)((now - held->since) / US_PER_S);
    if (!elapsed_s)
        return false;
    for (enum section section = SECTION_ANSWER; section <= SECTION_ADDITIONAL; section++) {
        struct rr_iter iter = message_rrs(&held->message, section);
        for (struct rr rr; message_rr_next(&iter, &rr);)
            if (rr.type != RRTYPE_OPT)
                put_u32(held->bytes + message_ttl_offset(&rr),
                        rr.ttl > elapsed_s ? rr.ttl - elapsed_s : 0);
    }
    return true;
}

void held_message_free(size_t *held_bytes, struct held_message *held)
{
    if (!held)
        return;
    MUST(*held_bytes >= held->size_bytes);
    *held_bytes -= held->size_bytes;
    free(held);
}
