/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * From a worker's tap to a line: the tap copies the facts, and the thread makes the words. drain.c
 * carries the records; query_line.c writes the lines. Invariant: a write has whole lines, and no
 * more bytes than a pipe takes at once, so that other writers' lines do not come in between.
 */
#include "tap/query_log.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/log.h"
#include "dns/rrtype.h"
#include "tap/drain.h"
#include "tap/query_line.h"
#include "tap/wall.h"

/* The thread's name, for top and core files. */
static const char thread_name[] = "query-log";

struct log_tap {
    struct tap tap;
    struct query_log *log;
    size_t worker;
    struct stats *stats;
} __attribute__((aligned(128))); /* no two workers share a cache line */

struct query_log {
    struct drain *drain;
    int fd;
    uint64_t lost; /* lines; written by the thread, like the values of struct stats */
    size_t len;    /* the length of the lines to write; used by the thread */
    char lines[PIPE_BUF];
    /* All workers share these two. Only failures touch them, and lines while omitted is not 0. */
    alignas(128) atomic_uint_least64_t failures_at;
    atomic_uint_least32_t omitted; /* failures without a line since the last one */
    struct log_tap taps[];
};

_Static_assert(QUERY_LINE_MAX <= PIPE_BUF, "a pipe takes a line at once");

/* ---- the worker ---- */

static void query_log_fill(struct query_record *record, const struct tap_reply *reply)
{
    const struct tap_message *message = &reply->message;
    *record = (struct query_record){
        .asked_at = message->asked_at,
        .answered_at = message->answered_at,
        .client = *message->asker,
        .size = (uint32_t)message->bytes.len,
        .type = reply->type,
        .cls = reply->cls,
        .flags = reply->flags,
        .rcode = reply->rcode,
        .transport = (uint8_t)message->transport,
        .origin = (uint8_t)reply->origin,
        .name_len = (uint8_t)reply->name.len,
        .ede_count = reply->ede_count,
        .dnssec_ok = reply->dnssec_ok,
    };
    memcpy(record->ede, reply->ede, sizeof(record->ede));
    if (reply->source)
        record->source = *reply->source;
}

/* Returns the failures that had no line since the last one. */
static uint32_t query_log_take_omitted(struct query_log *log)
{
    if (!atomic_load_explicit(&log->omitted, memory_order_relaxed))
        return 0;
    return atomic_exchange_explicit(&log->omitted, 0, memory_order_relaxed);
}

static void query_log_leave_record(struct log_tap *mine, const struct tap_reply *reply)
{
    const char *view = reply->message.view ? reply->message.view : "";
    const char *cause = reply->ede_count > 0 ? reply->ede_text : "";
    size_t view_len = strnlen(view, QUERY_LINE_VIEW_MAX);
    size_t cause_len = strnlen(cause, QUERY_LINE_CAUSE_MAX);
    size_t len = sizeof(struct query_record) + reply->name.len + view_len + cause_len;
    uint8_t *out = drain_reserve(mine->log->drain, mine->worker, len);
    struct query_record record;

    if (!out) {
        STATS_INC(mine->stats, query_log_dropped);
        return;
    }
    query_log_fill(&record, reply);
    record.view_len = (uint8_t)view_len;
    record.cause_len = (uint8_t)cause_len;
    record.omitted = query_log_take_omitted(mine->log);
    memcpy(out, &record, sizeof(record));
    out += sizeof(record);
    if (reply->name.len > 0)
        memcpy(out, reply->name.data, reply->name.len);
    memcpy(out + reply->name.len, view, view_len);
    memcpy(out + reply->name.len + view_len, cause, cause_len);
    drain_commit(mine->log->drain, mine->worker, len);
}

static void query_log_on_reply(struct tap *tap, const struct tap_reply *reply)
{
    query_log_leave_record(CONTAINER_OF(tap, struct log_tap, tap), reply);
}

/* Whether a failure may have a line now. Each line moves failures_at on by its time, from now or a
 * later time. The distance from now is the share of the bound that is used. */
static bool query_log_take_failure(struct query_log *log, uint64_t now)
{
    uint64_t end = now + (uint64_t)QUERY_LOG_FAILURES * QUERY_LOG_FAILURE_US;
    uint64_t at = atomic_load_explicit(&log->failures_at, memory_order_relaxed), next;
    do {
        next = MAX(at, now) + QUERY_LOG_FAILURE_US;
        if (next > end)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(&log->failures_at, &at, next,
                                                    memory_order_relaxed, memory_order_relaxed));
    return true;
}

