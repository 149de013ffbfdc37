/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * A denial needs the record of the name itself, or that of the span with the next closer name, and
 * the record about the wildcard beside it. NSEC3 also needs the record of the closest encloser.
 *
 * Invariant: no answer without DENIAL_PROVEN.
 */
#include "validate/synthesis.h"

#include <string.h>

#include "base/check.h"
#include "dns/rrtype.h"
#include "validate/denial.h"
#include "validate/nsec.h"
#include "validate/nsec3.h"
#include "validate/nsec3_hash.h"

/* One search. */
struct search {
    struct synthesis *out;
    const struct spans_zone *zone;
    struct name name;
    uint16_t type;
    uint64_t now;
    unsigned units_left;
    unsigned encloser_labels;        /* of the closest encloser, where the name does not exist */
    const struct spans_item *closer; /* whose span has the next closer name */
    struct nsec3_hashes hashes;
};

static struct span first_record(const struct spans_item *item)
{
    struct span records = item->records, rdata;
    MUST(spans_next(&records, &rdata));
    return rdata;
}

/* Adds the RRset to the proof once. NULL is fine. */
static void search_add(struct search *search, const struct spans_item *item)
{
    struct synthesis *out = search->out;
    for (unsigned i = 0; i < out->proof_count; i++)
        if (out->proof[i] == item)
            return;
    if (item && out->proof_count < SYNTHESIS_PROOFS_MAX)
        out->proof[out->proof_count++] = item;
}

static struct name wildcard_of(const struct search *search, uint8_t wire[NAME_WIRE_MAX])
{
    struct name encloser = name_suffix(search->name, search->encloser_labels);
    MUST(encloser.len < search->name.len); /* so two more bytes fit */
    wire[0] = 1;
    wire[1] = '*';
    memcpy(wire + 2, encloser.wire, encloser.len);
    return (struct name){.wire = wire, .len = (uint8_t)(encloser.len + 2)};
}

/* ---- the RRsets that may matter ---- */

/* Finds the record at or before the name, and that at or before the wildcard. False: nothing is
 * known. */
static bool search_nsec(struct search *search)
{
    struct nsec nsec;
    uint8_t wire[NAME_WIRE_MAX];
    const struct spans_item *item =
        spans_before(search->zone, SPANS_NAMES, search->name, search->now);
    if (!item || !nsec_read(&nsec, spans_zone_name(search->zone), item->owner, first_record(item)))
        return false;
    search->closer = item;
    search_add(search, item);
    unsigned at_owner = name_common_labels(search->name, nsec.owner),
             at_next = name_common_labels(search->name, nsec.next);
    search->encloser_labels = MAX(at_owner, at_next);
    if (search->encloser_labels >= name_label_count(search->name))
        return true; /* the name itself, or an empty non-terminal */
    struct name wildcard = wildcard_of(search, wire);
    search_add(search, spans_before(search->zone, SPANS_NAMES, wildcard, search->now));
    return true;
}

/* The knowledge of the spans about a hash. */
struct hash_finding {
    bool is_spent;                 /* no more hashes */
    bool is_owner;                 /* the item is the name's own */
    const struct spans_item *item; /* or its span has the hash; NULL: nothing is known */
};

static struct hash_finding find_hash(struct search *search, struct name name, bool is_wildcard)
{
    struct hash_finding found = {.is_spent = true};
    struct nsec3 nsec3;
    uint8_t wire[NAME_WIRE_MAX];
    struct name owner, zone = spans_zone_name(search->zone);
    const uint8_t *hash = nsec3_hash_of(&search->hashes, name, is_wildcard);
    if (!hash || !nsec3_write_owner(wire, hash, zone, &owner))
        return found;
    found.is_spent = false;
    const struct spans_item *item = spans_before(search->zone, SPANS_HASHES, owner, search->now);
    if (!item || !nsec3_read(&nsec3, zone, item->owner, first_record(item)))
        return found;
    found.is_owner = nsec3_is_owner(&nsec3, hash);
    if (found.is_owner || nsec3_spans(&nsec3, hash))
        found.item = item;
    return found;
}

