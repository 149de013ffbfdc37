/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Parses the values of options. Only the command of an option knows its meaning.
 */

#include "options.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool parse_u64(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
    if (text[0] < '0' || text[0] > '9') /* strtoull would accept "-1" and " 1" */
        return false;
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno || *end || value < min || value > max)
        return false;
    *out = value;
    return true;
}

bool parse_number(const char *text, double min, double max, double *out)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !isfinite(value) || value < min || value > max)
        return false;
    *out = value;
    return true;
}

bool parse_switch(const char *text, bool *out)
{
    if (strcmp(text, "on") == 0 || strcmp(text, "yes") == 0)
        *out = true;
    else if (strcmp(text, "off") == 0 || strcmp(text, "no") == 0)
        *out = false;
    else
        return false;
    return true;
}

uint64_t option_u64(const char *command, const char *name, const char *text, uint64_t min,
                    uint64_t max)
{
    uint64_t value;
    if (!parse_u64(text, min, max, &value))
        option_wrong(command, "--%s takes a whole number from %llu to %llu, not '%s'", name,
                     (unsigned long long)min, (unsigned long long)max, text);
    return value;
}

double option_number(const char *command, const char *name, const char *text, double min,
                     double max)
{
    double value;
    if (!parse_number(text, min, max, &value))
        option_wrong(command, "--%s takes a number from %g to %g, not '%s'", name, min, max, text);
    return value;
}

struct addr option_addr(const char *command, const char *name, const char *text)
{
    return option_addr_port(command, name, text, 53);
}

struct addr option_addr_port(const char *command, const char *name, const char *text,
                             uint16_t default_port)
{
    struct addr addr;
    if (addr_parse(&addr, text, default_port) != ERR_OK)
        option_wrong(command, "--%s takes IP or IP@PORT, not '%s'", name, text);
    return addr;
}

void option_wrong(const char *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "nailup-bench %s: ", command);
    vfprintf(stderr, format, args);
    fprintf(stderr, " (nailup-bench %s --help)\n", command);
    va_end(args);
    exit(2);
}
