/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* What taps see of an attempt (base/tap.h). Decides nothing. */
#include "upstream/attempt_inside.h"

#include "base/tap.h"
#include "loop/loop.h"
#include "net/link.h"
#include "upstream/attempt.h"
#include "upstream/exchange_question.h"

static struct tap_message attempt_tell_message_of(const struct attempt *attempt, struct span bytes)
{
    return (struct tap_message){
        .transport = attempt_transport(attempt),
        .asker = &attempt->local,
        .asked = &attempt->upstream->addr,
        .asked_at = attempt->sent_at,
        .bytes = bytes,
    };
}

void attempt_tell_sent(struct attempt *attempt, struct span query, struct conn *conn)
{
    attempt->sent_at = loop_now(attempt->env->loop);
    if (conn)
        attempt->local = *link_local(conn->link);
    else
        udp_query_local(attempt->udp, &attempt->local);
    struct tap_message message = attempt_tell_message_of(attempt, query);
    for (struct tap *tap = attempt->env->taps; tap; tap = tap->next)
        if (tap->on_sent)
            tap->on_sent(tap, &message, attempt->asked->recursion_desired);
}

void attempt_tell_heard(const struct attempt *attempt, struct span bytes)
{
    struct tap_message message = attempt_tell_message_of(attempt, bytes);
    message.answered_at = loop_now(attempt->env->loop);
    for (struct tap *tap = attempt->env->taps; tap; tap = tap->next)
        if (tap->on_heard)
            tap->on_heard(tap, &message, attempt->asked->recursion_desired);
}
