/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * A thread reads one file and sends one letter with the result, which reload.c uses.
 *
 * Invariant: the result belongs to the thread until its letter has arrived or the thread is joined.
 */

#include "daemon/loading.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "config/changes.h"
#include "config/config.h"
#include "daemon/certificate.h"
#include "loop/loop.h"

enum { END_S = 10 }; /* how long a stop waits for a thread that still reads */

struct loading {
    pthread_t thread;
    bool is_joined;
    struct mail mail;
    struct loop *loop;
    const char *file;
    const struct config *running;
    void (*on_done)(void *context);
    void *context;
    struct loaded result;
};

/* ---- the thread ---- */

static void loading_add_error(struct loading *loading, const char *sentence)
{
    char line[1024 + TLS_WHY_MAX];
    int len = snprintf(line, sizeof(line), "%.900s:1:1: error: %s\n", loading->file, sentence);

    /* Leaves out an error that does not fit, as config_load() does. */
    if (buf_append(&loading->result.errors, line, MIN((size_t)len, sizeof(line) - 1)))
        return;
}

static void loading_drop_config(struct loaded *result)
{
    config_free(result->config);
    result->config = NULL;
}

/* An editor may have emptied the file and not written it yet. The defaults would take the
 * resolver away from its clients. */
static void loading_check_contents(struct loading *loading)
{
    struct loaded *result = &loading->result;

    if (!result->config->is_blank || loading->running->is_blank)
        return;
    loading_add_error(loading, "file: has no option; write the configuration again, or restart "
                               "nailupd if the defaults are meant");
    loading_drop_config(result);
}

static void loading_load_certificate(struct loading *loading)
{
    struct loaded *result = &loading->result;
    const struct server_options *options = &result->config->server;
    char why[TLS_WHY_MAX], sentence[TLS_WHY_MAX + 64];

    if (!server_options_have_tls(options) || !certificate_load(&result->certificate, options, why))
        return;
    snprintf(sentence, sizeof(sentence), "server.tls-certificate: %s", why);
    loading_add_error(loading, sentence);
    loading_drop_config(result);
}

static void loading_compare(struct loading *loading)
{
    struct loaded *result = &loading->result;

    result->changes = changes_find(loading->running, result->config);
    if (result->changes && !changes_hold_back(loading->running, result->config))
        return;
    loading_add_error(loading, "file: out of memory");
    loading_drop_config(result);
}

static void *loading_run(void *argument)
{
    struct loading *loading = argument;
    struct loaded *result = &loading->result;

    if (config_load(loading->file, &result->config, &result->errors) == ERR_OK)
        loading_check_contents(loading);
    if (result->config)
        loading_load_certificate(loading);
    if (result->config)
        loading_compare(loading);
    loop_post(loading->loop, &loading->mail);
    return NULL;
}

/* ---- main's thread ---- */

static void loading_on_mail(struct mail *mail)
{
    struct loading *loading = CONTAINER_OF(mail, struct loading, mail);
    loading->on_done(loading->context);
}

enum err loading_begin(struct loading **out, struct loop *loop, const char *file,
                       const struct config *running, void (*on_done)(void *context), void *context)
{
    struct loading *loading = calloc(1, sizeof(*loading));

    if (!loading)
        return ERR_NO_MEMORY;
    loading->loop = loop;
    loading->mail.run = loading_on_mail;
    loading->file = file;
    loading->running = running;
    loading->on_done = on_done;
    loading->context = context;
    buf_init(&loading->result.errors, CONFIG_ERRORS_BYTES);
    if (pthread_create(&loading->thread, NULL, loading_run, loading) != 0) {
        free(loading);
        return ERR_NO_MEMORY;
    }
    pthread_setname_np(loading->thread, "reload");
    *out = loading;
    return ERR_OK;
}

struct loaded *loading_result(struct loading *loading)
{
    return &loading->result;
}

bool loading_join(struct loading *loading)
{
    struct timespec until;

    if (!loading || loading->is_joined)
        return true;
    MUST(clock_gettime(CLOCK_REALTIME, &until) == 0);
    until.tv_sec += END_S;
    loading->is_joined = pthread_timedjoin_np(loading->thread, NULL, &until) == 0;
    return loading->is_joined;
}

void loading_free(struct loading **loading)
{
    struct loading *freeing = *loading;

    *loading = NULL;
    if (!freeing)
        return;
    if (!freeing->is_joined)
        MUST(pthread_join(freeing->thread, NULL) == 0);
    config_free(freeing->result.config);
    free(freeing->result.changes);
    certificate_unref(freeing->result.certificate);
    buf_deinit(&freeing->result.errors);
    free(freeing);
}
