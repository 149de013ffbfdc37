/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Sorts the records of a message into RRsets. Most owners are pointers to one place, so places are
 * compared first, and names only where places differ. Invariant: each owner is read once at most,
 * so 2,048 records with long names in different places cost one read each and comparisons with at
 * most RRSETS_MAX names.
 */
#include "validate/rrsets.h"

#include <string.h>

#include "dns/rrtype.h"

/* The working state of an RRset while the message is read. */
struct gathered {
    uint16_t place; /* the place of the owner's first label */
    uint16_t last, last_sig;
};

struct gathering {
    struct rrsets *out;
    struct gathered set[RRSETS_MAX]; /* filled as far as out->count */
};

/* The owner of the record that is read. */
struct owner {
    uint16_t place;
    bool is_read;
    struct name name;
    uint8_t wire[NAME_WIRE_MAX];
};

/* Returns the offset of the first label of a sound name. */
static uint16_t rrsets_place(const struct message *message, uint16_t offset)
{
    const uint8_t *data = message->bytes.data;
    while (data[offset] >= 0xc0)
        offset = (uint16_t)(get_u16(data + offset) & 0x3fff);
    return offset;
}

static struct name rrsets_read_owner(const struct message *message, const struct rr *rr,
                                     struct owner *owner)
{
    if (!owner->is_read) {
        owner->name = message_owner(message, rr, owner->wire);
        owner->is_read = true;
    }
    return owner->name;
}

static bool rrsets_is_owner(const struct gathering *all, unsigned at, struct owner *owner,
                            const struct rr *rr)
{
    const struct rrsets *out = all->out;
    return all->set[at].place == owner->place ||
           name_equal(rrsets_owner(out, &out->set[at]), rrsets_read_owner(out->message, rr, owner));
}

static struct rrset *rrsets_find_set(const struct gathering *all, const struct rr *rr,
                                     uint16_t type, struct owner *owner)
{
    struct rrsets *out = all->out;
    for (unsigned at = out->count; at-- > 0;) {
        struct rrset *set = &out->set[at];
        if (set->type == type && set->section == rr->section && rrsets_is_owner(all, at, owner, rr))
            return set;
    }
    return NULL;
}

static struct rrset *rrsets_add_set(struct gathering *all, const struct rr *rr, uint16_t type,
                                    struct owner *owner)
{
    struct rrsets *out = all->out;
    unsigned at = out->count;
    if (at == RRSETS_MAX)
        return NULL;
    all->set[at].place = owner->place;
    struct name name = rrsets_read_owner(out->message, rr, owner);
    memcpy(out->owner[at], name.wire, name.len);
    out->owner_len[at] = name.len;
    struct rrset *set = &out->set[out->count++];
    *set = (struct rrset){
        .type = type, .section = rr->section, .first = RRSETS_NONE, .first_sig = RRSETS_NONE};
    return set;
}

/* Appends the record to one of the set's two lists. */
static void rrsets_append(struct rrsets *out, const struct rr *rr, uint16_t *first, uint16_t *last,
                          uint16_t *count)
{
    uint16_t record = out->record_count++;
    out->record[record] = *rr;
    out->next[record] = RRSETS_NONE;
    if (*count == 0)
        *first = record;
    else
        out->next[*last] = record;
    *last = record;
    ++*count;
}

/* Whether the record repeats the only one of its RRset. A duplicate counts once (RFC 2181 section
 * 5). Some servers send the proof about a name and that about its wildcard twice if one record is
 * both. Duplicates of other types are left to canonical.c. */
static bool rrsets_repeats(const struct message *message, const struct rr *first,
                           const struct rr *rr)
{
    uint8_t wires[2][NAME_WIRE_MAX];
    struct name target, other;
    if (rr->type == RRTYPE_CNAME)
        return message_target(message, first, wires[0], &target) &&
               message_target(message, rr, wires[1], &other) && name_equal(target, other);
    return (rr->type == RRTYPE_NSEC || rr->type == RRTYPE_NSEC3) &&
           span_equal(message_rdata(message, first), message_rdata(message, rr));
}

static bool rrsets_take(struct gathering *all, const struct rr *rr)
{
    struct rrsets *out = all->out;
    if (out->record_count == RRSETS_RECORDS_MAX || !message_check_rr(out->message, rr))
        return false;
    /* The layout of an RRSIG has 18 bytes before the signer, so its covered type can be read. */
    bool is_sig = rr->type == RRTYPE_RRSIG;
    uint16_t type = is_sig ? get_u16(message_rdata(out->message, rr).data) : rr->type;
    struct owner owner;
    owner.place = rrsets_place(out->message, rr->owner_offset);
    owner.is_read = false;
    struct rrset *set = rrsets_find_set(all, rr, type, &owner);
    if (!set)
        set = rrsets_add_set(all, rr, type, &owner);
    if (!set)
        return false;
    if (!is_sig && set->count == 1 && rrsets_repeats(out->message, &out->record[set->first], rr))
        return true;
    struct gathered *more = &all->set[set - out->set];
    out->set_of[out->record_count] = (uint8_t)(set - out->set);
    if (is_sig)
        rrsets_append(out, rr, &set->first_sig, &more->last_sig, &set->sig_count);
    else
        rrsets_append(out, rr, &set->first, &more->last, &set->count);
    return true;
}

static bool rrsets_take_section(struct gathering *all, enum section section, uint16_t cls)
{
    struct rr_iter iter = message_rrs(all->out->message, section);
    for (struct rr rr; message_rr_next(&iter, &rr);)
        if (rr.cls == cls && !rrsets_take(all, &rr))
            return false;
    return true;
}

bool rrsets_are_signed(const struct message *message, enum section section)
{
    struct rr_iter iter = message_rrs(message, section);
    for (struct rr rr; message_rr_next(&iter, &rr);)
        if (rr.type == RRTYPE_RRSIG)
            return true;
    return false;
}

bool rrsets_read(struct rrsets *out, const struct message *message, uint16_t cls)
{
    struct gathering all; /* not cleared: it is large, and small messages use little of it */
    all.out = out;
    out->message = message;
    out->count = 0;
    out->record_count = 0;
    return rrsets_take_section(&all, SECTION_ANSWER, cls) &&
           rrsets_take_section(&all, SECTION_AUTHORITY, cls);
}

const struct rrset *rrsets_find(const struct rrsets *sets, enum section section, struct name owner,
                                uint16_t type)
{
    for (unsigned at = 0; at < sets->count; at++) {
        const struct rrset *set = &sets->set[at];
        if (set->type == type && set->section == section &&
            name_equal(rrsets_owner(sets, set), owner))
            return set;
    }
    return NULL;
}

const struct rrset *rrsets_with(const struct rrsets *sets, const struct rr *rr)
{
    unsigned from = 0, to = sets->record_count;
    while (from < to) {
        unsigned middle = (from + to) / 2;
        if (sets->record[middle].rdata_offset < rr->rdata_offset)
            from = middle + 1;
        else
            to = middle;
    }
    bool is_there =
        from < sets->record_count && sets->record[from].rdata_offset == rr->rdata_offset;
    return is_there ? &sets->set[sets->set_of[from]] : NULL;
}
