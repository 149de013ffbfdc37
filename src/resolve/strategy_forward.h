/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_STRATEGY_FORWARD_H
#define NAILUP_RESOLVE_STRATEGY_FORWARD_H

#include "resolve/strategy.h"

/*
 * Asks the zone's recursive servers until one gives an answer: NOERROR, NXDOMAIN or a proven
 * YXDOMAIN. A subtask follows an alias that leads out of the zone or comes without its target.
 */
extern const struct strategy forward_strategy;

#endif
