/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONTROL_PROCESS_FACTS_H
#define NAILUP_CONTROL_PROCESS_FACTS_H

/* The figures of the process that all exporters of Prometheus share, under their usual names. */

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* Appends process_cpu_seconds_total, process_resident_memory_bytes, process_virtual_memory_bytes,
 * process_open_fds, process_max_fds and process_start_time_seconds. Leaves out a figure that the
 * kernel does not report. Errors come from the buf. */
MUST_USE enum err process_facts_write(struct buf *out, uint64_t started_time);

#endif
