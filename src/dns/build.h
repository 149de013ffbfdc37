/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DNS_BUILD_H
#define NAILUP_DNS_BUILD_H

/*
 * Writes a message into the caller's buffer. A write that does not fit sets overflow, which stays
 * set and turns later writes into no-ops, so only build_finish() checks it. No allocation.
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
    BUILD_SLOTS = 64,        /* the size of the compression table; a power of two */
    BUILD_PROBES_MAX = 4,    /* slots examined for one suffix */
    BUILD_SUFFIXES_MAX = 12, /* suffixes of a name to look up and remember */
};

/* A name or suffix written earlier. Offset 0: an empty slot. */
struct build_slot {
    uint16_t offset;
    uint16_t tag;
};

struct build {
    uint8_t *start, *at, *end;
    bool overflow;
    bool has_names;       /* the table has been cleared and holds something */
    enum section section; /* the section that records count in */
    uint16_t counts[SECTION_COUNT];
    uint32_t rollbacks;    /* their number: a module that remembers offsets checks it */
    uint16_t rdata_offset; /* where the current record's RDATA begins; 0 between records */
    struct build_slot slots[BUILD_SLOTS];
};

/* Uses at most 65535 bytes of the buffer. */
void build_init(struct build *build, uint8_t *out, size_t size);

/* Writes the header, first of all. build_finish() writes the counts. */
void build_header(struct build *build, uint16_t id, uint16_t flags);

/* Writes name (in its case), type and class right after the header. */
void build_question(struct build *build, const struct question *question);

/* Starts a section: later records count in it. Sections only go forward (MUST). */
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

/* Writes the name without a pointer, and later names do not point to it (RDATA of types that must
 * not be compressed). */
void build_name(struct build *build, struct name name);

/* Writes the name with a pointer to the longest suffix among the remembered names, in any case. The
 * table is bounded: later names do not help to compress others. */
void build_name_compressed(struct build *build, struct name name);

/* Writes a two-byte pointer to offset, where a name was written (MUST: 12 <= offset < length). */
void build_pointer(struct build *build, uint16_t offset);

/* ---- records ---- */

/* Writes owner (compressed), type, class, TTL and room for RDLENGTH, which build_rr_end() fills in.
 */
void build_rr_begin(struct build *build, struct name owner, uint16_t type, uint16_t cls,
                    uint32_t ttl);
void build_rr_end(struct build *build);

/* Does the rest of build_rr_begin() after the caller has written the owner. */
void build_rr_begin_owned(struct build *build, uint16_t type, uint16_t cls, uint32_t ttl);

/* ---- OPT: a record that always counts in additional (RFC 6891 section 6.1.2) ---- */

/* rcode has twelve bits. The upper eight are written here; the caller writes the header's four. */
void build_opt_begin(struct build *build, uint16_t udp_size, uint16_t rcode, uint8_t version,
                     bool dnssec_ok);
void build_option(struct build *build, uint16_t code, const void *data, size_t len);
void build_opt_end(struct build *build);

/* ---- undoing ---- */

struct build_mark {
    uint8_t *at;
    enum section section;
    uint16_t counts[SECTION_COUNT];
    bool overflow;
};

/* Marks the current position, between records. A rollback undoes everything since, an overflow too,
 * so that a record that does not fit can be dropped. */
struct build_mark build_mark(const struct build *build);
void build_rollback(struct build *build, const struct build_mark *mark);

/* ---- whole queries, the upstream path ---- */

struct build_query_options {
    uint16_t id;
    bool recursion_desired, checking_disabled, authentic_data, dnssec_ok;
    bool keepalive; /* an empty edns-tcp-keepalive option: streams only */
    bool edns;      /* an OPT record; required by the options (MUST) */
    uint16_t udp_size;
    const uint8_t *cookie; /* client cookie, followed by a server cookie if there is one */
    uint8_t cookie_len;    /* 0, 8 or 16 to 40 */
    uint16_t pad_block;    /* pads the message to a multiple of this many bytes (RFC 8467), at most
                              EDNS_PADDING_QUERY; 0: no padding */
};

enum {
    BUILD_QUERY_MAX = 3 * 128, /* the longest query: 334 bytes with every option, then padded */
};

/* Writes header, question and OPT at once, with the name in its case. Returns the length, or 0 when
 * size is too small; BUILD_QUERY_MAX is always enough. */
MUST_USE size_t build_query(uint8_t *out, size_t size, const struct question *question,
                            const struct build_query_options *options);

#endif
