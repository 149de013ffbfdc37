/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The order of a change: everything that can fail is done before any worker hears of it. config
 * knows what a file says; worker.c knows what a worker does with it.
 *
 * Invariant: each command that waits is answered once, when its change is in effect or has failed:
 * not earlier, and not by a change that began before the command.
 */

#include "daemon/reload.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/rand.h"
#include "base/units.h"
#include "cache/cache.h"
#include "cache/spans.h"
#include "config/changes.h"
#include "config/config.h"
#include "config/runtime_ntas.h"
#include "config/runtime_zones.h"
#include "control/call.h"
#include "control/view.h"
#include "daemon/anchor_keeper.h"
#include "daemon/asker.h"
#include "daemon/certificate.h"
#include "daemon/forget.h"
#include "daemon/forward_command.h"
#include "daemon/generation.h"
#include "daemon/host_keeper.h"
#include "daemon/inquiry.h"
#include "daemon/listening.h"
#include "daemon/loading.h"
#include "daemon/nta_command.h"
#include "daemon/readiness.h"
#include "daemon/refusal.h"
#include "daemon/reload_report.h"
#include "daemon/report.h"
#include "daemon/worker.h"
#include "daemon/zone_keeper.h"
#include "loop/loop.h"
#include "loop/timer.h"
#include "resolve/views.h"
#include "serve/server_quota.h"
#include "validate/anchors.h"

enum { RELOAD_WHY_MAX = 512 };

/* A captive portal ends after this time by itself. */
#define PORTAL_US (600 * US_PER_S)

/* Between attempts to put run-time settings into effect when memory is short. */
#define RETRY_US (10 * US_PER_S)

_Static_assert((int)RELOAD_WHY_MAX >= (int)TLS_WHY_MAX &&
                   (int)RELOAD_WHY_MAX >= (int)REFUSAL_TEXT_MAX,
               "the parts write their sentences into it");

/* How long a change waits for zones from files and stored copies. */
#define ZONES_US (30 * US_PER_S)

enum reload_state { RELOAD_IDLE, RELOAD_SWITCHING, RELOAD_FORGETTING, RELOAD_AWAITING_ZONES };

struct reload {
    struct reload_host host;
    struct workers *workers; /* NULL until they are started */
    enum reload_state state;
    bool wants_file;     /* a file must be read, and no thread has begun */
    bool is_read;        /* the thread is done, and its change has not begun */
    bool wants_settings; /* run-time facts differ from those in effect */
    bool is_from_file; /* the change under way comes from a file; false: only from run-time facts */
    bool is_ending;
    size_t asker_count;
    struct askers for_file;     /* wait for a read that has not begun */
    struct askers for_loading;  /* wait for the file that is being read or about to be used */
    struct askers for_settings; /* wait for the next change of forwards or negative anchors */
    struct askers served;       /* wait for the change under way */
    struct loading *loading;    /* set until its change is complete */
    struct generations generations;
    struct generation *current, *next; /* next: only while switching */
    struct listening *listening;       /* the one that is shown */
    struct listening *next_listening;
    struct runtime_zones forwards;
    struct runtime_ntas ntas;
    struct runtime_zone portal; /* in force while forwards refers to it */
    uint64_t portal_ends_at;
    struct timer portal_end;
    struct anchor_keeper *keeper;
    struct host_keeper *hosts;
    struct timer nta_end;     /* the first end of ntas, or a retry */
    bool has_failed_settings; /* some workers lack them */
    struct forget forget;
    struct timer zones_end; /* while RELOAD_AWAITING_ZONES */
    size_t failed;          /* workers that kept their old routes */
    enum err failure;
    uint64_t begun_at;
    uint64_t loaded_time; /* seconds since 1970, when the thread began */
    struct reload_report report;
};

static void reload_next(struct reload *reload);

/* ---- ends of a change ---- */

/* Warns about the certificate now in use, whether it is the old one or the new one. */
static void reload_warn_of_certificate(const struct reload *reload)
{
    const struct certificate *certificate = generation_certificate(reload->current);

    if (certificate)
        certificate_warn_expired(certificate, &generation_config(reload->current)->server,
                                 time(NULL));
}

static void reload_show_certificate(const struct reload *reload)
{
    reload->host.view->certificate_ends_at_s =
        certificate_ends_at_s(generation_certificate(reload->current));
}

