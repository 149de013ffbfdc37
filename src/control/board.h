/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONTROL_BOARD_H
#define NAILUP_CONTROL_BOARD_H

/*
 * The live page: nailed connections as a board, with the figures beside them. Three fixed files,
 * and the figures that they show as JSON. Pure.
 */

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/span.h"
#include "base/stats.h"
#include "control/census.h"
#include "control/http_request.h"

/* A file of the page; empty for the other pages. */
struct span board_file(enum http_page page);

/* Appends the figures as one JSON object. Durations are in microseconds. census may be NULL: then
 * there are no upstreams and connections. At most EXPOSITION_MAX bytes. */
MUST_USE enum err board_write(struct buf *out, const struct stats *stats,
                              const struct census *census, uint64_t uptime_us);

#endif
