/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The part of the protocol buffer format that dnstap needs: keys, varints, fixed32 and byte
 * strings. One pass counts, and the next writes the same bytes.
 */
#include "tap/dnstap_message.h"

#include <string.h>

/* Field numbers of dnstap.proto. */
enum {
    DNSTAP_IDENTITY = 1,
    DNSTAP_VERSION = 2,
    DNSTAP_EXTRA = 3, /* free text: the name of the client's view */
    DNSTAP_MESSAGE = 14,
    DNSTAP_TYPE = 15,

    MESSAGE_TYPE = 1,
    MESSAGE_SOCKET_FAMILY = 2,
    MESSAGE_SOCKET_PROTOCOL = 3,
    MESSAGE_QUERY_ADDRESS = 4,
    MESSAGE_RESPONSE_ADDRESS = 5,
    MESSAGE_QUERY_PORT = 6,
    MESSAGE_RESPONSE_PORT = 7,
    MESSAGE_QUERY_TIME_SEC = 8,
    MESSAGE_QUERY_TIME_NSEC = 9,
    MESSAGE_QUERY_MESSAGE = 10,
    MESSAGE_RESPONSE_TIME_SEC = 12,
    MESSAGE_RESPONSE_TIME_NSEC = 13,
    MESSAGE_RESPONSE_MESSAGE = 14,
};

/* Values of the enums of dnstap.proto. */
enum {
    TYPE_MESSAGE = 1,
    FAMILY_INET = 1,
    FAMILY_INET6 = 2,
    PROTOCOL_UDP = 1 /* TCP, DOT follow */
};

enum wire_type { WIRE_VARINT = 0, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

/* Bytes under construction; out is NULL while counting. */
struct put {
    uint8_t *out;
    size_t len;
};

static void put_byte(struct put *put, uint8_t byte)
{
    if (put->out)
        put->out[put->len] = byte;
    put->len++;
}

static void dnstap_message_put_number(struct put *put, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        put_byte(put, (uint8_t)(number | 0x80));
    put_byte(put, (uint8_t)number);
}

static void dnstap_message_put_key(struct put *put, unsigned field, enum wire_type type)
{
    dnstap_message_put_number(put, field << 3 | type);
}

static void put_varint(struct put *put, unsigned field, uint64_t number)
{
    dnstap_message_put_key(put, field, WIRE_VARINT);
    dnstap_message_put_number(put, number);
}

static void put_fixed32(struct put *put, unsigned field, uint32_t number)
{
    dnstap_message_put_key(put, field, WIRE_FIXED32);
    for (unsigned i = 0; i < 4; i++) /* the lowest byte first */
        put_byte(put, (uint8_t)(number >> 8 * i));
}

static void dnstap_message_put_bytes(struct put *put, unsigned field, struct span bytes)
{
    dnstap_message_put_key(put, field, WIRE_BYTES);
    dnstap_message_put_number(put, bytes.len);
    if (put->out && bytes.len > 0)
        memcpy(put->out + put->len, bytes.data, bytes.len);
    put->len += bytes.len;
}

static void put_bytes_if_any(struct put *put, unsigned field, struct span bytes)
{
    if (bytes.len > 0)
        dnstap_message_put_bytes(put, field, bytes);
}

/* ---- the fields of Message ---- */

static void put_address(struct put *put, unsigned field, const struct addr *addr)
{
    size_t len;
    if (addr_family(addr) == AF_UNSPEC)
        return;
    const uint8_t *bytes = addr_bytes(addr, &len);
    dnstap_message_put_bytes(put, field, span_of(bytes, len));
}

static void put_port(struct put *put, unsigned field, const struct addr *addr)
{
    if (addr_family(addr) != AF_UNSPEC)
        put_varint(put, field, addr_port(addr));
}

static void dnstap_message_put_time(struct put *put, unsigned sec_field, unsigned nsec_field,
                                    uint64_t at, int64_t offset_us)
{
    int64_t us = (int64_t)at + offset_us;
    if (us < 0)
        us = 0;
    put_varint(put, sec_field, (uint64_t)us / 1000000);
    put_fixed32(put, nsec_field, (uint32_t)((uint64_t)us % 1000000 * 1000));
}

static void put_sockets(struct put *put, const struct tap_message *seen)
{
    bool is_v6 = addr_family(seen->asker) == AF_INET6 || addr_family(seen->asked) == AF_INET6;
    put_varint(put, MESSAGE_SOCKET_FAMILY, is_v6 ? FAMILY_INET6 : FAMILY_INET);
    put_varint(put, MESSAGE_SOCKET_PROTOCOL, PROTOCOL_UDP + (unsigned)seen->transport);
    put_address(put, MESSAGE_QUERY_ADDRESS, seen->asker);
    put_address(put, MESSAGE_RESPONSE_ADDRESS, seen->asked);
    put_port(put, MESSAGE_QUERY_PORT, seen->asker);
    put_port(put, MESSAGE_RESPONSE_PORT, seen->asked);
}

/* Message types of answers have even numbers. */
static bool is_response(const struct dnstap_message *message)
{
    return message->type % 2 == 0;
}

static void put_message(struct put *put, const struct dnstap_message *message)
{
    const struct tap_message *seen = message->seen;
    put_varint(put, MESSAGE_TYPE, message->type);
    put_sockets(put, seen);
    dnstap_message_put_time(put, MESSAGE_QUERY_TIME_SEC, MESSAGE_QUERY_TIME_NSEC, seen->asked_at,
                            message->wall_offset_us);
    if (!is_response(message)) {
        dnstap_message_put_bytes(put, MESSAGE_QUERY_MESSAGE, seen->bytes);
        return;
    }
    dnstap_message_put_time(put, MESSAGE_RESPONSE_TIME_SEC, MESSAGE_RESPONSE_TIME_NSEC,
                            seen->answered_at, message->wall_offset_us);
    dnstap_message_put_bytes(put, MESSAGE_RESPONSE_MESSAGE, seen->bytes);
}

size_t dnstap_message_put(uint8_t *out, const struct dnstap_message *message)
{
    const char *view = message->seen->view;
    struct put put = {.out = out}, inner = {0};
    put_message(&inner, message);
    put_bytes_if_any(&put, DNSTAP_IDENTITY, message->identity);
    put_bytes_if_any(&put, DNSTAP_VERSION, message->version);
    put_bytes_if_any(&put, DNSTAP_EXTRA, span_of(view, view ? strlen(view) : 0));
    dnstap_message_put_key(&put, DNSTAP_MESSAGE, WIRE_BYTES);
    dnstap_message_put_number(&put, inner.len);
    if (out)
        put_message(&put, message);
    else
        put.len += inner.len;
    put_varint(&put, DNSTAP_TYPE, TYPE_MESSAGE);
    return put.len;
}
