/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BASE_LOG_H
#define NAILUP_BASE_LOG_H

/*
 * Log lines on stderr: level, module, sentence. LOG_LIMITED limits lines that a peer can provoke.
 * Any thread; each line is one write.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum log_level { LOG_ERROR, LOG_WARNING, LOG_NOTICE, LOG_INFO, LOG_DEBUG };

enum log_format { LOG_TEXT, LOG_JSON };

/* Lines above this level are not formatted. Relaxed access from any thread. */
extern int log_threshold;

void log_set_level(enum log_level level);
enum log_level log_get_level(void);
void log_set_format(enum log_format format);
enum log_format log_get_format(void);

/* "error", "warning", "notice", "info", "debug"; ERR_INVALID for another word. */
MUST_USE enum err log_level_parse(enum log_level *out, const char *word);
const char *log_level_name(enum log_level level);

void log_write(enum log_level level, const char *module, const char *format, ...) PRINTF_LIKE(3, 4);

#define LOG(level, module, ...)                                                                    \
    do {                                                                                           \
        if ((int)(level) <= __atomic_load_n(&log_threshold, __ATOMIC_RELAXED))                     \
            log_write((level), (module), __VA_ARGS__);                                             \
    } while (0)

/*
 * Gives the thread a number, which its lines then name: "upstream: worker 1: ...". -1, the default:
 * none. Workers meet the same event at the same time, so a line that another worker has written
 * within LOG_ECHO_US is left out: each event is logged once. At level debug every line is written.
 */
void log_set_worker(int number);

enum { LOG_ECHO_US = 2000000 };

/* Whether text lines begin with the time. By default they do where stderr is a terminal; elsewhere
 * the service manager stamps them. */
void log_set_stamps(bool wanted);

enum { LOG_TIME_MAX = 48 };

/* Formats us since 1970 as in JSON lines, "2026-05-04T03:02:01.000Z". Returns out. */
const char *log_time(uint64_t us, char out[LOG_TIME_MAX]);

enum { LOG_FIRST_MAX = 256 /* keys that log_is_first() knows */ };

/* Whether this is the first call with this key on any thread. For lines that are logged once, such
 * as one for each configured zone. Also returns false when LOG_FIRST_MAX keys are known. */
bool log_is_first(uint64_t key);

/* A budget of lines: five at once, then one per ten seconds. */
struct log_limit {
    uint64_t refilled_at; /* us of CLOCK_MONOTONIC */
    uint32_t tokens;
    uint32_t suppressed;
};

/* Whether a line may be written now; *suppressed counts the lines left out since the last one. */
bool log_limit_take(struct log_limit *limit, uint32_t *suppressed);

/* Logs like LOG, but each place in the source writes at most five lines at once and then one per
 * ten seconds and thread. The next line counts the lines that were left out. */
#define LOG_LIMITED(level, module, format, ...)                                                    \
    do {                                                                                           \
        static _Thread_local struct log_limit limit_here;                                          \
        uint32_t left_out;                                                                         \
        if ((int)(level) <= __atomic_load_n(&log_threshold, __ATOMIC_RELAXED) &&                   \
            log_limit_take(&limit_here, &left_out)) {                                              \
            if (left_out)                                                                          \
                log_write((level), (module), format " (%u more like this)", ##__VA_ARGS__,         \
                          left_out);                                                               \
            else                                                                                   \
                log_write((level), (module), format, ##__VA_ARGS__);                               \
        }                                                                                          \
    } while (0)

enum { LOG_SHARED_US = 60000000, LOG_SHARED_MAX = 64 };

/* Logs like LOG_LIMITED, for a fact that all workers see alike and each at its own time, such as a
 * bound of the process. The first worker writes the line, and none repeats it for LOG_SHARED_US.
 * The next line counts the lines that were left out. Beyond LOG_SHARED_MAX lines at a time, the
 * oldest may come again. */
#define LOG_SHARED(level, module, ...)                                                             \
    do {                                                                                           \
        static _Thread_local struct log_limit limit_here;                                          \
        if ((int)(level) <= __atomic_load_n(&log_threshold, __ATOMIC_RELAXED))                     \
            log_write_shared(&limit_here, (level), (module), __VA_ARGS__);                         \
    } while (0)

void log_write_shared(struct log_limit *limit, enum log_level level, const char *module,
                      const char *format, ...) PRINTF_LIKE(4, 5);

/* For tests: time passes for the lines of LOG_SHARED. */
void log_pass_for_tests(uint64_t us);

/* For tests: sends lines to this function instead of stderr; NULL restores stderr. */
void log_set_sink(void (*sink)(enum log_level level, const char *line));

#endif
