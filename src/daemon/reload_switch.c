/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* A change from the first letter to the answers. When it may begin is reload.c's. */

#include "daemon/reload_inside.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "base/log.h"
#include "cache/cache.h"
#include "config/changes.h"
#include "config/config.h"
#include "control/view.h"
#include "daemon/certificate.h"
#include "daemon/listening.h"
#include "daemon/loading.h"
#include "daemon/readiness.h"
#include "daemon/worker.h"
#include "loop/loop.h"

/* ---- ends of a change ---- */

/* Old or new: the one that is in use now. */
static void warn_of_certificate(const struct reload *reload)
{
    const struct certificate *certificate = generation_certificate(reload->current);

    if (certificate)
        certificate_warn_over(certificate, &generation_config(reload->current)->server, time(NULL));
}

static void become_idle(struct reload *reload)
{
    reload->state = RELOAD_IDLE;
    if (reload->is_of_file) {
        warn_of_certificate(reload);
        if (!reload->ending)
            readiness_ready();
        loading_free(&reload->loading);
        reload->report = (struct reload_report){.config_file = reload->host.config_file};
    }
    reload_next(reload);
}

static void note_failure(struct reload *reload)
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

void reload_fail(struct reload *reload, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(reload->report.why, sizeof(reload->report.why), format, arguments);
    va_end(arguments);
    if (reload->is_of_file) {
        reload_report_log_failure(&reload->report);
        note_failure(reload);
    } else {
        LOG(LOG_ERROR, "daemon", "forward: %s", reload->report.why);
    }
    askers_refuse_report(&reload->served, &reload->report);
    become_idle(reload);
}

static void reload_switch_succeed(struct reload *reload)
{
    struct control_reloads *reloads = &reload->host.view->reloads;

    if (reload->is_of_file) {
        reload->report.took_us = loop_clock(reload->host.loop) - reload->begun_at;
        reload->report.config = generation_config(reload->current);
        reload->report.changes = loading_result(reload->loading)->changes;
        reload->report.forgotten = reload->forget.count;
        reloads->done++;
        reloads->last_failed = false;
        reload_report_log(&reload->report);
    }
    askers_answer(&reload->served, &reload->report);
    become_idle(reload);
}

/* Some worker may have kept what it had; what the others have is in effect all the same. */
void reload_on_forgotten(void *context)
{
    struct reload *reload = context;

    if (reload->failed > 0)
        reload_fail(reload,
                    "%zu workers keep what they had (%s), the others have switched; try again",
                    reload->failed, err_str(reload->failure));
    else
        reload_switch_succeed(reload);
}

/* ---- switching ---- */

/* Names that were asked of upstreams before may be answered here now. */
static bool may_have_new_names(const struct reload *reload)
{
    static const char *const keys[] = {"server.default-local-zones",
                                       "forward-zones",
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

static void take_file(struct reload *reload)
{
    const struct config *config = generation_config(reload->current);
    struct control_view *view = reload->host.view;

    view->config = config;
    view->reloads.loaded_at = reload->begun_at;
    view->reloads.loaded_time = reload->loaded_time;
    listening_free(&reload->listening);
    reload->listening = reload->next_listening;
    reload->next_listening = NULL;
    listening_show(reload->listening, view);
    if (may_have_new_names(reload))
        forget_local(&reload->forget, generation_local(reload->current));
}

static void on_switched(void *context, size_t failed, enum err err)
{
    struct reload *reload = context;

    generation_unref(reload->current);
    reload->current = reload->next;
    reload->next = NULL;
    reload->failed = failed;
    reload->failure = err;
    if (reload->is_of_file)
        take_file(reload);
    reload->state = RELOAD_FORGETTING;
    forget_begin(&reload->forget);
}

/* Nobody knows better than the zone's new servers what it has. But the world's names are the same
 * whoever is asked for them. */
void reload_forget(struct reload *reload, const struct forward *forward)
{
    if (!name_is_root(forward_name(forward)))
        forget_zone(&reload->forget, forward_name(forward));
}

/* Those who wait for forwards are served by every change. */
static void serve_forwards(struct reload *reload)
{
    LIST_EACH(node, &reload->for_forwards.list)
    {
        struct asker *asker = LIST_ITEM(node, struct asker, node);
        if (asker->changed)
            reload_forget(reload, &asker->forward);
    }
    askers_move(&reload->served, &reload->for_forwards);
    reload->wants_routes = false;
}

void reload_switch(struct reload *reload, struct generation *next)
{
    struct listen_sockets *sockets = reload->is_of_file ? reload->host.sockets : NULL;

    reload->next = next;
    reload->state = RELOAD_SWITCHING;
    serve_forwards(reload);
    if (reload->is_of_file) {
        const struct config *config = generation_config(next);
        log_set_level(config->log_level);
        log_set_format(config->log_format);
        cache_set_options(reload->host.cache, &config->cache);
    }
    workers_switch(reload->workers, next, sockets, on_switched, reload);
}
