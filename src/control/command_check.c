/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Says whether the daemon can serve, for probes. Only facts: nailupctl chooses the exit code.
 *
 * A path to upstreams exists while the kernel has a route to one of them, and one of them has not
 * failed. A daemon without a path is degraded: cached, stale and local answers still leave. While
 * the daemon drains, workers may be gone, so none is asked.
 */

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "config/config.h"
#include "control/call.h"
#include "control/clock_doubt.h"
#include "control/commands.h"
#include "control/gather.h"
#include "loop/loop.h"
#include "net/route_probe.h"
#include "recurse/root_hints.h"
#include "upstream/upstreams.h"

enum {
    CHECK_ADDRESSES_MAX = 32,  /* probed for a route */
    CHECK_UPSTREAMS_MAX = 128, /* the most upstreams of one worker that count */
};

/* ---- on the worker's thread ---- */

/* The counts of upstreams, and of upstreams that work, in one number. */
#define CHECK_SEEN (UINT64_C(1) << 32)

struct check_sight {
    uint64_t number;
    bool has_asked; /* any of them */
};

static void check_see(void *context, const struct upstream_view *view)
{
    struct check_sight *sight = context;
    bool is_refused = view->ready == 0 && view->resting > 0 && view->udp_rtt_us == 0;

    sight->number += CHECK_SEEN + (!view->ill && !is_refused);
    sight->has_asked |= view->queries > 0 || view->dials > 0;
}

/* A worker that has asked no upstream knows nothing about them, so the other workers decide. */
static void check_visit(struct upstreams *upstreams, struct gather_part *part)
{
    struct check_sight sight = {0};

    upstreams_first(upstreams, CHECK_UPSTREAMS_MAX, check_see, &sight);
    part->number = sight.has_asked ? sight.number : 0;
}

/* ---- on main's ---- */

struct check_routes {
    size_t probed, found;
};

static void check_probe(struct check_routes *routes, const struct addr *addr)
{
    if (routes->found > 0 || routes->probed >= CHECK_ADDRESSES_MAX)
        return;
    routes->probed++;
    routes->found += route_probe(addr);
}

static void check_probe_hints(struct check_routes *routes, const struct delegation *hints)
{
    struct delegation builtin;

    if (!hints) {
        root_hints_builtin(&builtin);
        hints = &builtin;
    }
    for (unsigned i = 0; i < hints->addr_count; i++) {
        struct addr addr;
        delegation_addr(hints, i, 53, &addr);
        check_probe(routes, &addr);
    }
}

/* Whether the kernel has a route to any upstream. True without upstreams. For an upstream given by
 * name, the servers that resolve its name count. */
static bool check_has_route(const struct config *config)
{
    struct check_routes routes = {0};

    for (size_t i = 0; config && i < config->bootstrap.count; i++)
        check_probe(&routes, &config->bootstrap.list[i]);
    for (size_t i = 0; config && i < config->route.zone_count; i++)
        for (size_t j = 0; j < config->route.zones[i].upstream_count; j++)
            check_probe(&routes, &config->route.zones[i].upstreams[j].addr);
    if (config && config_has_recursion(config))
        check_probe_hints(&routes, config->route.recursion.hints);
    return routes.probed == 0 || routes.found > 0;
}

static void check_add_reason(char *out, size_t size, const char *reason)
{
    size_t len = strlen(out);

    snprintf(out + len, size - len, "%s%s", len > 0 ? "; " : "", reason);
}

/* Writes the problems: "" if there are no problems. */
static void check_tell(const struct control_view *view, uint64_t now_us, bool has_route,
                       bool has_path, char out[COMMAND_PROBLEMS_MAX])
{
    char doubt[CLOCK_DOUBT_MAX];

    out[0] = '\0';
    if (view->is_draining)
        check_add_reason(out, COMMAND_PROBLEMS_MAX, "draining");
    if (!has_route)
        check_add_reason(out, COMMAND_PROBLEMS_MAX, "no route to any upstream");
    else if (!has_path)
        check_add_reason(out, COMMAND_PROBLEMS_MAX, "no upstream answers");
    if (view->hosts.unknown > 0)
        check_add_reason(out, COMMAND_PROBLEMS_MAX,
                         "an upstream by name has no known address (nailupctl hosts)");
    if (clock_doubt_tell(view, now_us, doubt))
        check_add_reason(out, COMMAND_PROBLEMS_MAX, doubt);
}

/* The operator sets a portal on purpose, and it prevents no answer, so it is not a reason of
 * check_answer(). */
void command_problems(const struct control_view *view, uint64_t now_us,
                      char out[COMMAND_PROBLEMS_MAX])
{
    check_tell(view, now_us, view->is_draining || check_has_route(view->config), true, out);
    if (view->has_portal)
        check_add_reason(out, COMMAND_PROBLEMS_MAX,
                         "a portal is on: names go out in plain text (nailupctl portal)");
}

static void check_answer(struct call *call, bool has_route, bool has_path)
{
    struct reply *reply = &call->reply;
    bool is_draining = call->view->is_draining;
    uint64_t now_us = loop_now(call->loop);
    char reasons[COMMAND_PROBLEMS_MAX], doubt[CLOCK_DOUBT_MAX];
    bool is_clock_right = !clock_doubt_tell(call->view, now_us, doubt);

    check_tell(call->view, now_us, has_route, has_path, reasons);
    reply_record(reply, "check", "state:text\tpath:flag\tclock:flag\treasons:text");
    reply_row(reply);
    reply_text(reply, is_draining ? "draining" : *reasons ? "degraded" : "ready");
    reply_flag(reply, has_route && has_path);
    reply_flag(reply, is_clock_right);
    reply_text(reply, reasons);
    reply_row_end(reply);
    call_done(call);
}

static void check_done(struct call *call, uint64_t sum)
{
    check_answer(call, check_has_route(call->view->config),
                 sum < CHECK_SEEN || sum % CHECK_SEEN > 0);
}

void command_check(struct call *call)
{
    if (call->view->is_draining)
        check_answer(call, true, true);
    else
        gather_rows(call, check_visit, check_done, NULL, 0);
}
