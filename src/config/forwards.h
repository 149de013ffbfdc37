/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_FORWARDS_H
#define NAILUP_CONFIG_FORWARDS_H

/* The zones whose upstreams are set at run time, laid over those of the file. Pure; one thread at a
 * time. */

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "config/forward.h"
#include "local/local_names.h"

enum { FORWARDS_MAX = 256 };

/* In the order in which they were set. */
struct forwards {
    size_t count;
    struct forward *list[FORWARDS_MAX];
};

/* Empty at first: {0}. */
void forwards_deinit(struct forwards *forwards);

/* NULL: none has this name, which is in lower case. */
const struct forward *forwards_find(const struct forwards *forwards, struct name name);

/* Adds a copy, in place of the one with its name. ERR_LIMIT: there are FORWARDS_MAX. */
MUST_USE enum err forwards_put(struct forwards *forwards, const struct forward *forward);

/* False: there was none. */
bool forwards_remove(struct forwards *forwards, struct name name);

/* The configuration's routes with all of these laid over them. out borrows from the configuration
 * and the arena. ERR_NO_MEMORY also at the arena's bound. */
MUST_USE enum err forwards_lay_over(const struct forwards *forwards, const struct config *config,
                                    struct arena *arena, struct route_options *out);

/* The configuration's names answered here, in which names of special use make way for these zones,
 * as they do for those of a file. *out borrows from the configuration; NULL: its own will do. */
MUST_USE enum err forwards_spare(const struct forwards *forwards, const struct config *config,
                                 struct local_names **out);

#endif
