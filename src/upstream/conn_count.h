/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_CONN_COUNT_H
#define NAILUP_UPSTREAM_CONN_COUNT_H

/* What the life of a connection means for the metrics: states, dials, ends. */

#include <stdbool.h>

#include "base/stats.h"
#include "tls/tls.h"
#include "upstream/conn_state.h"

/* It leaves one state for another. */
void conn_count_move(struct stats *stats, enum conn_state from, enum conn_state to);

/* It became ready. tls is NULL for plain TCP; went_early: queries left as early data. */
void conn_count_dial(struct stats *stats, const struct tls_facts *tls, bool went_early);

/* It ends, and had been dialled. */
void conn_count_end(struct stats *stats, bool is_tls, enum conn_end why);

#endif
