/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Counters of connections (conn_count.h). The life itself is conn.c's. */

#include "upstream/conn_count.h"

#include <string.h>

static enum stat gauge_of(enum conn_state state)
{
    static const enum stat gauges[] = {
        [CONN_PARKED] = stat_upstream_parked,   [CONN_RESTING] = stat_upstream_resting,
        [CONN_DIALING] = stat_upstream_dialing, [CONN_SECURING] = stat_upstream_securing,
        [CONN_READY] = stat_upstream_ready,     [CONN_DRAINING] = stat_upstream_draining,
    };
    return gauges[state];
}

void conn_count_move(struct stats *stats, enum conn_state from, enum conn_state to)
{
    stats_add_at(stats, gauge_of(from), -1);
    if (to != CONN_CLOSED)
        stats_add_at(stats, gauge_of(to), 1);
}

static enum stat handshake_of(const struct tls_facts *tls)
{
    if (strcmp(tls->version, "TLSv1.3") == 0)
        return tls->resumed ? stat_upstream_tls13_resumed : stat_upstream_tls13_full;
    return tls->resumed ? stat_upstream_tls12_resumed : stat_upstream_tls12_full;
}

void conn_count_dial(struct stats *stats, const struct tls_facts *tls, bool went_early)
{
    if (!tls) {
        STATS_INC(stats, upstream_dials_tcp_ok);
        return;
    }
    STATS_INC(stats, upstream_dials_tls_ok);
    stats_add_at(stats, handshake_of(tls), 1);
    STATS_ADD(stats, upstream_resumptions, tls->resumed);
    STATS_ADD(stats, upstream_unauthenticated, !tls->authenticated);
    if (went_early) {
        STATS_ADD(stats, upstream_early_data, tls->early_accepted);
        STATS_ADD(stats, upstream_early_data_rejected, !tls->early_accepted);
    }
}

static enum stat counter_of(bool is_tls, enum conn_end why)
{
    static const enum stat counters[] = {
#define CONN_END(name, text, counter) [CONN_END_##name] = stat_##counter,
        CONN_ENDS(CONN_END)
#undef CONN_END
    };
    if (!is_tls)
        return counters[why];
    switch (why) {
    case CONN_END_DIAL_REFUSED:
        return stat_upstream_dials_tls_refused;
    case CONN_END_DIAL_TIMEOUT:
        return stat_upstream_dials_tls_timeout;
    case CONN_END_DIAL_ERROR:
        return stat_upstream_dials_tls_error;
    default:
        return counters[why];
    }
}

void conn_count_end(struct stats *stats, bool is_tls, enum conn_end why)
{
    stats_add_at(stats, counter_of(is_tls, why), 1);
}
