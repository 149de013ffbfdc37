/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DNS_BUILD_H
#define NAILUP_DNS_BUILD_H

/*
 * Writes a message into the caller's buffer. What does not fit sets overflow, which stays set and
 * makes later writes nothing, so it is looked at once, by build_finish(). No allocation.
 *
 *   struct build build;
 *   build_init(&build, out, size);
 *   build_header(&build, id, flags);
 *   build_question(&build, &question);
 *   build_section(&build, SECTION_ANSWER);
 *   build_rr_begin(&build, owner, type, cls, ttl); build_u32(...); build_rr_end(&build);
 *   len = build_finish(&build);
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/span.h"
#include "dns/header.h"
#include "dns/name.h"
#include "dns/question.h"

enum {
    BUILD_SLOTS = 64,        /* of the compression table, a power of two */
    BUILD_PROBES_MAX = 4,    /* slots looked at for one suffix */
    BUILD_SUFFIXES_MAX = 12, /* suffixes of one name looked up and remembered */
};

/* A name or suffix written earlier; offset 0 is an empty slot. */
struct build_slot {
    uint16_t offset;
    uint16_t tag;
};

struct build {
    uint8_t *start, *at, *end;
    bool overflow;
    bool has_names;       /* the table has been cleared and holds something */
    enum section section; /* that records are counted in */
    uint16_t counts[SECTION_COUNT];
    uint32_t rollbacks;    /* how often: who remembers offsets looks whether they still hold */
    uint16_t rdata_offset; /* of the record being written, 0 outside */
    struct build_slot slots[BUILD_SLOTS];
};

/* Buffers above 65535 bytes are used up to there. */
void build_init(struct build *build, uint8_t *out, size_t size);

/* The header; counts are written by build_finish(). First thing written. */
void build_header(struct build *build, uint16_t id, uint16_t flags);

/* Name as it is (case kept), type and class; right after the header. */
void build_question(struct build *build, const struct question *question);

/* Records begun from now on count in this section. Sections go forward (MUST). */
void build_section(struct build *build, enum section section);

/* Fills in the counts. Returns the message's length, or 0 after an overflow. */
MUST_USE size_t build_finish(struct build *build);

static inline size_t build_len(const struct build *build)
{
    return (size_t)(build->at - build->start);
}

static inline size_t build_room(const struct build *build)
{
    return (size_t)(build->end - build->at);
}

/* ---- raw ---- */

void build_u8(struct build *build, uint8_t value);
void build_u16(struct build *build, uint16_t value);
void build_u32(struct build *build, uint32_t value);
void build_bytes(struct build *build, const void *data, size_t len);

/* ---- names ---- */

/* Never a pointer; not remembered for later names either (RDATA of types that must stay whole). */
void build_name(struct build *build, struct name name);

/* With a pointer to the longest suffix found among the names remembered, case not regarded. The
 * table is bounded: what it cannot hold is merely not compressed against. */
void build_name_compressed(struct build *build, struct name name);

/* A two-byte pointer to offset, which holds a name written earlier (MUST: 12 <= offset < length).
 */
void build_pointer(struct build *build, uint16_t offset);

/* ---- records ---- */

/* Owner (compressed), type, class, TTL and room for RDLENGTH, which build_rr_end() fills in. */
void build_rr_begin(struct build *build, struct name owner, uint16_t type, uint16_t cls,
                    uint32_t ttl);
void build_rr_end(struct build *build);

/* As build_rr_begin() after the caller wrote the owner itself. */
void build_rr_begin_owned(struct build *build, uint16_t type, uint16_t cls, uint32_t ttl);

/* ---- OPT: the same, counted in additional whatever the section (RFC 6891 section 6.1.2) ---- */

/* rcode is the whole of twelve bits: its upper eight go here; the header's four are the caller's.
 */
void build_opt_begin(struct build *build, uint16_t udp_size, uint16_t rcode, uint8_t version,
                     bool dnssec_ok);
void build_option(struct build *build, uint16_t code, const void *data, size_t len);
void build_opt_end(struct build *build);

/* ---- going back ---- */

struct build_mark {
    uint8_t *at;
    enum section section;
    uint16_t counts[SECTION_COUNT];
    bool overflow;
};

/* The place reached, between records; going back undoes everything since, an overflow too: so a
 * record that does not fit is dropped. */
struct build_mark build_mark(const struct build *build);
void build_rollback(struct build *build, const struct build_mark *mark);

/* ---- whole queries, the upstream path ---- */

struct build_query_options {
    uint16_t id;
    bool recursion_desired, checking_disabled, authentic_data, dnssec_ok;
    bool keepalive; /* an empty edns-tcp-keepalive option: streams only */
    bool edns;      /* an OPT record; implied by nothing, required by the options (MUST) */
    uint16_t udp_size;
    const uint8_t *cookie; /* client cookie, with the server's after it when there is one */
    uint8_t cookie_len;    /* 0, 8 or 16 to 40 */
    uint16_t pad_block; /* the message is padded to a multiple of so many bytes (RFC 8467); 0: not.
                           At most EDNS_PADDING_QUERY: BUILD_QUERY_MAX is made for it */
};

enum {
    BUILD_QUERY_MAX =
        3 * 128, /* longest such query: 334 bytes with every option, and its padding */
};

/* Header, question and OPT in one go; the name's bytes as they are. Returns the length, or 0 when
 * size is too small, which BUILD_QUERY_MAX never is. */
MUST_USE size_t build_query(uint8_t *out, size_t size, const struct question *question,
                            const struct build_query_options *options);

#endif