/* Walks from the zone down to the first name that a span has. Its parent must have a record. */
static bool search_nsec3(struct search *search)
{
    unsigned labels = name_label_count(search->name);
    const struct spans_item *encloser = NULL;
    struct hash_finding found = {0};
    uint8_t wire[NAME_WIRE_MAX];
    struct span salt = spans_chain(search->zone, SPANS_HASHES);
    nsec3_hash_begin(&search->hashes, salt, 0, &search->units_left);
    for (unsigned i = name_label_count(spans_zone_name(search->zone)); i <= labels; i++) {
        found = find_hash(search, name_suffix(search->name, i), false);
        if (found.is_spent || (found.item && !found.is_owner))
            break;
        encloser = found.item;
        search->encloser_labels = i;
    }
    if (found.is_spent || !encloser)
        return false;
    search_add(search, encloser);
    if (found.is_owner)
        return true;
    search->closer = found.item;
    search_add(search, found.item);
    struct name wildcard = wildcard_of(search, wire);
    search_add(search, find_hash(search, wildcard, true).item);
    return true;
}

/* ---- the decision ---- */

static void search_fill(const struct search *search, struct denial *denial, unsigned *units_left)
{
    const struct synthesis *out = search->out;
    denial->zone = spans_zone_name(search->zone);
    denial->units_left = units_left;
    denial->count = out->proof_count;
    for (unsigned i = 0; i < out->proof_count; i++)
        denial->at[i] = (struct denial_record){.owner = out->proof[i]->owner,
                                               .type = out->proof[i]->type,
                                               .rdata = first_record(out->proof[i])};
}

/* Looks for data or an alias of the wildcard. Its next closer name must not exist. The records of
 * the closest encloser and of the wildcard are not part of that proof. */
static enum synthesis_kind decide_wildcard(struct search *search, const struct denial *denial)
{
    struct synthesis *out = search->out;
    uint8_t wire[NAME_WIRE_MAX];
    if (search->encloser_labels >= name_label_count(search->name))
        return SYNTHESIS_NONE;
    enum synthesis_kind kind = SYNTHESIS_WILDCARD;
    struct name wildcard = wildcard_of(search, wire);
    out->data = spans_records(search->zone, wildcard, search->type, search->now);
    if (!out->data) {
        kind = SYNTHESIS_ALIAS;
        out->data = spans_records(search->zone, wildcard, RRTYPE_CNAME, search->now);
    }
    if (!out->data ||
        denial_of_next_closer(denial, search->name, search->encloser_labels) != DENIAL_PROVEN)
        return SYNTHESIS_NONE;
    out->proof[0] = search->closer;
    out->proof_count = 1;
    return kind;
}

static enum synthesis_kind search_decide(struct search *search)
{
    struct synthesis *out = search->out;
    struct denial denial;
    unsigned units_left = search->units_left;
    search_fill(search, &denial, &units_left);
    out->soa = spans_records(search->zone, spans_zone_name(search->zone), RRTYPE_SOA, search->now);
    if (out->soa && denial_of_name(&denial, search->name) == DENIAL_PROVEN)
        return SYNTHESIS_NXDOMAIN;
    if (out->soa && denial_of_type(&denial, search->name, search->type) == DENIAL_PROVEN)
        return SYNTHESIS_NODATA;
    return decide_wildcard(search, &denial);
}

/* Only questions about data; signatures and proofs have no proofs of their own. */
static bool is_askable(uint16_t type)
{
    return !rrtype_is_meta(type) && type != RRTYPE_RRSIG && type != RRTYPE_NSEC &&
           type != RRTYPE_NSEC3;
}

enum synthesis_kind synthesis_find(struct synthesis *out, const struct spans_zone *zone,
                                   struct name name, uint16_t type, uint64_t now)
{
    static const struct {
        enum spans_shelf shelf;
        bool (*run)(struct search *search);
    } searches[] = {{SPANS_NAMES, search_nsec}, {SPANS_HASHES, search_nsec3}};
    struct search search = {.out = out,
                            .zone = zone,
                            .name = name,
                            .type = type,
                            .now = now,
                            .units_left = SYNTHESIS_UNITS_MAX};
    out->kind = SYNTHESIS_NONE;
    for (unsigned i = 0; i < ARRAY_LEN(searches) && is_askable(type) && !out->kind; i++) {
        out->proof_count = 0;
        if (spans_has(zone, searches[i].shelf) && searches[i].run(&search))
            out->kind = search_decide(&search);
    }
    return out->kind;
}
