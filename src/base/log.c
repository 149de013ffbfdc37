/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Writes a sentence as one line of text or JSON with one write. A sentence may contain bytes from
 * peers, so every byte that is not printable ASCII is escaped: a peer cannot forge a line or move a
 * terminal's cursor. Text lines have a time only on a terminal, because the service manager stamps
 * the others. Limits apply per place and thread, so they need no lock. Only workers' lines take a
 * lock: one for echoes, after the rate limit has let them through, and one for shared lines.
 */
#include "base/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"

enum {
    MESSAGE_MAX = 1024,                     /* cuts longer sentences */
    LINE_MAX_BYTES = 6 * MESSAGE_MAX + 256, /* each byte may become \u00XX */
    LIMIT_BURST = 5,
    ECHOES_MAX = 64,
};

#define LIMIT_PERIOD_US 10000000ULL

int log_threshold = LOG_INFO;
static int log_format = LOG_TEXT;
static int log_stamps = -1; /* 0, 1; -1: not known yet */
static _Thread_local int log_worker = -1;
static void (*log_sink)(enum log_level level, const char *line);

static const char *const level_names[] = {"error", "warning", "notice", "info", "debug"};

void log_set_level(enum log_level level)
{
    __atomic_store_n(&log_threshold, (int)level, __ATOMIC_RELAXED);
}

enum log_level log_get_level(void)
{
    return (enum log_level)__atomic_load_n(&log_threshold, __ATOMIC_RELAXED);
}

void log_set_format(enum log_format format)
{
    __atomic_store_n(&log_format, (int)format, __ATOMIC_RELAXED);
}

enum log_format log_get_format(void)
{
    return (enum log_format)__atomic_load_n(&log_format, __ATOMIC_RELAXED);
}

void log_set_worker(int number)
{
    log_worker = number;
}

void log_set_stamps(bool wanted)
{
    __atomic_store_n(&log_stamps, (int)wanted, __ATOMIC_RELAXED);
}

static bool log_has_stamps(void)
{
    int stamps = __atomic_load_n(&log_stamps, __ATOMIC_RELAXED);
    if (stamps < 0) {
        stamps = isatty(STDERR_FILENO);
        log_set_stamps(stamps != 0);
    }
    return stamps != 0;
}

void log_set_sink(void (*sink)(enum log_level level, const char *line))
{
    __atomic_store_n(&log_sink, sink, __ATOMIC_RELEASE);
}

enum err log_level_parse(enum log_level *out, const char *word)
{
    for (size_t i = 0; i < ARRAY_LEN(level_names); i++) {
        if (strcmp(word, level_names[i]) == 0) {
            *out = (enum log_level)i;
            return ERR_OK;
        }
    }
    return ERR_INVALID;
}

const char *log_level_name(enum log_level level)
{
    return (size_t)level < ARRAY_LEN(level_names) ? level_names[level] : "unknown";
}

/* A line under construction. Its room suffices for MESSAGE_MAX escaped bytes and the frame; an
 * overlong program name is cut. */
struct line {
    size_t len;
    char text[LINE_MAX_BYTES];
};

static void log_put(struct line *line, const char *text)
{
    size_t len = MIN(strlen(text), sizeof(line->text) - 2 - line->len);
    memcpy(line->text + line->len, text, len);
    line->len += len;
}

static void put_escaped(struct line *line, const char *text, bool json)
{
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        char part[8];
        if (json && (*p == '"' || *p == '\\'))
            snprintf(part, sizeof(part), "\\%c", *p);
        else if (*p >= 0x20 && *p < 0x7f)
            snprintf(part, sizeof(part), "%c", *p);
        else if (json && *p < 0x80)
            snprintf(part, sizeof(part), "\\u%04x", *p);
        else /* a byte above ASCII is no character; JSON escapes the backslash itself */
            snprintf(part, sizeof(part), json ? "\\\\x%02x" : "\\x%02x", *p);
        log_put(line, part);
    }
}

