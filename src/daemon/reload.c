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
#include "config/runtime_zones.h"
#include "control/call.h"
#include "control/view.h"
#include "daemon/asker.h"
#include "daemon/certificate.h"
#include "daemon/forget.h"
#include "daemon/generation.h"
#include "daemon/listening.h"
#include "daemon/loading.h"
#include "daemon/nta_command.h"
#include "daemon/readiness.h"
#include "daemon/refusal.h"
#include "daemon/reload_report.h"
#include "daemon/report.h"
#include "daemon/settings.h"
#include "daemon/worker.h"
#include "daemon/zone_keeper.h"
#include "loop/loop.h"
#include "loop/timer.h"
#include "resolve/views.h"
#include "serve/server_quota.h"
#include "validate/anchors.h"

enum { RELOAD_WHY_MAX = 512 };

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
    bool wants_file;   /* a file must be read, and no thread has begun */
    bool is_read;      /* the thread is done, and its change has not begun */
    bool is_from_file; /* the change under way comes from a file; false: only from run-time facts */
    bool is_ending;
    size_t asker_count;
    struct askers for_file;    /* wait for a read that has not begun */
    struct askers for_loading; /* wait for the file that is being read or about to be used */
    struct askers served;      /* wait for the change under way */
    struct loading *loading;   /* set until its change is complete */
    struct generations generations;
    struct generation *current, *next; /* next: only while switching */
    struct listening *listening;       /* the one that is shown */
    struct listening *next_listening;
    struct settings *settings;
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
        settings_retry_later(reload->settings);
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

/* Where the zone above denies a configured zone, only the configuration makes its answers insecure.
 */
static uint64_t reload_hash_zones(const struct route_options *route)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < route->zone_count; i++)
        sum += hash_bytes(route->zones[i].wire, route->zones[i].name_len, 0);
    return sum;
}

/* Tells the cache by which rules verdicts are found from now on. */
static void reload_set_rules(const struct reload *reload)
{
    const struct route_options *route = generation_route(reload->current);
    const struct validation_options *validation = &route->validation;
    uint64_t options = (uint64_t)validation->mode << 1 | validation->allow_sha1;
    uint64_t rules = hash_word(options, anchors_hash(validation->anchors));

    cache_set_rules(reload->host.cache, hash_word(reload_hash_zones(route), rules));
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

static void reload_switch(struct reload *reload, struct generation *next)
{
    struct listen_sockets *sockets = reload->is_from_file ? reload->host.sockets : NULL;

    cache_set_rules(reload->host.cache, rand_u64());
    reload->next = next;
    reload->state = RELOAD_SWITCHING;
    settings_take(reload->settings, &reload->served, &reload->forget);
    if (reload->is_from_file) {
        const struct config *config = generation_config(next);
        log_set_level(config->log_level);
        log_set_format(config->log_format);
        cache_set_options(reload->host.cache, &config->cache);
    }
    workers_switch(reload->workers, next, sockets, reload_on_switched, reload);
}

/* ---- run-time settings ---- */

static void reload_begin_settings(struct reload *reload)
{
    struct generation_settings settings = settings_now(reload->settings);
    struct generation *next = generation_new_settings(reload->current, &settings);

    reload->is_from_file = false;
    forget_clear(&reload->forget);
    if (next) {
        reload_switch(reload, next);
        return;
    }
    settings_take(reload->settings, &reload->served, NULL); /* the next change includes them */
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

    struct generation_settings settings =
        settings_for_file(reload->settings, loaded->config, &kept);
    struct generation *next = generation_new(&reload->generations, &loaded->config, reload->current,
                                             loaded->certificate, &settings);
    snprintf(why, RELOAD_WHY_MAX, "out of memory");
    if (next && reload_prepare(reload, next, why))
        return next;
    settings_undo_file(reload->settings, generation_config(reload->current));
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
    settings_use_file(reload->settings, generation_config(next), generation_ports(next),
                      &reload->forget);
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
        if (reload->is_read || settings_are_pending(reload->settings))
            LOG_LIMITED(LOG_WARNING, "daemon",
                        "a change waits: some workers still use older configurations");
        return;
    }
    if (reload->is_read)
        reload_begin_file(reload);
    else if (settings_are_pending(reload->settings))
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

void reload_anchors(struct reload *reload, struct call *call)
{
    nta_command_show_anchors(call, generation_route(reload->current)->validation.anchors,
                             settings_now(reload->settings).point, time(NULL));
    call_done(call);
}

/* ---- life ---- */

static bool reload_is_changing(void *context)
{
    const struct reload *reload = context;

    return reload->state != RELOAD_IDLE;
}

static void reload_on_pending(void *context)
{
    reload_next(context);
}

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
    askers_init(&reload->served, &reload->asker_count);
    generations_init(&reload->generations, host->loop, reload_on_generation_freed, reload);
    forget_init(&reload->forget, host->loop, host->cache, reload_on_forgotten, reload);
    timer_init(&reload->zones_end, reload_on_zones_end);
    const struct settings_host settings_host = {.loop = host->loop,
                                                .view = host->view,
                                                .asker_count = &reload->asker_count,
                                                .is_changing = reload_is_changing,
                                                .on_pending = reload_on_pending,
                                                .context = reload};
    reload->settings = settings_new(&settings_host, *config);
    if (reload->settings) {
        struct generation_settings settings = settings_now(reload->settings);
        reload->current =
            generation_new(&reload->generations, config, NULL, certificate, &settings);
    }
    if (reload->current)
        return reload;
    config_free(*config);
    *config = NULL;
    settings_free(reload->settings);
    free(reload);
    return NULL;
}

struct generation *reload_current(struct reload *reload)
{
    return reload->current;
}

struct settings *reload_settings(struct reload *reload)
{
    return reload->settings;
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
    settings_begin(reload->settings, generation_config(reload->current),
                   generation_ports(reload->current));
}

void reload_end(struct reload *reload)
{
    static const char stopping[] = "nailupd is stopping";

    reload->is_ending = true;
    timer_stop(&reload->zones_end);
    askers_refuse(&reload->served, "nailupd is stopping; the change may be in effect already");
    askers_refuse(&reload->for_loading, stopping);
    askers_refuse(&reload->for_file, stopping);
    settings_end(reload->settings);
}

bool reload_join(struct reload *reload)
{
    if (reload)
        settings_end(reload->settings); /* a failed start never called reload_end() */
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
    settings_free(reload->settings);
    free(reload);
}
