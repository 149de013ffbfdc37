/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONTROL_METRICS_H
#define NAILUP_CONTROL_METRICS_H

/*
 * The figures of the whole process: the sums over the workers, and the figures that belong to no
 * worker. nailupctl and Prometheus show these.
 */

#include "base/stats.h"
#include "control/view.h"

/* Any thread, while the workers exist. They do not stop for it. */
void metrics_collect(const struct control_view *view, struct stats *out);

#endif
