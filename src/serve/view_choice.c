/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Reads the tables that config made of the views' prefixes and listeners. */
#include "serve/view_choice.h"

const struct prefix_set *view_choice_at(const struct server_options *options,
                                        const struct addr *listener)
{
    const struct prefix_set *others = NULL;
    for (size_t i = 0; i < options->view_listener_count; i++) {
        const struct server_view_listener *at = &options->view_listeners[i];
        if (addr_family(&at->listen) == 0)
            others = at->views;
        else if (addr_equal(&at->listen, listener))
            return at->views;
    }
    return others;
}

uint32_t view_choice_rate(const struct server_options *options, unsigned view)
{
    bool has_own = view && options->views[view - 1].limits_rate;
    return has_own ? options->views[view - 1].rate_limit_qps : options->rate_limit_qps;
}

void view_choice_mix(struct server_options *out, const struct server_options *options,
                     const struct server_options *views_of)
{
    *out = *options;
    out->views = views_of->views;
    out->view_count = views_of->view_count;
    out->view_listeners = views_of->view_listeners;
    out->view_listener_count = views_of->view_listener_count;
    out->policy_choices = views_of->policy_choices;
}
