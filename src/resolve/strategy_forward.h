/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_STRATEGY_FORWARD_H
#define NAILUP_RESOLVE_STRATEGY_FORWARD_H

#include "resolve/strategy.h"

/*
 * Ask the zone's recursive servers until one gives an answer; any but NOERROR, NXDOMAIN and a
 * proven YXDOMAIN is no answer. Aliases that lead out of the zone, or are given without what they
 * lead to, are followed by a subtask.
 */
extern const struct strategy forward_strategy;

#endif