static void reload_become_idle(struct reload *reload)
{
    reload->state = RELOAD_IDLE;
    if (reload->is_from_file) {
        reload_warn_of_certificate(reload);
        if (!reload->is_ending)
            readiness_ready();
        loading_free(&reload->loading);
        reload->report = (struct reload_report){.config_file = reload->host.config_file};
    }
    reload_next(reload);
}

static void reload_note_failure(struct reload *reload)
{
    struct control_reloads *reloads = &reload->host.view->reloads;
    struct span errors = reload->report.errors;
    const uint8_t *end = errors.len ? memchr(errors.data, '\n', errors.len) : NULL;

    reloads->failed++;
    reloads->last_failed = true;
    if (end)
        snprintf(reloads->why, sizeof(reloads->why), "%.*s", (int)(end - errors.data),
                 (const char *)errors.data);
    else
        snprintf(reloads->why, sizeof(reloads->why), "%s", reload->report.why);
}

/* A negative trust anchor must not outlive its end because memory was short then. */
static void reload_retry_later(struct reload *reload)
{
    if (reload->is_ending)
        return;
    reload->has_failed_settings = true;
    timer_start(reload->host.loop, &reload->nta_end, loop_now(reload->host.loop) + RETRY_US);
}

static void reload_fail(struct reload *reload, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(reload->report.why, sizeof(reload->report.why), format, arguments);
    va_end(arguments);
    if (reload->is_from_file) {
        reload_report_log_failure(&reload->report);
        reload_note_failure(reload);
    } else {
        LOG(LOG_ERROR, "daemon", "forward, nta, hosts: %s", reload->report.why);
        reload_retry_later(reload);
    }
    askers_refuse_report(&reload->served, &reload->report);
    reload_become_idle(reload);
}

static void reload_switch_succeed(struct reload *reload)
{
    struct control_reloads *reloads = &reload->host.view->reloads;

    if (reload->is_from_file) {
        reload->report.took_us = loop_clock(reload->host.loop) - reload->begun_at;
        reload->report.config = generation_config(reload->current);
        reload->report.changes = loading_result(reload->loading)->changes;
        reload->report.forgotten = reload->forget.count;
        reload->report.zones = reload->host.view;
        reloads->done++;
        reloads->last_failed = false;
        reload_report_log(&reload->report);
    }
    askers_answer(&reload->served, &reload->report);
    reload_become_idle(reload);
}

static void reload_on_zones(void *context)
{
    struct reload *reload = context;

    if (reload->state != RELOAD_AWAITING_ZONES || reload->is_ending)
        return;
    timer_stop(&reload->zones_end);
    reload->report.zones_are_read = true;
    reload_switch_succeed(reload);
}

static void reload_on_zones_end(struct timer *timer)
{
    reload_switch_succeed(CONTAINER_OF(timer, struct reload, zones_end));
}

/* The rules of the file must be in force before the command that reloads it gets its answer. */
static void reload_await_zones(struct reload *reload)
{
    reload->state = RELOAD_AWAITING_ZONES;
    if (zone_keeper_settle(reload->host.zones, reload_on_zones, reload))
        reload_on_zones(reload);
    else if (!reload->is_ending)
        timer_start(reload->host.loop, &reload->zones_end, loop_now(reload->host.loop) + ZONES_US);
}

/* Tells the cache by which rules verdicts are found from now on. */
static void reload_set_rules(const struct reload *reload)
{
    const struct validation_options *validation = &generation_route(reload->current)->validation;
    uint64_t options = (uint64_t)validation->mode << 1 | validation->allow_sha1;

    cache_set_rules(reload->host.cache, hash_word(options, anchors_hash(validation->anchors)));
}

/* A worker without memory keeps its old routes, but the generation is still in effect. Its verdicts
 * are found by old rules, so the rules of the cache stay unknown. */
static void reload_on_forgotten(void *context)
{
    struct reload *reload = context;

    if (reload->failed > 0) {
        reload_fail(reload,
                    "%zu workers keep their old zones and upstreams (%s), the others have "
                    "switched; try again",
                    reload->failed, err_str(reload->failure));
        return;
    }
    reload_set_rules(reload);
    if (reload->is_from_file)
        reload_await_zones(reload);
    else
        reload_switch_succeed(reload);
}

/* ---- switching ---- */

