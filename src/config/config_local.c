/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Makes the table of local data from the configuration and from the hosts file and block lists that
 * it names. A file that cannot be read is an error; a line that cannot be read is a warning,
 * because other programs wrote it. Invariant: at most LOCAL_FILE_MAX bytes of a file are read, and
 * at most WARNINGS_MAX of its lines are reported.
 */
#include "config/config_local.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "config/local_file.h"
#include "local/local_build.h"
#include "local/local_forget.h"
#include "local/local_special.h"
#include "local/local_text.h"

enum { WARNINGS_MAX = 10 };

/* ---- what the file itself says ---- */

static struct name local_zone_name(const struct config_local_zone *zone)
{
    return (struct name){zone->wire, zone->name_len};
}

/* Reports an error other than invalid data. ERR_LIMIT belongs to the position. */
static void report_local_build(struct loader *loader, struct config_position position,
                               const char *path, enum err err)
{
    if (err == ERR_LIMIT)
        problems_add(loader->problems, position, path,
                     "is too large for the local data; shorten it");
    else if (err)
        problems_no_memory(loader->problems);
}

static void add_zones(struct loader *loader, struct local_build *build)
{
    const struct config *config = loader->config;
    for (size_t i = 0; i < config->local_zone_count; i++) {
        const struct config_local_zone *zone = &config->local_zones[i];
        char path[64], text[KIND_TEXT_MAX];
        snprintf(path, sizeof(path), "local-zones[%zu]", i);
        enum err err = local_build_zone(build, local_zone_name(zone), zone->action);
        if (err == ERR_INVALID)
            problems_add(loader->problems, zone->position, path,
                         "zone %.100s is given twice; keep one of them",
                         kind_format(KIND_ZONE_NAME, zone->wire, text));
        else
            report_local_build(loader, zone->position, path, err);
    }
}

static void add_local_records(struct loader *loader, struct local_build *build)
{
    const struct config *config = loader->config;
    for (size_t i = 0; i < config->record_count; i++) {
        const struct config_record *record = &config->records[i];
        char path[64];
        const char *why = NULL;
        snprintf(path, sizeof(path), "local-data[%zu]", i);
        enum err err = local_build_record(build, span_of(record->wire, record->len), &why);
        if (err == ERR_INVALID)
            problems_add(loader->problems, record->position, path,
                         "cannot be used as a record: %s; correct it or leave it out", why);
        else
            report_local_build(loader, record->position, path, err);
    }
}

static void check_redirects(struct loader *loader, struct local_build *build)
{
    const struct config *config = loader->config;
    for (size_t i = 0; i < config->local_zone_count; i++) {
        const struct config_local_zone *zone = &config->local_zones[i];
        char path[64], text[KIND_TEXT_MAX];
        if (zone->action != LOCAL_REDIRECT || local_build_has_records(build, local_zone_name(zone)))
            continue;
        snprintf(path, sizeof(path), "local-zones[%zu]", i);
        problems_add(loader->problems, zone->position, path,
                     "has nothing to redirect to; add a record of %.100s to local-data",
                     kind_format(KIND_ZONE_NAME, zone->wire, text));
    }
}

/* ---- other files ---- */

struct warner {
    struct config *config;
    const char *file;
    size_t count;
};

static void warn(struct config *config, const char *line)
{
    /* Warnings that do not fit are dropped: the first ones matter most. */
    if (buf_append(&config->warnings, line, strlen(line)))
        return;
}

static void on_problem(void *context, size_t line, size_t column, struct span word,
                       const char *sentence)
{
    struct warner *warner = context;
    char quoted[PROBLEM_QUOTE_MAX], text[KIND_STRING_MAX + 512];
    if (warner->count++ >= WARNINGS_MAX)
        return;
    snprintf(text, sizeof(text), "%s:%zu:%zu: warning: \"%s\" %s\n", warner->file, line, column,
             problem_quote((const char *)word.data, word.len, quoted), sentence);
    warn(warner->config, text);
}

static void end_warnings(const struct warner *warner)
{
    char text[KIND_STRING_MAX + 128];
    if (warner->count <= WARNINGS_MAX)
        return;
    snprintf(text, sizeof(text), "%s:1:1: warning: %zu more lines were not understood\n",
             warner->file, warner->count - WARNINGS_MAX);
    warn(warner->config, text);
}

