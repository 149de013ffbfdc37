/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Copies and their bound. Invariant: held_messages.bytes is the sum of size_bytes of all held
 * messages, which is BLOCK_BYTES for each small one. */
#include "resolve/held_message.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/units.h"
#include "dns/rrtype.h"

enum { BLOCK_BYTES = 1536 }; /* for a message of 700 bytes, as most are */

void held_messages_init(struct held_messages *all)
{
    *all = (struct held_messages){0};
}

void held_messages_deinit(struct held_messages *all)
{
    MUST(all->bytes == 0);
    spares_clear(&all->spares);
}

struct held_message *held_message_new(struct held_messages *all, const struct exchange_answer *from,
                                      const struct validating *validating,
                                      const struct response *response, uint64_t now)
{
    struct span bytes = from->message->bytes;
    size_t size = MAX(sizeof(struct held_message) + bytes.len, (size_t)BLOCK_BYTES);
    if (size > HELD_MESSAGES_BYTES_MAX - all->bytes)
        return NULL;
    struct held_message *held =
        size > BLOCK_BYTES ? malloc(size) : spares_take(&all->spares, BLOCK_BYTES);
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
    held->is_plain = response && response_to_plain(&held->response, response);
    all->bytes += size;
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

void held_message_free(struct held_messages *all, struct held_message *held)
{
    if (!held)
        return;
    MUST(all->bytes >= held->size_bytes);
    all->bytes -= held->size_bytes;
    if (held->size_bytes > BLOCK_BYTES)
        free(held);
    else
        spares_give(&all->spares, held, HELD_MESSAGES_SPARES_MAX);
}
