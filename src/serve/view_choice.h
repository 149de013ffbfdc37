/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_VIEW_CHOICE_H
#define NAILUP_SERVE_VIEW_CHOICE_H

/*
 * Which view does a client have, and what may it do there? A listener has one set of prefixes, so
 * the choice is one search. A view's number is its place in server_options.views, counted from 1; 0
 * is no view. Pure, any thread.
 */

#include "base/addr.h"
#include "base/prefix.h"
#include "serve/acl.h"
#include "serve/server_options.h"

/* Returns the views of clients at this address of the server; NULL: none. Belongs to the options.
 */
const struct prefix_set *view_choice_at(const struct server_options *options,
                                        const struct addr *listener);

/* Returns the number of the client's view. */
static inline unsigned view_choice_find(const struct prefix_set *views, const struct addr *client)
{
    int number = views ? prefix_set_find(views, client) : 0;
    return number > 0 ? (unsigned)number : 0;
}

/* Returns the access of the client: by the list of its view, or by the list of all clients. */
static inline enum server_access view_choice_access(const struct server_options *options,
                                                    unsigned view, const struct addr *client)
{
    const struct prefix_set *own = view ? options->views[view - 1].access : NULL;
    return acl_find(own ? own : options->access, client);
}

/* Returns the view's choice of response policy zones. */
static inline uint32_t view_choice_policy(const struct server_options *options, unsigned view)
{
    return view ? options->views[view - 1].policy_zones : options->policy_choices.usual;
}

/* Sets *out to the options with the views of others. The lists are borrowed from both. */
void view_choice_mix(struct server_options *out, const struct server_options *options,
                     const struct server_options *views_of);

/* Returns the queries a second of a client of the view; 0: no limit. */
uint32_t view_choice_rate(const struct server_options *options, unsigned view);

#endif
