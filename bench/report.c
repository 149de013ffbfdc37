/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

#include "report.h"

#include <stdio.h>

#include "wire.h"

double report_us(const struct latency *latency, double percent)
{
    return (double)latency_percentile(latency, percent) / 1e3;
}

void report_put_latency(struct json *json, const char *key, const struct latency *latency)
{
    json_open(json, key, '{');
    json_number(json, "mean", latency_mean(latency) / 1e3);
    json_number(json, "p50", report_us(latency, 50));
    json_number(json, "p90", report_us(latency, 90));
    json_number(json, "p99", report_us(latency, 99));
    json_number(json, "p999", report_us(latency, 99.9));
    json_number(json, "max", (double)latency->max / 1e3);
    json_close(json, '}');
}

void report_put_rcodes(struct json *json, const uint64_t rcodes[REPORT_RCODES])
{
    json_open(json, "rcodes", '{');
    for (unsigned i = 0; i < REPORT_RCODES; i++)
        if (rcodes[i])
            json_u64(json, wire_rcode_text(i), rcodes[i]);
    json_close(json, '}');
}

void report_print_latency(const char *label, const struct latency *latency)
{
    printf("%-12s mean %.1f  p50 %.1f  p90 %.1f  p99 %.1f  p99.9 %.1f  max %.1f\n", label,
           latency_mean(latency) / 1e3, report_us(latency, 50), report_us(latency, 90),
           report_us(latency, 99), report_us(latency, 99.9), (double)latency->max / 1e3);
}

void report_print_rcodes(const uint64_t rcodes[REPORT_RCODES])
{
    printf("rcodes      ");
    for (unsigned i = 0; i < REPORT_RCODES; i++)
        if (rcodes[i])
            printf(" %s %llu", wire_rcode_text(i), (unsigned long long)rcodes[i]);
    putchar('\n');
}
