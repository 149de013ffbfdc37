/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONTROL_METRICS_H
#define NAILUP_CONTROL_METRICS_H

/*
 * The numbers of the whole process: the sums of the workers' and what belongs to none of them. What
 * nailupctl and Prometheus are told is printed from it.
 */

#include "base/stats.h"
#include "control/view.h"

/* Any thread, while the workers exist; they are not stopped for it. */
void metrics_collect(const struct control_view *view, struct stats *out);

#endif
