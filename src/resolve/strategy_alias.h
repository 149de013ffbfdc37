/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_STRATEGY_ALIAS_H
#define NAILUP_RESOLVE_STRATEGY_ALIAS_H

/* The strategy of a local name whose aliases lead to a name without local data: it keeps the
 * aliases, and the target's zone is asked for the rest. */

#include "resolve/strategy.h"

extern const struct strategy alias_strategy;

#endif
