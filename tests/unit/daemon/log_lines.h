/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_DAEMON_LOG_LINES_H
#define NAILUP_TESTS_DAEMON_LOG_LINES_H

/* Collects the lines of the log in one string. */

#include <stdio.h>
#include <string.h>

#include "base/log.h"

static char log_lines[16384];

/* Adds a line without the program's name, with which each line begins. */
static inline void log_lines_add(enum log_level level, const char *line)
{
    size_t len = strlen(log_lines);
    const char *rest = log_get_format() == LOG_TEXT ? strstr(line, ": ") : NULL;

    (void)level;
    snprintf(log_lines + len, sizeof(log_lines) - len, "%s", rest ? rest + 2 : line);
    len = strlen(log_lines);
    if (len > 0 && log_lines[len - 1] != '\n')
        snprintf(log_lines + len, sizeof(log_lines) - len, "\n");
}

static inline void log_lines_begin(void)
{
    log_lines[0] = '\0';
    log_set_level(LOG_DEBUG);
    log_set_format(LOG_TEXT);
    log_set_sink(log_lines_add);
}

static inline void log_lines_end(void)
{
    log_set_sink(NULL);
}

static inline size_t log_lines_count(void)
{
    size_t count = 0;

    for (const char *p = log_lines; *p; p++)
        count += *p == '\n';
    return count;
}

#endif
