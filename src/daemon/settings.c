/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Each setting changes at once here, and in the workers with the next change of reload.c.
 *
 * Invariant: while a setting differs from the one that the last change took, settings are pending,
 * or a timer makes them pending.
 */

#include "daemon/settings.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/log.h"
#include "base/units.h"
#include "config/config.h"
#include "config/runtime_ntas.h"
#include "control/call.h"
#include "control/view.h"
#include "daemon/anchor_keeper.h"
#include "daemon/forget.h"
#include "daemon/forward_command.h"
#include "daemon/host_keeper.h"
#include "daemon/inquiry.h"
#include "daemon/nta_command.h"
#include "loop/loop.h"
#include "loop/timer.h"

/* A captive portal ends after this time by itself. */
#define PORTAL_US (600 * US_PER_S)

/* Between attempts to put run-time settings into effect when memory is short. */
#define RETRY_US (10 * US_PER_S)

struct settings {
    struct settings_host host;
    struct askers waiting; /* wait for the next change */
    bool is_pending;       /* a setting has changed since settings_take() */
    bool is_ending;
    struct runtime_zones forwards;
    struct runtime_ntas ntas;
    struct runtime_zone portal; /* in force while forwards refers to it */
    uint64_t portal_ends_at;
    struct timer portal_end;
    struct timer nta_end; /* the first end of ntas, or a retry */
    bool has_failed;      /* some workers lack the settings: a retry is due */
    struct anchor_keeper *keeper;
    struct host_keeper *hosts;
};

static void settings_become_pending(struct settings *settings)
{
    settings->is_pending = true;
    settings->host.on_pending(settings->host.context);
}

/* Whether all settings are in effect. */
static bool settings_are_idle(const struct settings *settings)
{
    return !settings->is_pending && !settings->host.is_changing(settings->host.context);
}

/* False: the call has been refused and is done. */
static bool settings_are_open(const struct settings *settings, struct call *call)
{
    if (!settings->is_ending)
        return true;
    reply_refuse(&call->reply, "nailupd is stopping");
    call_done(call);
    return false;
}

/* ---- for changes ---- */

bool settings_are_pending(const struct settings *settings)
{
    return settings->is_pending;
}

static struct generation_settings settings_with(const struct settings *settings,
                                                const struct runtime_zones *forwards)
{
    return (struct generation_settings){
        .forwards = forwards,
        .ntas = &settings->ntas,
        .point = anchor_keeper_point(settings->keeper),
        .hosts = host_keeper_hosts(settings->hosts),
    };
}

struct generation_settings settings_now(const struct settings *settings)
{
    return settings_with(settings, &settings->forwards);
}

/* The cache forgets the answers of the zone's former servers. The root is an exception: names of
 * the Internet have the same answers from every resolver. */
static void forget_forward(struct forget *forget, const struct runtime_zone *forward)
{
    if (!name_is_root(runtime_zone_name(forward)))
        forget_zone(forget, runtime_zone_name(forward));
}

void settings_take(struct settings *settings, struct askers *served, struct forget *forget)
{
    LIST_EACH(node, &settings->waiting.list)
    {
        struct asker *asker = LIST_ITEM(node, struct asker, node);
        if (forget && asker->changed && asker->kind == ASKER_FORWARD)
            forget_forward(forget, &asker->forward);
    }
    askers_move(served, &settings->waiting);
    settings->is_pending = false;
}

/* A negative trust anchor must not outlive its end because memory was short then. */
void settings_retry_later(struct settings *settings)
{
    if (settings->is_ending)
        return;
    settings->has_failed = true;
    timer_start(settings->host.loop, &settings->nta_end, loop_now(settings->host.loop) + RETRY_US);
}

/* Keeps the forwards that fit the new file. The structs are shared. */
static void settings_keep_forwards(const struct settings *settings, const struct config *config,
                                   struct runtime_zones *kept)
{
    char why[RUNTIME_ZONE_WHY_MAX];

