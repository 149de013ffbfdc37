/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Predicts how a query would be answered. Every worker looks for itself, because its upstreams are
 * its own. The facts that all workers share come from the first one. Asks no server and marks no
 * entry.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/transport.h"
#include "cache/cache.h"
#include "config/config.h"
#include "control/call.h"
#include "control/commands.h"
#include "control/gather.h"
#include "dns/build.h"
#include "dns/header.h"
#include "dns/rrtype.h"
#include "loop/loop.h"
#include "resolve/outlook.h"
#include "resolve/resolver.h"
#include "resolve/route.h"
#include "rpz/rpz_policy.h"
#include "serve/name_servers.h"
#include "serve/view_choice.h"
#include "upstream/exchange.h"
#include "upstream/upstream.h"
#include "upstream/upstreams.h"
#include "validate/anchors.h"

enum {
    VARIANTS = 4, /* keys of one question: with and without DO and CD */
    CHAIN_MAX = 1 + RPZ_ALIASES_MAX,
};

struct wanted {
    struct cache *cache;
    struct addr client;           /* the client for response policy */
    char view[VIEW_NAME_MAX + 1]; /* "": clients without a view */
    uint32_t policy_zones;        /* the view's choice */
    uint16_t type;
    uint8_t name_len;
    uint8_t wire[NAME_WIRE_MAX];
};

struct cached {
    bool is_there, is_live, may_serve, is_due, is_marked, stale;
    uint8_t kind, security;
    char text[ANSWER_TEXT_MAX]; /* the text of a failure */
    uint16_t rcode;
    struct answer_signed signatures;
    uint64_t ttl_us, age_us, over_us;
    size_t bytes;
};

/* The findings of a worker, except for its upstreams, which it writes as rows. */
struct seen {
    struct outlook outlook; /* its names are no longer valid; these are copies as text: */
    char local_zone[NAME_TEXT_MAX], alias[NAME_TEXT_MAX], zone[NAME_TEXT_MAX];
    char cut[NAME_TEXT_MAX], anchor[NAME_TEXT_MAX];
    const char *anchor_source; /* static */
    bool anchor_is_negative;
    int64_t wall_s;
    struct cached cached[VARIANTS];
    /* The cached answer for a client without DO and CD, for the policy, and the servers of each
     * name of its alias chain. */
    struct span message; /* empty: none */
    size_t place_count;
    struct name_servers places[];
};

/* ---- on the worker's thread ---- */

static void see_cached(struct cache *cache, const struct cache_key *key, uint64_t now,
                       struct cached *out)
{
    struct cache_item item;

    out->is_there = cache_peek(cache, key, now, &item);
    if (!out->is_there)
        return;
    const struct answer *answer = &item.answer;
    uint32_t age_s = answer_age(answer, now), over_s = answer_staleness(answer, age_s);
    out->is_live = answer_is_live(answer, now);
    out->stale = answer->stale_s > 0;
    out->may_serve = answer->kind != ANSWER_FAILURE && over_s <= cache_serves_stale_s(cache);
    out->is_due = answer->is_due;
    out->is_marked = item.is_marked;
    out->kind = answer->kind;
    out->security = answer->security;
    out->signatures = answer->signatures;
    snprintf(out->text, sizeof(out->text), "%s", answer->text ? answer->text : "");
    out->rcode = answer->message.data[3] & 0x0f;
    out->ttl_us = out->is_live ? (uint64_t)(answer->ttl_s - age_s) * US_PER_S : 0;
    out->age_us = (uint64_t)age_s * US_PER_S;
    out->over_us = (uint64_t)over_s * US_PER_S;
    out->bytes = answer->message.len;
}

/* Finds the names that a policy judges, in the order of the alias chain. */
static size_t lookup_chain(const struct question *question, struct span bytes,
                           struct name names[CHAIN_MAX], uint8_t wires[CHAIN_MAX][NAME_WIRE_MAX])
{
    struct message message;
    size_t count = 0;

    if (message_parse(&message, bytes) != MESSAGE_OK)
        return 0;
    names[count++] = question->name;
    while (count < CHAIN_MAX && rpz_policy_follows(question) &&
           rpz_policy_find_target(&message, names[count - 1], wires[count], &names[count])) {
        names[count] = name_fold(names[count], wires[count]);
        count++;
    }
    return count;
}

/* Makes room for the findings, and copies to them the cached answer and the servers by which the
 * policy judges it. NULL: out of memory. */