/* Whether names that upstreams answered before may now be local data. */
static bool reload_has_local_changes(const struct reload *reload)
{
    static const char *const keys[] = {"server.default-local-zones",
                                       "forward-zones",
                                       "auth-zones",
                                       "local-root",
                                       "local-zones",
                                       "local-data",
                                       "hosts-file",
                                       "block-lists"};
    const struct config *config = generation_config(reload->current);
    const struct changes *changes = loading_result(reload->loading)->changes;

    if (*config->hosts_file || config->block_list_count > 0)
        return true;
    for (size_t i = 0; i < changes->count; i++)
        for (size_t j = 0; j < ARRAY_LEN(keys); j++)
            if (strcmp(changes->list[i].path, keys[j]) == 0)
                return true;
    return false;
}

static void reload_take_file(struct reload *reload)
{
    const struct config *config = generation_config(reload->current);
    struct control_view *view = reload->host.view;

    view->config = config;
    view->view_rows = server_quota_view_rows(generation_quota(reload->current));
    view->reloads.loaded_at = reload->begun_at;
    view->reloads.loaded_time = reload->loaded_time;
    reload_show_certificate(reload);
    listening_free(&reload->listening);
    reload->listening = reload->next_listening;
    reload->next_listening = NULL;
    listening_show(reload->listening, view);
    if (zone_keeper_configure(reload->host.zones, config))
        LOG(LOG_ERROR, "daemon", "reload: out of memory; auth-zones and rpz do not change");
    if (reload_has_local_changes(reload))
        forget_local(&reload->forget, generation_local(reload->current));
}

/* A zone whose trusted keys roll (RFC 5011) keeps its answers: a key that was already trusted has
 * signed the new keys. */
static void reload_on_changed_anchor(void *context, struct name zone)
{
    struct reload *reload = context;
    const struct validation_options *after = &generation_route(reload->next)->validation;
    const struct validation_options *before = &generation_route(reload->current)->validation;
    const struct anchor *is = anchors_find(after->anchors, zone);
    const struct anchor *was = anchors_find(before->anchors, zone);
    bool is_update = !reload->is_from_file && is && was && is->kind == ANCHOR_TRUSTED &&
                     was->kind == ANCHOR_TRUSTED && name_equal(is->zone, zone) &&
                     name_equal(was->zone, zone);

    if (!is_update)
        forget_zone(&reload->forget, zone);
}

static struct name spared_name(const struct route_zone *zone)
{
    return (struct name){zone->wire, zone->name_len};
}

static int spared_compare(const void *a, const void *b)
{
    const struct route_zone *const *left = a, *const *right = b;
    return name_compare(spared_name(*left), spared_name(*right));
}

/* Returns the zones with `validate: no` or `trust-ad: yes` in canonical order, to be freed. NULL:
 * out of memory. */
static const struct route_zone **spared_new(const struct route_options *route, size_t *count)
{
    const struct route_zone **spared = malloc((route->zone_count + 1) * sizeof(*spared));
    *count = 0;
    for (size_t i = 0; spared && i < route->zone_count; i++)
        if (!route->zones[i].validate || route->zones[i].trust_ad)
            spared[(*count)++] = &route->zones[i];
    if (*count)
        qsort(spared, *count, sizeof(*spared), spared_compare);
    return spared;
}

/* Forgets the zones that only one of these spares from validation. */
static void reload_forget_spared(struct reload *reload, const struct route_options *former,
                                 const struct route_options *next)
{
    size_t before_count, after_count;
    const struct route_zone **before = spared_new(former, &before_count);
    const struct route_zone **after = spared_new(next, &after_count);

    if (!before || !after) {
        forget_zone(&reload->forget, name_root());
        before_count = after_count = 0;
    }
    for (size_t i = 0, k = 0; i < before_count || k < after_count;) {
        int order = i == before_count  ? 1
                    : k == after_count ? -1
                                       : spared_compare(&before[i], &after[k]);
        if (order)
            forget_zone(&reload->forget, spared_name(order < 0 ? before[i] : after[k]));
        i += order <= 0;
        k += order >= 0;
    }
    free(before);
    free(after);
}

/* Answers below an anchor, or in a zone with `validate: no`, that was added, removed or changed
 * were judged by other rules. */
static void reload_forget_validated(struct reload *reload)
{
    const struct route_options *former = generation_route(reload->current);
    const struct route_options *next = generation_route(reload->next);
    const struct validation_options *before = &former->validation, *after = &next->validation;

    if (!views_validate(former) && !views_validate(next))
        return;
    if (before->mode != after->mode || before->allow_sha1 != after->allow_sha1)
        forget_zone(&reload->forget, name_root());
    anchors_compare(before->anchors, after->anchors, reload_on_changed_anchor, reload);
    /* Only a file spares zones. A portal has its own cache. */
    reload_forget_spared(reload, &generation_config(reload->current)->route,
                         &generation_config(reload->next)->route);
}

