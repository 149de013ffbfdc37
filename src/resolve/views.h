/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_VIEWS_H
#define NAILUP_RESOLVE_VIEWS_H

/*
 * The views of a worker and their spaces. A view is what the clients of one group get: its space,
 * with which it resolves, and its local data. View 0 is for clients without a view; it has the
 * shared space. A change is prepared, which may fail, and then committed, which cannot.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "resolve/route.h"
#include "resolve/route_options.h"
#include "resolve/space.h"

struct upstreams;

/* The part of a view that resolution needs. struct server_view has its access, its limits and its
 * response policy. */
struct view {
    const char *name; /* borrowed as long as local; "": clients without a view */
    struct space *space;
    const struct local_names *local; /* NULL: none */
    /* It has names that the cache may have too, for other views of the space. So its local data
     * comes before the cache. */
    bool is_local_first;
};

struct views {
    struct view *list; /* the first one is for clients without a view */
    size_t count;
    struct space **spaces; /* without the shared one */
    size_t space_count;
};

/* Makes view 0. False: out of memory. */
MUST_USE bool views_init(struct views *views, struct space *shared);

/* All tasks must have ended. */
void views_deinit(struct views *views);

/* Sets the local data of the shared space and of its views without data of their own. */
void views_set_local(struct views *views, const struct local_names *local);

/* Notes that the zones held here have changed, for the tasks of all spaces. */
void views_note_zones(struct views *views);

/* The views and routes that take effect with views_commit(). */
struct views_change {
    struct views next;
    struct routes **routes; /* of next.spaces */
};

/* Makes routes for each space of options->views. A space whose number exists already keeps
 * its identity. options is borrowed until the change is over. False: out of memory, nothing has
 * changed and nothing is left over. */
MUST_USE bool views_prepare(struct views_change *change, const struct views *views,
                            const struct route_options *options, struct upstreams *upstreams,
                            const struct route_strategies *strategies);

/* Ends the change without effect. */
void views_cancel(struct views_change *change);

/* Makes the change, whose local data comes from options, too. Spaces that no view has any longer
 * are retired. */
void views_commit(struct views *views, struct views_change *change,
                  const struct route_options *options);

/* Finds the number of the view with this name, or returns false. */
bool views_find(const struct views *views, const char *name, unsigned *number);

/* Whether a space validates. */
bool views_validate(const struct route_options *options);

/* Whether a space withholds bogus answers: VALIDATE_YES. */
bool views_enforce(const struct route_options *options);

/* Returns the name of the first view that validates; "": clients without a view. NULL: none does.
 */
const char *views_validating(const struct route_options *options);

#endif
