/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_SINGLE_USE_H
#define NAILUP_UPSTREAM_SINGLE_USE_H

/*
 * Does a server answer only one query per connection? The only proof is a row of connections on
 * which the server answered exactly one query and closed cleanly although it had received more. A
 * stall, a reset or a network fault proves nothing. A server that once answered two queries on one
 * connection never gets this verdict.
 *
 * The verdict ages. After SINGLE_USE_RETEST_US a single connection carries several queries again
 * and shows whether the verdict still holds. Pure: the instant is an argument.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"
#include "upstream/conn_state.h"

enum {
    SINGLE_USE_STRIKES = 2,      /* connections in a row that prove it */
    SINGLE_USE_DIALS_PER_S = 50, /* the most dials of one worker to such a server */
};

#define SINGLE_USE_RETEST_US (600 * US_PER_S) /* the time from the last proof to the retest */
#define SINGLE_USE_TRIAL_US                                                                        \
    (60 * US_PER_S) /* until the next retest after one that proved nothing */

struct single_use {
    bool is_known;         /* the verdict */
    bool has_answered_two; /* on one connection, ever */
    uint32_t strikes;      /* in a row, including the ones that led to the verdict */
    uint64_t struck_at;    /* the last strike */
    uint64_t retest_at;    /* when the next retest is due */
};

/* How a connection ended. */
struct single_use_end {
    uint32_t requests, answers;
    enum conn_end why;
    bool is_acknowledged; /* the peer's kernel had acknowledged every query */
};

enum single_use_news {
    SINGLE_USE_NO_NEWS,
    SINGLE_USE_CONCLUDED, /* this connection is the proof */
    SINGLE_USE_WITHDRAWN, /* this connection disproved the verdict */
};

/* Notes how a connection ended. */
enum single_use_news single_use_note(struct single_use *single, const struct single_use_end *end,
                                     uint64_t now);

/* Notes that the server has answered two queries on one connection that is still open. */
enum single_use_news single_use_answered_two(struct single_use *single);

/* Whether the next connection is the retest: true once, when the retest is due. */
bool single_use_take_retest(struct single_use *single, uint64_t now);

#endif
