/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The order of a change: all that can fail is done before any worker hears of it. What a file says
 * is config's, what a worker does with it is worker.c's.
 *
 * Invariant: whoever asks is answered once, when what was asked for is in effect or cannot be; not
 * before, and not by a change that began before the question.
 */

#include "daemon/reload.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "base/list.h"
#include "base/log.h"
#include "cache/cache.h"
#include "config/changes.h"
#include "config/config.h"
#include "config/forward_check.h"
#include "config/forwards.h"
#include "control/call.h"
#include "control/view.h"
#include "daemon/certificate.h"
#include "daemon/forget.h"
#include "daemon/generation.h"
#include "daemon/listening.h"
#include "daemon/loading.h"
#include "daemon/refusal.h"
#include "daemon/reload_report.h"
#include "daemon/report.h"
#include "daemon/worker.h"
#include "loop/loop.h"

enum {
    ASKERS_MAX = 64, /* commands that wait; clients that left are among them */
    RELOAD_WHY_MAX = 512,
};

_Static_assert((int)RELOAD_WHY_MAX >= (int)TLS_WHY_MAX &&
                   (int)RELOAD_WHY_MAX >= (int)REFUSAL_TEXT_MAX,
               "the parts write their sentences into it");

enum reload_state { RELOAD_IDLE, RELOAD_LOADING, RELOAD_SWITCHING, RELOAD_FORGETTING };

/* A command that waits for its answer. */
struct asker {
    struct list node;
    struct call *call;
    bool for_file; /* else for the forward */
    bool changed;  /* the forward was another before */
    struct forward forward;
};

struct reload {
    struct reload_host host;
    enum reload_state state;
    bool wants_file;   /* it is to be read again, and no thread has begun to */
    bool wants_routes; /* forwards differ from what is in effect */
    bool is_of_file;   /* the change under way; else of forwards alone */
    bool ending;
    size_t asker_count;
    struct list asked;  /* for the next change */
    struct list served; /* by the one under way */
    struct loading *loading;
    struct generations generations;
    struct generation *current, *next; /* next: while switching */
    struct workers *workers;           /* NULL until they are started */
    struct listening *listening;       /* that is shown */
    struct listening *next_listening;
    struct forwards forwards;
    struct forget forget;
    size_t failed; /* workers that have not switched */
    enum err failure;
    uint64_t begun_at;
    uint64_t loaded_time; /* seconds since 1970: when the thread began */
    struct reload_report report;
};

static void begin(struct reload *reload);

/* ---- askers ---- */

static void asker_end(struct reload *reload, struct asker *asker)
{
    struct call *call = asker->call;

    list_remove(&asker->node);
    reload->asker_count--;
    free(asker);
    call_done(call);
}

static void asker_refuse(struct reload *reload, struct asker *asker, const char *why)
{
    reply_refuse(&asker->call->reply, "%s", why);
    asker_end(reload, asker);
}

/* NULL, and the call is done: refused. */
static struct asker *asker_new(struct reload *reload, struct call *call)
{
    struct asker *asker = reload->asker_count < ASKERS_MAX ? calloc(1, sizeof(*asker)) : NULL;

    if (!asker) {
        reply_refuse(&call->reply, "too many commands wait for a reload; try again later");
        call_done(call);
        return NULL;
    }
    asker->call = call;
    list_append(&reload->asked, &asker->node);
    reload->asker_count++;
    return asker;
}

/* Those for the file only, or all. */
static void serve_asked(struct reload *reload, bool with_file)
{
    LIST_EACH(node, &reload->asked)
    {
        struct asker *asker = LIST_ITEM(node, struct asker, node);
        if (asker->for_file && !with_file)
            continue;
        list_remove(&asker->node);
        list_append(&reload->served, &asker->node);
    }
}

static void refuse_all(struct reload *reload, struct list *list, const char *why)
{
    while (!list_is_empty(list))
        asker_refuse(reload, LIST_ITEM(list_first(list), struct asker, node), why);
}

