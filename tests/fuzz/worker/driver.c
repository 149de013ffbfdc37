/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Plays schedules without libFuzzer: files, and random ones from numbered seeds.
 *
 *   worker_soak [--runs N] [--queries N] [--first SEED] [--size BYTES] [--traffic N]
 *               [--scarce N] [--save FILE] [FILE|DIR...]
 *
 * --runs and --queries bound the random schedules; the first bound that is reached ends the run.
 * --traffic makes the steps with many queries so many times longer.
 * --scarce makes one of N allocations of the worker fail; for worker_scarce, the same program with
 * scarce memory (support/scarce.h).
 * --save writes the schedule of the first seed to a file and plays nothing.
 */
#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/log.h"
#include "fuzz/worker/schedule.h"

enum { FILE_MAX = 1 << 20, SIZE_DEFAULT = 2000, PROGRESS_S = 60 };

static struct {
    uint64_t runs, queries, first, size, scarce;
    const char *save;
} options = {.size = SIZE_DEFAULT};

static struct {
    uint64_t runs, files;
    struct schedule_result sum;
} done;

static uint8_t schedule[FILE_MAX];
static const char *playing = ""; /* the file; "": the seed first + runs */

/* Prints the command that plays the failed schedule again. */
static void on_abort(int signal)
{
    (void)signal;
    dprintf(STDERR_FILENO, "while playing %s, seed %llu, --size %llu\n",
            *playing ? playing : "at random", (unsigned long long)(options.first + done.runs),
            (unsigned long long)options.size);
}

static void play(size_t size)
{
    struct schedule_result result = schedule_play(schedule, size);
    done.sum.queries += result.queries;
    done.sum.answers += result.answers;
    done.sum.good += result.good;
    done.sum.secure += result.secure;
    done.sum.allocations_failed += result.allocations_failed;
}

static void play_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    MUST(file);
    playing = path;
    size_t size = fread(schedule, 1, sizeof(schedule), file);
    fclose(file);
    done.files++;
    play(size);
}

static void play_path(const char *path)
{
    struct stat stat_of;
    MUST(stat(path, &stat_of) == 0);
    if (!S_ISDIR(stat_of.st_mode)) {
        play_file(path);
        return;
    }
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort);
    MUST(count >= 0);
    for (int i = 0; i < count; i++) {
        char inside[4096];
        snprintf(inside, sizeof(inside), "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.')
            play_file(inside);
        free(entries[i]);
    }
    free(entries);
}

static size_t make_schedule(uint64_t seed)
{
    uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    size_t size = options.size / 4 + seed * 7919 % (options.size * 3 / 2 + 1);
    size = MIN(size, sizeof(schedule));
    for (size_t i = 0; i < size; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        schedule[i] = (uint8_t)(state >> 56);
    }
    return size;
}

static void save(void)
{
    size_t size = make_schedule(options.first);
    FILE *file = fopen(options.save, "wb");
    MUST(file && fwrite(schedule, 1, size, file) == size && fclose(file) == 0);
}

static void report(const char *what, double seconds)
{
    printf("%s: %llu files, %llu schedules at random, %llu queries, %llu answers (%llu of NOERROR "
           "or NXDOMAIN, %llu with AD), %.0f s, %.0f queries a second\n",
           what, (unsigned long long)done.files, (unsigned long long)done.runs,
           (unsigned long long)done.sum.queries, (unsigned long long)done.sum.answers,
           (unsigned long long)done.sum.good, (unsigned long long)done.sum.secure, seconds,
           (double)done.sum.queries / (seconds > 0 ? seconds : 1));
    fflush(stdout);
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void play_at_random(double began)
{
    double told = began;
    playing = "";
    while (done.runs < options.runs && done.sum.queries < options.queries) {
        play(make_schedule(options.first + done.runs));
        done.runs++;
        if (seconds_now() < told + PROGRESS_S)
            continue;
        told = seconds_now();
        report("so far", told - began);
    }
}

static bool take_option(const char *name, const char *value)
{
    if (!value)
        return false;
    if (strcmp(name, "--runs") == 0)
        options.runs = strtoull(value, NULL, 10);
    else if (strcmp(name, "--queries") == 0)
        options.queries = strtoull(value, NULL, 10);
    else if (strcmp(name, "--first") == 0)
        options.first = strtoull(value, NULL, 10);
    else if (strcmp(name, "--size") == 0)
        options.size = strtoull(value, NULL, 10);
    else if (strcmp(name, "--traffic") == 0)
        schedule_lengthen((unsigned)strtoul(value, NULL, 10));
    else if (strcmp(name, "--scarce") == 0)
        options.scarce = strtoull(value, NULL, 10);
    else if (strcmp(name, "--save") == 0)
        options.save = value;
    else
        return false;
    return true;
}

int main(int argc, char **argv)
{
    int at = 1;
    log_set_level(LOG_ERROR);
    signal(SIGABRT, on_abort);
    for (; at < argc && strncmp(argv[at], "--", 2) == 0; at += 2) {
        if (take_option(argv[at], argv[at + 1]))
            continue;
        fprintf(stderr, "what is %s?\n", argv[at]);
        return 2;
    }
    if (options.save) {
        save();
        return 0;
    }
    if (options.queries && !options.runs)
        options.runs = UINT64_MAX;
    if (options.runs && !options.queries)
        options.queries = UINT64_MAX;
    schedule_starve((unsigned)options.scarce);
    double began = seconds_now();
    for (; at < argc; at++)
        play_path(argv[at]);
    play_at_random(began);
    report("done", seconds_now() - began);
    if (options.scarce)
        printf("allocations failed: %llu\n", (unsigned long long)done.sum.allocations_failed);
    /* without a failed allocation, the run has shown nothing */
    return options.scarce && !done.sum.allocations_failed;
}
