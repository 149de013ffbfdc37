/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "scenario/held.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "config/config.h"
#include "config/local_file.h"
#include "daemon/zone_from_file.h"
#include "daemon/zone_trust.h"
#include "zone/zone_builder.h"
#include "zone/zone_data.h"
#include "zone/zone_file.h"

enum { HELD_MAX = 16 };

/* Returns false for a version that the daemon would refuse. */
static bool held_is_good(const struct zone_data *data, enum zonemd_mode mode,
                         const struct apex_rules *rules)
{
    struct zone_checks checks = {.zonemd = mode, .apex = rules};
    char why[APEX_WHY_MAX];
    return zone_from_file_check(data, &checks, why);
}

static bool held_read(const struct config_auth_zone *zone, struct zone_held *held,
                      const struct apex_rules *rules, char *why, size_t size)
{
    char problem[LOCAL_FILE_WHY_MAX];
    struct zone_file_fault fault;
    struct span text;
    memcpy(held->wire, zone->wire, sizeof(held->wire));
    held->name_len = zone->name_len;
    held->use = zone->use;
    held->has_fallback = zone->fallback;
    if (local_file_read(zone->file, &text, problem))
        return true;
    struct zone_builder *builder = zone_builder_new(zone_held_name(held), zone->max_bytes);
    MUST(builder);
    enum err err = zone_file_read(builder, text, &fault);
    if (err)
        snprintf(why, size, "%s:%zu: %s", zone->file, fault.line, fault.sentence);
    else if ((err = zone_builder_finish(&builder, &held->data)))
        snprintf(why, size, "%s: %s", zone->file, err_str(err));
    zone_builder_free(builder);
    local_file_free(text);
    if (held->data && !held_is_good(held->data, zone->zonemd, rules)) {
        zone_data_unref(held->data);
        held->data = NULL;
    }
    return err == ERR_OK;
}

struct zone_set *held_open(const struct config *config, int64_t wall_s, char *why, size_t size)
{
    struct zone_trust *trust = zone_trust_new(&config->route);
    const struct apex_rules *rules = zone_trust_rules(trust, wall_s);
    struct zone_held zones[HELD_MAX] = {0};
    size_t count = config->auth_zone_count;
    struct zone_set *set = NULL;
    bool is_sound = true;
    MUST(count <= HELD_MAX);
    for (size_t i = 0; is_sound && i < count; i++)
        is_sound = held_read(&config->auth_zones[i], &zones[i], rules, why, size);
    if (is_sound && count > 0)
        set = zone_set_new(zones, count);
    for (size_t i = 0; i < count; i++)
        zone_data_unref(zones[i].data);
    zone_trust_free(trust);
    return set;
}
