/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * A small authoritative server. Zones have a few records each, so every query searches all of them.
 * It does not compress names. zone_sign.c signs.
 */
#include "scenario/zone.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "dns/edns.h"
#include "dns/message.h"
#include "dns/rrtype.h"
#include "scenario/compose_message.h"
#include "scenario/script.h"

enum { CHAIN_MAX = 20, FIXED_LEN = ZONE_FIXED_LEN };

/* ---- finding ---- */

/* The port may differ, because recursion may use another one. */
static bool is_at(const struct script_zone *zone, const struct addr *addr)
{
    for (unsigned i = 0; i < zone->addr_count; i++)
        if (addr_equal_ip(&zone->addrs[i], addr))
            return true;
    return false;
}

/* Returns whether the zone answers the question. The zone above answers queries for DS. */
static bool is_for(const struct script_zone *zone, const struct question *question)
{
    return name_is_below(question->name, zone->apex) &&
           (question->type != RRTYPE_DS || question->name.len > zone->apex.len);
}

/* Returns the zone with the longest name above the queried name, or else any zone of the server.
 * *has tells which. */
static const struct script_zone *find_zone(const struct script *script, int now,
                                           const struct addr *addr, const struct question *question,
                                           bool *has)
{
    const struct script_zone *found = NULL;
    *has = false;
    for (const struct script_zone *zone = script->zones; zone; zone = zone->next) {
        if (now < zone->first || now > zone->last || !is_at(zone, addr))
            continue;
        bool fits = is_for(zone, question);
        if (!found || (fits && (!*has || zone->apex.len > found->apex.len)))
            found = zone;
        *has |= fits;
    }
    return found;
}

static const struct zone_record *find_record(const struct script_zone *zone, struct name owner,
                                             uint16_t type)
{
    for (const struct zone_record *record = zone->records; record; record = record->next)
        if (record->type == type && name_equal(record->owner, owner))
            return record;
    return NULL;
}

/* Returns whether the name has a record. With `below`, a record of a name under it counts as well.
 */
static bool is_there(const struct script_zone *zone, struct name name, bool below)
{
    for (const struct zone_record *record = zone->records; record; record = record->next)
        if (below ? name_is_below(record->owner, name) : name_equal(record->owner, name))
            return true;
    return false;
}

/* Returns the highest owner of the type between the apex and the name, both excluded. with_name
 * includes the name. */
static const struct zone_record *find_above(const struct script_zone *zone, struct name name,
                                            uint16_t type, bool with_name)
{
    unsigned labels = name_label_count(name), first = name_label_count(zone->apex);
    for (unsigned i = type == RRTYPE_NS ? first + 1 : first; i < labels + with_name; i++) {
        const struct zone_record *record = find_record(zone, name_suffix(name, i), type);
        if (record)
            return record;
    }
    return NULL;
}

/* ---- answering ---- */

struct answering {
    const struct script_zone *zone;
    struct compose_message message;
    uint16_t type;
    bool is_referral;
};

static void put(struct answering *work, enum section section, struct name owner,
                const struct zone_record *record)
{
    struct buf *out = &work->message.sections[section];
    MUST(buf_append(out, owner.wire, owner.len) == ERR_OK &&
         buf_append(out, record->rest.data, record->rest.len) == ERR_OK);
    work->message.counts[section]++;
}

static bool is_wanted(uint16_t wanted, uint16_t type)
{
    return wanted == type || wanted == RRTYPE_ANY;
}

/* Writes the records of source under the name owner. Returns their number. */
static unsigned put_rrset(struct answering *work, enum section section, struct name source,
                          struct name owner, uint16_t type)
{
    unsigned count = 0;
    for (const struct zone_record *record = work->zone->records; record; record = record->next) {
        if (!is_wanted(type, record->type) || !name_equal(record->owner, source))
            continue;
        put(work, section, owner, record);
        count++;
    }
    return count;
}

/* Returns the name at the beginning of the RDATA. */
static struct name target_of(const struct zone_record *record)
{
    struct name target = name_root();
    MUST(name_view(record->rest, FIXED_LEN, &target));
    return target;
}

