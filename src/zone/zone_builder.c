/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Gathers changes in a log, sorts them, and merges them with the previous version. Invariant: the
 * log holds only changes that were checked, in the order of the calls, so the last change of a
 * record decides.
 */
#include "zone/zone_builder.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "dns/message.h"
#include "dns/rdata.h"
#include "dns/rrtype.h"
#include "zone/zone_data.h"
#include "zone/zone_find.h"
#include "zone/zone_table.h"

enum {
    CHANGE_HEADER = 10, /* is_removal, owner's length, type, TTL, length of the RDATA */
    GROWTH_MIN = 4096,  /* bytes of the first allocation of a growing array */
    RRSET_RECORDS_MAX = UINT16_MAX,
};

/* Bytes that grow up to a bound. */
struct growing {
    uint8_t *data;
    size_t len, cap, max;
};

/* Where a change is in the log. */
struct change_place {
    struct zone_key key; /* of the owner */
    uint32_t offset;
};

struct zone_builder {
    uint8_t origin_wire[NAME_WIRE_MAX];
    struct name origin;
    struct zone_data *old; /* NULL: begins with nothing */
    size_t max_bytes;
    struct growing log;
    struct growing places; /* struct change_place */
};

/* A change as it is in the log. */
struct change {
    bool is_removal;
    uint64_t key;
    struct zone_record record;
};

/* ---- growing bytes ---- */

static enum err growing_reserve(struct growing *bytes, size_t len)
{
    if (len > bytes->max - bytes->len)
        return ERR_LIMIT;
    if (len <= bytes->cap - bytes->len)
        return ERR_OK;
    size_t cap = MAX(bytes->cap * 2, MAX(bytes->len + len, (size_t)GROWTH_MIN));
    uint8_t *data = realloc(bytes->data, cap);
    if (!data)
        return ERR_NO_MEMORY;
    bytes->data = data;
    bytes->cap = cap;
    return ERR_OK;
}

/* Appends after growing_reserve(). */
static void growing_put(struct growing *bytes, const void *data, size_t len)
{
    if (len > 0)
        memcpy(bytes->data + bytes->len, data, len);
    bytes->len += len;
}

/* Gives back memory that growth left unused. */
static uint8_t *growing_take(struct growing *bytes)
{
    uint8_t *data = bytes->len ? realloc(bytes->data, bytes->len) : NULL;
    data = data ? data : bytes->data;
    bytes->data = NULL;
    return data;
}

/* ---- the log ---- */

struct zone_builder *zone_builder_new(struct name origin, size_t max_bytes)
{
    struct zone_builder *builder = calloc(1, sizeof(*builder));
    if (!builder)
        return NULL;
    builder->origin = name_copy(origin, builder->origin_wire);
    builder->max_bytes = MIN(max_bytes, ZONE_BYTES_MAX);
    builder->log.max = builder->places.max = builder->max_bytes;
    return builder;
}

struct zone_builder *zone_builder_new_over(struct zone_data *old, size_t max_bytes)
{
    struct zone_builder *builder = zone_builder_new(zone_data_origin(old), max_bytes);
    if (builder)
        builder->old = zone_data_ref(old);
    return builder;
}

void zone_builder_free(struct zone_builder *builder)
{
    if (!builder)
        return;
    zone_data_unref(builder->old);
    free(builder->log.data);
    free(builder->places.data);
    free(builder);
}

struct name zone_builder_origin(const struct zone_builder *builder)
{
    return builder->origin;
}

static enum err check_record(const struct zone_builder *builder, const struct zone_record *record)
{
    struct rdata_parts parts;
    if (!name_is_below(record->owner, builder->origin))
        return ERR_OUT_OF_ZONE;
    if (rrtype_is_meta(record->type) || !rdata_split_plain(record->type, record->rdata, &parts))
        return ERR_INVALID;
    if (record->type == RRTYPE_SOA && record->owner.len != builder->origin.len)
        return ERR_INVALID;
    return ERR_OK;
}

