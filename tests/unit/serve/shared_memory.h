/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_UNIT_SERVE_SHARED_MEMORY_H
#define NAILUP_TESTS_UNIT_SERVE_SHARED_MEMORY_H

/*
 * Makes the memory that workers share read-only in a test: the cache's mapping, which is found in
 * /proc/self/maps, and the memory from shared_take(). A child that writes to it meanwhile dies, and
 * signal_of() returns the signal. Included by one file of a program.
 */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cache/cache.h"

/* ---- memory that workers share ---- */

struct range {
    uint8_t *at;
    size_t len;
};

enum { SHARED_BYTES = 4 << 20 };
static struct range shared, mapping; /* mapping: the cache's */
static size_t shared_used;

static inline void *shared_take(size_t count, size_t size)
{
    shared_used = (shared_used + 63) / 64 * 64;
    assert_true(shared_used + count * size <= shared.len);
    shared_used += count * size;
    return shared.at + shared_used - count * size; /* fresh pages are zero */
}

static inline void shared_begin(void)
{
    shared = (struct range){
        .at = mmap(NULL, SHARED_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
        .len = SHARED_BYTES};
    assert_ptr_not_equal(shared.at, MAP_FAILED);
    shared_used = 0;
}

static inline void protect(int how)
{
    assert_int_equal(mprotect(mapping.at, mapping.len, how), 0);
    assert_int_equal(mprotect(shared.at, shared.len, how), 0);
}

static inline void share_read_only(void)
{
    protect(PROT_READ);
}

static inline void share_again(void)
{
    protect(PROT_READ | PROT_WRITE);
}

/* ---- finding the cache ---- */

enum { MAPS_MAX = 8192 };
struct maps {
    size_t count;
    struct range list[MAPS_MAX];
};

static inline void maps_read(struct maps *maps)
{
    FILE *file = fopen("/proc/self/maps", "r");
    char line[PATH_MAX + 200];
    assert_non_null(file);
    for (maps->count = 0; fgets(line, sizeof(line), file);) {
        uintptr_t from, to;
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &from, &to) != 2)
            continue; /* skips the rest of a long line */
        assert_true(maps->count < MAPS_MAX);
        maps->list[maps->count++] = (struct range){(uint8_t *)from, to - from};
    }
    fclose(file);
}

static inline bool is_mapped(const struct maps *maps, const uint8_t *at)
{
    for (size_t i = 0; i < maps->count; i++)
        if (at >= maps->list[i].at && at < maps->list[i].at + maps->list[i].len)
            return true;
    return false;
}

/* Makes a new cache and finds its mapping: the newly mapped pages from its address on. The kernel
 * may have merged the mapping with a neighbour. */
static inline struct cache *cache_found(const struct cache_options *options)
{
    static struct maps before, after;
    cache_free(cache_new(options)); /* maps now the memory that only the first cache needs */
    maps_read(&before);
    struct cache *cache = cache_new(options);
    maps_read(&after);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    mapping = (struct range){.at = (uint8_t *)cache};
    while (is_mapped(&after, mapping.at + mapping.len) &&
           !is_mapped(&before, mapping.at + mapping.len))
        mapping.len += page;
    assert_in_range(mapping.len, options->size_bytes - 2 * page, options->size_bytes);
    return cache;
}

/* Runs a function in a child process. Returns the signal that ends the child, or 0. */
static inline int signal_of(void (*act)(void))
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        static const struct rlimit no_core;
        signal(SIGSEGV, SIG_DFL); /* removes the handlers of the sanitizer and of cmocka */
        signal(SIGBUS, SIG_DFL);
        setrlimit(RLIMIT_CORE, &no_core);
        act();
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

#endif