static struct seen *seen_new(const struct wanted *wanted, const struct resolver *resolver,
                             unsigned view, const struct cache_key *key, uint64_t now)
{
    struct question question = {.name = {wanted->wire, wanted->name_len}, .type = wanted->type};
    struct name names[CHAIN_MAX];
    uint8_t wires[CHAIN_MAX][NAME_WIRE_MAX];
    struct cache_item item;
    bool is_live = cache_peek(wanted->cache, key, now, &item) && answer_is_live(&item.answer, now);
    struct span message = is_live ? item.answer.message : (struct span){0};
    size_t count = is_live ? lookup_chain(&question, message, names, wires) : 0;
    struct seen *seen = calloc(1, sizeof(*seen) + count * sizeof(seen->places[0]) + message.len);

    if (!seen || !is_live)
        return seen;
    uint8_t *copy = (uint8_t *)&seen->places[count];
    memcpy(copy, message.data, message.len);
    seen->message = span_of(copy, message.len);
    seen->place_count = count;
    for (size_t i = 0; i < count; i++)
        (void)name_servers_find(&seen->places[i], resolver, view, names[i]);
    return seen;
}

static void note_names(struct seen *seen)
{
    struct outlook *outlook = &seen->outlook;

    if (outlook->has_local && outlook->local.zone.len > 0 && *outlook->local.origin)
        name_format(outlook->local.zone, seen->local_zone);
    if (outlook->target.len > 0)
        name_format(outlook->target, seen->alias);
    if (outlook->zone)
        name_format(outlook->zone->name, seen->zone);
    if (outlook->from == CUT_LOOK_CUT)
        name_format(delegation_zone(&outlook->cut), seen->cut);
    seen->anchor_source = "";
    if (outlook->anchor) {
        const struct anchor *anchor = outlook->anchor;
        seen->anchor_is_negative = anchor->kind == ANCHOR_NEGATIVE;
        seen->anchor_source = seen->anchor_is_negative ? anchor->source : anchor->record[0].source;
        name_format(anchor->zone, seen->anchor);
    }
}

static void command_lookup_put_upstream(struct gather_part *part, uint32_t order,
                                        const struct upstream_view *view)
{
    struct reply *reply = &part->rows;
    char text[ADDR_TEXT_MAX];

    reply_row(reply);
    reply_count(reply, part->worker);
    if (order > 0)
        reply_count(reply, order);
    else
        reply_unknown(reply);
    reply_text(reply, addr_format(&view->addr, text));
    reply_text(reply, view->way);
    reply_text(reply, view->health);
    if (view->srtt_us > 0)
        reply_duration(reply, view->srtt_us);
    else
        reply_unknown(reply);
    reply_count(reply, view->ready);
    reply_count(reply, view->dialing);
    reply_count(reply, view->in_flight);
    reply_text(reply, view->error);
    reply_row_end(reply);
}

/* Writes the upstreams in the order in which the worker would ask them. */
static void put_group(struct gather_part *part, const struct zone *zone, uint64_t now)
{
    struct select_facts facts[EXCHANGE_GROUP_MAX];
    uint32_t order[EXCHANGE_GROUP_MAX];
    struct upstream_view view;

    for (size_t i = 0; i < zone->group_len; i++)
        facts[i] = upstream_facts(zone->group[i]);
    select_order(facts, zone->group_len, order);
    for (uint32_t place = 1; place <= zone->group_len; place++) {
        for (size_t i = 0; i < zone->group_len; i++) {
            if (order[i] != place)
                continue;
            upstreams_view(zone->group[i], now, &view);
            command_lookup_put_upstream(part, place, &view);
        }
    }
}

/* A server of a zone cut that this worker does not know. */
static struct upstream_view unknown_server(const struct addr *addr,
                                           const struct route_upstream *discovered)
{
    return (struct upstream_view){
        .addr = discovered ? discovered->addr : *addr,
        .way = discovered ? transport_word(discovered->options.transport) : "",
        .health = discovered ? "not known yet" : "never asked",
        .error = "",
    };
}

static void command_lookup_put_discovered(struct upstreams *upstreams, struct gather_part *part,
                                          const struct outlook *outlook, const struct addr *addr)
{
    const struct recursion_options *recursion = outlook->recursion;
    struct route_upstream discovered;
    struct upstream_view view;
    bool may_ask = recursion->server_options &&
                   recursion->server_options(recursion->server_context, addr, &discovered);
    const struct upstream *known =
        may_ask ? upstreams_known(upstreams, &discovered.addr, &discovered.options) : NULL;

    if (known)
        upstreams_view(known, loop_now(part->of->loop), &view);
    else
        view = unknown_server(addr, may_ask ? &discovered : NULL);
    command_lookup_put_upstream(part, 0, &view);
}