static enum err log_change(struct zone_builder *builder, const struct zone_record *record,
                           bool is_removal)
{
    uint8_t head[CHANGE_HEADER] = {is_removal, record->owner.len};
    enum err err = check_record(builder, record);
    if (err == ERR_OK)
        err = growing_reserve(&builder->log, sizeof(head) + record->owner.len + record->rdata.len);
    if (err == ERR_OK)
        err = growing_reserve(&builder->places, sizeof(struct change_place));
    if (err != ERR_OK)
        return err;
    const struct change_place place = {zone_key(record->owner, builder->origin),
                                       (uint32_t)builder->log.len};
    growing_put(&builder->places, &place, sizeof(place));
    put_u16(head + 2, record->type);
    put_u32(head + 4, record->ttl);
    put_u16(head + 8, (uint16_t)record->rdata.len);
    growing_put(&builder->log, head, sizeof(head));
    growing_put(&builder->log, record->owner.wire, record->owner.len);
    growing_put(&builder->log, record->rdata.data, record->rdata.len);
    return ERR_OK;
}

enum err zone_builder_add(struct zone_builder *builder, struct name owner, uint16_t type,
                          uint32_t ttl, struct span rdata)
{
    const struct zone_record record = {owner, type, ttl > INT32_MAX ? 0 : ttl, rdata};
    return log_change(builder, &record, false);
}

enum err zone_builder_remove(struct zone_builder *builder, struct name owner, uint16_t type,
                             struct span rdata)
{
    const struct zone_record record = {owner, type, 0, rdata};
    return log_change(builder, &record, true);
}

static struct change read_change(const uint8_t *log, const struct change_place *place)
{
    const uint8_t *at = log + place->offset, *owner = at + CHANGE_HEADER;
    return (struct change){
        .is_removal = at[0],
        .key = place->key.first,
        .record = {.owner = {.wire = owner, .len = at[1]},
                   .type = get_u16(at + 2),
                   .ttl = get_u32(at + 4),
                   .rdata = span_of(owner + at[1], get_u16(at + 8))},
    };
}

/* ---- order ---- */

/* Returns a byte of RDATA, in lower case inside names. */
static uint8_t folded_at(struct span rdata, const struct rdata_parts *parts, size_t at)
{
    bool is_name = at >= parts->names_offset && at < parts->tail_offset;
    return is_name ? name_fold_byte(rdata.data[at]) : rdata.data[at];
}

/* Compares RDATA as RFC 4034 section 6.3 does, with names in lower case. */
static int rdata_compare(uint16_t type, struct span a, struct span b)
{
    struct rdata_parts a_parts, b_parts;
    size_t common = MIN(a.len, b.len);
    MUST(rdata_split_plain(type, a, &a_parts) && rdata_split_plain(type, b, &b_parts));
    if (!a_parts.layout || a_parts.layout->names == 0) {
        int order = common ? memcmp(a.data, b.data, common) : 0;
        return order ? order : (a.len > b.len) - (a.len < b.len);
    }
    for (size_t i = 0; i < common; i++) {
        int order = folded_at(a, &a_parts, i) - folded_at(b, &b_parts, i);
        if (order)
            return order;
    }
    return (a.len > b.len) - (a.len < b.len);
}

/* Compares by owner, type and RDATA. */
static int record_compare(uint64_t a_key, const struct zone_record *a, uint64_t b_key,
                          const struct zone_record *b)
{
    int order = a_key != b_key ? (a_key < b_key ? -1 : 1) : name_compare(a->owner, b->owner);
    if (!order)
        order = a->type - b->type;
    return order ? order : rdata_compare(a->type, a->rdata, b->rdata);
}

static int builder_compare_places(const void *a, const void *b, void *log)
{
    const struct change_place *one = a, *other = b;
    if (one->key.first != other->key.first)
        return one->key.first < other->key.first ? -1 : 1;
    if (one->key.second != other->key.second)
        return one->key.second < other->key.second ? -1 : 1;
    struct change first = read_change(log, one), second = read_change(log, other);
    int order = record_compare(first.key, &first.record, second.key, &second.record);
    return order ? order : (one->offset > other->offset) - (one->offset < other->offset);
}