    kept->portal = settings->forwards.portal;
    kept->count = 0;
    for (size_t i = 0; i < settings->forwards.count; i++)
        if (!runtime_zone_check(config, settings->forwards.list[i], why))
            kept->list[kept->count++] = settings->forwards.list[i];
}

struct generation_settings settings_for_file(struct settings *settings, const struct config *config,
                                             struct runtime_zones *kept)
{
    settings_keep_forwards(settings, config, kept);
    anchor_keeper_configure(settings->keeper, config);
    return settings_with(settings, kept);
}

void settings_undo_file(struct settings *settings, const struct config *config)
{
    anchor_keeper_configure(settings->keeper, config);
}

/* Drops the forwards that do not fit the new file. */
static void settings_drop_forwards(struct settings *settings, const struct config *config,
                                   struct forget *forget)
{
    char why[RUNTIME_ZONE_WHY_MAX], zone[NAME_TEXT_MAX];

    for (size_t i = settings->forwards.count; i-- > 0;) {
        struct runtime_zone forward = *settings->forwards.list[i];
        if (!runtime_zone_check(config, &forward, why))
            continue;
        LOG(LOG_WARNING, "daemon", "reload: the servers that were set for %s are removed: %s",
            name_format(runtime_zone_name(&forward), zone), why);
        runtime_zones_remove(&settings->forwards, runtime_zone_name(&forward));
        forget_forward(forget, &forward);
        askers_refuse_forward(&settings->waiting, &forward, why);
    }
}

void settings_use_file(struct settings *settings, const struct config *config,
                       const struct outgoing_ports *ports, struct forget *forget)
{
    settings_drop_forwards(settings, config, forget);
    host_keeper_configure(settings->hosts, config, ports);
}

/* ---- forwards ---- */

static void settings_set_forward(struct settings *settings, struct call *call,
                                 const struct runtime_zone *forward)
{
    char why[RUNTIME_ZONE_WHY_MAX];
    struct asker *asker = askers_add(&settings->waiting, call);

    if (!asker)
        return;
    asker->kind = ASKER_FORWARD;
    asker->forward = *forward;
    asker->changed = forward_command_is_change(&settings->forwards, forward);
    if (!asker->changed && settings_are_idle(settings)) {
        asker_answer_setting(asker);
    } else if (forward_command_set(&settings->forwards, forward, why)) {
        asker_refuse(asker, why);
    } else {
        settings_become_pending(settings);
    }
}

void settings_forward(struct settings *settings, struct call *call)
{
    const struct config *config = settings->host.view->config;
    struct runtime_zone forward;
    char why[RUNTIME_ZONE_WHY_MAX];

    if (!settings_are_open(settings, call))
        return;
    if (call->argc == 0) {
        forward_command_show(call, config, &settings->forwards);
        call_done(call);
    } else if (forward_command_read(call, config, &forward, why) ||
               forward_command_check_held(settings->host.view, &forward, why)) {
        reply_refuse(&call->reply, "%s", why);
        call_done(call);
    } else {
        settings_set_forward(settings, call, &forward);
    }
}

/* ---- negative trust anchors ---- */

static void settings_await_end(struct settings *settings)
{
    uint64_t end = runtime_ntas_next_end(&settings->ntas);

    if (settings->has_failed)
        return;
    timer_stop(&settings->nta_end);
    if (end != UINT64_MAX)
        timer_start(settings->host.loop, &settings->nta_end, end);
}

static void settings_on_nta_end(struct timer *timer)
{
    struct settings *settings = CONTAINER_OF(timer, struct settings, nta_end);
    struct runtime_nta nta;
    char text[NAME_TEXT_MAX];

    while (runtime_ntas_take_ended(&settings->ntas, loop_now(settings->host.loop), &nta)) {
        LOG(LOG_NOTICE, "daemon", "the negative trust anchor %s has ended",
            name_format(runtime_nta_name(&nta), text));
        settings->is_pending = true;
    }
    settings->is_pending |= settings->has_failed;
    settings->has_failed = false;
    settings_await_end(settings);
    if (settings->is_pending)
        settings->host.on_pending(settings->host.context);
}

