/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* References, and the records of a zone one after the other. */
#include "zone/zone_data.h"

#include <stdlib.h>

#include "zone/zone_table.h"

/* ---- references ---- */

struct zone_data *zone_data_ref(struct zone_data *data)
{
    atomic_fetch_add_explicit(&data->refs, 1, memory_order_relaxed);
    return data;
}

void zone_data_unref(struct zone_data *data)
{
    if (!data || atomic_fetch_sub_explicit(&data->refs, 1, memory_order_acq_rel) > 1)
        return;
    free(data->nodes);
    free(data->nsec3.at);
    free(data->nsec.at);
    free(data->bytes);
    free(data);
}

/* ---- the zone as a whole ---- */

struct name zone_data_origin(const struct zone_data *data)
{
    return data->origin;
}

const struct zone_soa *zone_data_soa(const struct zone_data *data)
{
    return &data->soa;
}

size_t zone_data_records(const struct zone_data *data)
{
    return data->records;
}

size_t zone_data_bytes(const struct zone_data *data)
{
    return sizeof(*data) + data->count * sizeof(*data->nodes) + data->bytes_len +
           ((size_t)data->nsec3.count + data->nsec.count) * sizeof(uint32_t);
}

/* ---- records ---- */

bool zone_data_find(const struct zone_data *data, struct name owner, uint16_t type,
                    struct zone_rrset *out)
{
    bool is_exact;
    uint32_t node = zone_floor(data, owner, &is_exact);
    return is_exact && zone_node_find(data, node, type, out);
}

/* ---- all records ---- */

void zone_iter_init(struct zone_iter *iter, const struct zone_data *data)
{
    *iter = (struct zone_iter){.data = data};
}

bool zone_iter_next(struct zone_iter *iter, struct zone_record *out)
{
    while (!zone_rrset_next(&iter->rrset, &out->rdata)) {
        if (zone_node_next(&iter->rest, &iter->rrset))
            continue;
        if (iter->node == iter->data->count)
            return false;
        iter->owner = zone_node_owner(iter->data, iter->node++, &iter->rest);
    }
    out->owner = iter->owner;
    out->type = iter->rrset.type;
    out->ttl = iter->rrset.ttl;
    return true;
}