/* ---- writing ---- */

/* Writes records in order. */
struct writer {
    struct name origin;
    struct growing nodes; /* struct zone_node */
    struct growing bytes;
    size_t max_bytes, records;
    size_t head;            /* offset of the last node's number of RRsets */
    size_t rrset;           /* offset of the last RRset */
    struct name last_owner; /* borrowed from the previous version or from the log */
    uint16_t last_type;
};

static enum err begin_node(struct writer *writer, uint64_t key, struct name owner)
{
    const struct zone_node node = {key, (uint32_t)writer->bytes.len, ZONE_NO_NODE};
    static const uint8_t none[2];
    enum err err = growing_reserve(&writer->nodes, sizeof(node));
    if (err == ERR_OK)
        err = growing_reserve(&writer->bytes, (size_t)owner.len + 3);
    if (err != ERR_OK)
        return err;
    growing_put(&writer->nodes, &node, sizeof(node));
    growing_put(&writer->bytes, &owner.len, 1);
    growing_put(&writer->bytes, owner.wire, owner.len);
    writer->head = writer->bytes.len;
    growing_put(&writer->bytes, none, sizeof(none));
    writer->last_owner = owner;
    writer->last_type = 0;
    return ERR_OK;
}

static enum err begin_rrset(struct writer *writer, uint16_t type, uint32_t ttl)
{
    uint8_t header[ZONE_RRSET_HEADER] = {0};
    enum err err = growing_reserve(&writer->bytes, sizeof(header));
    if (err != ERR_OK)
        return err;
    put_u16(header, type);
    put_u32(header + 4, ttl);
    writer->rrset = writer->bytes.len;
    growing_put(&writer->bytes, header, sizeof(header));
    uint8_t *rrsets = writer->bytes.data + writer->head;
    put_u16(rrsets, (uint16_t)(get_u16(rrsets) + 1));
    writer->last_type = type;
    return ERR_OK;
}

static enum err writer_append(struct writer *writer, const struct zone_record *record)
{
    uint8_t len[2];
    enum err err = growing_reserve(&writer->bytes, sizeof(len) + record->rdata.len);
    uint8_t *header = writer->bytes.data + writer->rrset;
    uint16_t count = get_u16(header + 2);
    if (err == ERR_OK && count == RRSET_RECORDS_MAX)
        err = ERR_LIMIT;
    if (err != ERR_OK)
        return err;
    put_u16(header + 2, (uint16_t)(count + 1));
    put_u32(header + 4, MIN(get_u32(header + 4), record->ttl));
    put_u32(header + 8, (uint32_t)(get_u32(header + 8) + sizeof(len) + record->rdata.len));
    put_u16(len, (uint16_t)record->rdata.len);
    growing_put(&writer->bytes, len, sizeof(len));
    growing_put(&writer->bytes, record->rdata.data, record->rdata.len);
    writer->records++;
    return ERR_OK;
}

static enum err write_record(struct writer *writer, uint64_t key, const struct zone_record *record)
{
    enum err err = ERR_OK;
    if (writer->records == 0 || !name_equal(record->owner, writer->last_owner))
        err = begin_node(writer, key, record->owner);
    if (err == ERR_OK && record->type != writer->last_type)
        err = begin_rrset(writer, record->type, record->ttl);
    if (err == ERR_OK)
        err = writer_append(writer, record);
    if (err == ERR_OK && writer->nodes.len + writer->bytes.len > writer->max_bytes)
        err = ERR_LIMIT;
    return err;
}

/* ---- merging ---- */

/* The previous version, and the sorted changes to it. */
struct merge {
    struct zone_iter iter;
    struct zone_record old;
    bool has_old;
    const uint8_t *log;
    const struct change_place *next, *end;
};

static void next_old(struct merge *merge)
{
    merge->has_old = merge->iter.data && zone_iter_next(&merge->iter, &merge->old);
}

