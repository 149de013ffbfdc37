/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Writes family by family, as the format requires: HELP and TYPE once, then every sample of the
 * name. Times are counted in microseconds and written in seconds.
 *
 * Invariant: the labels of a sample never change while the daemon runs. No label has more values
 * than a table has rows, except that of upstreams, which census.h bounds.
 */

#include "control/exposition.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/units.h"
#include "control/view.h"
#include "dns/name.h"
#include "nailup/version.h"
#include "rpz/rpz_policy.h"
#include "serve/view_rows.h"
#include "zone/zone_data.h"

enum {
    LINE_BYTES_MAX = 1024,
    LABEL_MAX = 2 * ADDR_TEXT_MAX + 1,
    VIEW_LABEL_MAX = 300, /* longer names are cut */
    ZONE_LABEL_MAX = 600, /* any name without bytes that need escapes fits */
    /* Writes every second of the four buckets per octave, because Prometheus pays for each: from 16
     * us, for queries that never leave the machine, to 16.8 s. */
    BUCKET_FIRST = 11,
    BUCKET_STEP = 2,
};

struct text {
    struct buf *out;
    enum err err; /* the first error; nothing is written after it */
};

static void exposition_put(struct text *text, const char *format, ...) PRINTF_LIKE(2, 3);

static void exposition_put(struct text *text, const char *format, ...)
{
    char line[LINE_BYTES_MAX];
    va_list arguments;

    va_start(arguments, format);
    int len = vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    MUST(len >= 0 && (size_t)len < sizeof(line));
    if (!text->err)
        text->err = buf_append(text->out, line, (size_t)len);
}

/* Escapes backslashes and newlines everywhere, quotes only in labels. */
static const char *escape(const char *from, bool is_label, char *out, size_t size)
{
    size_t len = 0;

    for (; *from && len + 3 <= size; from++) {
        if (*from == '\\' || *from == '\n' || (is_label && *from == '"'))
            out[len++] = '\\';
        out[len++] = *from == '\n' ? 'n' : *from;
    }
    out[len] = '\0';
    return out;
}

static void put_family(struct text *text, const char *name, const char *type, const char *sentence)
{
    char help[LINE_BYTES_MAX / 2];

    exposition_put(text, "# HELP nailup_%s %s\n", name,
                   escape(sentence, false, help, sizeof(help)));
    exposition_put(text, "# TYPE nailup_%s %s\n", name, type);
}

/* ---- rows ---- */

static const struct {
    const char *name, *sentence;
} families[] = {
#define FAMILY(name, sentence) {name, sentence},
#include "nailup/metrics.def"
};

/* The sentence for all samples of a name; a single sample has its own sentence. */
static const char *sentence_of(const char *name, const char *sentence)
{
    for (size_t i = 0; i < ARRAY_LEN(families); i++) {
        if (strcmp(families[i].name, name) == 0)
            return families[i].sentence;
    }
    return sentence;
}

/* A gauge that one worker raised and another lowered may be below zero for a moment. */
static void exposition_put_value(struct text *text, const struct stat_row *row, uint64_t value)
{
    if (row->kind == STAT_KIND_GAUGE)
        exposition_put(text, " %" PRId64 "\n", (int64_t)value);
    else
        exposition_put(text, " %" PRIu64 "\n", value);
}

static void put_rows(struct text *text, const struct stats *stats)
{
    const char *before = "";

    for (size_t i = 0; i < STAT_COUNT; i++) {
        const struct stat_row *row = &stat_rows[i];
        if (strcmp(row->name, before) != 0)
            put_family(text, row->name, row->kind == STAT_KIND_GAUGE ? "gauge" : "counter",
                       sentence_of(row->name, row->sentence));
        before = row->name;
        exposition_put(text, *row->labels ? "nailup_%s{%s}" : "nailup_%s", row->name, row->labels);
        exposition_put_value(text, row, stats->values[i]);
    }
}

/* ---- histograms ---- */

