/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The one pass over a message: header, question, the frame of every record, OPT and TSIG. rdata.c
 * checks RDATA. Invariant: after MESSAGE_OK every record of an iterator lies inside the bytes and
 * has a sound owner name.
 */
#include "dns/message.h"

#include <string.h>

#include "base/check.h"
#include "dns/rrtype.h"

enum { RR_FIXED = 10 }; /* type, class, TTL, RDLENGTH */

/* ---- parsing ---- */

/* The state of the pass. */
struct pass {
    struct message *out;
    const uint8_t *data;
    uint32_t len;
    uint32_t offset;
    uint16_t known; /* the bytes of a pointer that is known to be sound; 0: none */
};

/*
 * Returns the offset after the owner, or 0. Most owners are a bare pointer to the question, or the
 * same pointer as in the previous record. A sound pointer stays sound further on.
 */
static inline uint32_t owner_check(struct pass *pass)
{
    uint32_t at = pass->offset;
    if (pass->len - at < 2)
        return 0;
    uint16_t first = get_u16(pass->data + at);
    if (first == pass->known && first)
        return at + 2;
    uint32_t after = (uint32_t)name_skip(span_of(pass->data, pass->len), at);
    if (after && first >= 0xc000)
        pass->known = first;
    return after;
}

/* fixed points to the type. A message has one OPT at most, in additional, owned by the root (RFC
 * 6891 section 6.1.1). */
static bool take_opt(struct pass *pass, enum section section, const uint8_t *fixed, uint32_t rdlen)
{
    struct edns *edns = &pass->out->edns;
    if (section != SECTION_ADDITIONAL || edns->present || pass->data[pass->offset] != 0)
        return false;
    uint16_t flags = get_u16(fixed + 6);
    *edns = (struct edns){
        .present = true,
        .dnssec_ok = flags & EDNS_FLAG_DO,
        .ext_rcode = fixed[4],
        .version = fixed[5],
        .udp_size = get_u16(fixed + 2),
        .flags = flags,
        .offset = (uint16_t)pass->offset,
        .end = (uint16_t)(fixed + RR_FIXED + rdlen - pass->data),
        .options = span_of(fixed + RR_FIXED, rdlen),
    };
    return edns_options_check(edns->options);
}

/* Takes a record that affects the whole message. Returns false when it is in the wrong place. */
static bool take_special(struct pass *pass, enum section section, bool is_last,
                         const uint8_t *fixed, uint32_t rdlen)
{
    switch (get_u16(fixed)) {
    case RRTYPE_OPT:
        return take_opt(pass, section, fixed, rdlen);
    case RRTYPE_TSIG:
        pass->out->has_tsig = true;
        return section == SECTION_ADDITIONAL && is_last;
    case RRTYPE_SIG:
        if (rdlen >= 2 && get_u16(fixed + RR_FIXED) == 0)
            pass->out->has_sig0 = true;
        return true;
    default:
        return true;
    }
}

static inline bool is_special(uint16_t type)
{
    return type == RRTYPE_OPT || type == RRTYPE_TSIG || type == RRTYPE_SIG;
}

static bool take_section(struct pass *pass, enum section section)
{
    pass->out->offsets[section] = (uint16_t)pass->offset;
    for (uint32_t left = pass->out->counts[section]; left > 0; left--) {
        if (pass->offset >= pass->len)
            return false;
        uint32_t at = owner_check(pass);
        if (!at || pass->len - at < RR_FIXED)
            return false;
        const uint8_t *fixed = pass->data + at;
        uint32_t rdlen = get_u16(fixed + 8);
        if (pass->len - at - RR_FIXED < rdlen)
            return false;
        if (is_special(get_u16(fixed)) && !take_special(pass, section, left == 1, fixed, rdlen))
            return false;
        pass->offset = at + RR_FIXED + rdlen;
    }
    return true;
}

/* The QNAME cannot be compressed: there is no name before it. */
static bool take_question(struct pass *pass)
{
    struct message *out = pass->out;
    out->offsets[SECTION_QUESTION] = HEADER_LEN;
    if (out->counts[SECTION_QUESTION] == 0)
        return true;
    if (out->counts[SECTION_QUESTION] > 1)
        return false;
    size_t at = name_view(span_of(pass->data, pass->len), HEADER_LEN, &out->question.name);
    if (!at || pass->len - at < 4) {
        out->question.name = name_root();
        return false;
    }
    out->question.type = get_u16(pass->data + at);
    out->question.cls = get_u16(pass->data + at + 2);
    out->has_question = true;
    pass->known = 0xc000 | HEADER_LEN;
    pass->offset = (uint32_t)at + 4;
    return true;
}

