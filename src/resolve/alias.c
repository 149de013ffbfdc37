/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Follows one chain of aliases. Answers nearly always come in order, so one pass over the section
 * is enough; each further pass needs progress in the previous one, which bounds their number.
 *
 * Invariant: every name of the chain but the last belongs to the asked zone. The first alias of a
 * name counts, so a second chain in the same answer is ignored.
 */
#include "resolve/alias.h"

#include <string.h>

#include "dns/rrtype.h"
#include "resolve/route.h"

struct walk {
    struct alias_chain *chain;
    const struct message *message;
    const struct question *question;
    const struct zone *zone;
    bool follows;
    bool over;
    unsigned dname_count;
    struct rr
        dnames[ALIAS_DNAMES_MAX]; /* the first DNAME records of the section, whatever their owner */
};

static void alias_end(struct walk *walk, enum alias_end how)
{
    walk->chain->end = how;
    walk->over = true;
}

/* Replaces the suffix `above` of owner by target. */
static bool substitute(struct name owner, struct name above, struct name target,
                       uint8_t out[NAME_WIRE_MAX], struct name *result)
{
    size_t kept = (size_t)(owner.len - above.len);
    if (kept + target.len > NAME_WIRE_MAX)
        return false;
    memcpy(out, owner.wire, kept);
    memcpy(out + kept, target.wire, target.len);
    *result = (struct name){out, (uint8_t)(kept + target.len)};
    return true;
}

/* The DNAME's owner is above name and not name itself (RFC 6672 section 2.3). */
static bool dname_covers(const struct message *message, const struct rr *rr, struct name name,
                         uint8_t out[NAME_WIRE_MAX], struct name *above)
{
    *above = message_owner(message, rr, out);
    return above->len < name.len && name_is_below(name, *above);
}

static bool dname_target(const struct message *message, const struct rr *rr, struct name owner,
                         uint8_t out[NAME_WIRE_MAX], struct name *result)
{
    uint8_t above_wire[NAME_WIRE_MAX], target_wire[NAME_WIRE_MAX];
    struct name above, target;
    if (!dname_covers(message, rr, owner, above_wire, &above))
        return false;
    return message_target(message, rr, target_wire, &target) &&
           substitute(owner, above, target, out, result);
}

bool alias_target(const struct message *message, const struct alias_hop *hop, struct name owner,
                  uint8_t out[NAME_WIRE_MAX], struct name *target)
{
    if (hop->has_cname)
        return message_target(message, &hop->cname, out, target);
    return dname_target(message, &hop->dname, owner, out, target);
}

/* Whether the name is already in the chain. Names that a DNAME made are not compared: they are few,
 * and the number of hops is bounded. */
static bool is_in_chain(const struct walk *walk, struct name name)
{
    const struct alias_chain *chain = walk->chain;
    if (name_equal(name, walk->question->name))
        return true;
    for (unsigned i = 0; i < chain->hops; i++)
        if (chain->hop[i].has_cname && message_owner_is(walk->message, &chain->hop[i].cname, name))
            return true;
    return false;
}

/* Continues with the target of the hop just written. */
static void move_to(struct walk *walk, struct name target)
{
    struct alias_chain *chain = walk->chain;
    bool met = is_in_chain(walk, target);
    chain->hops++;
    chain->name = name_copy(target, chain->wire);
    if (met)
        alias_end(walk, ALIAS_LOOP);
    else if (!route_owns(walk->zone, target))
        alias_end(walk, ALIAS_LEFT);
}

static void take_cname(struct walk *walk, const struct rr *rr)
{
    struct alias_chain *chain = walk->chain;
    uint8_t wire[NAME_WIRE_MAX];
    struct name target;
    if (!message_target(walk->message, rr, wire, &target)) {
        alias_end(walk, ALIAS_UNSOUND);
        return;
    }
    if (chain->hops == ALIAS_HOPS_MAX) {
        alias_end(walk, ALIAS_LONG);
        return;
    }
    struct alias_hop *hop = &chain->hop[chain->hops];
    hop->has_cname = true;
    hop->has_dname = false;
    hop->cname = *rr;
    move_to(walk, target);
}

static void take_dname(struct walk *walk, const struct rr *rr)
{
    struct alias_chain *chain = walk->chain;
    uint8_t wire[NAME_WIRE_MAX];
    struct name target;
    if (!message_check_rr(walk->message, rr)) {
        alias_end(walk, ALIAS_UNSOUND);
        return;
    }
    if (!dname_target(walk->message, rr, chain->name, wire, &target)) {
        chain->dname = *rr;
        alias_end(walk, ALIAS_OVERFLOW);
        return;
    }
    if (chain->hops == ALIAS_HOPS_MAX) {
        alias_end(walk, ALIAS_LONG);
        return;
    }
    struct alias_hop *hop = &chain->hop[chain->hops];
    hop->has_cname = false;
    hop->has_dname = true;
    hop->dname = *rr;
    move_to(walk, target);
}

