/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Reads nodes and finds names. Invariant: zone_builder.c wrote sound bytes, so nothing is checked
 * again. */
#include "zone/zone_table.h"

#include "base/check.h"

/* ---- nodes ---- */

struct name zone_node_owner(const struct zone_data *data, uint32_t node, struct span *rrsets)
{
    size_t at = data->nodes[node].offset;
    const uint8_t *bytes = data->bytes + at;
    if (rrsets) {
        size_t head = (size_t)bytes[0] + 3;
        *rrsets = span_of(bytes + head, data->bytes_len - at - head);
        rrsets->len =
            node + 1 < data->count ? data->nodes[node + 1].offset - at - head : rrsets->len;
    }
    return (struct name){.wire = bytes + 1, .len = bytes[0]};
}

bool zone_node_next(struct span *rrsets, struct zone_rrset *out)
{
    struct span head;
    if (!span_take(rrsets, ZONE_RRSET_HEADER, &head))
        return false;
    out->type = get_u16(head.data);
    out->count = get_u16(head.data + 2);
    out->ttl = get_u32(head.data + 4);
    MUST(span_take(rrsets, get_u32(head.data + 8), &out->records));
    return true;
}

bool zone_node_find(const struct zone_data *data, uint32_t node, uint16_t type,
                    struct zone_rrset *out)
{
    struct span rrsets;
    zone_node_owner(data, node, &rrsets);
    while (zone_node_next(&rrsets, out))
        if (out->type == type)
            return true;
    return false;
}

bool zone_nsec3_read(struct span rdata, struct zone_nsec3param *out)
{
    enum { SHA1 = 1, HEAD = 5 }; /* algorithm, flags, iterations, length of the salt */
    if (rdata.len < HEAD || rdata.data[0] != SHA1 || rdata.len - HEAD < rdata.data[HEAD - 1])
        return false;
    out->iterations = get_u16(rdata.data + 2);
    out->salt = span_of(rdata.data + HEAD, rdata.data[HEAD - 1]);
    return true;
}

/* ---- names ---- */

enum { KEY_BYTES = 16 };

/* Adds a byte to a key. A zero ends a label and must stay the smallest byte, so 0 and 1 in a label
 * get two bytes. */
static unsigned key_put(uint8_t key[KEY_BYTES], unsigned used, uint8_t byte)
{
    if (byte <= 1) {
        key[used++] = 1;
        byte++;
    }
    if (used < KEY_BYTES)
        key[used++] = byte;
    return used;
}

struct zone_key zone_key(struct name owner, struct name origin)
{
    uint8_t starts[NAME_LABELS_MAX], key[KEY_BYTES] = {0};
    unsigned labels = 0, used = 0;
    size_t below = (size_t)owner.len - origin.len;
    for (size_t at = 0; at < below; at += (size_t)owner.wire[at] + 1)
        starts[labels++] = (uint8_t)at;
    while (labels > 0 && used < sizeof(key)) {
        const uint8_t *label = owner.wire + starts[--labels];
        for (uint8_t i = 1; i <= label[0] && used < sizeof(key); i++)
            used = key_put(key, used, name_fold_byte(label[i]));
        used++;
    }
    return (struct zone_key){.first = (uint64_t)get_u32(key) << 32 | get_u32(key + 4),
                             .second = (uint64_t)get_u32(key + 8) << 32 | get_u32(key + 12)};
}

uint32_t zone_floor(const struct zone_data *data, struct name name, bool *is_exact)
{
    *is_exact = false;
    if (!name_is_below(name, data->origin))
        return ZONE_NO_NODE;
    uint64_t key = zone_key(name, data->origin).first;
    uint32_t low = 0, high = data->count; /* node[low] <= name < node[high] */
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        const struct zone_node *node = &data->nodes[middle];
        int order = key != node->key ? (key < node->key ? -1 : 1)
                                     : name_compare(name, zone_node_owner(data, middle, NULL));
        if (order < 0)
            high = middle;
        else
            low = middle;
    }
    *is_exact = data->nodes[low].key == key && name_equal(name, zone_node_owner(data, low, NULL));
    return low;
}
