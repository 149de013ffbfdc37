/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The zones with upstreams, as the workers have them, and the local data, as the configuration has
 * it. An upstream is good if it is good for every worker.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/stats.h"
#include "config/config.h"
#include "control/call.h"
#include "control/commands.h"
#include "control/gather.h"
#include "loop/loop.h"
#include "resolve/resolver.h"
#include "resolve/route.h"
#include "rpz/rpz_policy.h"
#include "upstream/exchange.h"
#include "upstream/upstream.h"
#include "upstream/upstreams.h"
#include "zone/zone_data.h"

_Static_assert(EXCHANGE_GROUP_MAX <= 64, "a bit for each upstream of a zone");

/* A zone as one worker has it. */
struct zone_seen {
    uint8_t wire[NAME_WIRE_MAX];
    uint8_t name_len;
    bool is_stub, is_root; /* a stub zone; recursion from the root */
    uint16_t upstreams;
    uint64_t good; /* one bit per upstream */
    char transports[16];
    char addresses[CONTROL_CELL_MAX + 1];
};

struct zones_seen {
    size_t count;
    size_t met; /* discovered servers of all workers */
    struct zone_seen zones[];
};

/* ---- on the worker's thread ---- */

static void add_word(char *out, size_t size, const char *word)
{
    size_t len = strlen(out);
    snprintf(out + len, size - len, "%s%s", len ? " " : "", word);
}

/* Whether an upstream is silent without counting as ill: its connections are refused, and it has
 * never answered over UDP. */
static bool is_silent(const struct upstream_view *view)
{
    return view->ready == 0 && view->resting > 0 && view->udp_rtt_us == 0;
}

static void see_upstream(struct zone_seen *seen, const struct upstream_view *view)
{
    char text[ADDR_TEXT_MAX];

    if (!view->ill && !is_silent(view))
        seen->good |= UINT64_C(1) << seen->upstreams;
    seen->upstreams++;
    if (!strstr(seen->transports, view->transport))
        add_word(seen->transports, sizeof(seen->transports), view->transport);
    add_word(seen->addresses, sizeof(seen->addresses), addr_format(&view->addr, text));
}

static void see_zone(struct zone_seen *seen, const struct zone *zone, uint64_t now)
{
    struct upstream_view view;

    *seen = (struct zone_seen){
        .name_len = zone->name.len,
        .is_stub = zone->is_authoritative && zone->group_len > 0,
        .is_root = zone->is_authoritative && zone->group_len == 0,
    };
    name_copy(zone->name, seen->wire);
    for (size_t i = 0; i < zone->group_len; i++) {
        upstreams_view(zone->group[i], now, &view);
        see_upstream(seen, &view);
    }
}

/* Makes room for the zones of one more turn. False: out of memory. */
static bool command_zones_grow(struct gather_part *part)
{
    size_t count = part->found ? ((struct zones_seen *)part->found)->count : 0;
    struct zones_seen *grown =
        realloc(part->found, sizeof(*grown) + (count + GATHER_TURN_MAX) * sizeof(grown->zones[0]));

    if (!grown)
        return false;
    grown->count = count;
    if (!part->found)
        grown->met = 0;
    part->found = grown;
    return true;
}

static void command_zones_visit(struct upstreams *upstreams, struct gather_part *part)
{
    const struct routes *routes = part->of->resolver ? resolver_routes(part->of->resolver) : NULL;
    uint64_t now = loop_now(part->of->loop);
    size_t shown = 0;

    if (!routes || !command_zones_grow(part))
        return;
    struct zones_seen *seen = part->found;
    seen->met = upstreams_discovered(upstreams);
    for (const struct zone *zone; (zone = route_at(routes, part->place)); part->place++) {
        if (shown >= GATHER_TURN_MAX) {
            part->has_more = true;
            return;
        }
        see_zone(&seen->zones[seen->count++], zone, now);
        shown += MAX(zone->group_len, 1);
    }
}

/* ---- on main's ---- */

/* During a reload workers may differ. Then only the first worker's facts count. */
static void command_zones_take(struct call *call, struct gather_part *part)
{
    struct zones_seen *all = call->state;
    const struct zones_seen *own = part->found;

    if (!all) {
        call->state = part->found;
        part->found = NULL;
        return;
    }
    all->met += own ? own->met : 0;
    for (size_t i = 0; own && i < MIN(all->count, own->count); i++) {
        struct zone_seen *zone = &all->zones[i];
        if (zone->upstreams == own->zones[i].upstreams &&
            zone->name_len == own->zones[i].name_len &&
            memcmp(zone->wire, own->zones[i].wire, zone->name_len) == 0)
            zone->good &= own->zones[i].good;
    }
}