static void query_log_on_reply_of_failure(struct tap *tap, const struct tap_reply *reply)
{
    struct log_tap *mine = CONTAINER_OF(tap, struct log_tap, tap);
    if (reply->rcode != RCODE_SERVFAIL)
        return;
    if (query_log_take_failure(mine->log, reply->message.answered_at))
        query_log_leave_record(mine, reply);
    else
        atomic_fetch_add_explicit(&mine->log->omitted, 1, memory_order_relaxed);
}

/* ---- the thread ---- */

static uint64_t query_log_count_lines(struct span text)
{
    uint64_t count = 0;
    for (size_t i = 0; i < text.len; i++)
        count += text.data[i] == '\n';
    return count;
}

/* Counts the lines from here on as lost, partly written ones too: the reader is gone or the disk
 * full. */
static void lose_lines(struct query_log *log, size_t from)
{
    struct span rest = span_of(log->lines + from, log->len - from);
    stats_write(&log->lost, stats_read(&log->lost) + query_log_count_lines(rest));
}

/* Returns false when the log ends and the reader of stderr takes nothing. */
static bool write_lines(struct query_log *log)
{
    size_t done = 0;
    while (done < log->len) {
        if (!drain_wait(log->drain, log->fd, POLLOUT, -1))
            return false;
        ssize_t written = write(log->fd, log->lines + done, log->len - done);
        if (written < 0 && errno != EAGAIN && errno != EINTR) {
            lose_lines(log, done);
            break;
        }
        done += (size_t)MAX(written, 0);
    }
    log->len = 0;
    return true;
}

static bool query_log_add_line(struct query_log *log, struct span bytes)
{
    struct query_record record;
    if (log->len + QUERY_LINE_MAX > sizeof(log->lines) && !write_lines(log))
        return false;
    memcpy(&record, bytes.data, sizeof(record));
    log->len += query_line(log->lines + log->len, log_get_format(), &record,
                           bytes.data + sizeof(record), wall_us(record.answered_at));
    return true;
}

static bool query_log_carry_ring(struct query_log *log, struct ring *ring)
{
    struct span record;
    while (ring_read(ring, &record)) {
        if (!query_log_add_line(log, record))
            return false;
        ring_release(ring);
    }
    return true;
}

static bool query_log_carry(void *owner)
{
    struct query_log *log = owner;
    for (size_t i = 0; i < drain_rings(log->drain); i++)
        if (!query_log_carry_ring(log, drain_ring(log->drain, i)))
            return false;
    return write_lines(log);
}

/* ---- life ---- */

struct query_log *query_log_new(size_t workers, int fd)
{
    struct drain_options options = {.name = thread_name,
                                    .rings = workers,
                                    .ring_bytes = QUERY_LOG_RING,
                                    .carry = query_log_carry};
    size_t size = sizeof(struct query_log) + workers * sizeof(struct log_tap);
    struct query_log *log = aligned_alloc(_Alignof(struct query_log), size);
    if (!log)
        return NULL;
    memset(log, 0, size);
    log->fd = fd;
    options.owner = log;
    log->drain = drain_new(&options);
    if (log->drain)
        return log;
    free(log);
    return NULL;
}

enum err query_log_start(struct query_log *log)
{
    return drain_start(log->drain);
}

struct tap *query_log_tap(struct query_log *log, size_t worker, struct stats *stats,
                          enum query_log_choice choice)
{
    struct log_tap *mine = &log->taps[worker];
    if (choice == QUERY_LOG_NONE)
        return NULL;
    mine->tap.on_reply =
        choice == QUERY_LOG_ALL ? query_log_on_reply : query_log_on_reply_of_failure;
    mine->tap.wants_only_failures = choice == QUERY_LOG_FAILED;
    mine->log = log;
    mine->worker = worker;
    mine->stats = stats;
    return &mine->tap;
}

uint64_t query_log_lost(const struct query_log *log)
{
    return stats_read(&log->lost);
}

void query_log_free(struct query_log *log)
{
    if (!log)
        return;
    drain_free(log->drain);
    free(log);
}
