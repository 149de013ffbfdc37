/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Writes messages front to back into a fixed buffer. Invariant: no byte is written at or after end,
 * and each remembered name is complete before at.
 */
#include "dns/build.h"

#include <string.h>

#include "base/check.h"
#include "dns/rrtype.h"
#include "dns/word.h"

enum { WORD_COPY_MAX = 64 }; /* memcpy() is as fast above this many bytes */

void build_init(struct build *build, uint8_t *out, size_t size)
{
    /* The first compressed name clears the slots: most replies have none. */
    build->start = build->at = out;
    build->end = out + (size < UINT16_MAX ? size : UINT16_MAX);
    build->overflow = false;
    build->has_names = false;
    build->section = SECTION_QUESTION;
    memset(build->counts, 0, sizeof(build->counts));
    build->rdata_offset = 0;
    build->rollbacks = 0;
}

/* Takes room for len bytes. Without room it returns NULL and sets overflow. */
static inline uint8_t *build_take(struct build *build, size_t len)
{
    if (build->overflow || len > build_room(build)) {
        build->overflow = true;
        return NULL;
    }
    uint8_t *at = build->at;
    build->at += len;
    return at;
}

void build_header(struct build *build, uint16_t id, uint16_t flags)
{
    MUST(build->at == build->start);
    uint8_t *at = build_take(build, HEADER_LEN);
    if (!at)
        return;
    memset(at, 0, HEADER_LEN);
    header_set_id(at, id);
    header_set_flags(at, flags);
}

void build_question(struct build *build, const struct question *question)
{
    MUST(build->overflow || build_len(build) == HEADER_LEN);
    build_name(build, question->name);
    build_u16(build, question->type);
    build_u16(build, question->cls);
    build->counts[SECTION_QUESTION] = 1;
}

void build_section(struct build *build, enum section section)
{
    MUST(section >= build->section && section < SECTION_COUNT);
    build->section = section;
}

size_t build_finish(struct build *build)
{
    if (build->overflow)
        return 0;
    MUST(build_len(build) >= HEADER_LEN && build->rdata_offset == 0);
    for (int i = 0; i < SECTION_COUNT; i++)
        header_set_count(build->start, (enum section)i, build->counts[i]);
    return build_len(build);
}

/* ---- raw ---- */

void build_u8(struct build *build, uint8_t value)
{
    uint8_t *at = build_take(build, 1);
    if (at)
        *at = value;
}

void build_u16(struct build *build, uint16_t value)
{
    uint8_t *at = build_take(build, 2);
    if (at)
        put_u16(at, value);
}

void build_u32(struct build *build, uint32_t value)
{
    uint8_t *at = build_take(build, 4);
    if (at)
        put_u32(at, value);
}

void build_bytes(struct build *build, const void *data, size_t len)
{
    uint8_t *at = build_take(build, len);
    if (!at)
        return;
    if (len <= WORD_COPY_MAX)
        word_copy(at, data, len);
    else
        memcpy(at, data, len);
}

void build_name(struct build *build, struct name name)
{
    uint8_t *at = build_take(build, name.len);
    if (at)
        word_copy(at, name.wire, name.len);
}

/* ---- records ---- */

void build_rr_begin_owned(struct build *build, uint16_t type, uint16_t cls, uint32_t ttl)
{
    MUST(build->section > SECTION_QUESTION && build->rdata_offset == 0);
    build->counts[build->section]++;
    uint8_t *at = build_take(build, 10);
    if (!at)
        return;
    put_u16(at, type);
    put_u16(at + 2, cls);
    put_u32(at + 4, ttl);
    build->rdata_offset = (uint16_t)build_len(build);
}

void build_rr_begin(struct build *build, struct name owner, uint16_t type, uint16_t cls,
                    uint32_t ttl)
{
    build_name_compressed(build, owner);
    build_rr_begin_owned(build, type, cls, ttl);
}

void build_rr_end(struct build *build)
{
    if (!build->overflow) {
        size_t len = build_len(build) - build->rdata_offset;
        put_u16(build->start + build->rdata_offset - 2, (uint16_t)len);
    }
    build->rdata_offset = 0;
}

/* ---- OPT ---- */

void build_opt_begin(struct build *build, uint16_t udp_size, uint16_t rcode, uint8_t version,
                     bool dnssec_ok)
{
    build_section(build, SECTION_ADDITIONAL);
    build_u8(build, 0);
    uint32_t ttl = (uint32_t)(rcode >> 4) << 24 | (uint32_t)version << 16;
    build_rr_begin_owned(build, RRTYPE_OPT, udp_size, dnssec_ok ? ttl | EDNS_FLAG_DO : ttl);
}

void build_option(struct build *build, uint16_t code, const void *data, size_t len)
{
    build_u16(build, code);
    build_u16(build, (uint16_t)len);
    build_bytes(build, data, len);
}

void build_opt_end(struct build *build)
{
    build_rr_end(build);
}

/* ---- undoing ---- */

struct build_mark build_mark(const struct build *build)
{
    MUST(build->rdata_offset == 0);
    struct build_mark mark = {
        .at = build->at, .section = build->section, .overflow = build->overflow};
    memcpy(mark.counts, build->counts, sizeof(mark.counts));
    return mark;
}

void build_rollback(struct build *build, const struct build_mark *mark)
{
    build->rollbacks++;
    build->at = mark->at;
    build->section = mark->section;
    build->overflow = mark->overflow;
    build->rdata_offset = 0;
    memcpy(build->counts, mark->counts, sizeof(build->counts));
    if (!build->has_names)
        return;
    size_t len = build_len(build);
    for (int i = 0; i < BUILD_SLOTS; i++)
        if (build->slots[i].offset >= len)
            build->slots[i].offset = 0;
}