static uint64_t old_key(const struct merge *merge)
{
    return merge->iter.data->nodes[merge->iter.node - 1].key;
}

/* Applies all changes of one record. Returns whether the record exists afterwards, with the TTL of
 * the last change. *is_sound becomes false when a change removes a record that does not exist. */
static bool apply_changes(struct merge *merge, struct change *change, bool exists, bool *is_sound)
{
    struct change last = *change;
    do {
        if (last.is_removal && !exists)
            *is_sound = false;
        exists = !last.is_removal;
        *change = last;
        if (++merge->next == merge->end)
            break;
        last = read_change(merge->log, merge->next);
    } while (record_compare(last.key, &last.record, change->key, &change->record) == 0);
    return exists;
}

static enum err merge_one(struct merge *merge, struct writer *writer)
{
    if (merge->next == merge->end) {
        enum err err = write_record(writer, old_key(merge), &merge->old);
        next_old(merge);
        return err;
    }
    struct change change = read_change(merge->log, merge->next);
    int order = merge->has_old
                    ? record_compare(old_key(merge), &merge->old, change.key, &change.record)
                    : 1;
    if (order < 0) {
        enum err err = write_record(writer, old_key(merge), &merge->old);
        next_old(merge);
        return err;
    }
    bool is_sound = true, exists = apply_changes(merge, &change, order == 0, &is_sound);
    if (order == 0)
        next_old(merge);
    if (!is_sound)
        return ERR_NOT_FOUND;
    return exists ? write_record(writer, change.key, &change.record) : ERR_OK;
}

static enum err merge_all(struct zone_builder *builder, struct writer *writer)
{
    struct change_place *places = (struct change_place *)(void *)builder->places.data;
    size_t count = builder->places.len / sizeof(*places);
    if (count > 1)
        qsort_r(places, count, sizeof(*places), builder_compare_places, builder->log.data);
    struct merge merge = {.log = builder->log.data, .next = places, .end = places};
    if (count > 0)
        merge.end += count;
    if (builder->old) {
        zone_iter_init(&merge.iter, builder->old);
        next_old(&merge);
    }
    enum err err = ERR_OK;
    while (err == ERR_OK && (merge.has_old || merge.next != merge.end))
        err = merge_one(&merge, writer);
    return err;
}

/* ---- the finished zone ---- */

static bool has_cut(const struct zone_data *data, uint32_t node)
{
    struct zone_rrset rrset;
    return (node > 0 && zone_node_find(data, node, RRTYPE_NS, &rrset)) ||
           zone_node_find(data, node, RRTYPE_DNAME, &rrset);
}

/* Names below a cut follow it in canonical order, so the last cut is the only candidate. */
static void find_cuts(struct zone_data *data)
{
    uint32_t cut = ZONE_NO_NODE;
    for (uint32_t node = 0; node < data->count; node++) {
        if (cut != ZONE_NO_NODE &&
            !name_is_below(zone_node_owner(data, node, NULL), zone_node_owner(data, cut, NULL)))
            cut = ZONE_NO_NODE;
        if (cut == ZONE_NO_NODE && has_cut(data, node))
            cut = node;
        data->nodes[node].cut = cut;
    }
}

/* Reads the SOA record of the origin, which is the first node. */
static enum err builder_read_soa(struct zone_data *data)
{
    struct zone_rrset rrset;
    struct rdata_parts parts;
    struct span rdata;
    if (data->count == 0 || !name_equal(zone_node_owner(data, 0, NULL), data->origin) ||
        !zone_node_find(data, 0, RRTYPE_SOA, &rrset) || rrset.count != 1)
        return ERR_INVALID;
    uint32_t ttl = rrset.ttl;
    MUST(zone_rrset_next(&rrset, &rdata) && rdata_split_plain(RRTYPE_SOA, rdata, &parts));
    const uint8_t *at = rdata.data + parts.tail_offset;
    data->soa = (struct zone_soa){
        .serial = get_u32(at),
        .refresh = get_u32(at + 4),
        .retry = get_u32(at + 8),
        .expire = get_u32(at + 12),
        .minimum = get_u32(at + 16),
        .ttl = ttl,
    };
    return ERR_OK;
}

