/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Checks a message that claims to be a cached answer. The caller decides how long to keep it. */
#include "cache/revive.h"

#include "dns/message.h"
#include "dns/rrtype.h"
#include "dns/ttl.h"

enum { FLAGS_NEEDED = HEADER_QR | HEADER_RA, FLAGS_ALLOWED = HEADER_AD | HEADER_RCODE_MASK };

static bool has_form(const struct message *message)
{
    if (!message->has_question || message->has_trailing || message->edns.present ||
        message->has_tsig || message->has_sig0 || message->id != 0)
        return false;
    return (message->flags & ~FLAGS_ALLOWED) == FLAGS_NEEDED;
}

static bool is_kind(const struct message *message, uint8_t kind)
{
    uint16_t rcode = message->flags & HEADER_RCODE_MASK;
    switch (kind) {
    case ANSWER_POSITIVE:
        return message->counts[SECTION_ANSWER] > 0 &&
               (rcode == RCODE_NOERROR || rcode == RCODE_YXDOMAIN);
    case ANSWER_NODATA:
        return rcode == RCODE_NOERROR;
    case ANSWER_NXDOMAIN:
        return rcode == RCODE_NXDOMAIN;
    default:
        return false;
    }
}

static bool has_sound_records(const struct message *message)
{
    struct rr_iter iter = message_all_rrs(message);
    for (struct rr rr; message_rr_next(&iter, &rr);)
        if (rrtype_is_meta(rr.type) || rr.cls != message->question.cls)
            return false;
    return message_check_rdata(message);
}

bool revive(struct revived *out, struct span bytes, uint8_t kind)
{
    struct message message;
    if (message_parse(&message, bytes) != MESSAGE_OK || !has_form(&message) ||
        message.question.cls != RRCLASS_IN || !is_kind(&message, kind) ||
        !has_sound_records(&message))
        return false;
    size_t count = ttl_collect(&message, out->offsets, REVIVE_RECORDS_MAX);
    if (count > REVIVE_RECORDS_MAX)
        return false;
    out->question = message.question;
    out->answer = (struct answer){
        .message = bytes,
        .ttl_offsets = out->offsets,
        .ttl_count = (uint16_t)count,
        .kind = kind,
    };
    return true;
}
