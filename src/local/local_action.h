/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_LOCAL_LOCAL_ACTION_H
#define NAILUP_LOCAL_LOCAL_ACTION_H

/* Actions for names in local data, and TTLs of the answers. */

#include <stdbool.h>

enum local_action {
    LOCAL_TRANSPARENT,     /* upstreams answer, except for names with records */
    LOCAL_TYPETRANSPARENT, /* upstreams answer, except for types of which a name has records */
    LOCAL_REFUSE,          /* REFUSED */
    LOCAL_NXDOMAIN,        /* NXDOMAIN; NODATA if names with records are below */
    LOCAL_NODATA,          /* the name exists and has no records */
    LOCAL_REDIRECT,        /* every name in the zone has the records of its apex */
    LOCAL_DROP,            /* no answer, except from records */
};

enum { LOCAL_ACTIONS = LOCAL_DROP + 1 };

/* Returns the word for the action in the configuration. */
static inline const char *local_action_name(enum local_action action)
{
    static const char *const names[] = {
        [LOCAL_TRANSPARENT] = "transparent",
        [LOCAL_TYPETRANSPARENT] = "typetransparent",
        [LOCAL_REFUSE] = "refuse",
        [LOCAL_NXDOMAIN] = "nxdomain",
        [LOCAL_NODATA] = "nodata",
        [LOCAL_REDIRECT] = "redirect",
        [LOCAL_DROP] = "drop",
    };
    return names[action];
}

/* Whether upstreams answer a name without records under this action. */
static inline bool local_action_asks(enum local_action action)
{
    return action == LOCAL_TRANSPARENT || action == LOCAL_TYPETRANSPARENT;
}

enum {
    LOCAL_HOPS_MAX = 12, /* aliases followed in local data, one after the other */
    LOCAL_DATA_TTL_S = 3600,
    LOCAL_HOSTS_TTL_S = 300,     /* the TTL for hosts files, which change without notice */
    LOCAL_ZONE_TTL_S = 300,      /* the TTL of the SOA in negative answers */
    LOCAL_SPECIAL_TTL_S = 10800, /* the TTL of the SOA for special-use names (RFC 6303 section 3) */
};

#endif
