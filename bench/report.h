/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_REPORT_H
#define NAILUP_BENCH_REPORT_H

/* Parts of reports that several commands print. Latencies are stored in ns and shown in us. */

#include <stdint.h>

#include "json.h"
#include "latency.h"

enum { REPORT_RCODES = 16 };

double report_us(const struct latency *latency, double percent);
void report_put_latency(struct json *json, const char *key, const struct latency *latency);
void report_put_rcodes(struct json *json, const uint64_t rcodes[REPORT_RCODES]);

/* Prints lines of text to standard output. label: 12 characters. */
void report_print_latency(const char *label, const struct latency *latency);
void report_print_rcodes(const uint64_t rcodes[REPORT_RCODES]);

#endif