/* Writes the addresses that the zone has for the name's servers. */
static void put_glue(struct answering *work, struct name owner)
{
    for (const struct zone_record *ns = work->zone->records; ns; ns = ns->next) {
        if (ns->type != RRTYPE_NS || !name_equal(ns->owner, owner))
            continue;
        put_rrset(work, SECTION_ADDITIONAL, target_of(ns), target_of(ns), RRTYPE_A);
        put_rrset(work, SECTION_ADDITIONAL, target_of(ns), target_of(ns), RRTYPE_AAAA);
    }
}

static void put_ns(struct answering *work, struct name owner)
{
    put_rrset(work, SECTION_AUTHORITY, owner, owner, RRTYPE_NS);
    put_glue(work, owner);
}

static void refer(struct answering *work, struct name cut)
{
    work->is_referral = work->message.counts[SECTION_ANSWER] == 0;
    put_ns(work, cut);
}

static void deny(struct answering *work, uint16_t rcode)
{
    work->message.rcode = rcode;
    put_rrset(work, SECTION_AUTHORITY, work->zone->apex, work->zone->apex, RRTYPE_SOA);
}

/* Finds the owner of the name's records: the name itself, or a wildcard. Returns false if there is
 * no owner. */
static bool find_source(const struct script_zone *zone, struct name name,
                        uint8_t wire[NAME_WIRE_MAX], struct name *source)
{
    *source = name;
    if (is_there(zone, name, true))
        return is_there(zone, name, false);
    struct name encloser = name;
    while (!is_there(zone, encloser, true) && encloser.len > zone->apex.len)
        encloser = name_parent(encloser);
    memcpy(wire, "\1*", 2);
    memcpy(wire + 2, encloser.wire, encloser.len);
    *source = (struct name){wire, (uint8_t)(encloser.len + 2)};
    return is_there(zone, *source, false);
}

/* Writes the CNAME record that follows from a DNAME. Returns false if the name gets too long. */
static bool put_substitute(struct answering *work, struct name name,
                           const struct zone_record *dname, uint8_t wire[NAME_WIRE_MAX],
                           struct name *target)
{
    struct name to = target_of(dname);
    size_t kept = (size_t)(name.len - dname->owner.len);
    uint8_t rest[FIXED_LEN + NAME_WIRE_MAX];
    if (kept + to.len > NAME_WIRE_MAX)
        return false;
    memmove(wire, name.wire, kept);
    memcpy(wire + kept, to.wire, to.len);
    *target = (struct name){wire, (uint8_t)(kept + to.len)};
    memcpy(rest, dname->rest.data, FIXED_LEN);
    put_u16(rest, RRTYPE_CNAME);
    put_u16(rest + 8, target->len);
    memcpy(rest + FIXED_LEN, target->wire, target->len);
    struct zone_record cname = {.rest = span_of(rest, FIXED_LEN + target->len)};
    put(work, SECTION_ANSWER, name, &cname);
    return true;
}

/* Writes the answer for one name. Returns true if another name follows: *name, whose bytes are in
 * wire. */
static bool answer_name(struct answering *work, struct name *name, uint8_t wire[NAME_WIRE_MAX])
{
    const struct script_zone *zone = work->zone;
    uint8_t star[NAME_WIRE_MAX];
    struct name source, now = *name;
    const struct zone_record *found = find_above(zone, now, RRTYPE_NS, work->type != RRTYPE_DS);
    if (found) {
        refer(work, found->owner);
        return false;
    }
    if ((found = find_above(zone, now, RRTYPE_DNAME, false))) {
        put_rrset(work, SECTION_ANSWER, found->owner, found->owner, RRTYPE_DNAME);
        if (put_substitute(work, now, found, wire, name))
            return true;
        work->message.rcode = RCODE_YXDOMAIN;
        return false;
    }
    if (!find_source(zone, now, star, &source)) {
        bool is_ent = is_there(zone, now, true) && !(zone->manners & ZONE_NO_ENT);
        deny(work, is_ent ? RCODE_NOERROR : RCODE_NXDOMAIN);
        return false;
    }
    if (put_rrset(work, SECTION_ANSWER, source, now, work->type)) {
        if (work->type == RRTYPE_NS)
            put_glue(work, now);
        return false;
    }
    if (!(found = find_record(zone, source, RRTYPE_CNAME))) {
        deny(work, RCODE_NOERROR);
        return false;
    }
    put(work, SECTION_ANSWER, now, found);
    *name = target_of(found);
    return true;
}

