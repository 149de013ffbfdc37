/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "validate/needs.h"

#include <string.h>

#include "dns/rrtype.h"

static uint32_t needs_bit(const struct rrsets *sets, const struct rrset *set)
{
    return UINT32_C(1) << (set - sets->set);
}

/* Copies the only name in the RDATA of the first record. */
static bool needs_target(const struct rrsets *sets, const struct rrset *set,
                         uint8_t out[NAME_WIRE_MAX], struct name *target)
{
    return set->count && message_target(sets->message, &sets->record[set->first], out, target);
}

/* Returns the DNAME RRset whose owner is above the name, or NULL. */
static const struct rrset *needs_dname(const struct rrsets *sets, struct name name)
{
    for (unsigned i = 0; i < sets->count; i++) {
        const struct rrset *set = &sets->set[i];
        uint8_t wire[NAME_WIRE_MAX];
        if (set->section != SECTION_ANSWER || set->type != RRTYPE_DNAME || !set->count)
            continue;
        struct name owner = rrsets_owner(sets, set, wire);
        if (owner.len < name.len && name_is_below(name, owner))
            return set;
    }
    return NULL;
}

/* Replaces the DNAME's owner at the end of the name by its target (RFC 6672 section 2.2). False: no
 * sound target, or the result is too long. */
static bool needs_synthesise(const struct rrsets *sets, const struct rrset *dname, struct name name,
                             uint8_t out[NAME_WIRE_MAX], struct name *result)
{
    uint8_t owner_wire[NAME_WIRE_MAX], target_wire[NAME_WIRE_MAX];
    struct name owner = rrsets_owner(sets, dname, owner_wire), target;
    if (!needs_target(sets, dname, target_wire, &target))
        return false;
    size_t kept = (size_t)name.len - owner.len;
    if (kept + target.len > NAME_WIRE_MAX)
        return false;
    memcpy(out, name.wire, kept);
    memcpy(out + kept, target.wire, target.len);
    *result = (struct name){out, (uint8_t)(kept + target.len)};
    return true;
}

/* Whether a trust anchor for the name is below the owner of this DNAME RRset, which then proves
 * nothing about the name, secure or not. A DS record belongs to the zone above its owner. */
static bool needs_is_beyond_anchor(const struct validation_view *view, const struct rrsets *sets,
                                   const struct rrset *dname, struct name name)
{
    bool is_above = view->question->type == RRTYPE_DS && !name_is_root(name);
    const struct anchor *anchor = anchors_find(view->anchors, is_above ? name_parent(name) : name);
    uint8_t wire[NAME_WIRE_MAX];
    return anchor && anchor->kind == ANCHOR_TRUSTED &&
           anchor->zone.len > rrsets_owner(sets, dname, wire).len;
}

/* Needs the RRsets at the name that the question asks for. */
static void needs_data(struct needs *out, const struct rrsets *sets,
                       const struct question *question, struct name name)
{
    for (unsigned i = 0; i < sets->count; i++) {
        const struct rrset *set = &sets->set[i];
        uint8_t wire[NAME_WIRE_MAX];
        bool is_asked = set->type == question->type || question->type == RRTYPE_ANY;
        /* A referral has the DS RRset in its authority section. */
        bool may_have = set->section == SECTION_ANSWER || question->type == RRTYPE_DS;
        if (set->count && is_asked && may_have && name_equal(rrsets_owner(sets, set, wire), name))
            out->needed |= needs_bit(sets, set);
    }
}

/* Whether the CNAME RRset has one record, and it leads to this name. */
static bool needs_leads_to(const struct rrsets *sets, const struct rrset *cname, struct name next)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct name target;
    return cname->count == 1 && needs_target(sets, cname, wire, &target) &&
           name_equal(target, next);
}

/* Needs the alias at the name, and gives the name that it leads to. False: the
 * name has none, or its CNAME record contradicts its DNAME record, or an anchor is below the DNAME
 * record. */
