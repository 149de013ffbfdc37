/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_CONTROL_DESK_H
#define NAILUP_TESTS_CONTROL_DESK_H

/*
 * A daemon as the control socket sees it, in virtual time: a main loop, two workers with their own
 * loops, and a cache. The clients are real sockets.
 */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "cache/cache.h"
#include "control/call.h"
#include "control/view.h"
#include "loop/loop.h"
#include "support/fake_fd_watch.h"
#include "support/fake_loop.h"
#include "resolve/resolver.h"
#include "upstream/upstreams.h"

enum { DESK_WORKERS = 2 };

struct desk {
    struct loop *loop;
    struct control_view view;
    struct control_worker workers[DESK_WORKERS];
    struct control_worker *list[DESK_WORKERS];
    struct stats stats[DESK_WORKERS];
    struct nail_quota quota;
    struct addr listening;
    struct control_hooks hooks;
    int hooked; /* counts the commands that the hooks ran */
};

/* Takes the place of a hook of the daemon, and succeeds. */
static inline void desk_do(void *daemon, struct call *call)
{
    struct desk *desk = daemon;
    desk->hooked++;
    reply_record(&call->reply, "done", "done:flag");
    reply_row(&call->reply);
    reply_flag(&call->reply, true);
    reply_row_end(&call->reply);
    call_done(call);
}

static const struct control_hooks desk_hooks = {.reload = desk_do,
                                                .drain = desk_do,
                                                .forward = desk_do,
                                                .nta = desk_do,
                                                .portal = desk_do,
                                                .anchors = desk_do,
                                                .hosts = desk_do};

/* Opens a daemon with these routes, which it borrows until desk_close(). */
static inline void desk_open_with(struct desk *desk, const struct route_options *routes)
{
    static const struct cache_options cache_options = {.size_bytes = CACHE_SIZE_MIN,
                                                       .max_ttl_s = 86400};
    memset(desk, 0, sizeof(*desk));
    desk->loop = loop_new();
    cache_thread_begin();
    desk->quota.max = 10;
    for (int i = 0; i < DESK_WORKERS; i++) {
        struct loop *loop = loop_new();
        desk->workers[i] = (struct control_worker){
            .loop = loop,
            .upstreams = upstreams_new(loop, &desk->stats[i], &desk->quota),
            .stats = &desk->stats[i],
        };
        desk->list[i] = &desk->workers[i];
    }
    assert_int_equal(addr_parse(&desk->listening, "127.0.0.1@5353", 53), ERR_OK);
    desk->hooks = desk_hooks;
    desk->hooks.daemon = desk;
    desk->view = (struct control_view){
        .config_file = "nailup.yaml",
        .cache = cache_new(&cache_options),
        .listening = &desk->listening,
        .listening_count = 1,
        .workers = desk->list,
        .worker_count = DESK_WORKERS,
        .hooks = &desk->hooks,
        .started_at = loop_now(desk->loop),
    };
    for (int i = 0; i < DESK_WORKERS; i++)
        desk->workers[i].resolver =
            resolver_new(desk->workers[i].loop, desk->view.cache, desk->workers[i].upstreams,
                         routes, 10, &desk->stats[i]);
}

static inline void desk_open(struct desk *desk)
{
    static const struct route_options no_routes;
    desk_open_with(desk, &no_routes);
}

static inline void desk_close(struct desk *desk)
{
    for (int i = 0; i < DESK_WORKERS; i++) {
        resolver_free(desk->workers[i].resolver);
        upstreams_free(desk->workers[i].upstreams);
        loop_free(desk->workers[i].loop);
    }
    loop_free(desk->loop);
    cache_thread_end();
    cache_free(desk->view.cache);
}

/* Runs the descriptors, then the mail of the workers, then that of the main loop, until all are
 * idle. */
static inline void desk_settle(struct desk *desk)
{
    for (int i = 0; i < 3; i++) {
        fake_fd_watch_settle();
        for (int worker = 0; worker < DESK_WORKERS; worker++)
            fake_loop_settle(desk->workers[worker].loop);
        fake_loop_settle(desk->loop);
    }
    fake_fd_watch_settle();
}

#endif
