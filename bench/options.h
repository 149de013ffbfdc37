/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_OPTIONS_H
#define NAILUP_BENCH_OPTIONS_H

/*
 * Parses the values of command lines and checks their ranges. Wrong use ends the process with one
 * line on stderr and exit code 2.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/err.h"

/* Parses a whole number in [min, max]. Leaves *out unchanged if it returns false. */
MUST_USE bool parse_u64(const char *text, uint64_t min, uint64_t max, uint64_t *out);

/* Parses a decimal number in [min, max]. Leaves *out unchanged if it returns false. */
MUST_USE bool parse_number(const char *text, double min, double max, double *out);

/* Parses "on" or "yes", "off" or "no". Leaves *out unchanged if it returns false. */
MUST_USE bool parse_switch(const char *text, bool *out);

/* A bad value ends the process with exit code 2, and a line that names the command and the option.
 */
uint64_t option_u64(const char *command, const char *name, const char *text, uint64_t min,
                    uint64_t max);
double option_number(const char *command, const char *name, const char *text, double min,
                     double max);
struct addr option_addr(const char *command, const char *name, const char *text);
struct addr option_addr_port(const char *command, const char *name, const char *text,
                             uint16_t default_port);
_Noreturn void option_wrong(const char *command, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
