/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Two layers: frames with a length in front, and the fields of protocol buffers in them. A frame of
 * length 0 announces a control frame.
 *
 * Invariant: a length that the file claims is checked before a byte behind it is read.
 */

#include "dnstap_file.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

static const char content_type[] = "protobuf:dnstap.Dnstap";

enum { CONTROL_START = 2, CONTROL_STOP = 3, CONTROL_CONTENT_TYPE = 1 };

/* Field numbers and values of dnstap.proto. */
enum {
    DNSTAP_MESSAGE = 14,
    DNSTAP_TYPE = 15,
    TYPE_MESSAGE = 1,

    MESSAGE_TYPE = 1,
    MESSAGE_QUERY_ADDRESS = 4,
    MESSAGE_QUERY_TIME_SEC = 8,
    MESSAGE_QUERY_TIME_NSEC = 9,
    MESSAGE_QUERY_MESSAGE = 10,
    AUTH_QUERY = 1,
    CLIENT_QUERY = 5,
};

/* ---- fields of protocol buffers ---- */

enum field_kind { FIELD_VARINT = 0, FIELD_FIXED64 = 1, FIELD_BYTES = 2, FIELD_FIXED32 = 5 };

struct field {
    uint64_t number, value; /* value: for all kinds except FIELD_BYTES */
    struct span bytes;      /* for FIELD_BYTES; borrowed */
};

static bool take_varint(struct span *in, uint64_t *out)
{
    uint8_t byte = 0x80;
    *out = 0;
    for (unsigned shift = 0; byte & 0x80; shift += 7) {
        if (shift >= 64 || !span_take_u8(in, &byte))
            return false;
        *out |= (uint64_t)(byte & 0x7f) << shift;
    }
    return true;
}

static bool take_little_endian(struct span *in, size_t len, uint64_t *out)
{
    struct span bytes;
    if (!span_take(in, len, &bytes))
        return false;
    for (*out = 0; len > 0; len--)
        *out = *out << 8 | bytes.data[len - 1];
    return true;
}

static bool take_field(struct span *in, struct field *out)
{
    uint64_t key, len;
    if (!take_varint(in, &key))
        return false;
    *out = (struct field){.number = key >> 3};
    switch (key & 7) {
    case FIELD_VARINT:
        return take_varint(in, &out->value);
    case FIELD_FIXED64:
        return take_little_endian(in, 8, &out->value);
    case FIELD_FIXED32:
        return take_little_endian(in, 4, &out->value);
    case FIELD_BYTES:
        return take_varint(in, &len) && len <= in->len && span_take(in, (size_t)len, &out->bytes);
    default:
        return false;
    }
}

/* ---- messages ---- */

struct tapped {
    uint64_t type, seconds, nanoseconds;
    struct span address, query;
};

static bool parse_message(struct span in, struct tapped *out)
{
    struct field field;
    *out = (struct tapped){.seconds = CAPTURE_NO_TIME};
    while (in.len) {
        if (!take_field(&in, &field))
            return false;
        if (field.number == MESSAGE_TYPE)
            out->type = field.value;
        else if (field.number == MESSAGE_QUERY_ADDRESS)
            out->address = field.bytes;
        else if (field.number == MESSAGE_QUERY_TIME_SEC)
            out->seconds = field.value;
        else if (field.number == MESSAGE_QUERY_TIME_NSEC)
            out->nanoseconds = field.value;
        else if (field.number == MESSAGE_QUERY_MESSAGE)
            out->query = field.bytes;
    }
    return true;
}

/* For privacy, a server may leave the address out. All such queries count as one client's. */
static struct addr client_of(struct span address)
{
    struct addr client = {.in = {.sin_family = AF_INET}};
    if (address.len == sizeof(client.in.sin_addr)) {
        memcpy(&client.in.sin_addr, address.data, address.len);
    } else if (address.len == sizeof(client.in6.sin6_addr)) {
        client = (struct addr){.in6 = {.sin6_family = AF_INET6}};
        memcpy(&client.in6.sin6_addr, address.data, address.len);
    }
    return client;
}

static enum dnstap_fault add_message(struct capture *capture, struct span bytes)
{
    struct tapped tapped;
    if (!parse_message(bytes, &tapped))
        return DNSTAP_FRAME;
    if ((tapped.type != AUTH_QUERY && tapped.type != CLIENT_QUERY) || tapped.query.len == 0)
        return DNSTAP_FINE;
    struct addr client = client_of(tapped.address);
    uint64_t at_ns = tapped.seconds == CAPTURE_NO_TIME
                         ? CAPTURE_NO_TIME
                         : tapped.seconds * 1000000000 + tapped.nanoseconds;
    return capture_add(capture, tapped.query, &client, at_ns) ? DNSTAP_FULL : DNSTAP_FINE;
}

