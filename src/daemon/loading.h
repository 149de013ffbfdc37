/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_LOADING_H
#define NAILUP_DAEMON_LOADING_H

/*
 * Reads the configuration again on its own thread: block lists of a million names take seconds, and
 * meanwhile main handles signals and scrapers.
 */

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

struct certificate;
struct changes;
struct config;
struct loading;
struct loop;

/* The result. With a configuration there are no errors. A caller that takes a field sets it to
 * NULL. */
struct loaded {
    struct config *config;           /* NULL: see errors */
    struct changes *changes;         /* against the running configuration */
    struct certificate *certificate; /* NULL: TLS is not served */
    struct buf errors;               /* lines, in the format of config_load() */
};

/* Begins to read the file. running must live until loading_free(). on_done comes once, on the loop.
 * Main thread only. ERR_NO_MEMORY: out of memory, or no thread. */
MUST_USE enum err loading_begin(struct loading **out, struct loop *loop, const char *file,
                                const struct config *running, void (*on_done)(void *context),
                                void *context);

/* After on_done. */
struct loaded *loading_result(struct loading *loading);

/* Waits for the thread if on_done has not come yet, because a thread cannot be cancelled. The wait
 * is bounded. False: the thread hangs in the file system; then everything that it uses must stay,
 * the loop and running included. on_done still comes. NULL is fine. */
MUST_USE bool loading_join(struct loading *loading);

/* Frees it with every part of the result that was not taken. Call it after on_done. *loading
 * becomes NULL; NULL is fine. */
void loading_free(struct loading **loading);

#endif