static void put_forwarded(struct asker *asker)
{
    struct reply *reply = &asker->call->reply;
    char zone[NAME_TEXT_MAX];

    reply_record(reply, "forward", "zone:text\tservers:count\tchanged:flag");
    reply_row(reply);
    reply_text(reply, name_format(forward_name(&asker->forward), zone));
    reply_count(reply, asker->forward.upstream_count);
    reply_flag(reply, asker->changed);
    reply_row_end(reply);
}

static void answer_served(struct reload *reload)
{
    while (!list_is_empty(&reload->served)) {
        struct asker *asker = LIST_ITEM(list_first(&reload->served), struct asker, node);
        if (asker->for_file)
            reload_report_answer(&reload->report, asker->call);
        else
            put_forwarded(asker);
        asker_end(reload, asker);
    }
}

/* ---- failing ---- */

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

/* The file is of no use: those who asked for forwards wait for the next change. */
static void refuse_served(struct reload *reload)
{
    LIST_EACH(node, &reload->served)
    {
        struct asker *asker = LIST_ITEM(node, struct asker, node);
        if (asker->for_file) {
            reload_report_refuse(&reload->report, asker->call);
            asker_end(reload, asker);
        } else {
            list_remove(&asker->node);
            list_append(&reload->asked, &asker->node);
        }
    }
}

/* Old or new: the one that is in use now. */
static void warn_of_certificate(const struct reload *reload)
{
    const struct certificate *certificate = generation_certificate(reload->current);

    if (certificate)
        certificate_warn_over(certificate, &generation_config(reload->current)->server, time(NULL));
}

static void become_idle(struct reload *reload)
{
    if (reload->is_of_file)
        warn_of_certificate(reload);
    reload->state = RELOAD_IDLE;
    reload->report = (struct reload_report){.config_file = reload->host.config_file};
    loading_free(&reload->loading);
}

static void fail(struct reload *reload, const char *format, ...) PRINTF_LIKE(2, 3);

static void fail(struct reload *reload, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(reload->report.why, sizeof(reload->report.why), format, arguments);
    va_end(arguments);
    reload_report_log_failure(&reload->report);
    note_failure(reload);
    refuse_served(reload);
    become_idle(reload);
    begin(reload);
}

/* ---- switching ---- */

static void end_change(struct reload *reload)
{
    answer_served(reload);
    become_idle(reload);
    begin(reload);
}

static void on_forgotten(void *context)
{
    struct reload *reload = context;
    struct control_reloads *reloads = &reload->host.view->reloads;

    if (reload->failed > 0) {
        fail(reload, "%zu workers keep what they had (%s), the others have switched; reload again",
             reload->failed, err_str(reload->failure));
        return;
    }
    if (!reload->is_of_file) {
        end_change(reload);
        return;
    }
    reload->report.took_us = loop_clock(reload->host.loop) - reload->begun_at;
    reload->report.config = generation_config(reload->current);
    reload->report.changes = loading_result(reload->loading)->changes;
    reload->report.forgotten = reload->forget.count;
    reloads->done++;
    reloads->last_failed = false;
    reload_report_log(&reload->report);
    end_change(reload);
}

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
        forget_local(&reload->forget, config->local);
}

/* Some worker may have kept what it had; what the others have is in effect all the same. */
static void on_switched(void *context, size_t failed, enum err err)
{
    struct reload *reload = context;

    generation_unref(reload->current);
    reload->current = reload->next;
    reload->next = NULL;
    if (reload->is_of_file)
        take_file(reload);
    reload->failed = failed;
    reload->failure = err;
    reload->state = RELOAD_FORGETTING;
    forget_begin(&reload->forget);
}

/* Nobody knows better than the zone's new servers what it has. But the world's names are the same
 * whoever is asked for them. */
static void forget_zones(struct reload *reload)
{
    LIST_EACH(node, &reload->served)
    {
        struct asker *asker = LIST_ITEM(node, struct asker, node);
        if (!asker->for_file && asker->changed && !name_is_root(forward_name(&asker->forward)))
            forget_zone(&reload->forget, forward_name(&asker->forward));
    }
}

