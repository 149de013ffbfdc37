/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_GATE_H
#define NAILUP_SERVE_GATE_H

/*
 * What a query must pass before anything is looked up for it: its cookie is judged (RFC 7873), and
 * over UDP its client must be within the limit of queries a second, unless the cookie says that the
 * address is not forged. One a worker, one thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "serve/cookie_secrets.h"
#include "serve/query.h"
#include "serve/server_options.h"

struct addr;
struct loop;
struct rate_limit;
struct server_quota;
struct stats;

struct gate {
    struct loop *loop;
    const struct server_options *options;
    const struct server_quota *quota;
    struct rate_limit *rate_limit; /* NULL: there is none */
    struct stats *stats;
    uint32_t day; /* since 1970, that secrets of the process are for */
    struct cookie_secrets secrets;
};

/* All is borrowed. */
void gate_init(struct gate *gate, struct loop *loop, const struct server_options *options,
               const struct server_quota *quota, struct stats *stats);

/* The same with other options and another quota. */
void gate_renew(struct gate *gate, const struct server_options *options,
                const struct server_quota *quota);

enum gate_verdict {
    GATE_PASS,
    GATE_DROP,       /* above the limit */
    GATE_TRUNCATE,   /* likewise, but told to come back over a stream: if it can, it is no forger */
    GATE_BAD_COOKIE, /* likewise, with BADCOOKIE and a cookie to come back with (RFC 7873 5.2.3) */
};

/* Judges a query that gets an answer, and makes its cookie ready to go back where cookies are on.
 * is_stream: its address is not forged, and the limit does not concern it. */
enum gate_verdict gate_judge(struct gate *gate, struct query *query, const struct addr *client,
                             bool is_stream);

/* Whether there is anything to judge; for most queries there is not. */
static inline bool gate_concerns(const struct gate *gate, const struct query *query)
{
    return query->has_cookie || gate->rate_limit;
}

#endif