static void reload_on_switched(void *context, size_t failed, enum err err)
{
    struct reload *reload = context;

    reload_forget_validated(reload);
    spans_forget(cache_spans(reload->host.cache), name_root()); /* their rules may have changed */
    if (generation_has_portal(reload->current))
        forget_portals(&reload->forget);
    /* Answers from before a portal are served again afterwards. */
    if (!generation_has_portal(reload->next) &&
        (generation_route(reload->current)->views || generation_route(reload->next)->views))
        forget_spaces(&reload->forget, generation_route(reload->next)->views);
    generation_unref(reload->current);
    reload->current = reload->next;
    reload->next = NULL;
    reload->failed = failed;
    reload->failure = err;
    zone_keeper_trust(reload->host.zones, generation_route(reload->current));
    if (reload->is_from_file)
        reload_take_file(reload);
    reload->state = RELOAD_FORGETTING;
    forget_begin(&reload->forget);
}

/* The cache forgets the answers of the zone's former servers. The root is an exception: names of
 * the Internet have the same answers from every resolver. */
static void reload_forget(struct reload *reload, const struct runtime_zone *forward)
{
    if (!name_is_root(runtime_zone_name(forward)))
        forget_zone(&reload->forget, runtime_zone_name(forward));
}

/* Every change also serves the commands that wait for settings. */
static void reload_serve_settings(struct reload *reload)
{
    LIST_EACH(node, &reload->for_settings.list)
    {
        struct asker *asker = LIST_ITEM(node, struct asker, node);
        if (asker->changed && asker->kind == ASKER_FORWARD)
            reload_forget(reload, &asker->forward);
    }
    askers_move(&reload->served, &reload->for_settings);
    reload->wants_settings = false;
}

static void reload_switch(struct reload *reload, struct generation *next)
{
    struct listen_sockets *sockets = reload->is_from_file ? reload->host.sockets : NULL;

    cache_set_rules(reload->host.cache, rand_u64());
    reload->next = next;
    reload->state = RELOAD_SWITCHING;
    reload_serve_settings(reload);
    if (reload->is_from_file) {
        const struct config *config = generation_config(next);
        log_set_level(config->log_level);
        log_set_format(config->log_format);
        cache_set_options(reload->host.cache, &config->cache);
    }
    workers_switch(reload->workers, next, sockets, reload_on_switched, reload);
}

/* ---- run-time settings ---- */

static struct generation_settings reload_settings(const struct reload *reload,
                                                  const struct runtime_zones *forwards)
{
    return (struct generation_settings){
        .forwards = forwards,
        .ntas = &reload->ntas,
        .point = anchor_keeper_point(reload->keeper),
        .hosts = host_keeper_hosts(reload->hosts),
    };
}

static void reload_begin_settings(struct reload *reload)
{
    struct generation_settings settings = reload_settings(reload, &reload->forwards);
    struct generation *next = generation_new_settings(reload->current, &settings);

    reload->is_from_file = false;
    forget_clear(&reload->forget);
    if (next) {
        reload_switch(reload, next);
        return;
    }
    reload->wants_settings = false; /* the next change includes them */
    askers_move(&reload->served, &reload->for_settings);
    reload_fail(reload, "out of memory; try again");
}

/* ---- a file ---- */

static size_t reload_count_lines(struct span text)
{
    size_t lines = 0;

    for (size_t i = 0; i < text.len; i++)
        lines += text.data[i] == '\n';
    return lines;
}

/* Keeps the forwards that fit the new file. The structs are shared. */
static void reload_keep_forwards(const struct reload *reload, const struct config *config,
                                 struct runtime_zones *kept)
{
    char why[RUNTIME_ZONE_WHY_MAX];

    kept->portal = reload->forwards.portal;
    kept->count = 0;
    for (size_t i = 0; i < reload->forwards.count; i++)
        if (!runtime_zone_check(config, reload->forwards.list[i], why))
            kept->list[kept->count++] = reload->forwards.list[i];
}

/* Drops the forwards that do not fit the new file, once no later step can fail. */
static void reload_drop_forwards(struct reload *reload, const struct config *config)
{
    char why[RUNTIME_ZONE_WHY_MAX], zone[NAME_TEXT_MAX];

    for (size_t i = reload->forwards.count; i-- > 0;) {
        struct runtime_zone forward = *reload->forwards.list[i];
        if (!runtime_zone_check(config, &forward, why))
            continue;
        LOG(LOG_WARNING, "daemon", "reload: the servers that were set for %s are removed: %s",
            name_format(runtime_zone_name(&forward), zone), why);
        runtime_zones_remove(&reload->forwards, runtime_zone_name(&forward));
        reload_forget(reload, &forward);
        askers_refuse_forward(&reload->for_settings, &forward, why);
    }
}

