/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* The text of log lines and replies about a reload. Decides nothing. */

#include "daemon/reload_report.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "config/changes.h"
#include "config/config.h"
#include "control/call.h"
#include "control/view.h"
#include "dns/name.h"
#include "rpz/rpz_policy.h"

enum { KEYS_TEXT_MAX = 512 }; /* names of changed keys in a log line; further names are left out */

/* ---- the log ---- */

/* ": cache.max-ttl, forward-zones", or nothing. */
static const char *report_list_keys(const struct changes *changes, char out[KEYS_TEXT_MAX])
{
    size_t len = 0;
    const char *before = ": ";

    *out = '\0';
    for (size_t i = 0; i < changes->count; i++) {
        const struct change *change = &changes->list[i];
        if (change->needs_restart)
            continue;
        if (len + strlen(change->path) + sizeof(", ...") >= KEYS_TEXT_MAX) {
            snprintf(out + len, KEYS_TEXT_MAX - len, ", ...");
            break;
        }
        len += (size_t)snprintf(out + len, KEYS_TEXT_MAX - len, "%s%s", before, change->path);
        before = ", ";
    }
    return out;
}

static size_t report_count_changes(const struct changes *changes, bool needs_restart)
{
    size_t count = 0;

    for (size_t i = 0; i < changes->count; i++)
        count += changes->list[i].needs_restart == needs_restart;
    return count;
}

/* ---- zones without a version ---- */

static void report_put_zone(struct reply *reply, struct name name, const char *use,
                            enum control_zone_state state, const char *why)
{
    char text[NAME_TEXT_MAX];

    if (!reply)
        return;
    reply_row(reply);
    reply_text(reply, name_format(name, text));
    reply_text(reply, use);
    reply_text(reply, control_zone_word(state));
    reply_text(reply, why);
    reply_row_end(reply);
}

static size_t report_held_zones(const struct control_view *view, struct reply *reply)
{
    size_t count = 0;

    for (size_t i = 0; i < view->held_count; i++) {
        const struct control_zone *zone = &view->held[i];
        if (control_zone_has_version(zone->state))
            continue;
        count++;
        report_put_zone(reply, (struct name){zone->wire, zone->name_len},
                        zone->is_catalog ? "catalog" : "answers", zone->state, zone->why);
    }
    return count;
}

static size_t report_policy_zones(const struct control_policy *policy, struct reply *reply)
{
    size_t count = 0;

    for (size_t i = 0; policy->rules && i < rpz_policy_count(policy->rules); i++) {
        const struct control_policy_zone *zone = &policy->zones[i];
        const struct rpz_zone_options *options =
            rpz_policy_zone_options(rpz_policy_at(policy->rules, i));
        if (control_zone_has_version(zone->state))
            continue;
        count++;
        report_put_zone(reply, (struct name){options->wire, options->name_len}, "policy",
                        zone->state, zone->why);
    }
    return count;
}

/* Writes a row for each, unless reply is NULL. Returns their number. */
static size_t report_zones_to_come(const struct control_view *view, struct reply *reply)
{
    return view ? report_held_zones(view, reply) + report_policy_zones(&view->policy, reply) : 0;
}

static void report_log_zones(const struct reload_report *report)
{
    size_t count = report_zones_to_come(report->zones, NULL);

    if (!report->zones_are_read)
        LOG(LOG_WARNING, "daemon",
            "reload: the files of some zones are still being read; nailupctl zones shows them");
    if (count > 0)
        LOG(LOG_NOTICE, "daemon",
            "reload: zones without a version: %zu; nailupctl zones shows them", count);
}

void reload_report_log(const struct reload_report *report)
{
    char keys[KEYS_TEXT_MAX];
    const struct changes *changes = report->changes;

    LOG(LOG_NOTICE, "daemon", "reload: %s is in effect after %llu ms; changed keys: %zu%s",
        report->config_file, (unsigned long long)report->took_us / 1000,
        report_count_changes(changes, false), report_list_keys(changes, keys));
    for (size_t i = 0; i < changes->count; i++) {
        const struct change *change = &changes->list[i];
        if (change->needs_restart)
            LOG(LOG_WARNING, "daemon",
                "reload: %s needs a restart: it stays %s until then; the file says %s",
                change->path, change->before, change->after);
    }
    report_log_zones(report);
}

/* Calls say() for each line. */
static void report_each_line(struct span text, void (*say)(void *context, const char *line),
                             void *context)
{
    char line[1024];

    while (text.len > 0) {
        const uint8_t *end = memchr(text.data, '\n', text.len);
        size_t len = end ? (size_t)(end - text.data) : text.len;
        snprintf(line, sizeof(line), "%.*s", (int)len, (const char *)text.data);
        say(context, line);
        len += end != NULL;
        text = span_of(text.data + len, text.len - len);
    }
}

static void report_log_error(void *context, const char *line)
{
    (void)context;
    LOG(LOG_ERROR, "config", "%s", line);
}

void reload_report_log_failure(const struct reload_report *report)
{
    report_each_line(report->errors, report_log_error, NULL);
    LOG(LOG_ERROR, "daemon", "reload failed: %s", report->why);
}

/* ---- the answer ---- */

static void report_put_summary(const struct reload_report *report, struct reply *reply)
{
    const struct config *config = report->config;

    reply_record(reply, "reload",
                 "config:text\ttook:duration\tchanged:count\tneeding_restart:count\t"
                 "forward_zones:count\tstub_zones:count\trecursion:flag\tlocal_names:"
                 "count\tforgotten_answers:count\tzones_are_read:flag");
    reply_row(reply);
    reply_text(reply, report->config_file);
    reply_duration(reply, report->took_us);
    reply_count(reply, report_count_changes(report->changes, false));
    reply_count(reply, report_count_changes(report->changes, true));
    reply_count(reply, config->zone_count);
    reply_count(reply, config->stub_count);
    reply_flag(reply, config_has_recursion(config));
    reply_count(reply, local_names_count(config->local));
    reply_count(reply, report->forgotten);
    reply_flag(reply, report->zones_are_read);
    reply_row_end(reply);
}

static void report_put_changes(const struct changes *changes, struct reply *reply)
{
    reply_table(reply, "changes", "key:text\teffect:text\tbefore:text\tafter:text");
    for (size_t i = 0; i < changes->count; i++) {
        const struct change *change = &changes->list[i];
        reply_row(reply);
        reply_text(reply, change->path);
        reply_text(reply, change->needs_restart ? "needs a restart" : "now");
        reply_text(reply, change->before);
        reply_text(reply, change->after);
        reply_row_end(reply);
    }
}

void reload_report_answer(const struct reload_report *report, struct call *call)
{
    report_put_summary(report, &call->reply);
    report_put_changes(report->changes, &call->reply);
    reply_table(&call->reply, "zones_to_come", "zone:text\tfor:text\tstate:text\twhy:text");
    (void)report_zones_to_come(report->zones, &call->reply);
}

static void report_put_error(void *context, const char *line)
{
    struct reply *reply = context;
    reply_error(reply, line);
}

void reload_report_refuse(const struct reload_report *report, struct call *call)
{
    reply_refuse(&call->reply, "%s", report->why);
    if (report->errors.len == 0)
        return;
    reply_errors_begin(&call->reply);
    report_each_line(report->errors, report_put_error, &call->reply);
}
