/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONTROL_EXPOSITION_H
#define NAILUP_CONTROL_EXPOSITION_H

/*
 * The figures in the text format of Prometheus, version 0.0.4. nailup-metrics(7) explains them.
 * Pure.
 */

#include "base/buf.h"
#include "base/err.h"
#include "base/stats.h"
#include "control/census.h"

/* A buf of this size holds any exposition. */
enum {
    EXPOSITION_MAX = 2 * 1024 * 1024,
    EXPOSITION_ZONES_MAX = 128, /* zones held here with separate figures */
};

struct control_view;

/* When the figures are taken. */
struct exposition_time {
    uint64_t now;   /* us of the loops' clock */
    int64_t wall_s; /* since 1970 */
};

/* Appends all figures. If census is NULL, the figures of single upstreams are left out. The view
 * has the zones held here and the response policy. */
MUST_USE enum err exposition_write(struct buf *out, const struct stats *stats,
                                   const struct census *census, const struct control_view *view,
                                   const struct exposition_time *time);

#endif