static enum dnstap_fault add_frame(struct capture *capture, struct span frame)
{
    struct field field;
    struct span message = {0};
    uint64_t type = 0;
    while (frame.len) {
        if (!take_field(&frame, &field))
            return DNSTAP_FRAME;
        if (field.number == DNSTAP_MESSAGE)
            message = field.bytes;
        else if (field.number == DNSTAP_TYPE)
            type = field.value;
    }
    return type == TYPE_MESSAGE ? add_message(capture, message) : DNSTAP_FINE;
}

/* ---- frames ---- */

static bool read_bytes(FILE *in, uint8_t *out, size_t len)
{
    return fread(out, 1, len, in) == len;
}

/* Reads a control frame, which follows a length of 0. */
static enum dnstap_fault read_control(FILE *in, uint8_t room[DNSTAP_CONTROL_MAX], struct span *out)
{
    uint8_t head[4];
    if (!read_bytes(in, head, sizeof(head)))
        return DNSTAP_CUT;
    size_t len = get_u32(head);
    if (len < 4 || len > DNSTAP_CONTROL_MAX)
        return DNSTAP_FRAME;
    *out = span_of(room, len);
    return read_bytes(in, room, len) ? DNSTAP_FINE : DNSTAP_CUT;
}

static bool is_content_good(struct span fields)
{
    uint32_t kind, len;
    struct span value;
    while (span_take_u32(&fields, &kind) && span_take_u32(&fields, &len) &&
           span_take(&fields, len, &value))
        if (kind == CONTROL_CONTENT_TYPE &&
            !span_equal(value, span_of(content_type, sizeof(content_type) - 1)))
            return false;
    return fields.len == 0;
}

static enum dnstap_fault read_start(FILE *in)
{
    uint8_t head[4], room[DNSTAP_CONTROL_MAX];
    struct span control;
    uint32_t type;
    if (!read_bytes(in, head, sizeof(head)) || get_u32(head) != 0 ||
        read_control(in, room, &control) || !span_take_u32(&control, &type) ||
        type != CONTROL_START)
        return DNSTAP_NO_STREAM;
    return is_content_good(control) ? DNSTAP_FINE : DNSTAP_CONTENT;
}

/* STOP is the only control frame that may follow START. */
static enum dnstap_fault read_stop(FILE *in)
{
    uint8_t room[DNSTAP_CONTROL_MAX];
    struct span control;
    uint32_t type;
    enum dnstap_fault fault = read_control(in, room, &control);
    if (fault)
        return fault;
    return span_take_u32(&control, &type) && type == CONTROL_STOP ? DNSTAP_FINE : DNSTAP_FRAME;
}

/* Reads the next frame into room, which holds DNSTAP_FRAME_MAX. *is_end: there is no further frame.
 */
static enum dnstap_fault read_frame(FILE *in, uint8_t *room, struct span *frame, bool *is_end)
{
    uint8_t head[4];
    size_t got = fread(head, 1, sizeof(head), in);
    *is_end = got == 0 && feof(in);
    if (*is_end)
        return DNSTAP_FINE;
    if (got != sizeof(head))
        return DNSTAP_CUT;
    size_t len = get_u32(head);
    *is_end = len == 0;
    if (*is_end)
        return read_stop(in);
    if (len > DNSTAP_FRAME_MAX)
        return DNSTAP_FRAME;
    *frame = span_of(room, len);
    return read_bytes(in, room, len) ? DNSTAP_FINE : DNSTAP_CUT;
}

static enum dnstap_fault read_frames(struct capture *capture, FILE *in, uint8_t *room,
                                     size_t *frames)
{
    bool is_end = false;
    struct span frame = {0};
    enum dnstap_fault fault = read_start(in);
    while (!fault && !(fault = read_frame(in, room, &frame, &is_end)) && !is_end) {
        fault = add_frame(capture, frame);
        *frames += fault == DNSTAP_FINE;
    }
    return fault || capture->queries.count ? fault : DNSTAP_EMPTY;
}

enum dnstap_fault dnstap_file_load(struct capture *capture, FILE *in, size_t *frames)
{
    uint8_t *room = malloc(DNSTAP_FRAME_MAX);
    memset(capture, 0, sizeof(*capture));
    *frames = 0;
    enum dnstap_fault fault = room ? read_frames(capture, in, room, frames) : DNSTAP_FULL;
    free(room);
    if (fault)
        capture_deinit(capture);
    return fault;
}

const char *dnstap_fault_text(enum dnstap_fault fault)
{
    static const char *const texts[] = {
        [DNSTAP_FINE] = "no fault",
        [DNSTAP_NO_STREAM] = "it is no file of Frame Streams: fstrm_capture -w writes one",
        [DNSTAP_CONTENT] = "its content is not protobuf:dnstap.Dnstap",
        [DNSTAP_CUT] = "it ends within a frame: copy the file again or end the capture first",
        [DNSTAP_FRAME] = "a frame is no message of dnstap: the file is damaged",
        [DNSTAP_EMPTY] = "no message is a query of a client: let the server log CLIENT_QUERY",
        [DNSTAP_FULL] = "it has more queries than memory holds",
    };
    MUST((size_t)fault < sizeof(texts) / sizeof(*texts));
    return texts[fault];
}
