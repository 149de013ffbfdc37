/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Reads, stores and shows forwards. reload.c decides when they take effect. */

#include "daemon/forward_command.h"

#include <stdio.h>
#include <string.h>

#include "base/transport.h"
#include "config/runtime_zones.h"
#include "control/call.h"
#include "control/view.h"
#include "dns/rrtype.h"
#include "zone/zone_find.h"
#include "zone/zone_set.h"

enum err forward_command_read(const struct call *call, const struct config *config,
                              struct runtime_zone *out, char why[RUNTIME_ZONE_WHY_MAX])
{
    bool is_off = call->argc == 2 && strcmp(call->argv[1], "off") == 0;
    size_t count = is_off ? 0 : (size_t)call->argc - 1;
    enum err err = runtime_zone_parse(out, call->argv[0], count, call->argv + 1, why);

    if (err || is_off)
        return err;
    if (count > 0)
        return runtime_zone_check(config, out, why);
    snprintf(why, RUNTIME_ZONE_WHY_MAX,
             "name the servers of %.64s, or off to use the servers of the file again",
             call->argv[0]);
    return ERR_INVALID;
}

/* The row of the zone with this name, or NULL. */
static const struct control_zone *forward_command_row(const struct control_view *view,
                                                      struct name name)
{
    for (size_t i = 0; i < view->held_count; i++) {
        const struct control_zone *row = &view->held[i];
        if (name_equal((struct name){row->wire, row->name_len}, name))
            return row;
    }
    return NULL;
}

/* Clients get the answers of a zone held here before any server is asked, except below a cut. */
enum err forward_command_check_held(const struct control_view *view,
                                    const struct runtime_zone *forward,
                                    char why[RUNTIME_ZONE_WHY_MAX])
{
    struct name name = runtime_zone_name(forward);
    const struct zone_held *held = view->zones ? zone_set_find(view->zones, name, RRTYPE_A) : NULL;
    char text[NAME_TEXT_MAX], above[NAME_TEXT_MAX];
    struct zone_match match;

    if (forward->upstream_count == 0 || !held || !zone_is_for_clients(held))
        return ERR_OK;
    name_format(name, text);
    if (name_equal(zone_held_name(held), name)) {
        const struct control_zone *row = forward_command_row(view, name);
        if (!row || row->catalog_len == 0)
            return ERR_OK; /* the configuration has it, and its check comes first */
        snprintf(why, RUNTIME_ZONE_WHY_MAX,
                 "%.100s is a member of the catalog %.100s, so no server of it would be asked; "
                 "give the catalog for: upstream in the file, or take the zone out of the catalog",
                 text, name_format((struct name){row->catalog, row->catalog_len}, above));
        return ERR_INVALID;
    }
    if (!held->data)
        return ERR_OK;
    zone_find(held->data, name, RRTYPE_A, &match);
    if (match.kind == ZONE_FOUND_REFERRAL)
        return ERR_OK;
    snprintf(why, RUNTIME_ZONE_WHY_MAX,
             "%.100s is below %.100s, which is held here and does not delegate it, so no server of "
             "it would be asked; delegate it there, or give that zone for: upstream in the file",
             text, name_format(zone_held_name(held), above));
    return ERR_INVALID;
}

bool forward_command_is_change(const struct runtime_zones *forwards,
                               const struct runtime_zone *forward)
{
    const struct runtime_zone *before = runtime_zones_find(forwards, runtime_zone_name(forward));

    if (!before)
        return forward->upstream_count > 0;
    return !runtime_zone_is_same(before, forward);
}

enum err forward_command_set(struct runtime_zones *forwards, const struct runtime_zone *forward,
                             char why[RUNTIME_ZONE_WHY_MAX])
{
    if (forward->upstream_count == 0) {
        runtime_zones_remove(forwards, runtime_zone_name(forward));
        return ERR_OK;
    }
    enum err err = runtime_zones_put(forwards, forward);
    if (err == ERR_LIMIT)
        snprintf(why, RUNTIME_ZONE_WHY_MAX, "%d zones are set already; remove one of them first",
                 RUNTIME_ZONES_MAX);
    else if (err)
        snprintf(why, RUNTIME_ZONE_WHY_MAX, "out of memory; try again");
    return err;
}

static void forward_command_put(struct reply *reply, const struct config *config,
                                struct runtime_zone *forward)
{
    char zone[NAME_TEXT_MAX], text[ADDR_TEXT_MAX];

    for (size_t i = 0; i < forward->upstream_count; i++) {
        struct route_upstream upstream;
        runtime_zone_upstream(config, forward, i, &upstream);
        reply_row(reply);
        reply_text(reply, name_format(runtime_zone_name(forward), zone));
        reply_text(reply, addr_format(&upstream.addr, text));
        reply_text(reply, transport_word(upstream.options.transport));
        reply_text(reply, upstream.options.tls.auth_name ? upstream.options.tls.auth_name : "");
        reply_row_end(reply);
    }
}

void forward_command_show(struct call *call, const struct config *config,
                          struct runtime_zones *forwards)
{
    reply_table(&call->reply, "forwards", "zone:text\tserver:text\ttransport:text\tname:text");
    for (size_t i = 0; i < forwards->count; i++)
        forward_command_put(&call->reply, config, forwards->list[i]);
}