static void put_seconds(struct text *text, uint64_t us)
{
    exposition_put(text, "%" PRIu64 ".%06u", us / 1000000, (unsigned)(us % 1000000));
}

static void put_histogram(struct text *text, const char *name, const struct histogram *histogram)
{
    uint64_t count = stats_histogram_count(histogram);

    for (size_t i = BUCKET_FIRST; i < HISTOGRAM_BUCKETS - 1; i += BUCKET_STEP) {
        uint64_t limit = stats_histogram_limit_us(i);
        exposition_put(text, "nailup_%s_bucket{le=\"", name);
        put_seconds(text, limit);
        exposition_put(text, "\"} %" PRIu64 "\n", stats_histogram_count_to(histogram, limit));
    }
    exposition_put(text, "nailup_%s_bucket{le=\"+Inf\"} %" PRIu64 "\nnailup_%s_sum ", name, count,
                   name);
    put_seconds(text, histogram->sum_us);
    exposition_put(text, "\nnailup_%s_count %" PRIu64 "\n", name, count);
}

static void put_histograms(struct text *text, const struct stats *stats)
{
    for (size_t i = 0; i < stat_histogram_count; i++) {
        const struct stat_histogram_row *row = &stat_histogram_rows[i];
        put_family(text, row->name, "histogram", row->sentence);
        put_histogram(text, row->name, stats_histogram_at(stats, i));
    }
}

/* ---- upstreams ---- */

static void exposition_put_upstream(struct text *text, const struct per_upstream_row *row,
                                    const struct census_upstream *upstream, uint64_t value)
{
    char address[ADDR_TEXT_MAX], label[LABEL_MAX];

    if (row->kind == PER_UPSTREAM_SECONDS && value == 0)
        return; /* not measured yet */
    exposition_put(text, "nailup_%s{upstream=\"%s\",transport=\"%s\"} ", row->name,
                   escape(addr_format(&upstream->addr, address), true, label, sizeof(label)),
                   upstream->transport);
    if (row->kind == PER_UPSTREAM_SECONDS)
        put_seconds(text, value);
    else
        exposition_put(text, "%" PRIu64, value);
    exposition_put(text, "\n");
}

static void put_census(struct text *text, const struct census *census)
{
    for (size_t i = 0; i < PER_UPSTREAM_COUNT; i++) {
        const struct per_upstream_row *row = &per_upstream_rows[i];
        put_family(text, row->name, row->kind == PER_UPSTREAM_COUNTER ? "counter" : "gauge",
                   row->sentence);
        for (size_t j = 0; j < census->count; j++)
            exposition_put_upstream(text, row, &census->upstreams[j],
                                    census->upstreams[j].values[i]);
    }
    put_family(text, "per_upstream_left_out", "gauge",
               "Upstreams without separate figures, because there are too many.");
    exposition_put(text, "nailup_per_upstream_left_out %zu\n", census->left_out);
}

/* ---- response policy zones ---- */

enum per_rpz_zone {
#define PER_RPZ_ZONE(id, name, kind, sentence) PER_RPZ_ZONE_##id,
#include "nailup/metrics.def"
};

static void put_rpz_matches(struct text *text, const char *name, const char *zone,
                            const struct rpz_policy_zone *from)
{
    for (enum rpz_action i = 0; i < RPZ_ACTIONS; i++) {
        const char *action = i == RPZ_NONE ? "kept" : rpz_action_name(i);
        exposition_put(text, "nailup_%s{zone=\"%s\",action=\"%s\"} %" PRIu64 "\n", name, zone,
                       action, rpz_policy_zone_hits(from, i));
    }
}

static size_t count_rules(const struct rpz_rules *rules)
{
    size_t count = 0;
    for (enum rpz_trigger i = 0; i < RPZ_TRIGGERS; i++)
        count += rpz_rules_count(rules, i);
    return count;
}

/* The facts about a zone that the figures show. */
struct rpz_seen {
    const struct rpz_policy_zone *zone;
    const struct rpz_rules *rules; /* NULL: none */
    const struct control_policy_zone *row;
    uint64_t now;
};

