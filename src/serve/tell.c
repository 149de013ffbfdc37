/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* What taps see of a client's query. Decides nothing, and is not called while nobody watches. */
#include "serve/tell.h"

#include "loop/loop.h"
#include "serve/reply.h"
#include "serve/request.h"

static const struct addr *local_of(const struct sink *sink, const struct udp_path *path)
{
    bool is_in_path = path && addr_family(&path->local) != AF_UNSPEC;
    return is_in_path ? &path->local : sink->local(sink);
}

static struct tap_message tell_message_of(const struct sink *sink, struct span bytes,
                                          const struct udp_path *path)
{
    return (struct tap_message){
        .transport = sink->transport,
        .asker = sink_client(sink, path),
        .asked = local_of(sink, path),
        .asked_at = loop_now(sink->requests->loop),
        .bytes = bytes,
    };
}

void tell_query(const struct sink *sink, struct span bytes, const struct udp_path *path)
{
    struct tap_message message = tell_message_of(sink, bytes, path);
    for (struct tap *tap = sink->requests->taps; tap; tap = tap->next)
        if (tap->on_query)
            tap->on_query(tap, &message);
}

/* No answer about a name answered here may be kept. */
static enum tap_origin origin_at_hand(const struct answer *answer)
{
    if (answer->stale_s)
        return TAP_FROM_STALE;
    return answer->ttl_s ? TAP_FROM_CACHE : TAP_FROM_LOCAL;
}

/* Without a source: of the cache, where another worker put it meanwhile or it was past its end. */
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
    case TELL_LIMITED:
        break;
    }
    return TAP_FROM_LIMIT;
}

void tell_reply(const struct sink *sink, const struct reply *reply, struct span bytes,
                const struct udp_path *path, const struct tell_how *how)
{
    const struct query *query = reply->query;
    struct tap_reply told = {
        .message = tell_message_of(sink, bytes, path),
        .origin = origin_of(reply, how),
        .source = how->source,
        .flags = query->flags,
        .dnssec_ok = query->dnssec_ok,
        .rcode = bytes.len ? reply->rcode : 0,
    };
    told.message.answered_at = told.message.asked_at;
    if (how->end == TELL_WAITED)
        told.message.asked_at = how->asked_at;
    if (query->has_question) {
        told.name = span_of(query->question.name.wire, query->question.name.len);
        told.type = query->question.type;
        told.cls = query->question.cls;
    }
    for (struct tap *tap = sink->requests->taps; tap; tap = tap->next)
        if (tap->on_reply)
            tap->on_reply(tap, &told);
}