/* Clears the counts and the options, so that no iterator reads unchecked bytes. The sender of an
 * OPT record gets one with the error too (RFC 6891 section 7). */
static enum message_check message_refuse(struct message *out)
{
    memset(out->counts, 0, sizeof(out->counts));
    out->edns.options = (struct span){0};
    return MESSAGE_MALFORMED;
}

/* Clears field by field: gcc makes a few stores of that, and a slow "rep stos" of a whole struct.
 */
static inline void message_clear(struct message *out, struct span bytes)
{
    out->bytes = bytes;
    out->id = out->flags = 0;
    memset(out->counts, 0, sizeof(out->counts));
    memset(out->offsets, 0, sizeof(out->offsets));
    out->end = 0;
    out->has_question = out->has_trailing = out->has_tsig = out->has_sig0 = false;
    out->is_checked = false;
    out->question = (struct question){.name = name_root()};
    out->edns = (struct edns){0};
}

/* A message without a question borrows the root's name from elsewhere. */
static const uint8_t *message_moved(const uint8_t *at, struct span from, const uint8_t *copy)
{
    bool is_within = at >= from.data && at <= from.data + from.len;
    return is_within ? copy + (at - from.data) : at;
}

void message_move(struct message *out, const struct message *from, const uint8_t *copy)
{
    *out = *from;
    out->bytes.data = copy;
    out->question.name.wire = message_moved(from->question.name.wire, from->bytes, copy);
    out->edns.options.data = message_moved(from->edns.options.data, from->bytes, copy);
}

enum message_check message_parse(struct message *out, struct span bytes)
{
    message_clear(out, bytes);
    if (bytes.len < HEADER_LEN || bytes.len > MESSAGE_MAX)
        return MESSAGE_SHORT;
    out->id = header_id(bytes.data);
    out->flags = header_flags(bytes.data);
    for (int i = 0; i < SECTION_COUNT; i++)
        out->counts[i] = header_count(bytes.data, (enum section)i);

    struct pass pass = {
        .out = out, .data = bytes.data, .len = (uint32_t)bytes.len, .offset = HEADER_LEN};
    if (!take_question(&pass) || !take_section(&pass, SECTION_ANSWER) ||
        !take_section(&pass, SECTION_AUTHORITY) || !take_section(&pass, SECTION_ADDITIONAL))
        return message_refuse(out);
    out->end = (uint16_t)pass.offset;
    out->has_trailing = pass.offset < pass.len;
    return MESSAGE_OK;
}

/* ---- iterating ---- */

struct rr_iter message_rrs(const struct message *message, enum section section)
{
    MUST(section > SECTION_QUESTION && section < SECTION_COUNT);
    return (struct rr_iter){.message = message,
                            .offset = message->offsets[section],
                            .left = message->counts[section],
                            .section = section,
                            .last = section};
}

struct rr_iter message_all_rrs(const struct message *message)
{
    struct rr_iter iter = message_rrs(message, SECTION_ANSWER);
    iter.last = SECTION_ADDITIONAL;
    return iter;
}

/* Returns the offset after a checked owner. */
static inline uint32_t owner_end(const uint8_t *data, uint32_t at)
{
    while (data[at] && data[at] < 0xc0)
        at += (uint32_t)data[at] + 1;
    return data[at] ? at + 2 : at + 1;
}

bool message_rr_next(struct rr_iter *iter, struct rr *out)
{
    while (iter->left == 0) {
        if (iter->section >= iter->last)
            return false;
        iter->section = (enum section)(iter->section + 1);
        iter->left = iter->message->counts[iter->section];
    }
    iter->left--;

    const uint8_t *data = iter->message->bytes.data;
    uint32_t at = owner_end(data, iter->offset);
    uint32_t ttl = get_u32(data + at + 4);
    *out = (struct rr){
        .section = iter->section,
        .owner_offset = (uint16_t)iter->offset,
        .type = get_u16(data + at),
        .cls = get_u16(data + at + 2),
        .ttl = ttl >> 31 ? 0 : ttl,
        .rdata_offset = (uint16_t)(at + RR_FIXED),
        .rdata_len = get_u16(data + at + 8),
    };
    iter->offset = at + RR_FIXED + out->rdata_len;
    return true;
}

struct name message_owner(const struct message *message, const struct rr *rr,
                          uint8_t out[NAME_WIRE_MAX])
{
    struct name name;
    MUST(name_read(message->bytes, rr->owner_offset, out, &name));
    return name;
}

bool message_owner_is(const struct message *message, const struct rr *rr, struct name name)
{
    return name_equal_in_message(message->bytes, rr->owner_offset, name);
}