static const char *command_zones_kind_of(const struct zone_seen *zone)
{
    if (zone->is_root)
        return "recursion";
    return zone->is_stub ? "stub" : "forward";
}

/* The number of servers and of good servers; unknown for recursion from the root. */
static void put_servers(struct reply *reply, const struct zone_seen *zone)
{
    if (zone->is_root) {
        reply_unknown(reply);
        reply_unknown(reply);
    } else {
        reply_count(reply, zone->upstreams);
        reply_count(reply, (uint64_t)__builtin_popcountll(zone->good));
    }
}

static void command_zones_put_zones(struct reply *reply, const struct zones_seen *all)
{
    char text[NAME_TEXT_MAX];

    reply_table(reply, "zones",
                "zone:text\tkind:text\ttransport:text\tupstreams:count\tgood:count\t"
                "addresses:text");
    for (size_t i = 0; all && i < all->count; i++) {
        const struct zone_seen *zone = &all->zones[i];
        reply_row(reply);
        reply_text(reply, name_format((struct name){zone->wire, zone->name_len}, text));
        reply_text(reply, command_zones_kind_of(zone));
        reply_text(reply, zone->transports);
        put_servers(reply, zone);
        reply_text(reply, zone->addresses);
        reply_row_end(reply);
    }
}

/* The options of recursion, which stub zones use too, and the number of discovered servers. */
static void put_recursion(struct reply *reply, const struct control_view *view, size_t met)
{
    const struct recursion_options *recursion = &view->config->route.recursion;

    reply_record(reply, "recursion",
                 "from_the_root:flag\troot_hints:text\tpriming:flag\tqname_minimisation:flag\t"
                 "port:count\tservers_met:count\tservers_met_at_most:count");
    reply_row(reply);
    reply_flag(reply, config_has_recursion(view->config));
    reply_text(reply, recursion->hints ? recursion->root_hints : "built in");
    reply_flag(reply, recursion->priming);
    reply_flag(reply, recursion->qname_minimisation);
    reply_count(reply, recursion->port);
    reply_count(reply, met);
    reply_count(reply, UPSTREAMS_DISCOVERED_MAX * view->worker_count);
    reply_row_end(reply);
}

static uint64_t us_until(uint64_t at, uint64_t now)
{
    return at > now ? at - now : 0;
}

/* The time from one instant to a later one; unknown if an instant is 0. */
static void put_time_between(struct reply *reply, uint64_t from, uint64_t to)
{
    if (from > 0 && to > 0)
        reply_duration(reply, us_until(to, from));
    else
        reply_unknown(reply);
}

/* The time since a primary confirmed the zone, and the time until it expires. */
static void put_zone_times(struct reply *reply, const struct control_zone_times *times,
                           struct loop *loop)
{
    uint64_t wall_s = (uint64_t)MAX(loop_wall_s(loop), 0), now = loop_now(loop);
    uint64_t confirmed_at_s = times ? stats_read(&times->confirmed_at_s) : 0;

    if (confirmed_at_s > 0)
        reply_duration(reply, us_until(wall_s, confirmed_at_s) * US_PER_S);
    else
        reply_unknown(reply);
    put_time_between(reply, now, times ? stats_read(&times->expires_at) : 0);
}

/* The catalog that lists a zone; "": none. */
static void put_catalog(struct reply *reply, const uint8_t *wire, uint8_t len)
{
    char text[NAME_TEXT_MAX];

    reply_text(reply, len > 0 ? name_format((struct name){wire, len}, text) : "");
}

static void command_zones_put_held(struct reply *reply, const struct control_view *view,
                                   struct loop *loop)
{
    uint64_t now = loop_now(loop);
    static const char *const uses[] = {"clients", "upstream", "both"};
    char text[NAME_TEXT_MAX];

    reply_table(reply, "held_zones",
                "zone:text\tfor:text\tstate:text\tserial:count\trecords:count\tsize:bytes\t"
                "age:duration\tconfirmed:duration\texpiry:duration\tcatalog:text\twhy:text");
    for (size_t i = 0; i < view->held_count; i++) {
        const struct control_zone *zone = &view->held[i];
        reply_row(reply);
        reply_text(reply, name_format((struct name){zone->wire, zone->name_len}, text));
        reply_text(reply, zone->is_catalog ? "catalog" : uses[zone->use]);
        reply_text(reply, control_zone_word(zone->state));
        reply_count(reply, zone->serial);
        reply_count(reply, zone->records);
        reply_count(reply, zone->size_bytes);
        put_time_between(reply, zone->loaded_at, now);
        put_zone_times(reply, zone->times, loop);
        put_catalog(reply, zone->catalog, zone->catalog_len);
        reply_text(reply, zone->why);
        reply_row_end(reply);
    }
}

