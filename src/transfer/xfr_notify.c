/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * A NOTIFY has the zone as its question, and may have the new SOA record as an answer.
 */
#include "transfer/xfr_notify.h"

#include "base/check.h"
#include "dns/build.h"
#include "dns/message.h"
#include "dns/rdata.h"
#include "dns/rrtype.h"

enum { SOA_NUMBERS = 20 };

static void read_serial(struct xfr_notify *out, const struct message *message)
{
    uint8_t rdata[2 * NAME_WIRE_MAX + SOA_NUMBERS];
    struct rr_iter iter = message_rrs(message, SECTION_ANSWER);
    for (struct rr rr; message_rr_next(&iter, &rr);) {
        if (rr.type != RRTYPE_SOA || rr.cls != RRCLASS_IN ||
            !message_owner_is(message, &rr, message->question.name))
            continue;
        size_t len = rdata_expand(message, &rr, rdata, sizeof(rdata));
        out->has_serial = len > 0;
        out->serial = len > 0 ? get_u32(rdata + len - SOA_NUMBERS) : 0;
        return;
    }
}

bool xfr_notify_read(struct xfr_notify *out, struct span bytes)
{
    struct message message;
    if (message_parse(&message, bytes) != MESSAGE_OK || message.has_trailing ||
        message_is_answer(&message) || message_opcode(&message) != OPCODE_NOTIFY ||
        !message.has_question || message.question.type != RRTYPE_SOA ||
        message.question.cls != RRCLASS_IN)
        return false;
    *out = (struct xfr_notify){.id = message.id, .has_tsig = message.has_tsig};
    out->zone_len = name_copy(message.question.name, out->zone_wire).len;
    read_serial(out, &message);
    return true;
}

size_t xfr_notify_reply(const struct xfr_notify *notify, uint16_t rcode,
                        uint8_t out[XFR_NOTIFY_REPLY_MAX])
{
    struct build build;
    struct question question = {xfr_notify_zone(notify), RRTYPE_SOA, RRCLASS_IN};
    build_init(&build, out, XFR_NOTIFY_REPLY_MAX);
    build_header(&build, notify->id, HEADER_QR | (rcode == RCODE_NOERROR ? HEADER_AA : 0));
    build_question(&build, &question);
    size_t len = build_finish(&build);
    MUST(len > 0);
    header_set_opcode(out, OPCODE_NOTIFY);
    header_set_rcode(out, (uint8_t)rcode);
    return len;
}