/* Writes the addresses of the zone cut's servers in the order of the referral. The exchange chooses
 * the first one when it asks. */
static void command_lookup_put_cut(struct upstreams *upstreams, struct gather_part *part,
                                   const struct outlook *outlook)
{
    for (unsigned i = 0; i < outlook->cut.addr_count; i++) {
        struct addr addr;
        delegation_addr(&outlook->cut, i, outlook->recursion->port, &addr);
        command_lookup_put_discovered(upstreams, part, outlook, &addr);
    }
}

static void command_lookup_visit(struct upstreams *upstreams, struct gather_part *part)
{
    const struct wanted *wanted = part->wanted;
    struct question question = {
        .name = {wanted->wire, wanted->name_len}, .type = wanted->type, .cls = RRCLASS_IN};
    struct cache_key keys[VARIANTS];
    uint64_t now = loop_now(part->of->loop);

    unsigned view;
    /* A reload may have removed the view, or this worker may not have it yet. Then another worker
     * finds it. */
    if (!part->of->resolver || !resolver_find_view(part->of->resolver, wanted->view, &view))
        return;
    cache_read_begin();
    resolver_key(part->of->resolver, view, &keys[0], &question, false, false);
    struct seen *seen = seen_new(wanted, part->of->resolver, view, &keys[0], now);
    if (!seen) {
        cache_read_end();
        return;
    }
    for (unsigned i = 0; i < VARIANTS; i++) {
        resolver_key(part->of->resolver, view, &keys[i], &question, i & 1, i & 2);
        see_cached(wanted->cache, &keys[i], now, &seen->cached[i]);
    }
    resolver_look(part->of->resolver, view, &keys[0], &seen->outlook);
    note_names(seen);
    seen->wall_s = loop_wall_s(part->of->loop);
    if (seen->outlook.from == CUT_LOOK_CUT)
        command_lookup_put_cut(upstreams, part, &seen->outlook);
    else if (seen->outlook.zone && seen->outlook.from != CUT_LOOK_ABSENT)
        put_group(part, seen->outlook.zone, now);
    cache_read_end();
    part->found = seen;
}

/* ---- on main's ---- */

static const char *way_name(enum outlook_way way)
{
    static const char *const names[] = {
        [OUTLOOK_CACHE] = "from the cache",
        [OUTLOOK_LOCAL] = "here",
        [OUTLOOK_DROPPED] = "dropped",
        [OUTLOOK_SPANS] = "from spans of its zone",
        [OUTLOOK_UPSTREAMS] = "by upstreams",
        [OUTLOOK_RECURSION] = "by recursion",
        [OUTLOOK_NOBODY] = "refused: no zone matches",
    };
    return names[way];
}

/* Writes the rcode of the answer, if there is an answer. */
static void command_lookup_put_rcode(struct reply *reply, const struct seen *seen)
{
    char text[RRTYPE_TEXT_MAX];
    enum outlook_way way = seen->outlook.way;

    if (way == OUTLOOK_UPSTREAMS || way == OUTLOOK_RECURSION || way == OUTLOOK_DROPPED)
        reply_unknown(reply);
    else if (way == OUTLOOK_NOBODY)
        reply_text(reply, rrtype_rcode_name(RCODE_REFUSED, text));
    else
        reply_text(reply,
                   rrtype_rcode_name(
                       way == OUTLOOK_CACHE ? seen->cached[0].rcode : seen->outlook.rcode, text));
}

static void command_lookup_put_local(struct reply *reply, const struct seen *seen)
{
    const struct local_view *local = &seen->outlook.local;
    bool has_rule = seen->outlook.has_local && *local->origin;

    reply_text(reply, seen->local_zone);
    reply_text(reply, has_rule ? local_action_name(local->action) : "");
    reply_text(reply, has_rule ? local->origin : "");
    reply_flag(reply, seen->outlook.has_local && local->has_records);
}

static const char *cut_known(const struct outlook *outlook)
{
    if (outlook->from == CUT_LOOK_ABSENT)
        return "the name does not exist";
    if (outlook->from == CUT_LOOK_ZONE)
        return "configured";
    if (outlook->from != CUT_LOOK_CUT)
        return "";
    if (outlook->cut.origin == DELEGATION_HINTS)
        return "root hints";
    return outlook->cut.origin == DELEGATION_PARENT ? "from the zone above"
                                                    : "from the zone itself";
}

