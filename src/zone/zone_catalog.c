/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Nodes come in order, so those of one name follow each other. Zones are sorted to find the ones
 * that are listed twice. */
#include "zone/zone_catalog.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "dns/rrtype.h"
#include "zone/zone_data.h"

static const uint8_t version_label[] = {7, 'v', 'e', 'r', 's', 'i', 'o', 'n'};
static const uint8_t zones_label[] = {5, 'z', 'o', 'n', 'e', 's'};

/* Writes the name of the label, in wire form, below the origin. Returns false when it is too long.
 */
static bool catalog_name(struct span label, struct name origin, uint8_t wire[NAME_WIRE_MAX],
                         struct name *out)
{
    if (label.len + origin.len > NAME_WIRE_MAX)
        return false;
    memcpy(wire, label.data, label.len);
    memcpy(wire + label.len, origin.wire, origin.len);
    *out = (struct name){wire, (uint8_t)(label.len + origin.len)};
    return true;
}

static const char *catalog_check_version(const struct zone_data *data)
{
    static const uint8_t two[] = {1, '2'};
    uint8_t wire[NAME_WIRE_MAX];
    struct name name;
    struct zone_rrset rrset;
    struct span text;
    if (!catalog_name(span_of(version_label, sizeof(version_label)), zone_data_origin(data), wire,
                      &name) ||
        !zone_data_find(data, name, RRTYPE_TXT, &rrset))
        return "it has no TXT record named version";
    if (rrset.count != 1 || !zone_rrset_next(&rrset, &text))
        return "it has several versions";
    return span_equal(text, span_of(two, sizeof(two))) ? NULL : "its version is not 2";
}

/* Makes room for one more member. Returns false when out of memory. */
static bool catalog_grow(struct zone_catalog *catalog, size_t *room)
{
    size_t more = *room > 0 ? *room * 2 : 64;
    if (catalog->count < *room)
        return true;
    struct zone_catalog_member *grown = realloc(catalog->members, more * sizeof(*grown));
    if (!grown)
        return false;
    catalog->members = grown;
    *room = more;
    return true;
}

static const char *catalog_add(struct zone_catalog *catalog, size_t *room,
                               const struct zone_record *record)
{
    struct zone_catalog_member member = {.node = record->owner};
    if (name_view(record->rdata, 0, &member.zone) == 0)
        return "a PTR record is malformed";
    if (catalog->count > 0 && name_equal(catalog->members[catalog->count - 1].node, member.node))
        return "a node has several PTR records";
    if (catalog->count == ZONE_CATALOG_MEMBERS_MAX)
        return "it lists too many zones";
    if (!catalog_grow(catalog, room))
        return err_str(ERR_NO_MEMORY);
    catalog->members[catalog->count++] = member;
    return NULL;
}

static int catalog_compare(const void *a, const void *b)
{
    return name_compare(*(const struct name *)a, *(const struct name *)b);
}

static const char *catalog_check_zones(const struct zone_catalog *catalog)
{
    struct name *zones = malloc((catalog->count + 1) * sizeof(*zones));
    const char *fault = NULL;
    if (!zones)
        return err_str(ERR_NO_MEMORY);
    for (size_t i = 0; i < catalog->count; i++)
        zones[i] = catalog->members[i].zone;
    qsort(zones, catalog->count, sizeof(*zones), catalog_compare);
    for (size_t i = 1; i < catalog->count; i++)
        if (name_equal(zones[i - 1], zones[i]))
            fault = "a zone is listed twice";
    free(zones);
    return fault;
}

static const char *catalog_list(struct zone_catalog *out, const struct zone_data *data)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct name zones;
    struct zone_iter iter;
    size_t room = 0;
    const char *fault = catalog_check_version(data);
    if (fault || !catalog_name(span_of(zones_label, sizeof(zones_label)), zone_data_origin(data),
                               wire, &zones))
        return fault;
    zone_iter_init(&iter, data);
    for (struct zone_record record; !fault && zone_iter_next(&iter, &record);)
        if (record.type == RRTYPE_PTR && record.owner.len > zones.len &&
            name_equal(name_parent(record.owner), zones))
            fault = catalog_add(out, &room, &record);
    return fault ? fault : catalog_check_zones(out);
}

const char *zone_catalog_read(struct zone_catalog *out, const struct zone_data *data)
{
    *out = (struct zone_catalog){0};
    const char *fault = catalog_list(out, data);
    if (fault)
        zone_catalog_deinit(out);
    return fault;
}

void zone_catalog_deinit(struct zone_catalog *catalog)
{
    free(catalog->members);
    *catalog = (struct zone_catalog){0};
}
