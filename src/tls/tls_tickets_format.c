/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Reads and writes the bytes of a ticket file (tls_tickets_format.h). */

#include "tls/tls_tickets_format.h"

#include <string.h>

#include <openssl/crypto.h>

#include "base/check.h"
#include "base/hash.h"

static const char MAGIC[12] = "nailup-tls\n";

struct span tls_tickets_magic(void)
{
    return span_of(MAGIC, sizeof(MAGIC));
}

enum {
    LENGTH_AT = sizeof(MAGIC) + 4,
    RACKS_AT = LENGTH_AT + 4,
    HEAD_BYTES = RACKS_AT + 4,
    FIRST_BYTES = 4096,
};

/* ---------------------------------------------------------------- reading */

/* Reads two halves: span.h has no 64-bit reader. */
static bool has_right_checksum(struct span file)
{
    size_t len = file.len - TLS_TICKETS_CHECKSUM_BYTES;
    uint64_t sum = (uint64_t)get_u32(file.data + len) << 32 | get_u32(file.data + len + 4);

    return hash_bytes(file.data, len, TLS_TICKETS_VERSION) == sum;
}

static bool take_rack(struct span *rest, tls_tickets_fn on_ticket, void *owner)
{
    struct span key, ticket;
    uint16_t key_len, count;
    uint32_t len;

    if (!span_take_u16(rest, &key_len) || !span_take_u16(rest, &count) ||
        key_len > TLS_RACK_KEY_MAX || count == 0 || count > TLS_RACK_TICKETS_MAX ||
        !span_take(rest, key_len, &key))
        return false;
    while (count-- > 0) {
        if (!span_take_u32(rest, &len) || len == 0 || len > TLS_TICKET_BYTES_MAX ||
            !span_take(rest, len, &ticket) || !on_ticket(owner, key, ticket))
            return false;
    }
    return true;
}

static bool take_head(struct span *rest, size_t file_len, uint32_t *racks)
{
    struct span magic;
    uint32_t version, len;

    return span_take(rest, sizeof(MAGIC), &magic) &&
           memcmp(magic.data, MAGIC, sizeof(MAGIC)) == 0 && span_take_u32(rest, &version) &&
           version == TLS_TICKETS_VERSION && span_take_u32(rest, &len) && len == file_len &&
           span_take_u32(rest, racks) && *racks <= TLS_RACKS_MAX;
}

bool tls_tickets_parse(struct span file, tls_tickets_fn on_ticket, void *owner)
{
    struct span rest = file;
    uint32_t racks;

    if (file.len < HEAD_BYTES + TLS_TICKETS_CHECKSUM_BYTES || file.len > TLS_TICKETS_FILE_MAX)
        return false;
    rest.len -= TLS_TICKETS_CHECKSUM_BYTES;
    if (!take_head(&rest, file.len, &racks) || !has_right_checksum(file))
        return false;
    while (racks-- > 0) {
        if (!take_rack(&rest, on_ticket, owner))
            return false;
    }
    return rest.len == 0;
}

/* ---------------------------------------------------------------- writing */

/* Returns room for len more bytes, with space for the checksum after them. */
static uint8_t *tls_tickets_reserve(struct tls_tickets_writer *writer, size_t len)
{
    size_t wanted = writer->len + len + TLS_TICKETS_CHECKSUM_BYTES, cap = writer->cap;
    uint8_t *data;

    if (wanted > TLS_TICKETS_FILE_MAX)
        return NULL;
    while (cap < wanted)
        cap = cap ? cap * 2 : FIRST_BYTES;
    if (cap > writer->cap) {
        data = OPENSSL_clear_realloc(writer->data, writer->cap, cap);
        if (!data)
            return NULL;
        writer->data = data;
        writer->cap = cap;
    }
    return writer->data + writer->len;
}

bool tls_tickets_writer_init(struct tls_tickets_writer *writer)
{
    uint8_t *head;

    *writer = (struct tls_tickets_writer){0};
    head = tls_tickets_reserve(writer, HEAD_BYTES);
    if (!head)
        return false;
    memcpy(head, MAGIC, sizeof(MAGIC));
    put_u32(head + sizeof(MAGIC), TLS_TICKETS_VERSION);
    writer->len = HEAD_BYTES;
    return true;
}

/* Adds the last rack to the count of racks, or removes it if it has no ticket. */
static void end_rack(struct tls_tickets_writer *writer)
{
    if (writer->tickets_at == 0)
        return;
    if (writer->tickets > 0) {
        put_u16(writer->data + writer->tickets_at, (uint16_t)writer->tickets);
        writer->racks++;
    } else {
        writer->len = writer->tickets_at - 2;
    }
    writer->tickets_at = writer->tickets = 0;
}

bool tls_tickets_write_rack(struct tls_tickets_writer *writer, struct span key)
{
    uint8_t *room;

    end_rack(writer);
    if (writer->racks == TLS_RACKS_MAX || key.len > TLS_RACK_KEY_MAX)
        return false;
    room = tls_tickets_reserve(writer, 4 + key.len);
    if (!room)
        return false;
    put_u16(room, (uint16_t)key.len);
    writer->tickets_at = writer->len + 2;
    if (key.len)
        memcpy(room + 4, key.data, key.len);
    writer->len += 4 + key.len;
    return true;
}

uint8_t *tls_tickets_write_ticket(struct tls_tickets_writer *writer, size_t len)
{
    uint8_t *room;

    if (writer->tickets_at == 0 || writer->tickets == TLS_RACK_TICKETS_MAX || len == 0 ||
        len > TLS_TICKET_BYTES_MAX)
        return NULL;
    room = tls_tickets_reserve(writer, 4 + len);
    if (!room)
        return NULL;
    put_u32(room, (uint32_t)len);
    writer->len += 4 + len;
    writer->tickets++;
    return room + 4;
}

void tls_tickets_seal(uint8_t *file, size_t len)
{
    size_t body = len - TLS_TICKETS_CHECKSUM_BYTES;
    uint64_t sum;

    MUST(len >= HEAD_BYTES + TLS_TICKETS_CHECKSUM_BYTES && len <= UINT32_MAX);
    put_u32(file + LENGTH_AT, (uint32_t)len);
    sum = hash_bytes(file, body, TLS_TICKETS_VERSION);
    put_u32(file + body, (uint32_t)(sum >> 32));
    put_u32(file + body + 4, (uint32_t)sum);
}

struct span tls_tickets_write_end(struct tls_tickets_writer *writer)
{
    end_rack(writer);
    put_u32(writer->data + RACKS_AT, (uint32_t)writer->racks);
    writer->len += TLS_TICKETS_CHECKSUM_BYTES; /* tls_tickets_reserve() kept room for it */
    tls_tickets_seal(writer->data, writer->len);
    return span_of(writer->data, writer->len);
}

void tls_tickets_writer_deinit(struct tls_tickets_writer *writer)
{
    OPENSSL_clear_free(writer->data, writer->cap);
    writer->data = NULL;
}