static void answer_all(struct answering *work, const struct question *question)
{
    uint8_t wires[2][NAME_WIRE_MAX];
    struct name name = question->name;
    work->type = question->type;
    for (unsigned hops = 0; hops < CHAIN_MAX && name_is_below(name, work->zone->apex); hops++)
        if (!answer_name(work, &name, wires[hops & 1]))
            break;
    if (work->zone->manners & ZONE_FULL && work->message.counts[SECTION_ANSWER] &&
        !work->message.counts[SECTION_AUTHORITY])
        put_ns(work, work->zone->apex);
}

/* ---- manners, and the message ---- */

static void drop_records(struct compose_message *message)
{
    for (unsigned i = SECTION_ANSWER; i < SECTION_COUNT; i++) {
        buf_clear(&message->sections[i]);
        message->counts[i] = 0;
    }
}

static void put_question(struct answering *work, const struct message *query)
{
    uint8_t wire[NAME_WIRE_MAX], numbers[4];
    struct buf *out = &work->message.sections[SECTION_QUESTION];
    struct name name = query->question.name;
    if (work->zone->manners & ZONE_LOWER_CASE)
        name = name_fold(name, wire);
    put_u16(numbers, query->question.type);
    put_u16(numbers + 2, query->question.cls);
    MUST(buf_append(out, name.wire, name.len) == ERR_OK &&
         buf_append(out, numbers, sizeof(numbers)) == ERR_OK);
    work->message.counts[SECTION_QUESTION] = 1;
}

static void put_header(struct answering *work, const struct message *query)
{
    uint32_t manners = work->zone->manners;
    struct compose_message *message = &work->message;
    message->id = query->id;
    message->flags = (uint16_t)(HEADER_QR | (query->flags & HEADER_RD));
    message->edns = query->edns.present;
    message->udp_size = 1232;
    if (!work->is_referral && !(manners & ZONE_NOT_AA) && message->rcode != RCODE_REFUSED)
        message->flags |= HEADER_AA;
    if (manners & ZONE_OFFERS_RA)
        message->flags |= HEADER_RA;
}

static size_t room_of(const struct message *query)
{
    return MAX(query->edns.present ? query->edns.udp_size : 0, (uint16_t)MESSAGE_UDP_MAX);
}

static size_t finish(struct answering *work, const struct message *query, bool over_tcp,
                     uint8_t *out)
{
    size_t len = 0;
    uint8_t *bytes = compose_message_finish(&work->message, &len);
    MUST(bytes);
    bool is_cut = work->zone->manners & ZONE_TRUNCATES || len > room_of(query);
    if (!over_tcp && is_cut && !(work->message.flags & HEADER_TC)) {
        free(bytes);
        drop_records(&work->message);
        work->message.flags |= HEADER_TC;
        return finish(work, query, over_tcp, out);
    }
    memcpy(out, bytes, len);
    free(bytes);
    return len;
}

size_t zone_answer(const struct script *script, int now, const struct addr *addr, bool over_tcp,
                   struct span bytes, uint8_t *out)
{
    struct message query;
    bool has;
    if (message_parse(&query, bytes) != MESSAGE_OK || !query.has_question)
        return 0;
    struct answering work = {.zone = find_zone(script, now, addr, &query.question, &has)};
    if (!work.zone || (work.zone->manners & ZONE_DROPS_EDNS && query.edns.present))
        return 0;
    compose_message_init(&work.message);
    put_question(&work, &query);
    bool is_bad = work.zone->manners & ZONE_NO_EDNS && query.edns.present;
    bool is_refused = work.zone->manners & ZONE_REFUSES_RD0 && !(query.flags & HEADER_RD);
    if (is_bad)
        work.message.rcode = RCODE_FORMERR;
    else if (!has || is_refused || query.question.cls != RRCLASS_IN)
        work.message.rcode = RCODE_REFUSED;
    else
        answer_all(&work, &query.question);
    bool is_useful = work.message.rcode == RCODE_NOERROR || work.message.rcode == RCODE_NXDOMAIN;
    if (work.zone->signing.is_signed && query.edns.dnssec_ok && is_useful) {
        zone_sign_answer(work.zone, &query.question, &work.message);
        work.message.dnssec_ok = true;
    }
    put_header(&work, &query);
    if (work.zone->manners & (ZONE_NO_EDNS | ZONE_DROPS_EDNS))
        work.message.edns = false;
    size_t len = finish(&work, &query, over_tcp, out);
    compose_message_deinit(&work.message);
    return len;
}