/* list: NULL for a hosts file. */
static void add_local_file(struct loader *loader, struct local_build *build, const char *file,
                           const uint32_t *list, struct config_position position, const char *path)
{
    struct warner warner = {.config = loader->config, .file = file};
    const struct local_text_report report_to = {on_problem, &warner};
    struct span text;
    char why[LOCAL_FILE_WHY_MAX];
    enum err err = local_file_read(file, &text, why);
    if (err) {
        problems_add(loader->problems, position, path, "%s", why);
        return;
    }
    err = list ? local_text_list(build, *list, text, &report_to)
               : local_text_hosts(build, text, &report_to);
    local_file_free(text);
    end_warnings(&warner);
    report_local_build(loader, position, path, err);
}

static void add_hosts(struct loader *loader, struct local_build *build)
{
    static const char path[] = "hosts-file";
    const struct config *config = loader->config;
    if (*config->hosts_file)
        add_local_file(loader, build, config->hosts_file, NULL,
                       config->written[option_index(options_find(path))], path);
}

static void add_lists(struct loader *loader, struct local_build *build)
{
    const struct config *config = loader->config;
    for (size_t i = 0; i < config->block_list_count; i++) {
        const struct config_block_list *from = &config->block_lists[i];
        char path[64];
        uint32_t list;
        snprintf(path, sizeof(path), "block-lists[%zu].file", i);
        enum err err =
            local_build_list(build, from->action, from->redirect, from->redirect_count, &list);
        report_local_build(loader, from->position, path, err);
        if (!err)
            add_local_file(loader, build, from->file, &list, from->position, path);
    }
    if (config->block_aliases)
        local_build_block_aliases(build);
}

/* ---- the table ---- */

/* Adds the zones with upstreams and those held here, and the special-use names that no zone has
 * claimed. */
static void add_rest(struct loader *loader, struct local_build *build, bool with_special)
{
    const struct config *config = loader->config;
    enum err err = ERR_OK;
    for (size_t i = 0; i < config->zone_count && !err; i++) {
        const struct config_zone *zone = &config->zones[i];
        err = local_build_exempt(build, (struct name){zone->wire, zone->name_len});
    }
    for (size_t i = 0; i < config->stub_count && !err; i++) {
        const struct config_zone *zone = &config->stub_zones[i];
        err = local_build_exempt(build, (struct name){zone->wire, zone->name_len});
    }
    for (size_t i = 0; i < config->auth_zone_count && !err; i++) {
        const struct config_auth_zone *zone = &config->auth_zones[i];
        if (!zone->catalog)
            err = local_build_exempt(build, (struct name){zone->wire, zone->name_len});
    }
    if (!err && with_special && config->default_local_zones)
        err = local_special_add(build);
    report_local_build(loader, (struct config_position){1, 1, 0}, "server.default-local-zones",
                       err);
}

static void make_local(struct loader *loader, bool with_files, bool with_special)
{
    struct local_build *build = local_build_new();
    if (!build) {
        problems_no_memory(loader->problems);
        return;
    }
    add_zones(loader, build);
    add_local_records(loader, build);
    check_redirects(loader, build);
    if (with_files)
        add_hosts(loader, build);
    if (with_files)
        add_lists(loader, build);
    add_rest(loader, build, with_special);
    if (local_build_end(&build, &loader->config->local))
        problems_no_memory(loader->problems);
}

void config_local(struct loader *loader, bool with_files)
{
    make_local(loader, with_files, true);
}

void config_local_of_view(struct loader *loader, bool with_files, bool inherits)
{
    make_local(loader, with_files, !inherits);
}

/* ---- what must not be cached ---- */

static bool is_held_for_clients(const struct config *config, struct name name)
{
    for (size_t i = 0; i < config->auth_zone_count; i++) {
        const struct config_auth_zone *zone = &config->auth_zones[i];
        if (!zone->catalog && zone->use != ZONE_FOR_UPSTREAM &&
            name_is_below(name, (struct name){zone->wire, zone->name_len}))
            return true;
    }
    return false;
}

bool config_may_cache(const struct config *config, struct name name, const struct answer *answer)
{
    return !local_replaces(config->local, name, answer) && !is_held_for_clients(config, name);
}