static void put_outlook(struct reply *reply, const struct wanted *wanted, const struct seen *seen)
{
    char name[NAME_TEXT_MAX], type[RRTYPE_TEXT_MAX];

    reply_record(reply, "lookup",
                 "name:text\ttype:text\tanswered:text\trcode:text\tbeing_asked:flag\t"
                 "local_zone:text\tlocal_action:text\tlocal_origin:text\tlocal_records:flag\t"
                 "alias_to:text\tzone:text\tzone_cut:text\tcut_known:text\tanchor:text\t"
                 "anchor_kind:text\tanchor_source:text\tview:text");
    reply_row(reply);
    reply_text(reply, name_format((struct name){wanted->wire, wanted->name_len}, name));
    reply_text(reply, rrtype_name(wanted->type, type));
    reply_text(reply, way_name(seen->outlook.way));
    command_lookup_put_rcode(reply, seen);
    reply_flag(reply, seen->outlook.is_asked);
    command_lookup_put_local(reply, seen);
    reply_text(reply, seen->alias);
    reply_text(reply, seen->zone);
    reply_text(reply, seen->cut);
    reply_text(reply, cut_known(&seen->outlook));
    reply_text(reply, seen->anchor);
    reply_text(reply, !*seen->anchor ? "" : seen->anchor_is_negative ? "negative" : "trusted");
    reply_text(reply, seen->anchor_source);
    reply_text(reply, wanted->view);
    reply_row_end(reply);
}

static const char *state_of(const struct cached *cached)
{
    if (cached->is_live)
        return cached->stale ? "serving stale" : "fresh";
    return cached->may_serve ? "expired, may be served stale" : "expired";
}

static const char *prefetch_of(const struct cached *cached, bool prefetches)
{
    if (!prefetches || cached->kind == ANSWER_FAILURE)
        return "no";
    if (cached->is_due)
        return "with the next query";
    return cached->is_marked ? "in its last tenth" : "in its last tenth, if queried before";
}

/* Writes the signer of the answer, and the time until its first signature expires. */
static void put_signatures(struct reply *reply, const struct cached *cached, struct name qname,
                           int64_t wall_s)
{
    char text[NAME_TEXT_MAX];

    if (!cached->signatures.until_s) {
        reply_text(reply, "");
        reply_unknown(reply);
        return;
    }
    int32_t left_s = (int32_t)(cached->signatures.until_s - (uint32_t)wall_s);
    reply_text(reply, name_format(name_suffix(qname, cached->signatures.signer_labels), text));
    reply_duration(reply, left_s > 0 ? (uint64_t)left_s * US_PER_S : 0);
}

static void put_cached(struct reply *reply, const struct wanted *wanted, const struct seen *seen,
                       unsigned variant)
{
    const struct cached *cached = &seen->cached[variant];
    bool prefetches = cache_prefetches(wanted->cache);
    char rcode[RRTYPE_TEXT_MAX];

    reply_row(reply);
    reply_flag(reply, variant & 1);
    reply_flag(reply, variant & 2);
    reply_text(reply, state_of(cached));
    reply_text(reply, rrtype_rcode_name(cached->rcode, rcode));
    reply_text(reply, answer_kind_name(cached->kind));
    reply_duration(reply, cached->ttl_us);
    reply_duration(reply, cached->age_us);
    reply_duration(reply, cached->over_us);
    reply_count(reply, cached->bytes);
    reply_text(reply, cached->is_live ? prefetch_of(cached, prefetches) : "no");
    reply_text(reply, security_name(cached->security));
    put_signatures(reply, cached, (struct name){wanted->wire, wanted->name_len}, seen->wall_s);
    reply_text(reply, cached->text);
    reply_row_end(reply);
}

/* ---- response policy ---- */

/* The servers of a cached answer, which the worker has found. */
struct known_servers {
    const struct seen *seen;
    size_t place; /* the next name's place in the alias chain */
};

static const struct rpz_servers *find_known_servers(void *context, struct name name, bool is_last)
{
    struct known_servers *known = context;
    size_t place = known->place++;

    (void)name;
    (void)is_last;
    if (place >= known->seen->place_count || !known->seen->places[place].labels)
        return NULL;
    return &known->seen->places[place].servers;
}