/* Returns false if the zone does not have this figure: a zone without rules has no serial, and a
 * zone from a file has no primary. */
static bool rpz_figure(const struct rpz_seen *seen, enum per_rpz_zone which, uint64_t *out)
{
    const struct control_policy_zone *row = seen->row;
    const struct rpz_rules *rules = seen->rules;
    uint64_t now = seen->now;

    switch (which) {
    case PER_RPZ_ZONE_rules:
        *out = rules ? count_rules(rules) : 0;
        return true;
    case PER_RPZ_ZONE_skipped:
        *out = rules ? rpz_rules_skipped(rules) : 0;
        return true;
    case PER_RPZ_ZONE_bytes:
        *out = rules ? rpz_rules_bytes(rules) : 0;
        return true;
    case PER_RPZ_ZONE_serial:
        *out = rules ? zone_data_soa(rpz_rules_zone(rules))->serial : 0;
        return rules;
    case PER_RPZ_ZONE_age:
        *out = now > row->loaded_at ? (now - row->loaded_at) / US_PER_S : 0;
        return rules;
    case PER_RPZ_ZONE_refresh:
        *out = row->refresh_at > now ? (row->refresh_at - now) / US_PER_S : 0;
        return row->source == CONTROL_POLICY_PRIMARIES;
    case PER_RPZ_ZONE_expiry:
        *out = row->expires_at > now ? (row->expires_at - now) / US_PER_S : 0;
        /* When a catalog expires, its members stay in force. */
        return row->source == CONTROL_POLICY_PRIMARIES && !row->is_catalog;
    case PER_RPZ_ZONE_matches:
        break;
    }
    return false;
}

static void put_rpz_figure(struct text *text, enum per_rpz_zone which, const char *name,
                           const struct rpz_seen *seen)
{
    const struct rpz_zone_options *options = rpz_policy_zone_options(seen->zone);
    char zone[NAME_TEXT_MAX], label[ZONE_LABEL_MAX];
    uint64_t value;

    name_format((struct name){options->wire, options->name_len}, zone);
    escape(zone, true, label, sizeof(label));
    if (which == PER_RPZ_ZONE_matches)
        put_rpz_matches(text, name, label, seen->zone);
    else if (rpz_figure(seen, which, &value))
        exposition_put(text, "nailup_%s{zone=\"%s\"} %" PRIu64 "\n", name, label, value);
}

static void put_rpz_policy(struct text *text, const struct control_policy *policy, uint64_t now)
{
    static const struct {
        const char *name, *kind, *sentence;
    } rows[] = {
#define PER_RPZ_ZONE(id, name, kind, sentence) [PER_RPZ_ZONE_##id] = {name, #kind, sentence},
#include "nailup/metrics.def"
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        put_family(text, rows[i].name, strcmp(rows[i].kind, "COUNTER") == 0 ? "counter" : "gauge",
                   rows[i].sentence);
        for (size_t j = 0; j < rpz_policy_count(policy->rules); j++) {
            const struct rpz_policy_zone *zone = rpz_policy_at(policy->rules, j);
            const struct rpz_seen seen = {zone, rpz_policy_zone_rules(zone), &policy->zones[j],
                                          now};
            put_rpz_figure(text, (enum per_rpz_zone)i, rows[i].name, &seen);
        }
    }
}

/* ---- views ---- */

static void exposition_put_view(struct text *text, const struct stat_view_row *row,
                                const char *name, const struct view_stats *stats)
{
    char label[VIEW_LABEL_MAX];

    exposition_put(text, "nailup_%s{view=\"%s\"%s%s} %" PRIu64 "\n", row->name,
                   escape(name, true, label, sizeof(label)), *row->labels ? "," : "", row->labels,
                   stats_view_at(stats, (size_t)(row - stat_view_rows)));
}