const char *log_time(uint64_t us, char out[LOG_TIME_MAX])
{
    time_t seconds = (time_t)(us / 1000000);
    struct tm utc;
    gmtime_r(&seconds, &utc);
    size_t len = strftime(out, LOG_TIME_MAX, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(out + len, LOG_TIME_MAX - len, ".%03uZ", (unsigned)(us % 1000000 / 1000));
    return out;
}

static void log_put_time(struct line *line)
{
    struct timespec now;
    char text[LOG_TIME_MAX];
    clock_gettime(CLOCK_REALTIME, &now);
    log_put(line, log_time((uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000, text));
}

static void log_put_worker(struct line *line, const char *format)
{
    char text[32];
    if (log_worker < 0)
        return;
    snprintf(text, sizeof(text), format, log_worker);
    log_put(line, text);
}

static void frame_json(struct line *line, enum log_level level, const char *module,
                       const char *message)
{
    log_put(line, "{\"time\":\"");
    log_put_time(line);
    log_put(line, "\",\"level\":\"");
    log_put(line, log_level_name(level));
    log_put(line, "\",\"module\":\"");
    put_escaped(line, module, true);
    log_put(line, "\"");
    log_put_worker(line, ",\"worker\":%d");
    log_put(line, ",\"message\":\"");
    put_escaped(line, message, true);
    log_put(line, "\"}");
}

static void frame_text(struct line *line, enum log_level level, const char *module,
                       const char *message)
{
    if (log_has_stamps()) {
        log_put_time(line);
        log_put(line, " ");
    }
    put_escaped(line, program_invocation_short_name, false);
    log_put(line, ": ");
    log_put(line, log_level_name(level));
    log_put(line, ": ");
    put_escaped(line, module, false);
    log_put(line, ": ");
    log_put_worker(line, "worker %d: ");
    put_escaped(line, message, false);
}

static void write_line(struct line *line)
{
    line->text[line->len++] = '\n';
    ssize_t written;
    do
        written = write(STDERR_FILENO, line->text, line->len);
    while (written < 0 && errno == EINTR);
}

static uint64_t monotonic_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* The last lines of workers. An older line makes room, so at worst the lines of a burst repeat. */
static struct {
    pthread_mutex_t lock;
    size_t next;
    struct echo {
        int worker;
        uint64_t written_at, hash;
    } list[ECHOES_MAX];
} echoes = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* FNV-1a: a chance match costs a line, so any hash with 64 bits will do. */
static uint64_t log_hash(const char *module, const char *message)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (const char *p = module; *p; p++)
        hash = (hash ^ (unsigned char)*p) * UINT64_C(1099511628211);
    for (const char *p = message; *p; p++)
        hash = (hash ^ (unsigned char)*p) * UINT64_C(1099511628211);
    return hash;
}

/* Whether another worker has just written the line; else remembers it. */
static bool log_is_echo(const char *module, const char *message)
{
    uint64_t now = monotonic_us(), hash = log_hash(module, message);
    bool is_echo = false;
    pthread_mutex_lock(&echoes.lock);
    for (size_t i = 0; i < ECHOES_MAX && !is_echo; i++) {
        const struct echo *echo = &echoes.list[i];
        is_echo = echo->written_at && echo->hash == hash && echo->worker != log_worker &&
                  now - echo->written_at < LOG_ECHO_US;
    }
    if (!is_echo)
        echoes.list[echoes.next++ % ECHOES_MAX] = (struct echo){log_worker, now, hash};
    pthread_mutex_unlock(&echoes.lock);
    return is_echo;
}

/* The lines of LOG_SHARED. */
static struct {
    pthread_mutex_t lock;
    struct shared {
        uint64_t written_at, hash;
        uint32_t left_out;
    } list[LOG_SHARED_MAX];
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The place of the line, or the oldest one. */
static struct shared *shared_find(uint64_t hash)
{
    struct shared *oldest = &shared.list[0];
    for (size_t i = 0; i < LOG_SHARED_MAX; i++) {
        struct shared *at = &shared.list[i];
        if (at->written_at && at->hash == hash)
            return at;
        if (at->written_at < oldest->written_at)
            oldest = at;
    }
    *oldest = (struct shared){.hash = hash};
    return oldest;
}

/* Whether no worker has written the line lately. *left_out counts the lines left out before. */
static bool shared_take(const char *module, const char *message, uint32_t *left_out)
{
    uint64_t now = monotonic_us();
    pthread_mutex_lock(&shared.lock);
    struct shared *line = shared_find(log_hash(module, message));
    bool may_write = !line->written_at || now - line->written_at >= LOG_SHARED_US;
    *left_out = may_write ? line->left_out : 0;
    if (may_write)
        *line = (struct shared){.written_at = now, .hash = line->hash};
    else
        line->left_out++;
    pthread_mutex_unlock(&shared.lock);
    return may_write;
}

void log_pass_for_tests(uint64_t us)
{
    pthread_mutex_lock(&shared.lock);
    for (size_t i = 0; i < LOG_SHARED_MAX; i++)
        if (shared.list[i].written_at)
            shared.list[i].written_at -= us;
    pthread_mutex_unlock(&shared.lock);
}

static void log_write_message(enum log_level level, const char *module, const char *message)
{
    struct line line;
    line.len = 0;
    if (log_get_format() == LOG_JSON)
        frame_json(&line, level, module, message);
    else
        frame_text(&line, level, module, message);
    line.text[line.len] = '\0';

    void (*sink)(enum log_level, const char *) = __atomic_load_n(&log_sink, __ATOMIC_ACQUIRE);
    if (sink)
        sink(level, line.text);
    else
        write_line(&line);
}

void log_write(enum log_level level, const char *module, const char *format, ...)
{
    int saved_errno = errno;
    char message[MESSAGE_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    if (log_worker < 0 || log_get_level() >= LOG_DEBUG || !log_is_echo(module, message))
        log_write_message(level, module, message);
    errno = saved_errno;
}

void log_write_shared(struct log_limit *limit, enum log_level level, const char *module,
                      const char *format, ...)
{
    int saved_errno = errno;
    uint32_t left_out = 0, suppressed = 0;
    char message[MESSAGE_MAX];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    bool is_shared = log_worker >= 0 && log_get_level() < LOG_DEBUG;
    bool may_write = (!is_shared || shared_take(module, message, &left_out)) &&
                     log_limit_take(limit, &suppressed);
    left_out += suppressed;
    if (may_write && left_out && len > 0 && (size_t)len < sizeof(message))
        snprintf(message + len, sizeof(message) - (size_t)len, " (%u more like this)", left_out);
    if (may_write)
        log_write_message(level, module, message);
    errno = saved_errno;
}

static void refill_limit(struct log_limit *limit, uint64_t now)
{
    if (limit->refilled_at == 0) {
        limit->refilled_at = now;
        limit->tokens = LIMIT_BURST;
        return;
    }
    uint64_t periods = (now - limit->refilled_at) / LIMIT_PERIOD_US;
    limit->refilled_at += periods * LIMIT_PERIOD_US;
    limit->tokens = (uint32_t)MIN(limit->tokens + periods, (uint64_t)LIMIT_BURST);
}

bool log_is_first(uint64_t key)
{
    static uint64_t known[LOG_FIRST_MAX]; /* 0: free */
    key += !key;
    for (unsigned i = 0; i < LOG_FIRST_MAX; i++) {
        uint64_t *place = &known[(key + i) % LOG_FIRST_MAX], expected = 0;
        if (__atomic_compare_exchange_n(place, &expected, key, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            return true;
        if (expected == key)
            return false;
    }
    return false;
}

bool log_limit_take(struct log_limit *limit, uint32_t *suppressed)
{
    refill_limit(limit, monotonic_us());
    *suppressed = 0;
    if (limit->tokens == 0) {
        limit->suppressed++;
        return false;
    }
    limit->tokens--;
    *suppressed = limit->suppressed;
    limit->suppressed = 0;
    return true;
}
