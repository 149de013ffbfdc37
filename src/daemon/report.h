/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_REPORT_H
#define NAILUP_DAEMON_REPORT_H

/* What the log says at the start and at the end. */

#include <stdint.h>

#include "control/view.h"

struct config;

/* What the configuration's other files have that is not understood. */
void report_warnings(const struct config *config);
void report_start(const struct control_view *view);
void report_end(const struct control_view *view, uint64_t now_us);

#endif