/* Takes the last steps that may fail. */
static bool reload_prepare(struct reload *reload, const struct generation *next,
                           char why[RELOAD_WHY_MAX])
{
    const struct server_options *options = &generation_config(next)->server;

    if (workers_prepare_tls(reload->workers, next, why))
        return false;
    reload->next_listening = listening_prepare(reload->host.sockets, options, why);
    if (!reload->next_listening)
        workers_forget_tls(reload->workers);
    return reload->next_listening;
}

/* NULL: nothing has changed, and why is a sentence. */
static struct generation *reload_make_next(struct reload *reload, struct loaded *loaded,
                                           char why[RELOAD_WHY_MAX])
{
    struct runtime_zones kept;

    reload_keep_forwards(reload, loaded->config, &kept);
    anchor_keeper_configure(reload->keeper, loaded->config);
    struct generation_settings settings = reload_settings(reload, &kept);
    struct generation *next = generation_new(&reload->generations, &loaded->config, reload->current,
                                             loaded->certificate, &settings);
    snprintf(why, RELOAD_WHY_MAX, "out of memory");
    if (next && reload_prepare(reload, next, why))
        return next;
    anchor_keeper_configure(reload->keeper, generation_config(reload->current));
    generation_unref(next);
    return NULL;
}

static void reload_begin_file(struct reload *reload)
{
    struct loaded *loaded = loading_result(reload->loading);
    char why[RELOAD_WHY_MAX];

    reload->is_read = false;
    reload->is_from_file = true;
    forget_clear(&reload->forget);
    askers_move(&reload->served, &reload->for_loading);
    if (!loaded->config) {
        reload->report.errors = buf_span(&loaded->errors);
        reload_fail(reload, "nothing was changed; errors in %s: %zu", reload->host.config_file,
                    reload_count_lines(reload->report.errors));
        return;
    }
    struct generation *next = reload_make_next(reload, loaded, why);
    if (!next) {
        reload_fail(reload, "nothing was changed: %s", why);
        return;
    }
    report_warnings(generation_config(next));
    reload_drop_forwards(reload, generation_config(next));
    host_keeper_configure(reload->hosts, generation_config(next), generation_ports(next));
    reload_switch(reload, next);
}

static void reload_on_loaded(void *context)
{
    struct reload *reload = context;

    reload->is_read = true;
    reload_next(reload);
}

static void reload_begin_loading(struct reload *reload)
{
    reload->wants_file = false;
    workers_reopen_taps(reload->workers); /* also if the file has an error */
    readiness_reloading();
    reload->begun_at = loop_clock(reload->host.loop);
    reload->loaded_time = (uint64_t)time(NULL);
    askers_move(&reload->for_loading, &reload->for_file);
    if (!loading_begin(&reload->loading, reload->host.loop, reload->host.config_file,
                       generation_config(reload->current), reload_on_loaded, reload))
        return;
    struct control_reloads *reloads = &reload->host.view->reloads;
    reloads->failed++;
    reloads->last_failed = true;
    snprintf(reloads->why, sizeof(reloads->why), "nothing was changed: out of memory");
    LOG(LOG_ERROR, "daemon", "reload failed: %s", reloads->why);
    askers_refuse(&reload->for_loading, reloads->why);
    readiness_ready();
}

/* ---- what comes next ---- */

/* Starts what may begin now. A file is read while another change runs; changes run one at a
 * time. */
static void reload_next(struct reload *reload)
{
    const struct generations *all = &reload->generations;

    if (reload->is_ending || !reload->workers)
        return;
    if (reload->wants_file && !reload->loading && generations_have_room(all, true))
        reload_begin_loading(reload);
    if (reload->state != RELOAD_IDLE)
        return;
    if (!generations_have_room(all, false)) {
        if (reload->is_read || reload->wants_settings)
            LOG_LIMITED(LOG_WARNING, "daemon",
                        "a change waits: some workers still use older configurations");
        return;
    }
    if (reload->is_read)
        reload_begin_file(reload);
    else if (reload->wants_settings)
        reload_begin_settings(reload);
}

static void reload_on_generation_freed(void *context)
{
    reload_next(context);
}

