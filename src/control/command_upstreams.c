/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The commands about upstreams. Each worker's thread writes rows about its own. Reads views of the
 * upstreams, never the objects themselves.
 */

#include <stdio.h>

#include "base/addr.h"
#include "base/prefix.h"
#include "control/call.h"
#include "control/commands.h"
#include "control/gather.h"
#include "upstream/upstreams.h"

enum { MET_SHOWN_MAX = 500 }; /* see struct upstreams_walk */

static void command_upstreams_done(struct call *call, uint64_t sum)
{
    (void)sum;
    call_done(call);
}

/* A time; 0 means that it was not measured. */
static void command_upstreams_put_measured(struct reply *reply, uint64_t us)
{
    if (us > 0)
        reply_duration(reply, us);
    else
        reply_unknown(reply);
}

/* ---- connections ---- */

static void put_conn(void *context, const struct conn_view *view)
{
    struct gather_part *part = context;
    struct reply *reply = &part->rows;
    char text[ADDR_TEXT_MAX];

    reply_row(reply);
    reply_count(reply, part->worker);
    reply_text(reply, addr_format(&view->addr, text));
    reply_text(reply, view->transport);
    reply_text(reply, view->state);
    reply_duration(reply, view->age_us);
    reply_count(reply, view->requests);
    reply_count(reply, view->max_requests);
    reply_count(reply, view->in_flight);
    reply_duration(reply, view->idle_us);
    command_upstreams_put_measured(reply, view->rtt_us);
    reply_flag(reply, view->nailed);
    reply_flag(reply, view->suspect);
    command_upstreams_put_measured(reply, view->due_us);
    reply_text(reply, view->ending);
    reply_text(reply, view->last_close);
    reply_text(reply, view->tls);
    reply_text(reply, view->cipher);
    reply_text(reply, view->session);
    if (*view->tls)
        reply_flag(reply, view->authenticated);
    else
        reply_unknown(reply);
    if (addr_family(&view->source) != 0)
        reply_text(reply, addr_format_ip(&view->source, text));
    else
        reply_unknown(reply);
    reply_row_end(reply);
}

static void visit_conns(struct upstreams *upstreams, struct gather_part *part)
{
    struct upstreams_walk walk = {.number = part->next, .place = part->place};
    part->has_more = upstreams_some_conns(upstreams, &walk, GATHER_TURN_MAX, put_conn, part);
    part->next = walk.number;
    part->place = walk.place;
}

void command_connections(struct call *call)
{
    reply_table(
        &call->reply, "connections",
        "worker:count\tupstream:text\ttransport:text\tstate:text\tage:duration\t"
        "requests:counter\tmax_requests:count\tin_flight:count\tidle:duration\t"
        "rtt:duration\tnailed:flag\tsuspect:flag\tdue:duration\tending:text\t"
        "last_close:text\ttls:text\tcipher:text\tsession:text\tauthenticated:flag\tsource:text");
    gather_rows(call, visit_conns, command_upstreams_done, NULL, 0);
}

/* ---- upstreams ---- */

/* The evidence that a server answers only one query per connection. */
static void put_single_use(struct reply *reply, const struct upstream_view *view)
{
    if (view->single_use_proofs == 0) {
        reply_unknown(reply);
        reply_unknown(reply);
        reply_unknown(reply);
        return;
    }
    reply_count(reply, view->single_use_proofs);
    reply_duration(reply, view->single_use_proved_us);
    reply_duration(reply, view->single_use_retest_us);
}

static void put_sources_of_conns(struct reply *reply, const struct upstream_view *view)
{
    char list[UPSTREAM_VIEW_SOURCES_MAX * ADDR_TEXT_MAX], text[ADDR_TEXT_MAX];
    size_t len = 0;

    list[0] = '\0';
    for (unsigned i = 0; i < view->source_count; i++)
        len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", i > 0 ? " " : "",
                                addr_format_ip(&view->sources[i], text));
    if (view->has_more_sources)
        snprintf(list + len, sizeof(list) - len, " ...");
    reply_text(reply, list);
}

