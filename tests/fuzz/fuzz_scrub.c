/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Checks the promises of scrub for any message of an upstream. The remaining records are sound,
 * belong to the question and to names of the queried zone, and every TTL is noted and within
 * bounds. The answer section is one alias chain and the data at its end. The first byte chooses DO,
 * full answers, whether the server serves the zone, and whether addresses are filtered; the rest is
 * the message.
 */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/prefix.h"
#include "cache/cache.h"
#include "dns/message.h"
#include "dns/rrtype.h"
#include "resolve/alias.h"
#include "resolve/route.h"
#include "resolve/scrub.h"
#include "resolve/stitch.h"

enum { TTL_MAX = 86400 };

static struct cache *cache;
static struct routes *routes;
static struct prefix_set *inside; /* counts half of all addresses as private */
static struct compose_space space, stitched;

static void clean_up(void)
{
    routes_free(routes);
    prefix_set_free(inside);
    cache_free(cache);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The zones ".", "example" and "in.example". */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    static const struct cache_options options = {
        .size_bytes = CACHE_SIZE_MIN, .max_ttl_s = TTL_MAX, .max_negative_ttl_s = 900};
    static struct route_zone zones[] = {
        {.wire = "", .name_len = 1, .cache = true},
        {.wire = "\7example", .name_len = 9, .cache = true},
        {.wire = "\2in\7example", .name_len = 12, .cache = true},
    };
    static struct route_options route_options = {.zones = zones, .zone_count = ARRAY_LEN(zones)};
    cache = cache_new(&options);
    routes = routes_new(&route_options, NULL, &(struct route_strategies){0});
    struct prefix prefix;
    inside = prefix_set_new();
    MUST(prefix_parse(&prefix, "0.0.0.0/1") == ERR_OK);
    MUST(inside && prefix_set_add(inside, &prefix, 0) == ERR_OK);
    MUST(prefix_parse(&prefix, "::/1") == ERR_OK);
    MUST(prefix_set_add(inside, &prefix, 0) == ERR_OK && prefix_set_freeze(inside) == ERR_OK);
    MUST(cache && routes);
    atexit(clean_up); /* frees the cache, because the leak checker does not search its mapping */
    return 0;
}

/* Finds the target of the name, if this record is an alias of it. Returns false otherwise. */
static bool leads_on(const struct message *message, const struct rr *rr, struct name *name,
                     uint8_t wire[NAME_WIRE_MAX])
{
    uint8_t target_wire[NAME_WIRE_MAX];
    struct name target;
    if (rr->type != RRTYPE_CNAME || !message_owner_is(message, rr, *name))
        return false;
    MUST(message_target(message, rr, target_wire, &target));
    *name = name_copy(target, wire);
    return true;
}

/* Checks that each record belongs to the current name of the chain: it is its alias, a DNAME above
 * it, data of the QTYPE, or a signature of one of these or of the previous alias. */
static void check_chain(const struct message *message, const struct question *question)
{
    uint8_t wires[2][NAME_WIRE_MAX], owner_wire[NAME_WIRE_MAX];
    struct name before = question->name, name = question->name;
    bool follows = question->type != RRTYPE_CNAME && question->type != RRTYPE_ANY;
    unsigned hops = 0;
    struct rr_iter iter = message_rrs(message, SECTION_ANSWER);
    for (struct rr rr; message_rr_next(&iter, &rr);) {
        struct name next = name;
        if (follows && leads_on(message, &rr, &next, wires[hops & 1])) {
            before = name;
            name = next;
            MUST(++hops <= ALIAS_HOPS_MAX);
            continue;
        }
        struct name owner = message_owner(message, &rr, owner_wire);
        bool is_sig = rr.type == RRTYPE_RRSIG;
        uint16_t type = is_sig ? get_u16(message_rdata(message, &rr).data) : rr.type;
        if (type == RRTYPE_DNAME && question->type != RRTYPE_ANY)
            MUST(name_is_below(name, owner));
        else if (is_sig && type == RRTYPE_CNAME && hops && question->type != RRTYPE_RRSIG)
            MUST(name_equal(owner, before));
        else
            MUST(name_equal(owner, name) && (type == question->type || rr.type == question->type ||
                                             question->type == RRTYPE_ANY));
    }
}

static void check(const struct answer *answer, const struct question *question,
                  const struct zone *zone)
{
    struct message message;
    MUST(message_parse(&message, answer->message) == MESSAGE_OK);
    MUST(!message.has_trailing && !message.edns.present && !message.has_tsig);
    MUST(message.has_question && question_equal_exact(&message.question, question));
    MUST(message_check_rdata(&message));
    if (zone)
        check_chain(&message, question);
    size_t count = 0;
    struct rr_iter iter = message_all_rrs(&message);
    for (struct rr rr; message_rr_next(&iter, &rr); count++) {
        uint8_t wire[NAME_WIRE_MAX];
        MUST(count < answer->ttl_count);
        MUST(answer->ttl_offsets[count] == message_ttl_offset(&rr));
        MUST(rr.cls == question->cls && rr.ttl <= TTL_MAX && rr.ttl >= answer->ttl_s);
        struct name owner = message_owner(&message, &rr, wire);
        MUST(!zone || route_owns(zone, owner) || name_equal(owner, question->name));
    }
    MUST(count == answer->ttl_count);
}

static void try_message(const struct message *message, unsigned how)
{
    static struct response response;
    uint8_t wire[NAME_WIRE_MAX];
    struct answer answer;
    struct question question = message->question;
    question.name = name_fold(question.name, wire);
    const struct zone *zone = route_find(routes, question.name, question.type);
    struct zone cut = *zone;
    cut.within = zone;
    cut.is_authoritative = true;
    if (how & 4)
        zone = &cut;
    struct scrub_rules rules = {
        .zone = zone, .cache = cache, .dnssec_ok = how & 1, .minimal_responses = how & 2};
    if (how & 8)
        rules.private.prefixes = inside;
    classify(&response, message, &question, zone);
    if (!response_is_useful(response.kind) ||
        !scrub(&answer, &space, message, &question, &response, &rules))
        return;
    check(&answer, &question, zone);
    MUST(!answer.ttl_s || response.has_soa || answer.kind == ANSWER_POSITIVE || answer.ede_count);
    MUST(!answer.ede_count || how & 8);
    struct answer whole;
    if (stitch(&whole, &stitched, &question, &answer, &answer, 0))
        check(&whole, &question, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    uint8_t *bytes = malloc(size - 1); /* exact size, so that a sanitizer detects overruns */
    if (!bytes)
        return 0;
    memcpy(bytes, data + 1, size - 1);
    struct message message;
    if (message_parse(&message, span_of(bytes, size - 1)) == MESSAGE_OK && message.has_question)
        try_message(&message, data[0]);
    free(bytes);
    return 0;
}