/* ---- clients that wait for a reload ---- */

void reload_by_signal(struct reload *reload)
{
    if (reload->is_ending) {
        LOG(LOG_NOTICE, "daemon", "SIGHUP: not reloading, because the daemon is stopping");
        return;
    }
    LOG(LOG_NOTICE, "daemon", "SIGHUP: reading %s", reload->host.config_file);
    reload->wants_file = true;
    reload_next(reload);
}

/* False: the call has been refused and is done. */
static bool reload_is_open(struct reload *reload, struct call *call)
{
    if (!reload->is_ending)
        return true;
    reply_refuse(&call->reply, "nailupd is stopping");
    call_done(call);
    return false;
}

void reload_by_call(struct reload *reload, struct call *call)
{
    if (!reload_is_open(reload, call))
        return;
    struct asker *asker = askers_add(&reload->for_file, call);
    if (!asker)
        return;
    asker->kind = ASKER_FILE;
    reload->wants_file = true;
    reload_next(reload);
}

static void reload_set_forward(struct reload *reload, struct call *call,
                               const struct runtime_zone *forward)
{
    char why[RUNTIME_ZONE_WHY_MAX];
    struct asker *asker = askers_add(&reload->for_settings, call);

    if (!asker)
        return;
    asker->kind = ASKER_FORWARD;
    asker->forward = *forward;
    asker->changed = forward_command_is_change(&reload->forwards, forward);
    if (!asker->changed && reload->state == RELOAD_IDLE && !reload->wants_settings) {
        asker_answer_setting(asker);
    } else if (forward_command_set(&reload->forwards, forward, why)) {
        asker_refuse(asker, why);
    } else {
        reload->wants_settings = true;
        reload_next(reload);
    }
}

void reload_forward(struct reload *reload, struct call *call)
{
    const struct config *config = generation_config(reload->current);
    struct runtime_zone forward;
    char why[RUNTIME_ZONE_WHY_MAX];

    if (!reload_is_open(reload, call))
        return;
    if (call->argc == 0) {
        forward_command_show(call, config, &reload->forwards);
        call_done(call);
    } else if (forward_command_read(call, config, &forward, why) ||
               forward_command_check_held(reload->host.view, &forward, why)) {
        reply_refuse(&call->reply, "%s", why);
        call_done(call);
    } else {
        reload_set_forward(reload, call, &forward);
    }
}

/* ---- negative trust anchors ---- */

static void reload_await_end(struct reload *reload)
{
    uint64_t end = runtime_ntas_next_end(&reload->ntas);

    if (reload->has_failed_settings)
        return;
    timer_stop(&reload->nta_end);
    if (end != UINT64_MAX)
        timer_start(reload->host.loop, &reload->nta_end, end);
}

static void reload_on_nta_end(struct timer *timer)
{
    struct reload *reload = CONTAINER_OF(timer, struct reload, nta_end);
    struct runtime_nta nta;
    char text[NAME_TEXT_MAX];

    while (runtime_ntas_take_ended(&reload->ntas, loop_now(reload->host.loop), &nta)) {
        LOG(LOG_NOTICE, "daemon", "the negative trust anchor %s has ended",
            name_format(runtime_nta_name(&nta), text));
        reload->wants_settings = true;
    }
    reload->wants_settings |= reload->has_failed_settings;
    reload->has_failed_settings = false;
    reload_await_end(reload);
    reload_next(reload);
}

static void reload_set_nta(struct reload *reload, struct call *call,
                           const struct nta_request *request)
{
    char why[RUNTIME_NTA_WHY_MAX];
    struct asker *asker = askers_add(&reload->for_settings, call);

    if (!asker)
        return;
    asker->kind = ASKER_NTA;
    asker->nta = request->nta;
    if (nta_command_apply(&reload->ntas, request, &asker->changed, why)) {
        asker_refuse(asker, why);
        return;
    }
    reload_await_end(reload);
    if (!asker->changed && reload->state == RELOAD_IDLE && !reload->wants_settings) {
        asker_answer_setting(asker);
        return;
    }
    reload->wants_settings = true;
    reload_next(reload);
}

void reload_nta(struct reload *reload, struct call *call)
{
    uint64_t now = loop_now(reload->host.loop);
    struct nta_request request;
    char why[RUNTIME_NTA_WHY_MAX];

    if (!reload_is_open(reload, call))
        return;
    if (nta_command_read(call, now, &request, why)) {
        reply_refuse(&call->reply, "%s", why);
        call_done(call);
    } else if (request.verb == NTA_LIST) {
        nta_command_show(call, &reload->ntas, now);
        call_done(call);
    } else {
        reload_set_nta(reload, call, &request);
    }
}

