/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The messages of a transfer, each with its length. The first byte chooses AXFR or IXFR, the second
 * the held serial. The sink checks that records are inside the zone, that the transfer begins once,
 * and that a whole zone has no removal. A complete whole zone adds one SOA record more than it
 * removes, and complete changes add as many as they remove.
 */
#include "base/check.h"
#include "dns/rrtype.h"
#include "transfer/xfr_query.h"
#include "transfer/xfr_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct heard {
    struct name zone;
    bool has_begun, is_whole;
    int soas;
};

static enum err on_begin(void *owner, bool is_whole)
{
    struct heard *heard = owner;
    MUST(!heard->has_begun);
    heard->has_begun = true;
    heard->is_whole = is_whole;
    return ERR_OK;
}

static void check_record(struct heard *heard, struct name name, uint16_t type, struct span rdata)
{
    MUST(heard->has_begun && name_is_below(name, heard->zone) && !rrtype_is_meta(type));
    MUST(type != RRTYPE_SOA || (name_equal(name, heard->zone) && rdata.len >= 22));
    MUST(type != RRTYPE_A || rdata.len == 4);
}

static enum err on_add(void *owner, struct name name, uint16_t type, uint32_t ttl,
                       struct span rdata)
{
    struct heard *heard = owner;
    MUST(ttl <= INT32_MAX);
    check_record(heard, name, type, rdata);
    heard->soas += type == RRTYPE_SOA;
    return ERR_OK;
}

static enum err on_remove(void *owner, struct name name, uint16_t type, struct span rdata)
{
    struct heard *heard = owner;
    check_record(heard, name, type, rdata);
    MUST(!heard->is_whole);
    heard->soas -= type == RRTYPE_SOA;
    return ERR_OK;
}

static const struct xfr_sink sink = {on_begin, on_add, on_remove};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span bytes = span_of(data, size), message;
    struct heard heard = {.zone = {.wire = (const uint8_t *)"\7example\3com", .len = 13}};
    uint8_t kind, held;
    uint16_t len, rcode;
    uint32_t serial;
    if (!span_take_u8(&bytes, &kind) || !span_take_u8(&bytes, &held))
        return 0;
    struct xfr_reader reader = {.zone = heard.zone,
                                .type = kind & 1 ? RRTYPE_IXFR : RRTYPE_AXFR,
                                .id = 0x1234,
                                .held_serial = held,
                                .max_stream_bytes = 1 << 20,
                                .sink = &sink,
                                .sink_owner = &heard};
    enum xfr_result result = XFR_MORE;
    while (result == XFR_MORE && span_take_u16(&bytes, &len) &&
           span_take(&bytes, MIN(len, bytes.len), &message)) {
        (void)xfr_probe_read(message, heard.zone, 0x1234, &serial, &rcode);
        result = xfr_reader_take(&reader, message);
        MUST(xfr_result_text(result)[0]);
    }
    if (result == XFR_COMPLETE)
        MUST(heard.has_begun && heard.soas == (heard.is_whole ? 1 : 0));
    if (result == XFR_CURRENT)
        MUST(!heard.has_begun);
    return 0;
}
