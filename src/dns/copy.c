/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Copies records from a parsed message to a new one. The caller chooses records and TTLs.
 * Invariant: no pointer of the source is copied; every name is read and written again.
 */
#include "dns/copy.h"

#include "base/check.h"
#include "dns/rdata.h"

/* Returns the offset of the name's first label: the target of a bare pointer, or the offset itself.
 */
static inline uint16_t first_label(const uint8_t *data, uint16_t offset)
{
    return data[offset] < 0xc0 ? offset : (uint16_t)(get_u16(data + offset) & 0x3fff);
}

_Static_assert(COPY_PLACES == 32, "struct copy has a bit for each");

/* Names in the same slot replace each other; the table of `build` still finds them. */
static inline unsigned place_slot(uint16_t from)
{
    return (from ^ from >> 5) % COPY_PLACES;
}

static inline uint16_t find_place(const struct copy *copy, uint16_t from)
{
    unsigned slot = place_slot(from);
    bool is_there = copy->used >> slot & 1 && copy->places[slot].from == from;
    return is_there ? copy->places[slot].to : 0;
}

static void add_place(struct copy *copy, uint16_t from, uint16_t to)
{
    if (to > 0x3fff)
        return;
    unsigned slot = place_slot(from);
    copy->used |= UINT32_C(1) << slot;
    copy->places[slot].from = from;
    copy->places[slot].to = to;
}

/* Forgets all places, except that equal questions are in the same place. */
static void copy_forget(struct copy *copy)
{
    const struct message *from = copy->from;
    const struct build *to = copy->to;
    copy->used = 0;
    copy->rollbacks = to->rollbacks;
    struct span written = span_of(to->start, build_len(to));
    if (from->has_question && to->counts[SECTION_QUESTION] && !to->overflow &&
        name_equal_in_message(written, HEADER_LEN, from->question.name))
        add_place(copy, HEADER_LEN, HEADER_LEN);
}

void copy_init(struct copy *copy, struct build *to, const struct message *from)
{
    copy->to = to;
    copy->from = from;
    copy_forget(copy);
}

static void copy_one_name(struct copy *copy, uint16_t offset)
{
    struct build *to = copy->to;
    uint16_t from = first_label(copy->from->bytes.data, offset);
    uint16_t place = find_place(copy, from);
    if (place) {
        build_pointer(to, place);
        return;
    }
    uint8_t wire[NAME_WIRE_MAX];
    struct name name;
    MUST(name_read(copy->from->bytes, offset, wire, &name));
    uint16_t at = (uint16_t)build_len(to);
    build_name_compressed(to, name);
    if (!to->overflow && !name_is_root(name))
        add_place(copy, from, first_label(to->start, at));
}

/* Copies a name in RDATA that must not be compressed (RFC 3597 section 4). */
static void copy_name_whole(struct copy *copy, uint16_t offset)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct name name;
    MUST(name_read(copy->from->bytes, offset, wire, &name));
    build_name(copy->to, name);
}

static void copy_names(struct copy *copy, const struct rdata_parts *parts)
{
    struct span bytes = copy->from->bytes;
    size_t at = parts->names_offset;
    for (unsigned i = 0; i < parts->layout->names; i++) {
        if (parts->layout->compress)
            copy_one_name(copy, (uint16_t)at);
        else
            copy_name_whole(copy, (uint16_t)at);
        at = name_skip(bytes, at);
    }
}

static void copy_between(struct copy *copy, size_t from, size_t to)
{
    build_bytes(copy->to, copy->from->bytes.data + from, to - from);
}

bool copy_rr(struct copy *copy, const struct rr *rr, uint32_t ttl)
{
    MUST(rr->type != RRTYPE_OPT);
    struct rdata_parts parts;
    if (!rdata_split(copy->from, rr, &parts))
        return false;
    if (copy->rollbacks != copy->to->rollbacks)
        copy_forget(copy);
    copy_one_name(copy, rr->owner_offset);
    build_rr_begin_owned(copy->to, rr->type, rr->cls, ttl);
    size_t end = (size_t)rr->rdata_offset + rr->rdata_len;
    if (!parts.layout || parts.layout->names == 0) {
        copy_between(copy, rr->rdata_offset, end);
    } else {
        copy_between(copy, rr->rdata_offset, parts.names_offset);
        copy_names(copy, &parts);
        copy_between(copy, parts.tail_offset, end);
    }
    build_rr_end(copy->to);
    return true;
}