/* ---- the captive portal ---- */

/* A server without a port gets queries at the default port. */
static const char *portal_format_server(const struct runtime_zone *portal, char text[ADDR_TEXT_MAX])
{
    const struct addr *addr = &portal->upstreams[0].addr;
    return addr_port(addr) ? addr_format(addr, text) : addr_format_ip(addr, text);
}

static void reload_set_portal(struct reload *reload, const struct runtime_zone *portal,
                              uint64_t ends_at)
{
    char text[ADDR_TEXT_MAX];

    timer_stop(&reload->portal_end);
    reload->forwards.portal = NULL;
    reload->host.view->has_portal = portal->upstream_count > 0;
    if (portal->upstream_count == 0)
        return;
    reload->portal = *portal;
    reload->forwards.portal = &reload->portal;
    reload->portal_ends_at = ends_at;
    timer_start(reload->host.loop, &reload->portal_end, reload->portal_ends_at);
    LOG(LOG_WARNING, "daemon",
        "portal: for %u s, names that no other zone takes go to %s in plain text",
        (unsigned)((ends_at - loop_now(reload->host.loop)) / US_PER_S),
        portal_format_server(portal, text));
}

static void reload_on_portal_end(struct timer *timer)
{
    struct reload *reload = CONTAINER_OF(timer, struct reload, portal_end);

    LOG(LOG_NOTICE, "daemon", "portal: it has ended; the file's servers are asked again");
    reload->forwards.portal = NULL;
    reload->host.view->has_portal = false;
    reload->wants_settings = true;
    reload_next(reload);
}

static void reload_show_portal(struct reload *reload, struct call *call)
{
    char text[ADDR_TEXT_MAX];
    uint64_t now = loop_now(reload->host.loop);
    struct reply *reply = &call->reply;

    reply_table(reply, "portals", "server:text\tends_in:duration");
    if (reload->forwards.portal) {
        reply_row(reply);
        reply_text(reply, portal_format_server(&reload->portal, text));
        reply_duration(reply, reload->portal_ends_at - MIN(now, reload->portal_ends_at));
        reply_row_end(reply);
    }
    call_done(call);
}

