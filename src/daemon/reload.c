/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The order of a change: all that can fail is done before any worker hears of it. What a file says
 * is config's, what a worker does with it is worker_switch.c's.
 *
 * Invariant: whoever asks is answered once, when what was asked for is in effect or cannot be; not
 * before, and not by a change that began before the question.
 */

#include "daemon/reload.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/log.h"
#include "config/config.h"
#include "config/forward_check.h"
#include "control/call.h"
#include "control/view.h"
#include "daemon/forward_command.h"
#include "daemon/listening.h"
#include "daemon/loading.h"
#include "daemon/readiness.h"
#include "daemon/refusal.h"
#include "daemon/reload_inside.h"
#include "daemon/report.h"
#include "daemon/worker.h"
#include "loop/loop.h"

enum { RELOAD_WHY_MAX = 512 };

_Static_assert((int)RELOAD_WHY_MAX >= (int)TLS_WHY_MAX &&
                   (int)RELOAD_WHY_MAX >= (int)REFUSAL_TEXT_MAX,
               "the parts write their sentences into it");

/* ---- forwards ---- */

static void begin_routes(struct reload *reload)
{
    struct generation *next = generation_new_forwards(reload->current, &reload->forwards);

    reload->is_of_file = false;
    forget_clear(&reload->forget);
    if (next) {
        reload_switch(reload, next);
        return;
    }
    reload->wants_routes = false; /* until the next change, which has them too */
    askers_move(&reload->served, &reload->for_forwards);
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

/* Those of the forwards that go together with the new file; the structs are shared. */
static void keep_forwards(const struct reload *reload, const struct config *config,
                          struct forwards *kept)
{
    char why[FORWARD_WHY_MAX];

    kept->count = 0;
    for (size_t i = 0; i < reload->forwards.count; i++)
        if (!forward_check(config, reload->forwards.list[i], why))
            kept->list[kept->count++] = reload->forwards.list[i];
}

/* The others, when nothing can fail any more. */
static void drop_forwards(struct reload *reload, const struct config *config)
{
    char why[FORWARD_WHY_MAX], zone[NAME_TEXT_MAX];

    for (size_t i = reload->forwards.count; i-- > 0;) {
        struct forward forward = *reload->forwards.list[i];
        if (!forward_check(config, &forward, why))
            continue;
        LOG(LOG_WARNING, "daemon", "reload: the servers that were set for %s are taken back: %s",
            name_format(forward_name(&forward), zone), why);
        forwards_remove(&reload->forwards, forward_name(&forward));
        reload_forget(reload, &forward);
        askers_refuse_forward(&reload->for_forwards, &forward, why);
    }
}

/* The last things that may fail. */
static bool prepare(struct reload *reload, const struct generation *next, char why[RELOAD_WHY_MAX])
{
    const struct server_options *options = &generation_config(next)->server;

    if (workers_prepare_tls(reload->workers, next, why))
        return false;
    reload->next_listening = listening_prepare(reload->host.sockets, options, why);
    if (!reload->next_listening)
        workers_forget_tls(reload->workers);
    return reload->next_listening;
}

/* NULL: why is a sentence, and nothing has changed. */
static struct generation *make_next(struct reload *reload, struct loaded *loaded,
                                    char why[RELOAD_WHY_MAX])
{
    struct forwards kept;

    keep_forwards(reload, loaded->config, &kept);
    struct generation *next = generation_new(&reload->generations, &loaded->config, reload->current,
                                             loaded->certificate, &kept);
    snprintf(why, RELOAD_WHY_MAX, "out of memory");
    if (!next || prepare(reload, next, why))
        return next;
    generation_unref(next);
    return NULL;
}

static void begin_file(struct reload *reload)
{
    struct loaded *loaded = loading_result(reload->loading);
    char why[RELOAD_WHY_MAX];

    reload->is_read = false;
    reload->is_of_file = true;
    forget_clear(&reload->forget);
    askers_move(&reload->served, &reload->for_loading);
    if (!loaded->config) {
        reload->report.errors = buf_span(&loaded->errors);
        reload_fail(reload, "nothing was changed; errors in %s: %zu", reload->host.config_file,
                    reload_count_lines(reload->report.errors));
        return;
    }
    struct generation *next = make_next(reload, loaded, why);
    if (!next) {
        reload_fail(reload, "nothing was changed: %s", why);
        return;
    }
    report_warnings(generation_config(next));
    drop_forwards(reload, generation_config(next));
    reload_switch(reload, next);
}

static void on_loaded(void *context)
{
    struct reload *reload = context;

    reload->is_read = true;
    reload_next(reload);
}

static void begin_loading(struct reload *reload)
{
    reload->wants_file = false;
    readiness_reloading();
    reload->begun_at = loop_clock(reload->host.loop);
    reload->loaded_time = (uint64_t)time(NULL);
    askers_move(&reload->for_loading, &reload->for_file);
    if (!loading_begin(&reload->loading, reload->host.loop, reload->host.config_file,
                       generation_config(reload->current), on_loaded, reload))
        return;
    struct control_reloads *reloads = &reload->host.view->reloads;
    reloads->failed++;
    reloads->last_failed = true;
    snprintf(reloads->why, sizeof(reloads->why), "nothing was changed: no memory to read the file");
    LOG(LOG_ERROR, "daemon", "reload failed: %s", reloads->why);
    askers_refuse(&reload->for_loading, reloads->why);
    readiness_ready();
}

/* ---- what comes next ---- */

/* A file is read beside other changes; these are one at a time. */
void reload_next(struct reload *reload)
{
    const struct generations *all = &reload->generations;

    if (reload->ending || !reload->workers)
        return;
    if (reload->wants_file && !reload->loading && generations_have_room(all, true))
        begin_loading(reload);
    if (reload->state != RELOAD_IDLE)
        return;
    if (!generations_have_room(all, false)) {
        if (reload->is_read || reload->wants_routes)
            LOG_LIMITED(LOG_WARNING, "daemon",
                        "a change waits: some workers still serve with former configurations");
        return;
    }
    if (reload->is_read)
        begin_file(reload);
    else if (reload->wants_routes)
        begin_routes(reload);
}

static void on_generation_freed(void *context)
{
    reload_next(context);
}

/* ---- who asks ---- */

void reload_by_signal(struct reload *reload)
{
    if (reload->ending) {
        LOG(LOG_NOTICE, "daemon", "SIGHUP: no reload, as the daemon is stopping");
        return;
    }
    LOG(LOG_NOTICE, "daemon", "SIGHUP: reading %s", reload->host.config_file);
    reload->wants_file = true;
    reload_next(reload);
}

/* False, and the call is done: refused. */
static bool is_open(struct reload *reload, struct call *call)
{
    if (!reload->ending)
        return true;
    reply_refuse(&call->reply, "nailupd is stopping");
    call_done(call);
    return false;
}

void reload_by_call(struct reload *reload, struct call *call)
{
    if (!is_open(reload, call))
        return;
    struct asker *asker = askers_add(&reload->for_file, call);
    if (!asker)
        return;
    asker->for_file = true;
    reload->wants_file = true;
    reload_next(reload);
}

static void ask_forward(struct reload *reload, struct call *call, const struct forward *forward)
{
    char why[FORWARD_WHY_MAX];
    struct asker *asker = askers_add(&reload->for_forwards, call);

    if (!asker)
        return;
    asker->forward = *forward;
    asker->changed = forward_command_is_change(&reload->forwards, forward);
    if (!asker->changed && reload->state == RELOAD_IDLE && !reload->wants_routes) {
        asker_answer_forward(asker);
    } else if (forward_command_set(&reload->forwards, forward, why)) {
        asker_refuse(asker, why);
    } else {
        reload->wants_routes = true;
        reload_next(reload);
    }
}

void reload_forward(struct reload *reload, struct call *call)
{
    const struct config *config = generation_config(reload->current);
    struct forward forward;
    char why[FORWARD_WHY_MAX];

    if (!is_open(reload, call))
        return;
    if (call->argc == 0) {
        forward_command_show(call, config, &reload->forwards);
        call_done(call);
    } else if (forward_command_read(call, config, &forward, why)) {
        reply_refuse(&call->reply, "%s", why);
        call_done(call);
    } else {
        ask_forward(reload, call, &forward);
    }
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
    askers_init(&reload->for_forwards, &reload->asker_count);
    askers_init(&reload->served, &reload->asker_count);
    generations_init(&reload->generations, host->loop, on_generation_freed, reload);
    forget_init(&reload->forget, host->loop, host->cache, reload_on_forgotten, reload);
    reload->current =
        generation_new(&reload->generations, config, NULL, certificate, &reload->forwards);
    if (reload->current)
        return reload;
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
    view->reloads.loaded_at = view->started_at;
    view->reloads.loaded_time = view->started_time;
    listening_show(reload->listening, view);
}

void reload_end(struct reload *reload)
{
    static const char stopping[] = "nailupd is stopping";

    reload->ending = true;
    askers_refuse(&reload->served,
                  "nailupd is stopping; what was asked for may be in effect already");
    askers_refuse(&reload->for_loading, stopping);
    askers_refuse(&reload->for_file, stopping);
    askers_refuse(&reload->for_forwards, stopping);
}

bool reload_join(struct reload *reload)
{
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
    forwards_deinit(&reload->forwards);
    free(reload);
}