static bool needs_alias(struct needs *out, const struct rrsets *sets,
                        const struct validation_view *view, struct name name,
                        uint8_t wire[NAME_WIRE_MAX], struct name *next)
{
    const struct rrset *cname = rrsets_find(sets, SECTION_ANSWER, name, RRTYPE_CNAME);
    const struct rrset *dname = needs_dname(sets, name);
    if (!dname) {
        if (!cname || !needs_target(sets, cname, wire, next))
            return false;
        out->needed |= needs_bit(sets, cname);
        return true;
    }
    out->needed |= needs_bit(sets, dname);
    if (needs_is_beyond_anchor(view, sets, dname, name) ||
        !needs_synthesise(sets, dname, name, wire, next))
        return false;
    return !cname || !cname->count || needs_leads_to(sets, cname, *next);
}

/* A CNAME record that was asked for may follow from the DNAME record, and has no signature then.
 * False: it contradicts the DNAME record. */
static bool needs_made_cname(struct needs *out, const struct rrsets *sets,
                             const struct rrset *dname, struct name name)
{
    const struct rrset *cname = rrsets_find(sets, SECTION_ANSWER, name, RRTYPE_CNAME);
    uint8_t wire[NAME_WIRE_MAX];
    struct name next;
    if (!cname || !cname->count)
        return true;
    if (!needs_synthesise(sets, dname, name, wire, &next) || !needs_leads_to(sets, cname, next))
        return false;
    out->needed &= ~needs_bit(sets, cname);
    return true;
}

/* The name at the end of the chain. A DNAME may make it too long (RFC 6672 section 2.2). False: its
 * CNAME record contradicts its DNAME record, or an anchor is below the DNAME record. */
static bool needs_end(struct needs *out, const struct rrsets *sets,
                      const struct validation_view *view)
{
    if (view->kind != ANSWER_POSITIVE || view->leads_out)
        return true;
    needs_data(out, sets, view->question, view->end);
    const struct rrset *dname = needs_dname(sets, view->end);
    if (!dname)
        return true;
    out->needed |= needs_bit(sets, dname);
    return !needs_is_beyond_anchor(view, sets, dname, view->end) &&
           needs_made_cname(out, sets, dname, view->end);
}

/* Follows the chain. False: it does not lead to the end that the reader of the message found. */
static bool needs_follow(struct needs *out, const struct rrsets *sets,
                         const struct validation_view *view)
{
    uint8_t wires[2][NAME_WIRE_MAX];
    struct name name = view->question->name;
    for (unsigned hop = 0; !name_equal(name, view->end); hop++) {
        if (hop == NEEDS_ALIASES_MAX || !needs_alias(out, sets, view, name, wires[hop & 1], &name))
            return false;
        if (hop == 0)
            out->alias = out->needed;
    }
    return needs_end(out, sets, view);
}

static bool needs_is_proof(const struct rrset *set)
{
    return (set->type == RRTYPE_NSEC || set->type == RRTYPE_NSEC3) && set->count == 1 &&
           set->sig_count > 0;
}

/* The SOA of a negative answer limits its life, and clients get it. */
static bool needs_is_soa(const struct rrsets *sets, const struct rrset *set,
                         const struct validation_view *view)
{
    uint8_t wire[NAME_WIRE_MAX];
    return view->kind != ANSWER_POSITIVE && set->type == RRTYPE_SOA && set->count &&
           name_is_below(view->end, rrsets_owner(sets, set, wire));
}

void needs_find(struct needs *out, const struct rrsets *sets, const struct validation_view *view)
{
    *out = (struct needs){0};
    out->is_sound = needs_follow(out, sets, view);
    for (unsigned i = 0; i < sets->count; i++) {
        const struct rrset *set = &sets->set[i];
        if (set->section != SECTION_AUTHORITY)
            continue;
        if (needs_is_proof(set))
            out->proofs |= needs_bit(sets, set);
        else if (needs_is_soa(sets, set, view))
            out->needed |= needs_bit(sets, set);
    }
    out->proofs &= ~out->needed;
}