static void settings_set_nta(struct settings *settings, struct call *call,
                             const struct nta_request *request)
{
    char why[RUNTIME_NTA_WHY_MAX];
    struct asker *asker = askers_add(&settings->waiting, call);

    if (!asker)
        return;
    asker->kind = ASKER_NTA;
    asker->nta = request->nta;
    if (nta_command_apply(&settings->ntas, request, &asker->changed, why)) {
        asker_refuse(asker, why);
        return;
    }
    settings_await_end(settings);
    if (!asker->changed && settings_are_idle(settings)) {
        asker_answer_setting(asker);
        return;
    }
    settings_become_pending(settings);
}

void settings_nta(struct settings *settings, struct call *call)
{
    uint64_t now = loop_now(settings->host.loop);
    struct nta_request request;
    char why[RUNTIME_NTA_WHY_MAX];

    if (!settings_are_open(settings, call))
        return;
    if (nta_command_read(call, now, &request, why)) {
        reply_refuse(&call->reply, "%s", why);
        call_done(call);
    } else if (request.verb == NTA_LIST) {
        nta_command_show(call, &settings->ntas, now);
        call_done(call);
    } else {
        settings_set_nta(settings, call, &request);
    }
}

/* ---- the captive portal ---- */

/* A server without a port gets queries at the default port. */
static const char *portal_format_server(const struct runtime_zone *portal, char text[ADDR_TEXT_MAX])
{
    const struct addr *addr = &portal->upstreams[0].addr;
    return addr_port(addr) ? addr_format(addr, text) : addr_format_ip(addr, text);
}

static void settings_set_portal(struct settings *settings, const struct runtime_zone *portal,
                                uint64_t ends_at)
{
    char text[ADDR_TEXT_MAX];

    timer_stop(&settings->portal_end);
    settings->forwards.portal = NULL;
    settings->host.view->has_portal = portal->upstream_count > 0;
    if (portal->upstream_count == 0)
        return;
    settings->portal = *portal;
    settings->forwards.portal = &settings->portal;
    settings->portal_ends_at = ends_at;
    timer_start(settings->host.loop, &settings->portal_end, settings->portal_ends_at);
    LOG(LOG_WARNING, "daemon",
        "portal: for %u s, names that no other zone takes go to %s in plain text",
        (unsigned)((ends_at - loop_now(settings->host.loop)) / US_PER_S),
        portal_format_server(portal, text));
}

static void settings_on_portal_end(struct timer *timer)
{
    struct settings *settings = CONTAINER_OF(timer, struct settings, portal_end);

    LOG(LOG_NOTICE, "daemon", "portal: it has ended; the file's servers are asked again");
    settings->forwards.portal = NULL;
    settings->host.view->has_portal = false;
    settings_become_pending(settings);
}

static void settings_show_portal(struct settings *settings, struct call *call)
{
    char text[ADDR_TEXT_MAX];
    uint64_t now = loop_now(settings->host.loop);
    struct reply *reply = &call->reply;

    reply_table(reply, "portals", "server:text\tends_in:duration");
    if (settings->forwards.portal) {
        reply_row(reply);
        reply_text(reply, portal_format_server(&settings->portal, text));
        reply_duration(reply, settings->portal_ends_at - MIN(now, settings->portal_ends_at));
        reply_row_end(reply);
    }
    call_done(call);
}

/* Reads the end: TIME, which only shortens the ten minutes. */
static enum err settings_read_portal_end(const struct settings *settings, const char *time,
                                         uint64_t *ends_at, char why[RUNTIME_ZONE_WHY_MAX])
{
    uint64_t now = loop_now(settings->host.loop);
    struct runtime_nta nta = {.ends_at = now + PORTAL_US};

    if (time && runtime_nta_parse(&nta, ".", time, now, why))
        return ERR_INVALID;
    *ends_at = nta.ends_at;
    if (nta.ends_at <= now + PORTAL_US)
        return ERR_OK;
    snprintf(why, RUNTIME_ZONE_WHY_MAX,
             "a portal lasts for ten minutes at most; set it again later");
    return ERR_INVALID;
}