/* Whether the node has an NSEC3 record of the chain. Only names directly below the origin can be
 * hashes. */
static bool has_nsec3(const struct zone_data *data, uint32_t node,
                      const struct zone_nsec3param *chain)
{
    struct zone_nsec3param record;
    struct zone_rrset rrset;
    struct span rdata;
    if (node == 0 || name_parent(zone_node_owner(data, node, NULL)).len != data->origin.len ||
        !zone_node_find(data, node, RRTYPE_NSEC3, &rrset))
        return false;
    while (zone_rrset_next(&rrset, &rdata))
        if (zone_nsec3_read(rdata, &record) && record.iterations == chain->iterations &&
            span_equal(record.salt, chain->salt))
            return true;
    return false;
}

/* Whether the node has an NSEC record that proves something about names of this zone. */
static bool has_nsec(const struct zone_data *data, uint32_t node,
                     const struct zone_nsec3param *chain)
{
    struct zone_rrset rrset;
    uint32_t cut = data->nodes[node].cut;
    (void)chain;
    return (cut == ZONE_NO_NODE || cut == node) && zone_node_find(data, node, RRTYPE_NSEC, &rrset);
}

typedef bool node_test(const struct zone_data *data, uint32_t node,
                       const struct zone_nsec3param *chain);

static enum err list_nodes(const struct zone_data *data, node_test *test,
                           const struct zone_nsec3param *chain, struct zone_nodes *out)
{
    uint32_t count = 0;
    for (uint32_t node = 0; node < data->count; node++)
        count += test(data, node, chain);
    if (count == 0)
        return ERR_OK;
    out->at = malloc(count * sizeof(*out->at));
    if (!out->at)
        return ERR_NO_MEMORY;
    for (uint32_t node = 0; node < data->count; node++)
        if (test(data, node, chain))
            out->at[out->count++] = node;
    return ERR_OK;
}

/* Lists the nodes whose records prove denials, because any number of other names may lie between
 * them: names of the zone between hashes, and the records of another chain while the signer changes
 * to it. A zone without NSEC3PARAM has no hashes that its server may use (RFC 5155 section 4). */
static enum err list_proofs(struct zone_data *data)
{
    struct zone_nsec3param chain;
    return zone_find_nsec3param(data, &chain) ? list_nodes(data, has_nsec3, &chain, &data->nsec3)
                                              : list_nodes(data, has_nsec, NULL, &data->nsec);
}

static struct zone_data *make_data(struct writer *writer)
{
    struct zone_data *data = calloc(1, sizeof(*data));
    if (!data)
        return NULL;
    atomic_init(&data->refs, 1);
    data->origin = name_copy(writer->origin, data->origin_wire);
    data->records = writer->records;
    data->count = (uint32_t)(writer->nodes.len / sizeof(*data->nodes));
    data->bytes_len = writer->bytes.len;
    data->nodes = (struct zone_node *)(void *)growing_take(&writer->nodes);
    data->bytes = growing_take(&writer->bytes);
    return data;
}

enum err zone_builder_finish(struct zone_builder **builder, struct zone_data **data)
{
    struct zone_builder *ending = *builder;
    struct writer writer = {
        .origin = ending->origin,
        .nodes = {.max = ending->max_bytes},
        .bytes = {.max = ending->max_bytes},
        .max_bytes = ending->max_bytes,
    };
    *data = NULL;
    enum err err = merge_all(ending, &writer);
    if (err == ERR_OK && !(*data = make_data(&writer)))
        err = ERR_NO_MEMORY;
    if (err == ERR_OK)
        err = builder_read_soa(*data);
    if (err == ERR_OK) {
        find_cuts(*data);
        err = list_proofs(*data);
    }
    if (err != ERR_OK) {
        zone_data_unref(*data);
        *data = NULL;
        free(writer.nodes.data);
        free(writer.bytes.data);
    }
    zone_builder_free(ending);
    *builder = NULL;
    return err;
}
