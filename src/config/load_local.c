/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Local data as written in the file: zones, records and block lists. config_local.c makes the table
 * of them.
 */
#include "config/load_local.h"

#include <string.h>

#include "base/check.h"
#include "config/load_lists.h"
#include "config/load_mapping.h"
#include "dns/present.h"
#include "dns/record_text.h"

/* ---- zones ---- */

static void load_local_zone(struct loader *loader, const struct yaml_tree_node *node)
{
    struct config *config = loader->config;
    struct config_local_zone zone = {.position = node->position};
    struct name name;
    const struct loader_place place = {.prefix = "local-zones[].", .owner = &zone};
    if (!load_item(loader, node, &place, "a mapping such as {name: ads.example, action: nxdomain}"))
        return;
    MUST(name_view(span_of(zone.wire, NAME_WIRE_MAX), 0, &name) != 0);
    zone.name_len = name.len;
    config->local_zones[config->local_zone_count++] = zone;
}

void load_local_zones(struct loader *loader, const struct option *option,
                      const struct yaml_tree_node *node)
{
    size_t index = 0;
    if (!loader_list_fits(loader, option, node))
        return;
    loader->config->local_zones =
        loader_take(loader, node->count, sizeof(*loader->config->local_zones));
    if (!loader->config->local_zones)
        return;
    for (const struct yaml_tree_node *item = node->first; item; item = item->next) {
        size_t mark = loader_enter_item(loader, index++);
        load_local_zone(loader, item);
        loader_leave(loader, mark);
    }
}

/* ---- records ---- */

static const char record_takes[] = "a record such as \"nas.home.arpa. 3600 IN A 192.0.2.7\"";

/* Whether the record is one line of ASCII that can be printed again; other bytes are \DDD in zone
 * files. */
static bool is_line(const struct yaml_tree_node *node)
{
    for (size_t i = 0; i < node->len; i++)
        if ((node->text[i] < ' ' || node->text[i] > '~') && node->text[i] != '\t')
            return false;
    return node->len <= KIND_STRING_MAX;
}

static bool parse_record(struct loader *loader, const struct yaml_tree_node *node,
                         struct config_record *record)
{
    uint8_t scratch[PRESENT_RR_MAX];
    enum err err = present_rr_from_text(scratch, sizeof(scratch), &record->len, node->text,
                                        name_root(), LOCAL_DATA_TTL_S);
    if (err == ERR_NO_MEMORY)
        problems_no_memory(loader->problems);
    if (err)
        return false;
    record->text = arena_copy(&loader->config->arena, node->text, node->len + 1);
    record->wire = arena_copy(&loader->config->arena, scratch, record->len);
    if (!record->text || !record->wire)
        problems_no_memory(loader->problems);
    return record->text && record->wire;
}

static void load_record(struct loader *loader, const struct yaml_tree_node *node)
{
    struct config *config = loader->config;
    struct config_record record = {.position = node->position};
    if (node->broken)
        return;
    bool may_be = node->kind == TREE_SCALAR && is_line(node);
    const char *fault = may_be ? record_text_fault(node->text) : NULL;
    if (fault)
        loader_error(loader, node, "%s", fault);
    else if (may_be && parse_record(loader, node, &record))
        config->records[config->record_count++] = record;
    else if (!loader->problems->no_memory)
        loader_error_takes(loader, node, record_takes, "");
}

void load_records(struct loader *loader, const struct option *option,
                  const struct yaml_tree_node *node)
{
    size_t index = 0;
    if (!loader_list_fits(loader, option, node))
        return;
    loader->config->records = loader_take(loader, node->count, sizeof(*loader->config->records));
    if (!loader->config->records)
        return;
    for (const struct yaml_tree_node *item = node->first; item; item = item->next) {
        size_t mark = loader_enter_item(loader, index++);
        load_record(loader, item);
        loader_leave(loader, mark);
    }
}

/* ---- lists ---- */

static bool is_complete(struct loader *loader, const struct yaml_tree_node *node,
                        const struct config_block_list *list)
{
    if (!*list->file)
        loader_error(loader, node, "names no file; write {file: /var/lib/nailup/ads.txt}");
    else if (list->action == LOCAL_DROP)
        loader_error(loader, node,
                     "drops queries, which only local-zones can; write another action");
    else if (list->action == LOCAL_REDIRECT && !list->redirect_count)
        loader_error(loader, node,
                     "has no address to redirect to; write redirect-to: [0.0.0.0, \"::\"] or "
                     "another action");
    else if (list->action != LOCAL_REDIRECT && list->redirect_count)
        loader_error(loader, node, "has addresses but another action; write action: redirect");
    else
        return true;
    return false;
}

static void load_block_list(struct loader *loader, const struct yaml_tree_node *node)
{
    struct config *config = loader->config;
    struct config_block_list list = {.position = node->position};
    const struct loader_place place = {.prefix = "block-lists[].", .owner = &list};
    if (load_item(loader, node, &place,
                  "a mapping such as {file: /var/lib/nailup/ads.txt, action: nxdomain}") &&
        is_complete(loader, node, &list))
        config->block_lists[config->block_list_count++] = list;
}

void load_block_lists(struct loader *loader, const struct option *option,
                      const struct yaml_tree_node *node)
{
    size_t index = 0;
    if (!loader_list_fits(loader, option, node))
        return;
    loader->config->block_lists =
        loader_take(loader, node->count, sizeof(*loader->config->block_lists));
    if (!loader->config->block_lists)
        return;
    for (const struct yaml_tree_node *item = node->first; item; item = item->next) {
        size_t mark = loader_enter_item(loader, index++);
        load_block_list(loader, item);
        loader_leave(loader, mark);
    }
}

static void load_target(struct loader *loader, const struct yaml_tree_node *node,
                        struct config_block_list *list)
{
    static const struct load_address_use use = {.takes_any = true, .whose = "a single host"};
    char name[ADDR_NAME_MAX];
    bool has_port;
    struct addr addr;
    if (!load_address(loader, node, &use, &addr, &has_port, name))
        return;
    if (has_port)
        loader_error(loader, node, "has a port, which a record cannot express; leave it out");
    else
        list->redirect[list->redirect_count++] = addr;
}

void load_redirect(struct loader *loader, const struct option *option,
                   const struct yaml_tree_node *node, struct config_block_list *list)
{
    size_t index = 0;
    if (!loader_list_fits(loader, option, node))
        return;
    list->redirect = loader_take(loader, node->count, sizeof(*list->redirect));
    for (const struct yaml_tree_node *item = node->first; list->redirect && item;
         item = item->next) {
        size_t mark = loader_enter_item(loader, index++);
        load_target(loader, item, list);
        loader_leave(loader, mark);
    }
}
