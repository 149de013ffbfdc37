/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Checks lengths and names in RDATA against the layout of the type. Types without a layout are
 * opaque and pass. Invariant: the bytes of an accepted name are inside its RDATA, even if its
 * pointers lead elsewhere.
 */
#include "dns/rdata.h"

#include "dns/build.h"

#define MALFORMED UINT32_MAX /* beyond any offset */

/* Returns the offset after one character-string, or MALFORMED when it does not fit. */
static uint32_t skip_string(const uint8_t *data, uint32_t at, uint32_t end)
{
    if (at >= end || (uint32_t)data[at] + 1 > end - at)
        return MALFORMED;
    return at + data[at] + 1;
}

static uint32_t skip_strings(const uint8_t *data, uint32_t at, uint32_t end, unsigned count)
{
    for (; count > 0 && at != MALFORMED; count--)
        at = skip_string(data, at, end);
    return at;
}

/* The message ends at the end of the RDATA here, so no name can exceed it. */
static uint32_t skip_names(const uint8_t *data, uint32_t at, uint32_t end, unsigned count,
                           bool may_compress)
{
    struct span upto = span_of(data, end);
    for (; count > 0; count--) {
        struct name name;
        size_t after = may_compress ? name_skip(upto, at) : name_view(upto, at, &name);
        if (!after)
            return MALFORMED;
        at = (uint32_t)after;
    }
    return at;
}

static bool check_tail(const uint8_t *data, uint32_t at, uint32_t end, uint8_t suffix)
{
    if (suffix == RRTYPE_REST)
        return true;
    if (suffix != RRTYPE_STRINGS)
        return end - at == suffix;
    do
        at = skip_string(data, at, end);
    while (at < end);
    return at == end;
}

/* Splits the bytes from at to end by out->layout. */
static bool split(const uint8_t *data, uint32_t at, uint32_t end, bool may_compress,
                  struct rdata_parts *out)
{
    const struct rrtype_layout *layout = out->layout;
    out->names_offset = out->tail_offset = (uint16_t)at;
    if (!layout)
        return true;
    if (layout->prefix > end - at)
        return false;
    at = skip_strings(data, at + layout->prefix, end, layout->strings);
    if (at == MALFORMED)
        return false;
    out->names_offset = (uint16_t)at;
    at = skip_names(data, at, end, layout->names, may_compress && layout->pointers);
    if (at == MALFORMED)
        return false;
    out->tail_offset = (uint16_t)at;
    return check_tail(data, at, end, layout->suffix);
}

bool rdata_split(const struct message *message, const struct rr *rr, struct rdata_parts *out)
{
    out->layout = rrtype_layout(rr->type, rr->cls);
    return split(message->bytes.data, rr->rdata_offset, (uint32_t)rr->rdata_offset + rr->rdata_len,
                 true, out);
}

bool rdata_split_plain(uint16_t type, struct span rdata, struct rdata_parts *out)
{
    out->layout = rrtype_layout(type, RRCLASS_IN);
    return rdata.len <= UINT16_MAX && split(rdata.data, 0, (uint32_t)rdata.len, false, out);
}

size_t rdata_expand(const struct message *message, const struct rr *rr, uint8_t *out, size_t max)
{
    const uint8_t *data = message->bytes.data;
    struct rdata_parts parts;
    struct build build;
    if (!rdata_split(message, rr, &parts))
        return 0;
    size_t at = parts.names_offset, end = (size_t)rr->rdata_offset + rr->rdata_len;
    build_init(&build, out, max);
    build_bytes(&build, data + rr->rdata_offset, at - rr->rdata_offset);
    for (unsigned i = parts.layout ? parts.layout->names : 0; i > 0; i--) {
        uint8_t wire[NAME_WIRE_MAX];
        struct name name;
        at = name_read(message->bytes, at, wire, &name);
        if (!at)
            return 0;
        build_bytes(&build, name.wire, name.len);
    }
    build_bytes(&build, data + at, end - at);
    return build.overflow ? 0 : build_len(&build);
}

bool message_check_rr(const struct message *message, const struct rr *rr)
{
    struct rdata_parts parts;
    return message->is_checked || rdata_split(message, rr, &parts);
}

bool message_check_rdata(const struct message *message)
{
    if (message->is_checked)
        return true;
    struct rr_iter iter = message_all_rrs(message);
    for (struct rr rr; message_rr_next(&iter, &rr);)
        if (!message_check_rr(message, &rr))
            return false;
    return true;
}

bool message_target(const struct message *message, const struct rr *rr, uint8_t out[NAME_WIRE_MAX],
                    struct name *target)
{
    struct rdata_parts parts;
    if (!rdata_split(message, rr, &parts) || !parts.layout || parts.layout->names == 0)
        return false;
    return name_read(message->bytes, parts.names_offset, out, target) != 0;
}
