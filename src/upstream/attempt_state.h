/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_ATTEMPT_STATE_H
#define NAILUP_UPSTREAM_ATTEMPT_STATE_H

/*
 * The life of an attempt. `nailupctl lookup --trace` shows the same words.
 *
 *   new <--> waiting                          for a connection
 *   new  --> sent --> arrived                  at the peer's kernel
 *   sent --> silent                --> overdue and silent
 *   sent or arrived --> slow       --> overdue and silent
 *   sent or arrived --> overdue
 *
 * An answer or a failure ends the attempt in every state. The exchange tries another way when an
 * attempt becomes silent, slow or overdue, and an answer still counts.
 */

#include <stdbool.h>

/* ATTEMPT_STATE(name, text, may follow: a mask of ATTEMPT_BIT, sentence; deadline) */
#define ATTEMPT_STATES(ATTEMPT_STATE)                                                              \
    ATTEMPT_STATE(NEW, "new", ATTEMPT_BIT(WAITING) | ATTEMPT_BIT(SENT), "not sent yet; none")      \
    ATTEMPT_STATE(WAITING, "waiting", ATTEMPT_BIT(NEW),                                            \
                  "waits for a connection; query-timeout or EXCHANGE_PATIENCE_US")                 \
    ATTEMPT_STATE(SENT, "sent",                                                                    \
                  ATTEMPT_BIT(ARRIVED) | ATTEMPT_BIT(SILENT) | ATTEMPT_BIT(SLOW) |                 \
                      ATTEMPT_BIT(OVERDUE),                                                        \
                  "UDP: the retransmission time; stream: acks_wait_us() of silence")               \
    ATTEMPT_STATE(ARRIVED, "arrived", ATTEMPT_BIT(SLOW) | ATTEMPT_BIT(OVERDUE),                    \
                  "the peer's kernel acknowledged the query; health_hedge_us() of silence")        \
    ATTEMPT_STATE(SILENT, "silent, still waiting", ATTEMPT_BIT(OVERDUE_SILENT),                    \
                  "nothing came, and no acknowledgement; query-timeout")                           \
    ATTEMPT_STATE(SLOW, "slow, still waiting", ATTEMPT_BIT(OVERDUE_SILENT),                        \
                  "nothing came but the acknowledgement; query-timeout")                           \
    ATTEMPT_STATE(OVERDUE, "overdue, still waiting", 0,                                            \
                  "past query-timeout on a stream that carries other answers; CONN_LATE_US")       \
    ATTEMPT_STATE(OVERDUE_SILENT, "overdue and silent, still waiting", 0,                          \
                  "past query-timeout, and nothing came; CONN_LATE_US")

enum attempt_state {
#define ATTEMPT_STATE(name, text, follow, sentence) ATTEMPT_##name,
    ATTEMPT_STATES(ATTEMPT_STATE)
#undef ATTEMPT_STATE
};

#define ATTEMPT_BIT(name) (1u << ATTEMPT_##name)

static inline bool attempt_state_is_silent(enum attempt_state state)
{
    return state == ATTEMPT_SILENT || state == ATTEMPT_SLOW || state == ATTEMPT_OVERDUE_SILENT;
}

static inline bool attempt_state_is_overdue(enum attempt_state state)
{
    return state == ATTEMPT_OVERDUE || state == ATTEMPT_OVERDUE_SILENT;
}

#endif