static bool is_data(const struct walk *walk, const struct rr *rr)
{
    uint16_t type = walk->question->type;
    if (rr->type != type && (type != RRTYPE_ANY || rrtype_is_meta(rr->type)))
        return false;
    return message_owner_is(walk->message, rr, walk->chain->name);
}

/* Passes over the section once; true when it took an alias and the chain continues. */
static bool alias_pass(struct walk *walk)
{
    unsigned hops = walk->chain->hops;
    struct rr_iter iter = message_rrs(walk->message, SECTION_ANSWER);
    for (struct rr rr; !walk->over && message_rr_next(&iter, &rr);) {
        if (rr.cls != walk->question->cls)
            continue;
        if (is_data(walk, &rr))
            alias_end(walk, ALIAS_DATA);
        else if (rr.type == RRTYPE_CNAME && walk->follows &&
                 message_owner_is(walk->message, &rr, walk->chain->name))
            take_cname(walk, &rr);
    }
    return !walk->over && walk->chain->hops > hops;
}

/* An honest chain has few. Thousands of them, compared at each hop, took 100 ms. */
static void find_dnames(struct walk *walk)
{
    struct rr_iter iter = message_rrs(walk->message, SECTION_ANSWER);
    walk->dname_count = 0;
    for (struct rr rr; walk->dname_count < ALIAS_DNAMES_MAX && message_rr_next(&iter, &rr);)
        if (rr.type == RRTYPE_DNAME && rr.cls == walk->question->cls)
            walk->dnames[walk->dname_count++] = rr;
}

/* Whether the DNAME is above name and its owner belongs to the zone. */
static bool is_dname_of(const struct walk *walk, const struct rr *dname, struct name name)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct name above;
    return dname_covers(walk->message, dname, name, wire, &above) && route_owns(walk->zone, above);
}

/* Takes a DNAME above the last name, where no CNAME continues the chain. */
static bool follow_dname(struct walk *walk)
{
    for (unsigned i = 0; i < walk->dname_count; i++) {
        if (!is_dname_of(walk, &walk->dnames[i], walk->chain->name))
            continue;
        take_dname(walk, &walk->dnames[i]);
        return !walk->over;
    }
    return false;
}

/* Finds the DNAME that the CNAME of the hop was made from, so that both are kept. */
static void explain(struct walk *walk, struct alias_hop *hop, struct name owner, struct name target)
{
    for (unsigned i = 0; i < walk->dname_count; i++) {
        uint8_t wire[NAME_WIRE_MAX];
        struct name made;
        const struct rr *rr = &walk->dnames[i];
        if (is_dname_of(walk, rr, owner) && dname_target(walk->message, rr, owner, wire, &made) &&
            name_equal(made, target)) {
            hop->has_dname = true;
            hop->dname = *rr;
            return;
        }
    }
}

static void explain_all(struct walk *walk)
{
    uint8_t wires[2][NAME_WIRE_MAX];
    struct name owner = walk->question->name, target;
    for (unsigned i = 0; i < walk->chain->hops; i++) {
        struct alias_hop *hop = &walk->chain->hop[i];
        if (!alias_target(walk->message, hop, owner, wires[i & 1], &target))
            return;
        if (hop->has_cname)
            explain(walk, hop, owner, target);
        owner = target;
    }
}

/* Explains a CNAME that was asked for: it may come from a DNAME too (RFC 6672 section 5.3.1). */
static void explain_data(struct walk *walk)
{
    struct alias_chain *chain = walk->chain;
    struct rr_iter iter = message_rrs(walk->message, SECTION_ANSWER);
    for (struct rr rr; message_rr_next(&iter, &rr);) {
        uint8_t wire[NAME_WIRE_MAX];
        struct name target;
        if (rr.type != RRTYPE_CNAME || rr.cls != walk->question->cls ||
            !message_owner_is(walk->message, &rr, chain->name) ||
            !message_target(walk->message, &rr, wire, &target))
            continue;
        struct alias_hop hop = {.has_cname = true};
        explain(walk, &hop, chain->name, target);
        chain->is_made = hop.has_dname;
        chain->dname = hop.dname;
        return;
    }
}

void alias_follow(struct alias_chain *chain, const struct message *message,
                  const struct question *question, const struct zone *zone)
{
    struct walk walk;
    walk.chain = chain;
    walk.message = message;
    walk.question = question;
    walk.zone = zone;
    walk.follows = question->type != RRTYPE_CNAME && question->type != RRTYPE_ANY;
    walk.over = false;
    chain->end = ALIAS_NOTHING;
    chain->hops = 0;
    chain->is_made = false;
    chain->name = question->name;
    find_dnames(&walk);
    while (alias_pass(&walk) || (!walk.over && walk.follows && follow_dname(&walk)))
        ;
    if (!walk.dname_count)
        return;
    explain_all(&walk);
    if (!walk.follows && chain->end == ALIAS_DATA)
        explain_data(&walk);
}