static void exposition_put_views(struct text *text, const struct view_rows *views,
                                 const struct stats *stats)
{
    const char *before = "";

    for (size_t i = 0; i < stat_view_count; i++) {
        const struct stat_view_row *row = &stat_view_rows[i];
        if (strcmp(row->name, before) != 0)
            put_family(text, row->name, "counter", sentence_of(row->name, row->sentence));
        before = row->name;
        for (size_t j = 0; j < view_rows_count(views); j++)
            exposition_put_view(text, row, view_rows_name(views, j), &stats->views[j]);
        if (view_rows_has_others(views))
            exposition_put_view(text, row, VIEW_ROWS_OTHER, &stats->views[STATS_VIEWS_MAX]);
    }
}

/* ---- zones held here ---- */

enum per_held_zone {
#define PER_HELD_ZONE(id, name, kind, sentence) PER_HELD_ZONE_##id,
#include "nailup/metrics.def"
};

/* Returns whether the zone has the figure. */
static bool held_figure(const struct control_zone *zone, enum per_held_zone which,
                        const struct exposition_time *time, uint64_t *out)
{
    const struct control_zone_times *times = zone->times;
    bool is_held = control_zone_has_version(zone->state);

    switch (which) {
    case PER_HELD_ZONE_held_zone_serial:
        *out = zone->serial;
        return is_held;
    case PER_HELD_ZONE_held_zone_age:
        *out = time->now > zone->loaded_at ? (time->now - zone->loaded_at) / US_PER_S : 0;
        return is_held;
    case PER_HELD_ZONE_held_zone_confirmed: {
        int64_t at_s = times ? (int64_t)stats_read(&times->confirmed_at_s) : 0;
        *out = time->wall_s > at_s ? (uint64_t)(time->wall_s - at_s) : 0;
        return at_s > 0;
    }
    case PER_HELD_ZONE_held_zone_expiry: {
        uint64_t at = times ? stats_read(&times->expires_at) : 0;
        *out = at > time->now ? (at - time->now) / US_PER_S : 0;
        return times;
    }
    case PER_HELD_ZONE_held_zone_expired:
        *out = zone->state == CONTROL_ZONE_EXPIRED;
        return true;
    }
    return false;
}

static void put_held_figure(struct text *text, enum per_held_zone which, const char *name,
                            const struct control_zone *zone, const struct exposition_time *time)
{
    char shown[NAME_TEXT_MAX], label[ZONE_LABEL_MAX];
    uint64_t value;

    if (!held_figure(zone, which, time, &value))
        return;
    name_format((struct name){zone->wire, zone->name_len}, shown);
    exposition_put(text, "nailup_%s{zone=\"%s\"} %" PRIu64 "\n", name,
                   escape(shown, true, label, sizeof(label)), value);
}

static void put_held(struct text *text, const struct control_view *view,
                     const struct exposition_time *time)
{
    static const struct {
        const char *name, *sentence;
    } rows[] = {
#define PER_HELD_ZONE(id, name, kind, sentence) [PER_HELD_ZONE_##id] = {name, sentence},
#include "nailup/metrics.def"
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        put_family(text, rows[i].name, "gauge", rows[i].sentence);
        for (size_t j = 0; j < MIN(view->held_count, EXPOSITION_ZONES_MAX); j++)
            put_held_figure(text, (enum per_held_zone)i, rows[i].name, &view->held[j], time);
    }
}

enum err exposition_write(struct buf *out, const struct stats *stats, const struct census *census,
                          const struct control_view *view, const struct exposition_time *time)
{
    struct text text = {.out = out};

    put_family(&text, "build_info", "gauge", "Always 1; the label says what runs.");
    exposition_put(&text, "nailup_build_info{version=\"%s\"} 1\n", NAILUP_VERSION);
    put_rows(&text, stats);
    put_histograms(&text, stats);
    if (census)
        put_census(&text, census);
    if (view->view_rows && view_rows_count(view->view_rows) > 0)
        exposition_put_views(&text, view->view_rows, stats);
    if (view->held_count > 0)
        put_held(&text, view, time);
    if (view->policy.rules)
        put_rpz_policy(&text, &view->policy, time->now);
    return text.err;
}
