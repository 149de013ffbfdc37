/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Writes answers record by record. Invariant: ttl_offsets has the offset of every TTL written, in
 * ascending order.
 */
#include "cache/compose.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "dns/rrtype.h"

void compose_begin(struct compose *compose, struct compose_space *space,
                   const struct question *question, uint16_t flags)
{
    compose->space = space;
    compose->ttl_count = 0;
    compose->has_failed = false;
    build_init(&compose->build, space->bytes, sizeof(space->bytes));
    build_header(&compose->build, 0, (uint16_t)(HEADER_QR | HEADER_RA | flags));
    build_question(&compose->build, question);
    build_section(&compose->build, SECTION_ANSWER);
}

/* Notes the TTL of the record just written, which starts at offset. Its owner is ours, so labels up
 * to a pointer or the root are sound. */
static void note_ttl(struct compose *compose, size_t offset)
{
    struct span message = span_of(compose->build.start, build_len(&compose->build));
    size_t after_owner = name_skip(message, offset);
    MUST(after_owner);
    compose->space->ttl_offsets[compose->ttl_count++] = (uint16_t)(after_owner + 4);
}

static bool compose_has_room(struct compose *compose)
{
    if (compose->ttl_count == COMPOSE_RECORDS_MAX)
        compose->has_failed = true;
    return !compose_has_failed(compose);
}

void compose_copy(struct compose *compose, struct copy *copy, const struct rr *rr, uint32_t ttl)
{
    if (!compose_has_room(compose))
        return;
    size_t offset = build_len(&compose->build);
    if (!copy_rr(copy, rr, ttl))
        compose->has_failed = true;
    else if (!compose->build.overflow)
        note_ttl(compose, offset);
}

void compose_rr(struct compose *compose, struct name owner, uint16_t type, uint32_t ttl,
                struct span rdata)
{
    if (!compose_has_room(compose))
        return;
    size_t offset = build_len(&compose->build);
    build_rr_begin(&compose->build, owner, type, RRCLASS_IN, ttl);
    build_bytes(&compose->build, rdata.data, rdata.len);
    build_rr_end(&compose->build);
    if (!compose->build.overflow)
        note_ttl(compose, offset);
}

void compose_cname(struct compose *compose, struct name owner, uint16_t cls, uint32_t ttl,
                   struct name target)
{
    if (!compose_has_room(compose))
        return;
    size_t offset = build_len(&compose->build);
    build_rr_begin(&compose->build, owner, RRTYPE_CNAME, cls, ttl);
    build_name_compressed(&compose->build, target);
    build_rr_end(&compose->build);
    if (!compose->build.overflow)
        note_ttl(compose, offset);
}

static uint32_t smallest_ttl(const struct compose *compose, uint16_t first)
{
    uint32_t smallest = UINT32_MAX;
    for (uint16_t i = first; i < compose->ttl_count; i++) {
        uint32_t ttl = get_u32(compose->space->bytes + compose->space->ttl_offsets[i]);
        smallest = MIN(smallest, ttl);
    }
    return smallest;
}

void compose_level_ttls(struct compose *compose, uint16_t first)
{
    uint32_t smallest = smallest_ttl(compose, first);
    for (uint16_t i = first; i < compose->ttl_count; i++)
        put_u32(compose->space->bytes + compose->space->ttl_offsets[i], smallest);
}

bool compose_end(struct compose *compose, struct answer *out)
{
    size_t len = build_finish(&compose->build);
    if (compose->has_failed || !len)
        return false;
    *out = (struct answer){
        .message = span_of(compose->space->bytes, len),
        .ttl_offsets = compose->space->ttl_offsets,
        .ttl_count = compose->ttl_count,
        .ttl_s = compose->ttl_count ? smallest_ttl(compose, 0) : 0,
    };
    return true;
}

void compose_failure(struct answer *out, uint8_t bytes[COMPOSE_FAILURE_MAX],
                     const struct question *question, uint16_t rcode)
{
    struct build build;
    build_init(&build, bytes, COMPOSE_FAILURE_MAX);
    build_header(&build, 0, (uint16_t)(HEADER_QR | HEADER_RA | (rcode & HEADER_RCODE_MASK)));
    build_question(&build, question);
    size_t len = build_finish(&build);
    MUST(len);
    *out = (struct answer){.message = span_of(bytes, len), .kind = ANSWER_FAILURE};
}

void compose_describe(struct answer *out, enum answer_kind kind, uint16_t ede, uint64_t now_us)
{
    out->kind = (uint8_t)kind;
    out->ttl_s = 0;
    out->stored_at = now_us;
    out->ede_count = ede != EDE_NONE;
    out->ede[0] = ede;
}

struct answer *compose_dup(const struct answer *answer)
{
    size_t offsets_bytes = answer->ttl_count * sizeof(*answer->ttl_offsets);
    size_t text_bytes = answer->text ? strlen(answer->text) + 1 : 0;
    struct answer *copy = malloc(sizeof(*copy) + offsets_bytes + answer->message.len + text_bytes);
    if (!copy)
        return NULL;
    uint16_t *offsets = (uint16_t *)(copy + 1);
    uint8_t *bytes = (uint8_t *)offsets + offsets_bytes;
    if (offsets_bytes)
        memcpy(offsets, answer->ttl_offsets, offsets_bytes);
    memcpy(bytes, answer->message.data, answer->message.len);
    *copy = *answer;
    copy->ttl_offsets = offsets;
    copy->message = span_of(bytes, answer->message.len);
    if (text_bytes)
        copy->text = memcpy(bytes + answer->message.len, answer->text, text_bytes);
    return copy;
}
