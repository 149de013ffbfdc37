/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Chooses the zone; zone_reply writes. Invariant: an answer from here is never cached, because a
 * hit does not look at zones. */
#include "resolve/zone_answers.h"

#include "dns/edns.h"
#include "dns/rrtype.h"
#include "resolve/tasks.h"
#include "resolve/zone_reply.h"
#include "zone/zone_find.h"
#include "zone/zone_set.h"

/* Whether the zone with these servers belongs to a view and takes precedence over the zone held
 * here. */
static bool goes_before(const struct zone *zone, const struct zone_held *held)
{
    return zone && zone->is_of_view && zone->name.len >= held->name_len;
}

static bool is_for_space(const struct zone_held *held, const struct space *space,
                         const struct question *question)
{
    return held && zone_is_for_clients(held) && question->cls == RRCLASS_IN &&
           !goes_before(route_find(space->routes, question->name, question->type), held);
}

static const struct zone_held *find_for_clients(const struct zone_set *zones,
                                                const struct space *space,
                                                const struct question *question)
{
    const struct zone_held *zone = zone_set_find(zones, question->name, question->type);
    return is_for_space(zone, space, question) ? zone : NULL;
}

/* A client without RD that asks a zone for its own DS records learns that the zone has none,
 * because no other server is asked (RFC 4035 section 3.1.4.1). */
static const struct zone_held *find_child(const struct zone_set *zones, const struct space *space,
                                          const struct question *question)
{
    const struct zone_held *zone = zone_set_find_exact(zones, question->name);
    return is_for_space(zone, space, question) ? zone : NULL;
}

/* A zone without data answers nothing, but other servers must not be asked. */
static void answer_not_ready(struct tasks *tasks, const struct question *question,
                             struct answer *out)
{
    compose_failure(out, tasks->local_space.bytes, question, RCODE_SERVFAIL);
    out->stored_at = loop_now(tasks->loop);
    out->ede_count = 1;
    out->ede[0] = EDE_NOT_READY;
}

enum zone_answers_result zone_answers_find(struct tasks *tasks, const struct space *space,
                                           const struct question *question, bool dnssec_ok,
                                           bool refers, struct answer *out,
                                           uint8_t wire[NAME_WIRE_MAX], struct name *target)
{
    const struct zone_held *zone = find_for_clients(tasks->zones, space, question);
    if (!zone && refers && question->type == RRTYPE_DS)
        zone = find_child(tasks->zones, space, question);
    const struct zone_reply_wish wish = {
        .dnssec_ok = dnssec_ok, .refers = refers, .follows = !refers};
    if (!zone || (!zone->data && zone->has_fallback))
        return ZONE_ANSWERS_NOT;
    if (!zone->data) {
        answer_not_ready(tasks, question, out);
        return ZONE_ANSWERS_FOUND;
    }
    switch (zone_reply(out, &tasks->local_space, zone->data, question, &wish, loop_now(tasks->loop),
                       wire, target)) {
    case ZONE_REPLY_ELSEWHERE:
        return ZONE_ANSWERS_ELSEWHERE;
    case ZONE_REPLY_BELOW:
        return ZONE_ANSWERS_NOT;
    default:
        return ZONE_ANSWERS_FOUND;
    }
}

bool zone_answers_has(const struct zone_set *zones, const struct space *space,
                      const struct question *question)
{
    const struct zone_held *zone = find_for_clients(zones, space, question);
    struct zone_match match;
    if (!zone || !zone->data)
        return false;
    zone_find(zone->data, question->name, question->type, &match);
    return match.kind != ZONE_FOUND_REFERRAL;
}

bool zone_answers_claims(const struct zone_set *zones, const struct question *question,
                         uint8_t special_len)
{
    if (!zones || special_len == 0)
        return false;
    const struct zone_held *zone = zone_set_find(zones, question->name, question->type);
    return zone && zone->name_len >= special_len;
}

/* ---- for recursion ---- */

static const struct zone_held *find_for_upstream(const struct task *task, struct name name)
{
    const struct zone_set *zones = task->tasks->zones;
    const struct zone_held *zone = zones ? zone_set_find_exact(zones, name) : NULL;
    return zone && zone_is_for_upstream(zone) && !goes_before(task->zone, zone) ? zone : NULL;
}

bool zone_answers_is_cut(const struct task *task, struct name name)
{
    const struct zone_held *zone = find_for_upstream(task, name);
    return zone && !task->avoids_here && (zone->data || !zone->has_fallback);
}

bool zone_answers_ask(struct task *task, struct message *message)
{
    struct tasks *tasks = task->tasks;
    const struct zone_held *zone = find_for_upstream(task, task->asked_zone);
    const struct zone_reply_wish wish = {
        .dnssec_ok = task->key.flags & CACHE_KEY_DO || task->zone->validates, .refers = true};
    uint8_t wire[NAME_WIRE_MAX];
    struct answer answer;
    struct name target;
    if (!zone || !zone->data)
        return false;
    (void)zone_reply(&answer, &tasks->local_space, zone->data, &task->asked, &wish,
                     loop_now(tasks->loop), wire, &target);
    uint8_t *flags = tasks->local_space.bytes + 2;
    put_u16(flags, get_u16(flags) & (uint16_t)~HEADER_RA); /* the zone's server does not recurse */
    STATS_INC(tasks->stats, zone_questions);
    return answer.kind != ANSWER_FAILURE && message_parse(message, answer.message) == MESSAGE_OK;
}

bool zone_answers_may_avoid(const struct task *task)
{
    const struct zone_held *zone = find_for_upstream(task, task->asked_zone);
    return zone && zone->has_fallback && !task->avoids_here;
}
