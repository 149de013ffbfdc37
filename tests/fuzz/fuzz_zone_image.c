/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The file of a transferred zone. The fuzzer cannot find the hash, so each input is also read with
 * the right hash at its end. A version that is read is written again and must come back the same.
 * The bytes also serve as a NOTIFY.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/hash.h"
#include "transfer/xfr_notify.h"
#include "transfer/zone_image.h"
#include "zone/zone_data.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_BYTES = 1 << 20, MAGIC_LEN = sizeof(ZONE_IMAGE_MAGIC) - 1 };

static enum err put(void *owner, struct span bytes)
{
    return buf_append(owner, bytes.data, bytes.len);
}

static void check_again(const struct zone_data *zone)
{
    struct buf image;
    struct zone_data *back;
    buf_init(&image, SIZE_MAX / 2);
    MUST(zone_image_write(zone, put, &image) == ERR_OK);
    MUST(zone_image_read(buf_span(&image), zone_data_origin(zone), 2 * MAX_BYTES, &back) == ERR_OK);
    MUST(zone_data_records(back) == zone_data_records(zone));
    MUST(zone_data_soa(back)->serial == zone_data_soa(zone)->serial);
    zone_data_unref(back);
    buf_deinit(&image);
}

static void check_read(struct span bytes, struct name origin)
{
    struct zone_data *zone;
    enum err err = zone_image_read(bytes, origin, MAX_BYTES, &zone);
    MUST((err == ERR_OK) == (zone != NULL));
    if (zone)
        check_again(zone);
    zone_data_unref(zone);
}

/* Follows the entries to their end and returns their hash. */
static uint64_t hash_of(struct span bytes, bool *is_whole)
{
    uint64_t hash = 0;
    uint8_t len;
    uint16_t rdata_len;
    struct span start = bytes, part;
    bool is_origin = true;
    *is_whole = false;
    while (span_take_u8(&bytes, &len) && len > 0 && span_take(&bytes, len, &part)) {
        if (!is_origin && (!span_take(&bytes, 6, &part) || !span_take_u16(&bytes, &rdata_len) ||
                           !span_take(&bytes, rdata_len, &part)))
            return 0;
        is_origin = false;
        hash = hash_bytes(start.data, start.len - bytes.len, hash);
        start = bytes;
        *is_whole = bytes.len == 0;
    }
    return hash;
}

/* Reads the entries between a magic number and the right end. */
static void check_entries(struct span entries, struct name origin)
{
    bool is_whole;
    uint64_t hash = hash_of(entries, &is_whole);
    uint8_t *image = malloc(MAGIC_LEN + entries.len + 9);
    if (!image)
        return;
    memcpy(image, ZONE_IMAGE_MAGIC, MAGIC_LEN);
    if (entries.len > 0)
        memcpy(image + MAGIC_LEN, entries.data, entries.len);
    uint8_t *end = image + MAGIC_LEN + entries.len;
    *end = 0;
    put_u32(end + 1, (uint32_t)(hash >> 32));
    put_u32(end + 5, (uint32_t)hash);
    if (is_whole)
        check_read(span_of(image, MAGIC_LEN + entries.len + 9), origin);
    free(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span bytes = span_of(data, size);
    struct name origin = {.wire = (const uint8_t *)"\7example\3com", .len = 13};
    struct xfr_notify notify;
    uint8_t reply[XFR_NOTIFY_REPLY_MAX];
    check_read(bytes, origin);
    check_entries(bytes, origin);
    if (xfr_notify_read(&notify, bytes))
        MUST(xfr_notify_reply(&notify, 9, reply) == 12U + notify.zone_len + 4);
    return 0;
}
