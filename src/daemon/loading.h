/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_LOADING_H
#define NAILUP_DAEMON_LOADING_H

/*
 * The configuration read anew by a thread of its own: lists of a million names take seconds, in
 * which main goes on to hear signals and scrapers.
 */

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

struct certificate;
struct changes;
struct config;
struct loading;
struct loop;

/* What came of it. With a configuration there are no errors. What is taken from here (the field set
 * to NULL) is the taker's. */
struct loaded {
    struct config *config;           /* NULL: see errors */
    struct changes *changes;         /* against what ran */
    struct certificate *certificate; /* NULL: TLS is not served */
    struct buf errors;               /* lines as config_load() writes them */
};

/* Begins to read the file. running must live until loading_free(). on_done comes once on the loop;
 * the main thread's. ERR_NO_MEMORY: no thread either. */
MUST_USE enum err loading_begin(struct loading **out, struct loop *loop, const char *file,
                                const struct config *running, void (*on_done)(void *context),
                                void *context);

/* After on_done. */
struct loaded *loading_result(struct loading *loading);

/* Before on_done, when the end cannot wait for that: waits for the thread, as there is no way to
 * end it, though not for ever: false when it hangs in the file system. Then it is left alone with
 * what it uses, the loop and running too. on_done still comes. NULL is fine. */
MUST_USE bool loading_join(struct loading *loading);

/* After on_done: frees it with what was not taken. *loading becomes NULL; NULL is fine. */
void loading_free(struct loading **loading);

#endif