static void command_upstreams_put_upstream(void *context, const struct upstream_view *view)
{
    struct gather_part *part = context;
    struct reply *reply = &part->rows;
    char text[ADDR_TEXT_MAX];

    reply_row(reply);
    reply_count(reply, part->worker);
    reply_text(reply, addr_format(&view->addr, text));
    reply_text(reply, view->transport);
    reply_flag(reply, view->nailed);
    reply_text(reply, view->health);
    reply_count(reply, view->ready);
    reply_count(reply, view->dialing);
    reply_count(reply, view->draining);
    reply_count(reply, view->resting);
    reply_count(reply, view->in_flight);
    reply_count(reply, view->queries);
    reply_count(reply, view->answers);
    reply_count(reply, view->timeouts);
    reply_count(reply, view->fallbacks);
    reply_count(reply, view->dials);
    reply_count(reply, view->dial_failures);
    command_upstreams_put_measured(reply, view->udp_rtt_us);
    command_upstreams_put_measured(reply, view->stream_rtt_us);
    reply_text(reply, view->error);
    reply_text(reply, view->host);
    command_upstreams_put_measured(reply, view->idle_limit_us);
    reply_text(reply, view->idle_limit_us == 0   ? ""
                      : view->is_limit_announced ? "announced"
                                                 : "observed");
    reply_count(reply, view->holds);
    reply_count(reply, view->hold_replacements);
    put_single_use(reply, view);
    put_sources_of_conns(reply, view);
    reply_row_end(reply);
}

/* Recursion discovers thousands of servers: without a prefix, most of them are only counted. */
static void visit_upstreams(struct upstreams *upstreams, struct gather_part *part)
{
    const struct prefix *prefix = part->wanted;
    struct upstreams_walk walk = {.number = part->next,
                                  .place = part->place,
                                  .prefix = prefix,
                                  .discovered_below = prefix ? SIZE_MAX : MET_SHOWN_MAX};
    part->has_more =
        upstreams_some(upstreams, &walk, GATHER_TURN_MAX, command_upstreams_put_upstream, part);
    part->next = walk.number;
    part->place = walk.place;
    part->number += walk.left_out;
}

static void upstreams_shown(struct call *call, uint64_t left_out)
{
    if (left_out > 0) {
        reply_record(&call->reply, "servers_met", "left_out:count\tto_see_them:text");
        reply_row(&call->reply);
        reply_count(&call->reply, left_out);
        reply_text(&call->reply, "name a prefix");
        reply_row_end(&call->reply);
    }
    call_done(call);
}

/* False: the call has been refused and is done. */
static bool read_prefix(struct call *call, struct prefix *out)
{
    if (prefix_parse(out, call->argv[0]) == ERR_OK)
        return true;
    reply_refuse(&call->reply, "'%.64s' is not a prefix; write IP or IP/LENGTH, without a port%s",
                 call->argv[0], addr_zone_hint(call->argv[0]));
    call_done(call);
    return false;
}

void command_upstreams(struct call *call)
{
    struct prefix prefix;

    if (call->argc > 0 && !read_prefix(call, &prefix))
        return;
    reply_table(
        &call->reply, "upstreams",
        "worker:count\tupstream:text\ttransport:text\tnailed:flag\thealth:text\t"
        "ready:count\tdialing:count\tdraining:count\tresting:count\tin_flight:count\t"
        "queries:counter\tanswers:counter\ttimeouts:count\tfallbacks:count\tdials:count\t"
        "dial_failures:count\tudp_rtt:duration\tstream_rtt:duration\terror:text\thost:text\t"
        "idle_limit:duration\tidle_limit_is:text\tholds:counter\treplacements:counter\t"
        "single_use_proofs:count\tsingle_use_proved:duration\tsingle_use_retest:duration\t"
        "sources:text");
    if (call->argc == 0)
        gather_rows(call, visit_upstreams, upstreams_shown, NULL, 0);
    else
        gather_rows(call, visit_upstreams, upstreams_shown, &prefix, sizeof(prefix));
}

/* ---- recycle ---- */

static void visit_recycle(struct upstreams *upstreams, struct gather_part *part)
{
    part->number = upstreams_recycle(upstreams, part->wanted);
}

static void recycled(struct call *call, uint64_t sum)
{
    reply_record(&call->reply, "recycled", "connections:count");
    reply_row(&call->reply);
    reply_count(&call->reply, sum);
    reply_row_end(&call->reply);
    call_done(call);
}

void command_recycle(struct call *call)
{
    struct prefix prefix;

    if (call->argc == 0)
        gather_rows(call, visit_recycle, recycled, NULL, 0);
    else if (read_prefix(call, &prefix))
        gather_rows(call, visit_recycle, recycled, &prefix, sizeof(prefix));
}