static void switch_to(struct reload *reload, struct generation *next)
{
    struct listen_sockets *sockets = reload->is_of_file ? reload->host.sockets : NULL;

    reload->next = next;
    reload->state = RELOAD_SWITCHING;
    reload->wants_routes = false;
    serve_asked(reload, false);
    forget_zones(reload);
    if (reload->is_of_file) {
        const struct config *config = generation_config(next);
        log_set_level(config->log_level);
        log_set_format(config->log_format);
        cache_set_options(reload->host.cache, &config->cache);
    }
    workers_switch(reload->workers, next, sockets, on_switched, reload);
}

/* ---- a file ---- */

static size_t count_lines(struct span text)
{
    size_t lines = 0;

    for (size_t i = 0; i < text.len; i++)
        lines += text.data[i] == '\n';
    return lines;
}

static void refuse_forward(struct reload *reload, struct list *list, const struct forward *forward,
                           const char *why)
{
    LIST_EACH(node, list)
    {
        struct asker *asker = LIST_ITEM(node, struct asker, node);
        if (!asker->for_file && forward_is_same(&asker->forward, forward))
            asker_refuse(reload, asker, why);
    }
}

/* The new file may say what does not go together with what was set. */
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
        if (!name_is_root(forward_name(&forward)))
            forget_zone(&reload->forget, forward_name(&forward));
        refuse_forward(reload, &reload->served, &forward, why);
        refuse_forward(reload, &reload->asked, &forward, why);
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

static void on_loaded(void *context)
{
    struct reload *reload = context;
    struct loaded *loaded = loading_result(reload->loading);
    char why[RELOAD_WHY_MAX];

    if (reload->ending)
        return;
    forget_clear(&reload->forget);
    if (!loaded->config) {
        reload->report.errors = buf_span(&loaded->errors);
        fail(reload, "nothing was changed; errors in %s: %zu", reload->host.config_file,
             count_lines(reload->report.errors));
        return;
    }
    report_warnings(loaded->config);
    drop_forwards(reload, loaded->config);
    struct generation *next = generation_new(&reload->generations, &loaded->config, reload->current,
                                             loaded->certificate, &reload->forwards);
    if (!next) {
        fail(reload, "nothing was changed: out of memory");
    } else if (prepare(reload, next, why)) {
        switch_to(reload, next);
    } else {
        generation_unref(next);
        fail(reload, "nothing was changed: %s", why);
    }
}

static void begin_file(struct reload *reload)
{
    reload->wants_file = false;
    reload->is_of_file = true;
    reload->state = RELOAD_LOADING;
    reload->begun_at = loop_clock(reload->host.loop);
    reload->loaded_time = (uint64_t)time(NULL);
    serve_asked(reload, true);
    if (loading_begin(&reload->loading, reload->host.loop, reload->host.config_file,
                      generation_config(reload->current), on_loaded, reload))
        fail(reload, "nothing was changed: no memory to read %s", reload->host.config_file);
}

static void begin_routes(struct reload *reload)
{
    struct generation *next = generation_new_forwards(reload->current, &reload->forwards);

    if (!next) { /* tried again with the next one */
        refuse_all(reload, &reload->asked, "out of memory; try again");
        return;
    }
    reload->is_of_file = false;
    forget_clear(&reload->forget);
    switch_to(reload, next);
}

/* The next change, if one is wanted and may begin. */
static void begin(struct reload *reload)
{
    const struct generations *all = &reload->generations;

    if (reload->state != RELOAD_IDLE || reload->ending || !reload->workers)
        return;
    if (!generations_have_room(all, reload->wants_file)) {
        if (reload->wants_file || reload->wants_routes)
            LOG_LIMITED(LOG_INFO, "daemon",
                        "reload: it waits, as some worker still has what was in effect before");
        return;
    }
    if (reload->wants_file)
        begin_file(reload);
    else if (reload->wants_routes)
        begin_routes(reload);
}

static void on_generation_freed(void *context)
{
    begin(context);
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
    begin(reload);
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
    struct asker *asker = asker_new(reload, call);
    if (!asker)
        return;
    asker->for_file = true;
    reload->wants_file = true;
    begin(reload);
}

