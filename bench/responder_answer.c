/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Makes the responder's answers, and says when they are due. Other files send them. */

#include "responder.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/rand.h"

struct bench_answer responder_answer(const struct listener *listener, struct span query,
                                     bool is_stream, const struct addr *from, uint8_t *out)
{
    struct answer_style style = listener->responder->options.style;
    style.place = listener->place.level == TREE_NONE ? NULL : &listener->place;
    return answer_make(&style, query, is_stream, from, out);
}

uint64_t responder_due_us(const struct responder *responder, const struct bench_answer *answer,
                          const struct conn *conn)
{
    const struct responder_options *options = &responder->options;
    uint64_t start = responder->now_us;
    uint64_t delay_us = (uint64_t)(options->delay_ms * 1000);
    /* Loopback connects without delay. Over a distance, the first query would leave one round trip
     * after the dial, so a connection is not answered before two delays have passed. */
    if (conn && options->handshake && delay_us)
        start = MAX(start, conn->accepted_at + delay_us);
    if (answer->has_delay)
        delay_us = (uint64_t)answer->delay_ms * 1000;
    if (options->jitter_ms > 0)
        delay_us += rand_below((uint64_t)(options->jitter_ms * 1000) + 1);
    return start + delay_us;
}

bool responder_delay(struct responder *responder, const struct delayed_answer *like,
                     const uint8_t *bytes, uint64_t due_us)
{
    struct delayed_answer *answer = malloc(sizeof(*answer) + like->len);
    if (!answer)
        return false;
    *answer = *like;
    answer->delayed.due_us = due_us;
    memcpy(answer->bytes, bytes, like->len);
    if (delay_line_add(&responder->line, &answer->delayed) == ERR_OK)
        return true;
    free(answer);
    return false;
}