static enum rpz_step judge_cached(const struct rpz_policy *policy, const struct rpz_query *query,
                                  const struct seen *seen, bool is_clear,
                                  struct rpz_decision *decision)
{
    struct known_servers known = {.seen = seen};
    struct rpz_answer facts = {
        .message = seen->message, .servers = find_known_servers, .context = &known};

    return rpz_policy_judge(policy, query, &facts, is_clear, decision);
}

/* The answer comes from the operator's own data, and no rule about its content applies to it. */
static bool lookup_is_answered_here(const struct outlook *outlook)
{
    return outlook->way == OUTLOOK_LOCAL && !outlook->has_alias;
}

/* Decides as police_judge() does about such an answer. Its records do not matter. */
static enum rpz_step judge_local(const struct rpz_policy *policy, const struct rpz_query *query,
                                 bool is_clear, struct rpz_decision *decision)
{
    uint8_t bytes[HEADER_LEN + NAME_WIRE_MAX + 4];
    struct build build;

    build_init(&build, bytes, sizeof(bytes));
    build_header(&build, 0, HEADER_QR | HEADER_AA);
    build_question(&build, query->question);
    struct rpz_answer facts = {.message = span_of(bytes, build_finish(&build)), .is_local = true};
    return rpz_policy_judge(policy, query, &facts, is_clear, decision);
}

static void put_decision(struct reply *reply, const struct rpz_decision *decision,
                         const char *basis)
{
    char text[NAME_TEXT_MAX];
    const struct rpz_zone_options *options = rpz_policy_zone_options(decision->zone);

    reply_text(reply, rpz_action_name(decision->action));
    reply_text(reply, name_format((struct name){options->wire, options->name_len}, text));
    reply_text(reply,
               name_format((struct name){decision->rule.owner, decision->rule.owner_len}, text));
    reply_text(reply, rpz_trigger_name(decision->rule.trigger));
    reply_text(reply, name_format(decision->name, text));
    reply_text(reply, basis);
}

/* Returns the mask of the zones that do not apply to clients of the wanted view. */
static uint32_t policy_except(const struct control_view *view, const struct wanted *wanted)
{
    struct rpz_choice_map map;

    if (!view->config)
        return 0;
    rpz_choice_map_make(&map, &view->config->server.policy_choices, view->policy.rules);
    return rpz_choice_except(&map, wanted->policy_zones);
}

/* Writes which rule decides for the client. Without an answer it is unknown whether rules about
 * answers and servers apply. */
static void put_policy(struct reply *reply, const struct control_view *view,
                       const struct wanted *wanted, const struct seen *seen)
{
    const struct rpz_policy *policy = view->policy.rules;
    struct question question = {
        .name = {wanted->wire, wanted->name_len}, .type = wanted->type, .cls = RRCLASS_IN};
    struct rpz_query query = {.client = &wanted->client,
                              .question = &question,
                              .except = policy_except(view, wanted),
                              .is_look = true};
    struct rpz_decision decision;
    const char *basis = "the query";
    char client[ADDR_TEXT_MAX];
    bool is_here = lookup_is_answered_here(&seen->outlook);
    enum rpz_step step = rpz_policy_ask(policy, &query, &decision);

    if ((step == RPZ_CLEAR || step == RPZ_WAIT) && is_here) {
        step = judge_local(policy, &query, step == RPZ_CLEAR, &decision);
    } else if ((step == RPZ_CLEAR || step == RPZ_WAIT) && seen->message.len) {
        basis = "the cached answer";
        step = judge_cached(policy, &query, seen, step == RPZ_CLEAR, &decision);
    }
    reply_record(reply, "policy",
                 "client:text\taction:text\tzone:text\trule:text\ttrigger:text\tname:text\t"
                 "decided_by:text");
    reply_row(reply);
    reply_text(reply, addr_format_ip(&wanted->client, client));
    if (step == RPZ_DECIDED || step == RPZ_EXEMPT) {
        put_decision(reply, &decision, basis);
    } else {
        bool is_judged = is_here || seen->message.len;
        reply_text(reply, step == RPZ_WAIT || !is_judged ? "depends on the answer" : "none");
        for (unsigned i = 0; i < 5; i++)
            reply_text(reply, "");
    }
    reply_row_end(reply);
}

