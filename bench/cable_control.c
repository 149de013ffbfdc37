/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Commands to a running cable, one per line on standard input. Each gets a one-line answer: JSON,
 * "ok", or "error: " and a sentence. Also the counters.
 */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "cable.h"
#include "clock.h"
#include "json.h"
#include "process_cpu.h"
#include "words.h"

enum { LINE_MAX_BYTES = 256, WORDS_MAX = 3 };

struct cable_control {
    struct watch watch; /* fd -1: the commands have ended */
    struct cable *cable;
    size_t len;
    char line[LINE_MAX_BYTES];
};

void cable_stats_reset(struct cable *cable)
{
    memset(&cable->line.counters, 0, sizeof(cable->line.counters));
    /* Packets under way will count as delivered, so they must count as received as well. */
    cable->line.counters.packets = delay_line_count(&cable->line.line);
    latency_init(&cable->late);
    cable->since_us = clock_now_us();
    cable->cpu_before_us = process_cpu_us(0);
    cable->overruns_before = cable_device_overruns(cable->device.name);
}

static void lateness_json(struct json *json, const struct latency *late)
{
    json_open(json, "late_us", '{');
    json_u64(json, "p50", latency_percentile(late, 50));
    json_u64(json, "p99", latency_percentile(late, 99));
    json_u64(json, "max", late->max);
    json_close(json, '}');
}

void cable_stats_json(struct cable *cable, FILE *out)
{
    const struct cable_counters *counters = &cable->line.counters;
    struct json json = {.out = out};
    json_open(&json, NULL, '{');
    json_u64(&json, "packets", counters->packets);
    json_u64(&json, "bytes", counters->bytes);
    json_u64(&json, "delivered", counters->delivered);
    json_u64(&json, "lost", counters->lost);
    json_u64(&json, "dropped_full", counters->dropped_full);
    json_u64(&json, "foreign", counters->foreign);
    json_u64(&json, "refused", counters->refused);
    json_u64(&json, "under_way", delay_line_count(&cable->line.line));
    json_u64(&json, "overruns", cable_device_overruns(cable->device.name) - cable->overruns_before);
    lateness_json(&json, &cable->late);
    json_number(&json, "seconds", (double)(clock_now_us() - cable->since_us) / 1e6);
    json_number(&json, "cpu_us", process_cpu_us(0) - cable->cpu_before_us);
    json_close(&json, '}');
}

/* Returns false if out already has the answer. */
static bool cable_control_do_one(struct cable *cable, const char *word, FILE *out)
{
    if (strcmp(word, "stats") == 0)
        cable_stats_json(cable, out);
    else if (strcmp(word, "settings") == 0)
        cable_settings_json(&cable->line.settings, out);
    else if (strcmp(word, "help") == 0)
        fputs("delay MS | jitter MS | loss PERCENT | reorder on|off | stats | reset-stats | "
              "settings | quit",
              out);
    else if (strcmp(word, "reset-stats") == 0)
        return cable_stats_reset(cable), true;
    else if (strcmp(word, "quit") == 0)
        return cable->stopping = true;
    else
        fputs("error: no such command; try help", out);
    return false;
}

static bool cable_control_do_set(struct cable *cable, const char *name, const char *value,
                                 FILE *out)
{
    char why[CABLE_WHY_MAX];
    if (cable_set(&cable->line.settings, name, value, why))
        return true;
    fprintf(out, "error: %s", why);
    return false;
}

static void cable_control_answer_line(struct cable *cable, char *line, FILE *out)
{
    char *words[WORDS_MAX];
    int count = words_split(line, words, WORDS_MAX);
    bool ok = false;
    if (count == 1)
        ok = cable_control_do_one(cable, words[0], out);
    else if (count == 2)
        ok = cable_control_do_set(cable, words[0], words[1], out);
    else
        fputs("error: no such command; try help", out);
    fputs(ok ? "ok\n" : "\n", out);
    fflush(out);
}

/* The cable outlives its commands. */
static void stop_listening(struct cable_control *control)
{
    close(control->watch.fd);
    control->watch.fd = -1;
}

static void cable_control_on_input(struct watch *watch, uint32_t events)
{
    struct cable_control *control = CONTAINER_OF(watch, struct cable_control, watch);
    (void)events;
    ssize_t n = read(watch->fd, control->line + control->len, LINE_MAX_BYTES - 1 - control->len);
    if (n <= 0) {
        stop_listening(control);
        return;
    }
    control->len += (size_t)n;
    control->line[control->len] = '\0';
    char *start = control->line, *end;
    while ((end = strchr(start, '\n'))) {
        *end = '\0';
        cable_control_answer_line(control->cable, start, stdout);
        start = end + 1;
    }
    control->len = (size_t)(control->line + control->len - start);
    memmove(control->line, start, control->len);
    if (control->len == LINE_MAX_BYTES - 1) { /* the line is too long */
        fputs("error: that line is too long\n", stdout);
        fflush(stdout);
        control->len = 0;
    }
}

enum err cable_control_open(struct cable *cable)
{
    struct cable_control *control = calloc(1, sizeof(*control));
    if (!control)
        return ERR_NO_MEMORY;
    cable->control = control;
    control->cable = cable;
    control->watch = (struct watch){.fd = STDIN_FILENO, .on_ready = cable_control_on_input};
    return poller_add(cable->poller, &control->watch, EPOLLIN);
}

void cable_control_close(struct cable *cable)
{
    free(cable->control);
    cable->control = NULL;
}
