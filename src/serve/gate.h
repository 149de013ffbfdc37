/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_GATE_H
#define NAILUP_SERVE_GATE_H

/*
 * Judges a query before any look-up for it. It judges the cookie (RFC 7873). Over UDP the client
 * must be within the limit of queries a second, unless the cookie proves its address. One a worker,
 * one thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "serve/cookie_secrets.h"
#include "serve/query.h"
#include "serve/server_options.h"

struct addr;
struct loop;
struct server_quota;
struct stats;

struct gate {
    struct loop *loop;
    const struct server_options *options;
    const struct server_quota *quota;
    bool limits_rate; /* in any view */
    struct stats *stats;
    uint32_t day; /* since 1970, of the secrets of the process */
    struct cookie_secrets secrets;
};

/* All is borrowed. */
void gate_init(struct gate *gate, struct loop *loop, const struct server_options *options,
               const struct server_quota *quota, struct stats *stats);

/* Switches to other options and another quota. */
void gate_renew(struct gate *gate, const struct server_options *options,
                const struct server_quota *quota);

enum gate_verdict {
    GATE_PASS,
    GATE_DROP,       /* above the limit */
    GATE_TRUNCATE,   /* above the limit: TC sends an honest client to a stream */
    GATE_BAD_COOKIE, /* above the limit: BADCOOKIE brings the client a cookie (RFC 7873 5.2.3) */
};

/* Judges a query of a client of this view that would get an answer, and prepares the cookie that
 * goes back if cookies are on. is_stream: its address cannot be forged, so there is no limit. */
enum gate_verdict gate_judge(struct gate *gate, struct query *query, const struct addr *client,
                             unsigned view, bool is_stream);

/* Whether there is anything to judge. Most queries need no judgement. */
static inline bool gate_concerns(const struct gate *gate, const struct query *query)
{
    return query->has_cookie || gate->limits_rate;
}

#endif