/* Reads `on SERVER [TIME]` or `off`. */
static enum err settings_read_portal(const struct settings *settings, const struct call *call,
                                     struct runtime_zone *out, uint64_t *ends_at,
                                     char why[RUNTIME_ZONE_WHY_MAX])
{
    *out = (struct runtime_zone){0};
    if (call->argc == 1 && strcmp(call->argv[0], "off") == 0)
        return ERR_OK;
    if (call->argc >= 2 && strcmp(call->argv[0], "on") == 0) {
        if (settings_read_portal_end(settings, call->argc > 2 ? call->argv[2] : NULL, ends_at, why))
            return ERR_INVALID;
        return runtime_portal_read(out, settings->host.view->config, call->argv[1], why);
    }
    snprintf(why, RUNTIME_ZONE_WHY_MAX,
             "write portal on SERVER, such as portal on 192.168.1.1, or portal off");
    return ERR_INVALID;
}

void settings_portal(struct settings *settings, struct call *call)
{
    struct runtime_zone portal;
    uint64_t ends_at = 0;
    char why[RUNTIME_ZONE_WHY_MAX];

    if (!settings_are_open(settings, call))
        return;
    if (call->argc == 0) {
        settings_show_portal(settings, call);
        return;
    }
    if (settings_read_portal(settings, call, &portal, &ends_at, why)) {
        reply_refuse(&call->reply, "%s", why);
        call_done(call);
        return;
    }
    struct asker *asker = askers_add(&settings->waiting, call);
    if (!asker)
        return;
    asker->kind = ASKER_PORTAL;
    asker->forward = portal;
    asker->changed = settings->forwards.portal || portal.upstream_count > 0;
    if (settings->forwards.portal && portal.upstream_count == 0)
        LOG(LOG_NOTICE, "daemon", "portal: off; the file's servers are asked again");
    settings_set_portal(settings, &portal, ends_at);
    settings_become_pending(settings);
}

/* Other keys of a zone are trusted than before, or upstreams by name have other addresses. */
static void settings_on_new_facts(void *context)
{
    struct settings *settings = context;

    if (settings->is_ending)
        return;
    settings_become_pending(settings);
}

void settings_hosts(struct settings *settings, struct call *call)
{
    host_keeper_show(settings->hosts, call);
    call_done(call);
}

void settings_network_changed(struct settings *settings)
{
    host_keeper_network_changed(settings->hosts);
}

/* ---- life ---- */

struct settings *settings_new(const struct settings_host *host, const struct config *config)
{
    struct settings *settings = calloc(1, sizeof(*settings));

    if (!settings)
        return NULL;
    settings->host = *host;
    askers_init(&settings->waiting, host->asker_count);
    timer_init(&settings->nta_end, settings_on_nta_end);
    timer_init(&settings->portal_end, settings_on_portal_end);
    const struct inquirer home = {host->loop, host->view, settings_on_new_facts, settings};
    settings->keeper = anchor_keeper_new(&home);
    settings->hosts = host_keeper_new(&home);
    if (!settings->keeper || !settings->hosts) {
        settings_free(settings);
        return NULL;
    }
    anchor_keeper_configure(settings->keeper, config);
    host_keeper_recall(settings->hosts, config);
    return settings;
}

void settings_begin(struct settings *settings, const struct config *config,
                    const struct outgoing_ports *ports)
{
    anchor_keeper_begin(settings->keeper);
    host_keeper_configure(settings->hosts, config, ports);
    host_keeper_begin(settings->hosts);
}

void settings_end(struct settings *settings)
{
    if (settings->is_ending)
        return;
    settings->is_ending = true;
    timer_stop(&settings->nta_end);
    timer_stop(&settings->portal_end);
    anchor_keeper_end(settings->keeper);
    host_keeper_end(settings->hosts);
    askers_refuse(&settings->waiting, "nailupd is stopping");
}

void settings_free(struct settings *settings)
{
    if (!settings)
        return;
    runtime_zones_deinit(&settings->forwards);
    anchor_keeper_free(settings->keeper);
    host_keeper_free(settings->hosts);
    free(settings);
}
