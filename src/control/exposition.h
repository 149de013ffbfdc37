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
enum { EXPOSITION_MAX = 1024 * 1024 };

struct control_policy;

/* Appends all figures. census may be NULL: then those of single upstreams are left out. now is on
 * the loops' clock, in us. */
MUST_USE enum err exposition_write(struct buf *out, const struct stats *stats,
                                   const struct census *census, const struct control_policy *policy,
                                   uint64_t now);

#endif
