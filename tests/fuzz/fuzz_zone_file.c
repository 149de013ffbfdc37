/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Reads any bytes as a master file. A fault has a line of the text. The records of a zone come in
 * order, have the form of their types, and are found again. The zone is also read as a catalog.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/check.h"
#include "dns/name.h"
#include "zone/zone_builder.h"
#include "zone/zone_catalog.h"
#include "zone/zone_data.h"
#include "zone/zone_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CATALOG_MAX = 3 }; /* each later member is compared with this many */

static void check_fault(struct span text, const struct zone_file_fault *fault)
{
    size_t lines = 1;
    for (size_t i = 0; i < text.len; i++)
        lines += text.data[i] == '\n';
    MUST(fault->line > 0 && fault->line <= lines && fault->sentence);
    MUST(fault->word.len == 0 || (fault->word.data >= text.data &&
                                  fault->word.data + fault->word.len <= text.data + text.len));
}

static void check_zone(const struct zone_data *zone)
{
    struct zone_iter iter;
    struct zone_record record, last = {.owner = zone_data_origin(zone)};
    size_t count = 0;
    zone_iter_init(&iter, zone);
    for (; zone_iter_next(&iter, &record); count++, last = record) {
        struct zone_rrset rrset;
        int order = name_compare(last.owner, record.owner);
        MUST(order < 0 || (order == 0 && last.type <= record.type));
        MUST(name_is_below(record.owner, zone_data_origin(zone)));
        MUST(zone_data_find(zone, record.owner, record.type, &rrset) && rrset.count > 0);
    }
    MUST(count == zone_data_records(zone));
}

/* Makes the same zone again from its records. */
static void check_again(const struct zone_data *zone)
{
    struct zone_builder *builder = zone_builder_new(zone_data_origin(zone), 1 << 20);
    struct zone_iter iter;
    struct zone_data *again;
    MUST(builder);
    zone_iter_init(&iter, zone);
    for (struct zone_record record; zone_iter_next(&iter, &record);)
        MUST(zone_builder_add(builder, record.owner, record.type, record.ttl, record.rdata) ==
             ERR_OK);
    MUST(zone_builder_finish(&builder, &again) == ERR_OK);
    MUST(zone_data_records(again) == zone_data_records(zone));
    MUST(zone_data_bytes(again) == zone_data_bytes(zone));
    zone_data_unref(again);
}

/* Checks that members are below the zone, and that no two are the same zone. */
static void check_catalog(const struct zone_data *zone)
{
    struct zone_catalog catalog;
    const char *fault = zone_catalog_read(&catalog, zone);
    MUST(!fault || catalog.count == 0);
    for (size_t i = 0; i < catalog.count; i++) {
        const struct zone_catalog_member *member = &catalog.members[i];
        MUST(name_is_below(member->node, zone_data_origin(zone)));
        MUST(member->zone.len > 0);
        for (size_t j = 0; j < MIN(i, (size_t)CATALOG_MAX); j++)
            MUST(!name_equal(member->zone, catalog.members[j].zone));
    }
    zone_catalog_deinit(&catalog);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t origin[] = "\1n";
    const struct name name = {origin, sizeof(origin)};
    struct span text = span_of(data, size);
    struct zone_builder *builder = zone_builder_new(name, 1 << 20);
    struct zone_file_fault fault;
    struct zone_data *zone;
    MUST(builder);
    enum err err = zone_file_read(builder, text, &fault);
    if (err != ERR_OK)
        check_fault(text, &fault);
    err = zone_builder_finish(&builder, &zone);
    MUST((err == ERR_OK) == (zone != NULL));
    if (!zone)
        return 0;
    check_zone(zone);
    check_again(zone);
    check_catalog(zone);
    zone_data_unref(zone);
    return 0;
}
