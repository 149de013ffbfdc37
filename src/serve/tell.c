/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Turns queries and replies into events for taps. Decides nothing. */
#include "serve/tell.h"

#include "serve/reply.h"

_Static_assert((int)TAP_ERRORS_MAX == (int)REPLY_ERRORS_MAX, "taps see all extended errors");

struct tell_wishes tell_wishes(const struct tap *taps)
{
    struct tell_wishes wishes = {0};
    for (const struct tap *tap = taps; tap; tap = tap->next) {
        wishes.queries |= tap->on_query != NULL;
        wishes.replies |= tap->on_reply && !tap->wants_only_failures;
        wishes.failures |= tap->on_reply != NULL;
    }
    return wishes;
}

void tell_query(struct tap *taps, const struct tap_message *message)
{
    for (struct tap *tap = taps; tap; tap = tap->next)
        if (tap->on_query)
            tap->on_query(tap, message);
}

/* An answer from local data has no TTL: clients may not keep it. */
static enum tap_origin origin_at_hand(const struct answer *answer)
{
    if (answer->stale_s)
        return TAP_FROM_STALE;
    return answer->ttl_s ? TAP_FROM_CACHE : TAP_FROM_LOCAL;
}

/* Without a source the answer is from the cache: another worker has stored it meanwhile, or it is
 * stale. */
static enum tap_origin origin_waited(const struct answer *answer, const struct tap_source *source)
{
    if (source)
        return TAP_FROM_UPSTREAM;
    return answer->kind == ANSWER_FAILURE ? TAP_FROM_NO_ANSWER : origin_at_hand(answer);
}

static enum tap_origin origin_of(const struct reply *reply, const struct tell_how *how)
{
    switch (how->end) {
    case TELL_AT_HAND:
        return origin_at_hand(reply->answer);
    case TELL_WAITED:
        return origin_waited(reply->answer, how->source);
    case TELL_REFUSED:
        return TAP_FROM_REFUSAL;
    case TELL_TAKEN:
        return TAP_FROM_LOCAL;
    case TELL_LIMITED:
        break;
    }
    return TAP_FROM_LIMIT;
}

/* An answer has its errors even where its reply has no room for them. */
static void tell_errors(struct tap_reply *told, const struct reply *reply)
{
    const struct answer *answer = reply->answer;
    const uint16_t *ede = answer ? answer->ede : reply->ede;
    told->ede_count = answer ? answer->ede_count : reply->ede_count;
    for (unsigned i = 0; i < told->ede_count; i++)
        told->ede[i] = ede[i];
    if (told->ede_count > 0)
        told->ede_text = answer ? reply_text_of(answer) : reply->ede_text;
}

void tell_reply(struct tap *taps, const struct tap_message *message, const struct reply *reply,
                const struct tell_how *how)
{
    const struct query *query = reply->query;
    struct tap_reply told = {
        .message = *message,
        .origin = origin_of(reply, how),
        .source = how->source,
        .flags = query->flags,
        .dnssec_ok = query->dnssec_ok,
        .rcode = message->bytes.len ? reply->rcode : 0,
        .ede_text = "",
    };
    if (message->bytes.len > 0)
        tell_errors(&told, reply);
    told.message.answered_at = told.message.asked_at;
    if (how->end == TELL_WAITED)
        told.message.asked_at = how->asked_at;
    if (query->has_question) {
        told.name = span_of(query->question.name.wire, query->question.name.len);
        told.type = query->question.type;
        told.cls = query->question.cls;
    }
    for (struct tap *tap = taps; tap; tap = tap->next)
        if (tap->on_reply)
            tap->on_reply(tap, &told);
}