static void command_lookup_put_head(struct call *call, const struct wanted *wanted,
                                    const struct seen *seen)
{
    struct reply *reply = &call->reply;

    put_outlook(reply, wanted, seen);
    if (call->view->policy.rules)
        put_policy(reply, call->view, wanted, seen);
    reply_table(reply, "cached_answers",
                "do:flag\tcd:flag\tstate:text\trcode:text\tkind:text\tttl:duration\tage:duration\t"
                "over:duration\tsize:bytes\tprefetch:text\tsecurity:text\tsigner:text\t"
                "signature_left:duration\tfault:text");
    for (unsigned i = 0; i < VARIANTS; i++) {
        if (seen->cached[i].is_there)
            put_cached(reply, wanted, seen, i);
    }
    reply_table(reply, "upstreams",
                "worker:count\torder:count\tupstream:text\ttransport:text\thealth:text\t"
                "srtt:duration\tready:count\tdialing:count\tin_flight:count\terror:text");
}

static void command_lookup_take(struct call *call, struct gather_part *part)
{
    if (!call->state && part->found) {
        call->state = part->found;
        part->found = NULL;
        command_lookup_put_head(call, part->wanted, call->state);
    }
    if (call->state)
        reply_take_rows(&call->reply, &part->rows);
}

static void command_lookup_done(struct call *call, uint64_t sum)
{
    (void)sum;
    if (!call->state)
        reply_refuse(&call->reply,
                     "no worker could answer; the daemon is stopping, or out of memory");
    call_done(call);
}

/* False: the call has been refused. */
static bool read_question(struct call *call, struct wanted *out)
{
    const char *name_text = call->argv[0], *type_text = call->argc > 1 ? call->argv[1] : "A";
    struct name name;

    if (name_parse(&name, out->wire, name_text, strlen(name_text)))
        reply_refuse(&call->reply, "'%.64s' is not a name; write it like www.example.com",
                     name_text);
    else if (rrtype_parse(&out->type, type_text))
        reply_refuse(&call->reply, "'%.64s' is not a type; write it like AAAA or TYPE28",
                     type_text);
    else if (rrtype_is_meta(out->type) && out->type != RRTYPE_ANY)
        reply_refuse(&call->reply, "'%.64s' is never queried; name a type of records", type_text);
    else
        name_fold(name, out->wire);
    out->name_len = name.len;
    return !call->reply.refused;
}

/* False: the call has been refused. */
static bool read_client(struct call *call, struct wanted *out)
{
    bool is_given = call->argc > 2 && *call->argv[2];
    const char *text = is_given ? call->argv[2] : "127.0.0.1";

    if (addr_parse(&out->client, text, 0))
        reply_refuse(&call->reply, "'%.64s' is not an address; write it like 192.0.2.7", text);
    return !call->reply.refused;
}

/* Names of views, as many as fit. */
static void list_views(const struct config *config, char *out, size_t size)
{
    size_t len = 0;

    for (size_t i = 0; i < config->view_set.view_count && len + VIEW_NAME_MAX + 8 < size; i++)
        len += (size_t)snprintf(out + len, size - len, "%s%s", i ? ", " : "",
                                config->view_set.views[i].name);
}

/* Takes the named view, or else the view of the client at the listeners that no view names. Returns
 * false if the call has been refused. */
static bool read_view(struct call *call, struct wanted *out)
{
    static const struct addr anywhere;
    const struct config *config = call->view->config;
    const char *name = call->argc > 3 ? call->argv[3] : NULL;
    char list[512] = "none is configured";
    size_t place = 0, count = config ? config->view_set.view_count : 0;

    if (!name && count)
        place = view_choice_find(view_choice_at(&config->server, &anywhere), &out->client);
    for (size_t i = 0; name && i < count && !place; i++)
        place = strcmp(config->view_set.views[i].name, name) == 0 ? i + 1 : 0;
    if (name && !place) {
        if (count)
            list_views(config, list, sizeof(list));
        reply_refuse(&call->reply, "'%.64s' is not a view; views: %s", name, list);
        return false;
    }
    snprintf(out->view, sizeof(out->view), "%s",
             place ? config->view_set.views[place - 1].name : "");
    out->policy_zones = config ? view_choice_policy(&config->server, (unsigned)place) : 0;
    return true;
}

void command_lookup(struct call *call)
{
    struct wanted wanted = {.cache = call->view->cache};

    if (read_question(call, &wanted) && read_client(call, &wanted) && read_view(call, &wanted))
        gather_parts(call, command_lookup_visit, command_lookup_take, command_lookup_done, &wanted,
                     sizeof(wanted));
    else
        call_done(call);
}
