/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Few members are listed, so each one is compared with those before it. */
#include "zone/zone_catalog.h"

#include <stdbool.h>
#include <string.h>

#include "base/check.h"
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

static const char *catalog_add(struct zone_catalog_member *members, size_t max, size_t *total,
                               const struct zone_record *record)
{
    struct zone_catalog_member member = {.node = record->owner};
    if (name_view(record->rdata, 0, &member.zone) == 0)
        return "a PTR record is malformed";
    for (size_t i = 0; i < MIN(*total, max); i++) {
        if (name_equal(members[i].node, member.node))
            return "a node has several PTR records";
        if (name_equal(members[i].zone, member.zone))
            return "a zone is listed twice";
    }
    if (*total < max)
        members[*total] = member;
    ++*total;
    return NULL;
}

const char *zone_catalog_read(const struct zone_data *data, struct zone_catalog_member *members,
                              size_t max, size_t *total)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct name zones;
    struct zone_iter iter;
    const char *fault = catalog_check_version(data);
    *total = 0;
    if (fault || !catalog_name(span_of(zones_label, sizeof(zones_label)), zone_data_origin(data),
                               wire, &zones))
        return fault;
    zone_iter_init(&iter, data);
    for (struct zone_record record; !fault && zone_iter_next(&iter, &record);)
        if (record.type == RRTYPE_PTR && record.owner.len > zones.len &&
            name_equal(name_parent(record.owner), zones))
            fault = catalog_add(members, max, total, &record);
    return fault;
}
