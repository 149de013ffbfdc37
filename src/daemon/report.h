/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_REPORT_H
#define NAILUP_DAEMON_REPORT_H

/* The log lines at the start and at the end. */

#include <stdint.h>

#include "control/view.h"

struct config;

/* Logs the lines of included files that nailup does not understand. */
void report_warnings(const struct config *config);
void report_start(const struct control_view *view);
void report_end(const struct control_view *view, uint64_t now_us);

#endif
