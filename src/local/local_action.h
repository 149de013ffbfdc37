/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_LOCAL_LOCAL_ACTION_H
#define NAILUP_LOCAL_LOCAL_ACTION_H

/* What is said of names answered here, and for how long. */

enum local_action {
    LOCAL_TRANSPARENT, /* its names are asked of upstreams, but those with records */
    LOCAL_REFUSE,      /* REFUSED */
    LOCAL_NXDOMAIN,    /* NXDOMAIN; NODATA where names with records lie below */
    LOCAL_NODATA,      /* the name is there, and has nothing */
    LOCAL_REDIRECT,    /* the records of the zone's own name, for every name in it */
};

/* As the configuration spells it. */
static inline const char *local_action_name(enum local_action action)
{
    static const char *const names[] = {
        [LOCAL_TRANSPARENT] = "transparent", [LOCAL_REFUSE] = "refuse",
        [LOCAL_NXDOMAIN] = "nxdomain",       [LOCAL_NODATA] = "nodata",
        [LOCAL_REDIRECT] = "redirect",
    };
    return names[action];
}

enum {
    LOCAL_HOPS_MAX = 12, /* aliases followed here, one after the other */
    LOCAL_DATA_TTL_S = 3600,
    LOCAL_HOSTS_TTL_S = 300,     /* of a hosts file, which changes without notice */
    LOCAL_ZONE_TTL_S = 300,      /* of the SOA that goes with negative answers */
    LOCAL_SPECIAL_TTL_S = 10800, /* the same for names of special use (RFC 6303 section 3) */
};

#endif
