/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_CONN_STATE_H
#define NAILUP_UPSTREAM_CONN_STATE_H

/*
 * The states of a connection to an upstream, and the ways in which it may end. The names are the
 * ones that `nailupctl connections`, the metrics and the manuals show.
 *
 *   parked --> dialing --> (securing) --> ready --> draining --> closed
 *     ^ |         |                         |                      ^
 *     | v         '----- failed: closed ----'----------------------'
 *   resting                (a new one rests in its place)
 */

#include <stdbool.h>

#include "base/err.h"

/* CONN_STATE(name, text, may follow: a mask of CONN_BIT, sentence) */
#define CONN_STATES(CONN_STATE)                                                                    \
    CONN_STATE(PARKED, "parked", CONN_BIT(RESTING) | CONN_BIT(DIALING) | CONN_BIT(CLOSED),         \
               "waits for its turn to dial; no deadline")                                          \
    CONN_STATE(RESTING, "resting", CONN_BIT(PARKED) | CONN_BIT(CLOSED),                            \
               "waits after a failure or for a bound on dials; the instant the pool set")          \
    CONN_STATE(DIALING, "dialing", CONN_BIT(SECURING) | CONN_BIT(READY) | CONN_BIT(CLOSED),        \
               "TCP handshake; connect-timeout")                                                   \
    CONN_STATE(SECURING, "securing", CONN_BIT(READY) | CONN_BIT(CLOSED),                           \
               "TLS handshake; the rest of connect-timeout")                                       \
    CONN_STATE(READY, "ready", CONN_BIT(DRAINING) | CONN_BIT(CLOSED),                              \
               "takes queries; the first of idle, age and stall")                                  \
    CONN_STATE(DRAINING, "draining", CONN_BIT(CLOSED),                                             \
               "takes no more queries and closes with its last answer; twice query-timeout, "      \
               "or 30 s while a late answer is due")                                               \
    CONN_STATE(CLOSED, "closed", 0, "gone")

enum conn_state {
#define CONN_STATE(name, text, follow, sentence) CONN_##name,
    CONN_STATES(CONN_STATE)
#undef CONN_STATE
        CONN_STATE_COUNT
};

#define CONN_BIT(name) (1u << CONN_##name)

/* CONN_END(name, text, id of its counter in metrics.def): why a connection closes or closed. The
 * counters of dials are for TCP; conn.c has the ones for TLS. */
#define CONN_ENDS(CONN_END)                                                                        \
    CONN_END(PEER_IDLE, "closed by the peer while idle", upstream_closes_peer_idle)                \
    CONN_END(PEER_BUSY, "closed by the peer with queries in flight", upstream_closes_peer_busy)    \
    CONN_END(RESET, "reset by the peer", upstream_closes_reset)                                    \
    CONN_END(STALLED, "stalled", upstream_closes_stalled)                                          \
    CONN_END(IDLE, "idle timeout", upstream_closes_idle)                                           \
    CONN_END(AGE, "max-age", upstream_closes_age)                                                  \
    CONN_END(REQUESTS, "max-requests", upstream_closes_requests)                                   \
    CONN_END(RECYCLED, "recycled by the operator", upstream_closes_recycled)                       \
    CONN_END(NETWORK, "the network changed", upstream_closes_network)                              \
    CONN_END(OWED, "too many answers owed", upstream_closes_owed)                                  \
    CONN_END(KEEPALIVE_ZERO, "keepalive timeout of 0", upstream_closes_keepalive_zero)             \
    CONN_END(GARBAGE, "sent something other than DNS", upstream_closes_garbage)                    \
    CONN_END(TLS, "TLS alert or broken record", upstream_closes_tls)                               \
    CONN_END(ERROR, "failed", upstream_closes_error)                                               \
    CONN_END(UNWANTED, "no longer configured", upstream_closes_shutdown)                           \
    CONN_END(SHUTDOWN, "shutdown", upstream_closes_shutdown)                                       \
    CONN_END(DIAL_REFUSED, "dial refused", upstream_dials_tcp_refused)                             \
    CONN_END(DIAL_TIMEOUT, "dial timed out", upstream_dials_tcp_timeout)                           \
    CONN_END(DIAL_ERROR, "dial failed", upstream_dials_tcp_error)                                  \
    CONN_END(DIAL_TLS, "TLS handshake failed", upstream_dials_tls_handshake)                       \
    CONN_END(DIAL_IDENTITY, "the server did not prove its identity", upstream_dials_tls_identity)

enum conn_end {
    CONN_END_NONE,
#define CONN_END(name, text, counter) CONN_END_##name,
    CONN_ENDS(CONN_END)
#undef CONN_END
        CONN_END_COUNT
};

/* The text of the table; "" for CONN_END_NONE. Static storage. */
const char *conn_state_name(enum conn_state state);
const char *conn_end_name(enum conn_end end);

/* The end of a connection whose dial failed with this error. */
enum conn_end conn_end_of_dial(enum err why);

/* Whether the move is one of the table's. */
bool conn_state_may_follow(enum conn_state from, enum conn_state to);

#endif
