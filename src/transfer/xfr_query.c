/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Queries have no EDNS: a transfer does not need it, and some primaries lack it.
 */
#include "transfer/xfr_query.h"

#include "base/check.h"
#include "dns/build.h"
#include "dns/message.h"
#include "dns/rdata.h"
#include "dns/rrtype.h"

enum { SOA_NUMBERS = 20 };

/* The server reads only the serial. */
static void write_held_soa(struct build *build, struct name zone, uint32_t serial)
{
    build_section(build, SECTION_AUTHORITY);
    build_rr_begin(build, zone, RRTYPE_SOA, RRCLASS_IN, 0);
    build_name(build, name_root());
    build_name(build, name_root());
    build_u32(build, serial);
    for (int i = 0; i < 4; i++)
        build_u32(build, 0);
    build_rr_end(build);
}

size_t xfr_query_write(uint8_t out[XFR_QUERY_MAX], struct name zone, uint16_t type, uint16_t id,
                       uint32_t held_serial)
{
    struct build build;
    struct question question = {zone, type, RRCLASS_IN};
    build_init(&build, out, XFR_QUERY_MAX);
    build_header(&build, id, 0);
    build_question(&build, &question);
    if (type == RRTYPE_IXFR)
        write_held_soa(&build, zone, held_serial);
    size_t len = build_finish(&build);
    MUST(len > 0);
    return len;
}

/* Finds the SOA record of the zone in the answer section. */
static enum xfr_probe probe_read_soa(const struct message *message, struct name zone,
                                     uint32_t *serial)
{
    uint8_t rdata[2 * NAME_WIRE_MAX + SOA_NUMBERS];
    struct rr_iter iter = message_rrs(message, SECTION_ANSWER);
    for (struct rr rr; message_rr_next(&iter, &rr);) {
        if (rr.type != RRTYPE_SOA || rr.cls != RRCLASS_IN || !message_owner_is(message, &rr, zone))
            continue;
        size_t len = rdata_expand(message, &rr, rdata, sizeof(rdata));
        if (len == 0)
            return XFR_PROBE_MALFORMED;
        *serial = get_u32(rdata + len - SOA_NUMBERS);
        return message->flags & HEADER_AA ? XFR_PROBE_SERIAL : XFR_PROBE_NOT_PRIMARY;
    }
    return XFR_PROBE_NOT_PRIMARY;
}

enum xfr_probe xfr_probe_read(struct span bytes, struct name zone, uint16_t id, uint32_t *serial,
                              uint16_t *rcode)
{
    struct message message;
    struct question question = {zone, RRTYPE_SOA, RRCLASS_IN};
    *rcode = RCODE_NOERROR;
    if (message_parse(&message, bytes) != MESSAGE_OK)
        return XFR_PROBE_MALFORMED;
    if (!message_is_answer(&message) || message.id != id ||
        message_opcode(&message) != OPCODE_QUERY ||
        (message.has_question && !question_equal(&message.question, &question)))
        return XFR_PROBE_UNRELATED;
    *rcode = message_rcode(&message);
    if (*rcode != RCODE_NOERROR)
        return XFR_PROBE_RCODE;
    return message.has_question ? probe_read_soa(&message, zone, serial) : XFR_PROBE_UNRELATED;
}
