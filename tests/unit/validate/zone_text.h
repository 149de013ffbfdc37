/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_VALIDATE_ZONE_TEXT_H
#define NAILUP_TESTS_VALIDATE_ZONE_TEXT_H

/* Makes messages from the lines of a zone file, and reads them with the validator. */

#include "unit/dns/sample.h"

#include "dns/present.h"
#include "unit/dns/raw.h"
#include "validate/canonical.h"
#include "validate/dnskey.h"
#include "validate/rrsets.h"
#include "validate/rrsig.h"

/* A message with its RRsets. It is large, so declare it static. */
struct zone_text {
    struct raw raw;
    struct message message;
    struct rrsets sets;
};

static inline void zone_text_start(struct zone_text *zone)
{
    raw_start(&zone->raw, HEADER_QR);
}

/* Adds the record of a line. Names keep their spelling, and are not compressed. */
static inline void zone_text_add(struct zone_text *zone, enum section section, const char *line)
{
    static uint8_t wire[PRESENT_RR_MAX];
    size_t len;
    if (present_rr_from_text(wire, sizeof(wire), &len, line, name_root(), 0) != ERR_OK)
        fail_msg("no record: %s", line);
    raw_add(&zone->raw, wire, len);
    uint8_t *header = zone->raw.bytes;
    header_set_count(header, section, (uint16_t)(header_count(header, section) + 1));
}

/* Reads the RRsets of all added records. */
static inline bool zone_text_read(struct zone_text *zone)
{
    zone->message = sample_parse(raw_span(&zone->raw));
    return rrsets_read(&zone->sets, &zone->message, 1);
}

/* Makes a message with these lines in its answer section. NULL ends the lines. */
static inline void zone_text_make(struct zone_text *zone, const char *const *lines)
{
    zone_text_start(zone);
    for (; *lines; lines++)
        zone_text_add(zone, SECTION_ANSWER, *lines);
    assert_true(zone_text_read(zone));
}

#define ZONE_TEXT(zone, ...) zone_text_make(zone, (const char *const[]){__VA_ARGS__, NULL})

/* Reads the first signature of a set. */
static inline struct rrsig zone_text_sig(const struct zone_text *zone, const struct rrset *set)
{
    struct rrsig sig;
    assert_int_not_equal(set->sig_count, 0);
    assert_true(rrsig_read(&sig, rrsets_rdata(&zone->sets, set->first_sig)));
    return sig;
}

/* Returns the set of this type in the answer section. */
static inline const struct rrset *zone_text_set(const struct zone_text *zone, uint16_t type)
{
    for (unsigned i = 0; i < zone->sets.count; i++)
        if (zone->sets.set[i].type == type)
            return &zone->sets.set[i];
    fail_msg("no set of type %u", type);
    return NULL;
}

/* Reads a key from a line. The key borrows static memory of the call site. */
#define DNSKEY_TEXT(line) zone_text_key(&(struct zone_text_bytes){0}, line)

struct zone_text_bytes {
    uint8_t bytes[2048];
};

static inline struct span zone_text_rdata(struct zone_text_bytes *room, const char *line)
{
    size_t len;
    struct name owner;
    if (present_rr_from_text(room->bytes, sizeof(room->bytes), &len, line, name_root(), 0) !=
        ERR_OK)
        fail_msg("no record: %s", line);
    size_t at = name_view(span_of(room->bytes, len), 0, &owner) + 10;
    return span_of(room->bytes + at, len - at);
}

static inline struct dnskey zone_text_key(struct zone_text_bytes *room, const char *line)
{
    struct dnskey key;
    assert_true(dnskey_read(&key, zone_text_rdata(room, line)));
    return key;
}

#endif
