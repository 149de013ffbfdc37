/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Reads /proc/self for each page: two files and a folder. Stateless. */

#include "control/process_facts.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"

enum { PROCESS_LINES_MAX = 512 };

static enum err process_facts_put(struct buf *out, const char *name, const char *type,
                                  const char *help, double value)
{
    char text[PROCESS_LINES_MAX];
    int len = snprintf(text, sizeof(text),
                       "# HELP process_%s %s\n# TYPE process_%s %s\nprocess_%s %.*f\n", name, help,
                       name, type, name, value == (double)(int64_t)value ? 0 : 2, value);

    MUST(len > 0 && (size_t)len < sizeof(text));
    return buf_append(out, text, (size_t)len);
}

/* Pages of memory; false: unknown. */
static bool process_facts_memory(uint64_t *virtual_pages, uint64_t *resident_pages)
{
    FILE *file = fopen("/proc/self/statm", "re");
    bool is_read = file && fscanf(file, "%" SCNu64 " %" SCNu64, virtual_pages, resident_pages) == 2;

    if (file)
        fclose(file);
    return is_read;
}

/* 0: unknown. */
static unsigned process_facts_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    unsigned count = 0;

    if (!folder)
        return 0;
    for (const struct dirent *entry; (entry = readdir(folder));)
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count - 1; /* without the folder itself */
}

static enum err process_facts_put_memory(struct buf *out)
{
    uint64_t virtual_pages, resident_pages;
    double page = (double)sysconf(_SC_PAGESIZE);

    if (!process_facts_memory(&virtual_pages, &resident_pages))
        return ERR_OK;
    enum err err = process_facts_put(out, "resident_memory_bytes", "gauge",
                                     "Memory in RAM, in bytes.", (double)resident_pages * page);
    if (err)
        return err;
    return process_facts_put(out, "virtual_memory_bytes", "gauge", "Address space, in bytes.",
                             (double)virtual_pages * page);
}

static enum err process_facts_put_files(struct buf *out)
{
    unsigned count = process_facts_files();
    struct rlimit limit;
    enum err err = ERR_OK;

    if (count > 0)
        err = process_facts_put(out, "open_fds", "gauge", "Open files.", count);
    if (!err && getrlimit(RLIMIT_NOFILE, &limit) == 0)
        err = process_facts_put(out, "max_fds", "gauge", "The limit of open files.",
                                (double)limit.rlim_cur);
    return err;
}

enum err process_facts_write(struct buf *out, uint64_t started_time)
{
    struct timespec cpu = {0};

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    enum err err = process_facts_put(out, "cpu_seconds_total", "counter", "CPU time, in seconds.",
                                     (double)cpu.tv_sec + (double)cpu.tv_nsec / 1e9);
    if (!err)
        err = process_facts_put_memory(out);
    if (!err)
        err = process_facts_put_files(out);
    if (!err)
        err = process_facts_put(out, "start_time_seconds", "gauge",
                                "When the process started, in seconds since 1970.",
                                (double)started_time);
    return err;
}
