/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Reads the files of response policy zones and makes their rules. A reload does
 * this on a separate thread.
 */
#include "config/config_rpz.h"

#include <stdio.h>
#include <string.h>

#include "config/local_file.h"
#include "rpz/rpz_choice.h"
#include "rpz/rpz_policy.h"
#include "rpz/rpz_rules.h"
#include "zone/zone_builder.h"
#include "zone/zone_data.h"
#include "zone/zone_file.h"

/* A zone of the list, for errors. */
struct rpz_item {
    struct loader *loader;
    size_t index;
};

static const struct config_rpz_zone *item_zone(const struct rpz_item *item)
{
    return &item->loader->config->rpz.zones[item->index];
}

/* text completes the path "rpz[N].file: " */
static void item_error(const struct rpz_item *item, const char *text)
{
    char path[64];
    snprintf(path, sizeof(path), "rpz[%zu].file", item->index);
    problems_add(item->loader->problems, item_zone(item)->position, path, "%s", text);
}

static void rpz_report_fault(const struct rpz_item *item, const struct zone_file_fault *fault)
{
    char quoted[PROBLEM_QUOTE_MAX], text[KIND_STRING_MAX + 512];
    const char *file = item_zone(item)->file;
    if (fault->word.len)
        snprintf(text, sizeof(text), "%s:%zu: \"%s\": %s; correct the file", file, fault->line,
                 problem_quote((const char *)fault->word.data, fault->word.len, quoted),
                 fault->sentence);
    else
        snprintf(text, sizeof(text), "%s:%zu: %s; correct the file", file, fault->line,
                 fault->sentence);
    item_error(item, text);
}

/* Reports an error that belongs to no line. */
static void rpz_report_whole(const struct rpz_item *item, enum err err)
{
    char text[KIND_STRING_MAX + 256];
    const char *file = item_zone(item)->file;
    if (err == ERR_NO_MEMORY)
        problems_no_memory(item->loader->problems);
    else if (err == ERR_LIMIT)
        snprintf(text, sizeof(text), "%s exceeds max-bytes; raise it", file);
    else
        snprintf(text, sizeof(text), "%s does not have exactly one SOA record; a zone needs one",
                 file);
    if (err && err != ERR_NO_MEMORY)
        item_error(item, text);
}

static struct zone_data *rpz_read_zone(const struct rpz_item *item, struct span text)
{
    const struct rpz_zone_options *options = &item_zone(item)->options;
    struct name origin = {options->wire, options->name_len};
    struct zone_builder *builder = zone_builder_new(origin, options->max_bytes);
    struct zone_file_fault fault;
    struct zone_data *data = NULL;
    enum err err = builder ? zone_file_read(builder, text, &fault) : ERR_NO_MEMORY;
    if (err && err != ERR_NO_MEMORY) {
        rpz_report_fault(item, &fault);
        zone_builder_free(builder);
        return NULL;
    }
    if (!err)
        err = zone_builder_finish(&builder, &data);
    zone_builder_free(builder);
    rpz_report_whole(item, err);
    return data;
}

/* Returns the rules with one reference, or NULL after an error. */
static struct rpz_rules *rpz_read_rules(const struct rpz_item *item)
{
    struct rpz_rules *rules = NULL;
    struct span text;
    char why[LOCAL_FILE_WHY_MAX];
    if (local_file_read(item_zone(item)->file, &text, why)) {
        item_error(item, why);
        return NULL;
    }
    struct zone_data *data = rpz_read_zone(item, text);
    local_file_free(text);
    if (data)
        rpz_report_whole(item, rpz_rules_new(&rules, data, item_zone(item)->options.max_bytes));
    zone_data_unref(data);
    return rules;
}

void config_rpz(struct loader *loader, bool with_files)
{
    struct config_rpz *rpz = &loader->config->rpz;
    struct rpz_policy_entry entries[RPZ_ZONES_MAX] = {{0}};
    if (rpz->count == 0)
        return;
    for (size_t i = 0; i < rpz->count; i++) {
        rpz_choices_add(&loader->config->server.policy_choices, &rpz->zones[i].options);
        entries[i].options = &rpz->zones[i].options;
        if (with_files && *rpz->zones[i].file)
            entries[i].rules = rpz_read_rules(&(struct rpz_item){loader, i});
    }
    rpz->policy = rpz_policy_new(entries, rpz->count, rpz->wait_recurse);
    if (!rpz->policy)
        problems_no_memory(loader->problems);
    for (size_t i = 0; i < rpz->count; i++)
        rpz_rules_unref(entries[i].rules);
}
