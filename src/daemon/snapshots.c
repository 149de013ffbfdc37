/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Decides when to read and write the snapshot. cache/snapshot.c knows its format.
 *
 * Invariant: only one thread at a time reads or writes the file.
 */
#include "daemon/snapshots.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/units.h"
#include "cache/cache.h"
#include "cache/snapshot.h"

enum { NICENESS = 10 }; /* queries come first */

struct snapshots {
    char *path;
    struct cache *cache;
    struct cache_filter filter;
    uint32_t interval_s;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_read;    /* under the lock: the file has been read */
    bool stop;       /* under the lock, except for checks while reading or writing */
    bool is_foreign; /* a warning that the file is no snapshot has been logged; for the thread that
                        uses the file */
};

static struct snapshot_now snapshots_read_clocks(void)
{
    return (struct snapshot_now){
        .us = clock_now_us(), /* the clock of the loops */
        .wall_s = (uint64_t)MAX(time(NULL), (time_t)0),
    };
}

static void snapshots_warn_foreign(struct snapshots *snapshots)
{
    if (!snapshots->is_foreign)
        LOG(LOG_WARNING, "daemon",
            "cache.snapshot %s holds no snapshot: nailupd neither reads nor overwrites it; "
            "name "
            "another file, or remove this one",
            snapshots->path);
    snapshots->is_foreign = true;
}

static void snapshots_load(struct snapshots *snapshots)
{
    const char *path = snapshots->path;
    uint64_t count;
    if (snapshot_is_foreign(path)) {
        snapshots_warn_foreign(snapshots);
        return;
    }
    enum err err = snapshot_load(snapshots->cache, path, snapshots_read_clocks(), snapshots->filter,
                                 &snapshots->stop, &count);

    if (!err)
        LOG(LOG_INFO, "daemon", "%llu answers read from %s", (unsigned long long)count, path);
    else if (err == ERR_INVALID)
        LOG(LOG_WARNING, "daemon",
            "cache.snapshot %s is not used, so the cache begins empty: it is damaged, from the "
            "future, "
            "or not of this version",
            path);
    else if (err != ERR_NOT_FOUND && err != ERR_CLOSED)
        LOG(LOG_WARNING, "daemon", "cache.snapshot %s is not used, so the cache begins empty: %s%s",
            path, err_str(err),
            err == ERR_PERMISSION ? "; it must belong to this user and have mode 0600" : "");
}

static void snapshots_save(struct snapshots *snapshots, const bool *stop)
{
    uint64_t count;
    enum err err =
        snapshot_save(snapshots->cache, snapshots->path, snapshots_read_clocks(), stop, &count);

    if (!err)
        LOG(LOG_DEBUG, "daemon", "%llu answers saved to %s", (unsigned long long)count,
            snapshots->path);
    else if (err == ERR_FOREIGN)
        snapshots_warn_foreign(snapshots);
    else if (err != ERR_CLOSED)
        LOG(LOG_WARNING, "daemon", "cannot save the cache to cache.snapshot %s: %s",
            snapshots->path, err_str(err));
}

static struct timespec snapshots_deadline(uint64_t us)
{
    struct timespec at;
    MUST(clock_gettime(CLOCK_MONOTONIC, &at) == 0);
    uint64_t ns = (uint64_t)at.tv_nsec + us % US_PER_S * 1000;
    at.tv_sec += (time_t)(us / US_PER_S + ns / 1000000000);
    at.tv_nsec = (long)(ns % 1000000000);
    return at;
}

/* Waits until *flag is true, at most this long. Returns the flag. The caller holds the lock. */
static bool snapshots_wait_for(struct snapshots *snapshots, const bool *flag, uint64_t us)
{
    struct timespec at = snapshots_deadline(us);
    while (!*flag && pthread_cond_timedwait(&snapshots->changed, &snapshots->lock, &at) == 0)
        continue;
    return *flag;
}

static void snapshots_set(struct snapshots *snapshots, bool *flag)
{
    pthread_mutex_lock(&snapshots->lock);
    __atomic_store_n(flag, true, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&snapshots->changed);
    pthread_mutex_unlock(&snapshots->lock);
}

static bool snapshots_is_over(struct snapshots *snapshots)
{
    pthread_mutex_lock(&snapshots->lock);
    bool stop =
        snapshots_wait_for(snapshots, &snapshots->stop, snapshots->interval_s * (uint64_t)US_PER_S);
    pthread_mutex_unlock(&snapshots->lock);
    return stop;
}

static void *snapshots_run(void *argument)
{
    struct snapshots *snapshots = argument;

    (void)setpriority(PRIO_PROCESS, 0, NICENESS); /* on Linux this affects only this thread */
    cache_thread_begin();
    snapshots_load(snapshots);
    if (!__atomic_load_n(&snapshots->stop, __ATOMIC_RELAXED))
        snapshots_set(snapshots, &snapshots->is_read);
    while (!snapshots_is_over(snapshots))
        snapshots_save(snapshots, &snapshots->stop);
    cache_thread_end();
    return NULL;
}

static void snapshots_init(struct snapshots *snapshots)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&snapshots->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&snapshots->lock, NULL);
}

static void snapshots_deinit(struct snapshots *snapshots)
{
    pthread_cond_destroy(&snapshots->changed);
    pthread_mutex_destroy(&snapshots->lock);
    free(snapshots->path);
    free(snapshots);
}

bool snapshots_are_read(struct snapshots *snapshots)
{
    if (!snapshots)
        return true;
    pthread_mutex_lock(&snapshots->lock);
    bool is_read = snapshots->is_read;
    pthread_mutex_unlock(&snapshots->lock);
    return is_read;
}

struct snapshots *snapshots_open(const char *path, uint32_t interval_s, struct cache *cache,
                                 struct cache_filter filter)
{
    struct snapshots *snapshots = path && *path ? calloc(1, sizeof(*snapshots)) : NULL;

    if (!snapshots)
        return NULL;
    snapshots->path = strdup(path);
    if (!snapshots->path) {
        free(snapshots);
        return NULL;
    }
    snapshots->interval_s = interval_s;
    snapshots->cache = cache;
    snapshots->filter = filter;
    snapshots_init(snapshots);
    if (pthread_create(&snapshots->thread, NULL, snapshots_run, snapshots) != 0) {
        LOG(LOG_WARNING, "daemon", "cannot start a thread for cache.snapshot: it is not used");
        snapshots_deinit(snapshots);
        return NULL;
    }
    pthread_setname_np(snapshots->thread, "snapshot");
    pthread_mutex_lock(&snapshots->lock);
    (void)snapshots_wait_for(snapshots, &snapshots->is_read, SNAPSHOTS_START_US);
    pthread_mutex_unlock(&snapshots->lock);
    return snapshots;
}

void snapshots_close(struct snapshots **snapshots, bool save)
{
    static const bool never = false;
    struct snapshots *closing = *snapshots;

    *snapshots = NULL;
    if (!closing)
        return;
    snapshots_set(closing, &closing->stop);
    MUST(pthread_join(closing->thread, NULL) == 0);
    if (save && closing->is_read)
        snapshots_save(closing, &never);
    snapshots_deinit(closing);
}