static void put_forward(struct reload *reload, struct forward *forward, struct reply *reply)
{
    static const char *const transports[] = {"udp", "tcp", "tls"};
    char zone[NAME_TEXT_MAX], text[ADDR_TEXT_MAX];

    for (size_t i = 0; i < forward->upstream_count; i++) {
        struct route_upstream upstream;
        forward_upstream(generation_config(reload->current), forward, i, &upstream);
        reply_row(reply);
        reply_text(reply, name_format(forward_name(forward), zone));
        reply_text(reply, addr_format(&upstream.addr, text));
        reply_text(reply, transports[upstream.options.transport]);
        reply_text(reply, upstream.options.tls.auth_name ? upstream.options.tls.auth_name : "");
        reply_row_end(reply);
    }
}

static void show_forwards(struct reload *reload, struct call *call)
{
    reply_table(&call->reply, "forwards", "zone:text\tserver:text\ttransport:text\tname:text");
    for (size_t i = 0; i < reload->forwards.count; i++)
        put_forward(reload, reload->forwards.list[i], &call->reply);
    call_done(call);
}

/* Reads and checks; without upstreams it is to be taken back. */
static enum err read_forward(const struct reload *reload, const struct call *call,
                             struct forward *out, char why[FORWARD_WHY_MAX])
{
    bool is_off = call->argc == 2 && strcmp(call->argv[1], "off") == 0;
    size_t count = is_off ? 0 : (size_t)call->argc - 1;
    enum err err = forward_parse(out, call->argv[0], count, call->argv + 1, why);

    if (err || is_off)
        return err;
    if (count > 0)
        return forward_check(generation_config(reload->current), out, why);
    snprintf(why, FORWARD_WHY_MAX,
             "name the servers of %.64s, or off to have it asked as the file says", call->argv[0]);
    return ERR_INVALID;
}

/* Whether it was another before. */
static bool is_change(const struct reload *reload, const struct forward *forward)
{
    const struct forward *before = forwards_find(&reload->forwards, forward_name(forward));

    if (!before)
        return forward->upstream_count > 0;
    return !forward_is_same(before, forward);
}

static enum err set_forward(struct reload *reload, const struct forward *forward,
                            char why[FORWARD_WHY_MAX])
{
    if (forward->upstream_count == 0) {
        forwards_remove(&reload->forwards, forward_name(forward));
        return ERR_OK;
    }
    enum err err = forwards_put(&reload->forwards, forward);
    if (err == ERR_LIMIT)
        snprintf(why, FORWARD_WHY_MAX, "%d zones are set already; take one of them back",
                 FORWARDS_MAX);
    else if (err)
        snprintf(why, FORWARD_WHY_MAX, "out of memory; try again");
    return err;
}

static void ask_forward(struct reload *reload, struct call *call, const struct forward *forward)
{
    char why[FORWARD_WHY_MAX];
    struct asker *asker = asker_new(reload, call);

    if (!asker)
        return;
    asker->forward = *forward;
    asker->changed = is_change(reload, forward);
    if (!asker->changed && reload->state == RELOAD_IDLE && !reload->wants_routes) {
        put_forwarded(asker);
        asker_end(reload, asker);
    } else if (set_forward(reload, forward, why)) {
        asker_refuse(reload, asker, why);
    } else {
        reload->wants_routes = true;
        begin(reload);
    }
}

void reload_forward(struct reload *reload, struct call *call)
{
    struct forward forward;
    char why[FORWARD_WHY_MAX];

    if (!is_open(reload, call))
        return;
    if (call->argc == 0) {
        show_forwards(reload, call);
    } else if (read_forward(reload, call, &forward, why)) {
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
    list_init(&reload->asked);
    list_init(&reload->served);
    generations_init(&reload->generations, host->loop, on_generation_freed, reload);
    forget_init(&reload->forget, host->loop, host->cache, on_forgotten, reload);
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
    reload->ending = true;
    refuse_all(reload, &reload->served, "nailupd is stopping; whether all was done is not known");
    refuse_all(reload, &reload->asked, "nailupd is stopping");
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
    refuse_all(reload, &reload->served, "nailupd is stopping");
    refuse_all(reload, &reload->asked, "nailupd is stopping");
    listening_free(&reload->listening);
    listening_free(&reload->next_listening);
    generations_deinit(&reload->generations);
    forwards_deinit(&reload->forwards);
    free(reload);
}
