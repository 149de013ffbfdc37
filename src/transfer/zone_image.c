/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * After the magic come entries: the length of a name (1), the name. The first entry is the origin.
 * Each further entry is an owner, followed by type (2), TTL (4), length (2) and RDATA, in network
 * order. A length of zero ends the entries, and the hash (8) follows. It is a chain: the hash of an
 * entry is the seed of the next. Invariant: no part of a file counts before its hash was right.
 */
#include "transfer/zone_image.h"

#include <string.h>

#include "base/hash.h"
#include "zone/zone_builder.h"
#include "zone/zone_data.h"

enum {
    PIECE_BYTES = 16 * 1024,
    ENTRY_FIXED = 8, /* type, TTL, length */
    ENTRY_MAX = 1 + NAME_WIRE_MAX + ENTRY_FIXED + 65535,
    HASH_LEN = 8,
};

/* ---- writing ---- */

struct image_writer {
    enum err (*put)(void *owner, struct span bytes);
    void *owner;
    uint64_t hash;
    size_t len;
    uint8_t bytes[PIECE_BYTES + ENTRY_MAX];
};

static enum err image_flush(struct image_writer *writer)
{
    size_t len = writer->len;
    writer->len = 0;
    return len > 0 ? writer->put(writer->owner, span_of(writer->bytes, len)) : ERR_OK;
}

/* Ends an entry of len bytes at the end of the buffer. */
static enum err image_commit(struct image_writer *writer, size_t len)
{
    writer->hash = hash_bytes(writer->bytes + writer->len, len, writer->hash);
    writer->len += len;
    return writer->len >= PIECE_BYTES ? image_flush(writer) : ERR_OK;
}

static size_t image_put_name(uint8_t *at, struct name name)
{
    at[0] = name.len;
    memcpy(at + 1, name.wire, name.len);
    return 1U + name.len;
}

static enum err image_put_record(struct image_writer *writer, const struct zone_record *record)
{
    uint8_t *start = writer->bytes + writer->len;
    uint8_t *at = start + image_put_name(start, record->owner);
    put_u16(at, record->type);
    put_u32(at + 2, record->ttl);
    put_u16(at + 6, (uint16_t)record->rdata.len);
    at += ENTRY_FIXED;
    if (record->rdata.len > 0)
        memcpy(at, record->rdata.data, record->rdata.len);
    return image_commit(writer, (size_t)(at - start) + record->rdata.len);
}

static enum err image_put_end(struct image_writer *writer)
{
    uint8_t *at = writer->bytes + writer->len;
    at[0] = 0;
    put_u32(at + 1, (uint32_t)(writer->hash >> 32));
    put_u32(at + 5, (uint32_t)writer->hash);
    writer->len += 1 + HASH_LEN;
    return image_flush(writer);
}

enum err zone_image_write(const struct zone_data *zone,
                          enum err (*put)(void *owner, struct span bytes), void *owner)
{
    static _Thread_local struct image_writer writer;
    struct zone_iter iter;
    struct zone_record record;
    writer.put = put;
    writer.owner = owner;
    writer.hash = 0;
    writer.len = sizeof(ZONE_IMAGE_MAGIC) - 1;
    memcpy(writer.bytes, ZONE_IMAGE_MAGIC, writer.len);
    enum err err =
        image_commit(&writer, image_put_name(writer.bytes + writer.len, zone_data_origin(zone)));
    zone_iter_init(&iter, zone);
    while (err == ERR_OK && zone_iter_next(&iter, &record))
        err = image_put_record(&writer, &record);
    return err == ERR_OK ? image_put_end(&writer) : err;
}

/* ---- reading ---- */

/* Takes a name with its length. Returns false at a fault; the name may be unsound. */
static bool image_take_name(struct span *bytes, struct name *name)
{
    uint8_t len;
    struct span wire;
    if (!span_take_u8(bytes, &len) || len == 0 || !span_take(bytes, len, &wire) ||
        name_view(wire, 0, name) != len)
        return false;
    return true;
}

static bool image_take_record(struct span *bytes, struct zone_record *out)
{
    uint16_t len;
    return image_take_name(bytes, &out->owner) && span_take_u16(bytes, &out->type) &&
           span_take_u32(bytes, &out->ttl) && span_take_u16(bytes, &len) &&
           span_take(bytes, len, &out->rdata);
}

static uint64_t chain(struct span before, struct span after, uint64_t hash)
{
    return hash_bytes(before.data, before.len - after.len, hash);
}

/* Adds the records of a file whose magic and origin were right. */
static enum err image_take_records(struct zone_builder *builder, struct span bytes, uint64_t hash)
{
    struct zone_record record;
    uint32_t high, low;
    while (bytes.len > 0 && bytes.data[0] != 0) {
        struct span before = bytes;
        if (!image_take_record(&bytes, &record))
            return ERR_INVALID;
        hash = chain(before, bytes, hash);
        enum err err =
            zone_builder_add(builder, record.owner, record.type, record.ttl, record.rdata);
        if (err != ERR_OK)
            return err == ERR_OUT_OF_ZONE ? ERR_INVALID : err;
    }
    if (bytes.len != 1 + HASH_LEN)
        return ERR_INVALID;
    high = get_u32(bytes.data + 1);
    low = get_u32(bytes.data + 5);
    return hash == ((uint64_t)high << 32 | low) ? ERR_OK : ERR_INVALID;
}

enum err zone_image_read(struct span bytes, struct name origin, size_t max_bytes,
                         struct zone_data **out)
{
    struct span magic, before;
    struct name name;
    *out = NULL;
    if (!span_take(&bytes, sizeof(ZONE_IMAGE_MAGIC) - 1, &magic) ||
        !span_equal(magic, span_of(ZONE_IMAGE_MAGIC, magic.len)))
        return ERR_FOREIGN;
    before = bytes;
    if (!image_take_name(&bytes, &name) || !name_equal(name, origin))
        return ERR_FOREIGN;
    struct zone_builder *builder = zone_builder_new(origin, max_bytes);
    if (!builder)
        return ERR_NO_MEMORY;
    enum err err = image_take_records(builder, bytes, chain(before, bytes, 0));
    if (err == ERR_OK)
        err = zone_builder_finish(&builder, out);
    zone_builder_free(builder);
    return err;
}