/* Reads the end: TIME, which only shortens the ten minutes. */
static enum err reload_read_portal_end(const struct reload *reload, const char *time,
                                       uint64_t *ends_at, char why[RUNTIME_ZONE_WHY_MAX])
{
    uint64_t now = loop_now(reload->host.loop);
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
static enum err reload_read_portal(const struct reload *reload, const struct call *call,
                                   struct runtime_zone *out, uint64_t *ends_at,
                                   char why[RUNTIME_ZONE_WHY_MAX])
{
    *out = (struct runtime_zone){0};
    if (call->argc == 1 && strcmp(call->argv[0], "off") == 0)
        return ERR_OK;
    if (call->argc >= 2 && strcmp(call->argv[0], "on") == 0) {
        if (reload_read_portal_end(reload, call->argc > 2 ? call->argv[2] : NULL, ends_at, why))
            return ERR_INVALID;
        return runtime_portal_read(out, generation_config(reload->current), call->argv[1], why);
    }
    snprintf(why, RUNTIME_ZONE_WHY_MAX,
             "write portal on SERVER, such as portal on 192.168.1.1, or portal off");
    return ERR_INVALID;
}

void reload_portal(struct reload *reload, struct call *call)
{
    struct runtime_zone portal;
    uint64_t ends_at = 0;
    char why[RUNTIME_ZONE_WHY_MAX];

    if (!reload_is_open(reload, call))
        return;
    if (call->argc == 0) {
        reload_show_portal(reload, call);
        return;
    }
    if (reload_read_portal(reload, call, &portal, &ends_at, why)) {
        reply_refuse(&call->reply, "%s", why);
        call_done(call);
        return;
    }
    struct asker *asker = askers_add(&reload->for_settings, call);
    if (!asker)
        return;
    asker->kind = ASKER_PORTAL;
    asker->forward = portal;
    asker->changed = reload->forwards.portal || portal.upstream_count > 0;
    if (reload->forwards.portal && portal.upstream_count == 0)
        LOG(LOG_NOTICE, "daemon", "portal: off; the file's servers are asked again");
    reload_set_portal(reload, &portal, ends_at);
    reload->wants_settings = true;
    reload_next(reload);
}

void reload_anchors(struct reload *reload, struct call *call)
{
    nta_command_show_anchors(call, generation_route(reload->current)->validation.anchors,
                             anchor_keeper_point(reload->keeper), time(NULL));
    call_done(call);
}

/* Other keys of a zone are trusted than before, or upstreams by name have other addresses. */
static void reload_on_new_facts(void *context)
{
    struct reload *reload = context;

    if (reload->is_ending)
        return;
    reload->wants_settings = true;
    reload_next(reload);
}

void reload_hosts(struct reload *reload, struct call *call)
{
    host_keeper_show(reload->hosts, call);
    call_done(call);
}

void reload_network_changed(struct reload *reload)
{
    host_keeper_network_changed(reload->hosts);
}

/* ---- life ---- */

struct reload *reload_new(const struct reload_host *host, struct config **config,
                          struct certificate *certificate)
{
    struct reload *reload = calloc(1, sizeof(*reload));

    if (!reload) {
        config_free(*config);
        *config = NULL;
        return NULL;
    }
    reload->host = *host;
    reload->report.config_file = host->config_file;
    askers_init(&reload->for_file, &reload->asker_count);
    askers_init(&reload->for_loading, &reload->asker_count);
    askers_init(&reload->for_settings, &reload->asker_count);
    askers_init(&reload->served, &reload->asker_count);
    generations_init(&reload->generations, host->loop, reload_on_generation_freed, reload);
    forget_init(&reload->forget, host->loop, host->cache, reload_on_forgotten, reload);
    timer_init(&reload->nta_end, reload_on_nta_end);
    timer_init(&reload->portal_end, reload_on_portal_end);
    timer_init(&reload->zones_end, reload_on_zones_end);
    const struct inquirer home = {host->loop, host->view, reload_on_new_facts, reload};
    reload->keeper = anchor_keeper_new(&home);
    reload->hosts = host_keeper_new(&home);
    if (reload->keeper && reload->hosts) {
        anchor_keeper_configure(reload->keeper, *config);
        host_keeper_recall(reload->hosts, *config);
        struct generation_settings settings = reload_settings(reload, &reload->forwards);
        reload->current =
            generation_new(&reload->generations, config, NULL, certificate, &settings);
    }
    if (reload->current)
        return reload;
    config_free(*config);
    *config = NULL;
    anchor_keeper_free(reload->keeper);
    host_keeper_free(reload->hosts);
    free(reload);
    return NULL;
}

struct generation *reload_current(struct reload *reload)
{
    return reload->current;
}

void reload_begin(struct reload *reload, struct workers *workers, struct listening **listening)
{
    struct control_view *view = reload->host.view;

    reload->workers = workers;
    reload->listening = *listening;
    *listening = NULL;
    view->config = generation_config(reload->current);
    view->view_rows = server_quota_view_rows(generation_quota(reload->current));
    view->reloads.loaded_at = view->started_at;
    view->reloads.loaded_time = view->started_time;
    reload_show_certificate(reload);
    listening_show(reload->listening, view);
    reload_set_rules(reload);
    anchor_keeper_begin(reload->keeper);
    host_keeper_configure(reload->hosts, generation_config(reload->current),
                          generation_ports(reload->current));
    host_keeper_begin(reload->hosts);
}

void reload_end(struct reload *reload)
{
    static const char stopping[] = "nailupd is stopping";

    reload->is_ending = true;
    timer_stop(&reload->nta_end);
    timer_stop(&reload->portal_end);
    timer_stop(&reload->zones_end);
    anchor_keeper_end(reload->keeper);
    host_keeper_end(reload->hosts);
    askers_refuse(&reload->served, "nailupd is stopping; the change may be in effect already");
    askers_refuse(&reload->for_loading, stopping);
    askers_refuse(&reload->for_file, stopping);
    askers_refuse(&reload->for_settings, stopping);
}

bool reload_join(struct reload *reload)
{
    if (reload)
        host_keeper_end(reload->hosts); /* a failed start never called reload_end() */
    return !reload || loading_join(reload->loading);
}

void reload_free(struct reload *reload)
{
    if (!reload)
        return;
    loading_free(&reload->loading);
    listening_free(&reload->listening);
    listening_free(&reload->next_listening);
    generations_deinit(&reload->generations);
    runtime_zones_deinit(&reload->forwards);
    anchor_keeper_free(reload->keeper);
    host_keeper_free(reload->hosts);
    free(reload);
}