static void put_policy_zone(struct reply *reply, const struct rpz_policy_zone *zone,
                            const struct control_policy_zone *row, uint64_t now)
{
    static const char *const sources[] = {"file", "primaries"};
    const struct rpz_zone_options *options = rpz_policy_zone_options(zone);
    const struct rpz_rules *rules = rpz_policy_zone_rules(zone);
    const struct zone_data *data = rules ? rpz_rules_zone(rules) : NULL;
    char text[NAME_TEXT_MAX];
    size_t count = 0;

    for (enum rpz_trigger i = 0; rules && i < RPZ_TRIGGERS; i++)
        count += rpz_rules_count(rules, i);
    reply_row(reply);
    reply_text(reply, name_format((struct name){options->wire, options->name_len}, text));
    reply_text(reply, sources[row->source]);
    reply_text(reply, control_zone_word(row->state));
    reply_count(reply, data ? zone_data_soa(data)->serial : 0);
    reply_count(reply, count);
    reply_count(reply, rules ? rpz_rules_skipped(rules) : 0);
    reply_count(reply, rules ? zone_data_bytes(data) + rpz_rules_bytes(rules) : 0);
    put_time_between(reply, row->loaded_at, now);
    put_time_between(reply, now, row->refresh_at);
    put_time_between(reply, now, row->expires_at);
    put_catalog(reply, row->catalog, row->catalog_len);
    reply_text(reply, row->why);
    reply_row_end(reply);
}

static void command_zones_put_policy(struct reply *reply, const struct control_policy *policy,
                                     uint64_t now)
{
    reply_table(
        reply, "policy_zones",
        "zone:text\tfrom:text\tstate:text\tserial:count\trules:count\tskipped:count\t"
        "size:bytes\tage:duration\trefresh:duration\texpiry:duration\tcatalog:text\twhy:text");
    for (size_t i = 0; i < rpz_policy_count(policy->rules); i++)
        put_policy_zone(reply, rpz_policy_at(policy->rules, i), &policy->zones[i], now);
}

static void command_zones_put_local_zones(struct reply *reply, const struct config *config)
{
    char text[NAME_TEXT_MAX];

    reply_table(reply, "local_zones", "zone:text\taction:text");
    for (size_t i = 0; i < config->local_zone_count; i++) {
        const struct config_local_zone *zone = &config->local_zones[i];
        reply_row(reply);
        reply_text(reply, name_format((struct name){zone->wire, zone->name_len}, text));
        reply_text(reply, local_action_name(zone->action));
        reply_row_end(reply);
    }
}

static void put_lists(struct reply *reply, const struct config *config)
{
    reply_table(reply, "block_lists", "file:text\taction:text\tnames:count");
    for (size_t i = 0; i < config->block_list_count; i++) {
        const struct config_block_list *list = &config->block_lists[i];
        reply_row(reply);
        reply_text(reply, list->file);
        reply_text(reply, local_action_name(list->action));
        reply_count(reply, config->local ? local_names_listed(config->local, i) : 0);
        reply_row_end(reply);
    }
}

static void command_zones_put_local(struct reply *reply, const struct config *config)
{
    const struct local_names *local = config->local;

    reply_record(reply, "answered_here",
                 "names:count\tsize:bytes\tlocal_zones:count\trecords:count\tblock_lists:count\t"
                 "hosts_file:text\tspecial_names:flag");
    reply_row(reply);
    reply_count(reply, local ? local_names_count(local) : 0);
    reply_count(reply, local ? local_names_bytes(local) : 0);
    reply_count(reply, config->local_zone_count);
    reply_count(reply, config->record_count);
    reply_count(reply, config->block_list_count);
    reply_text(reply, config->hosts_file);
    reply_flag(reply, config->default_local_zones);
    reply_row_end(reply);
    command_zones_put_local_zones(reply, config);
    put_lists(reply, config);
}

static void command_zones_done(struct call *call, uint64_t sum)
{
    (void)sum;
    const struct zones_seen *all = call->state;
    command_zones_put_zones(&call->reply, all);
    if (call->view->config)
        put_recursion(&call->reply, call->view, all ? all->met : 0);
    if (call->view->config)
        command_zones_put_local(&call->reply, call->view->config);
    if (call->view->held_count)
        command_zones_put_held(&call->reply, call->view, call->loop);
    if (call->view->policy.rules)
        command_zones_put_policy(&call->reply, &call->view->policy, loop_now(call->loop));
    call_done(call);
}

void command_zones(struct call *call)
{
    gather_parts(call, command_zones_visit, command_zones_take, command_zones_done, NULL, 0);
}
