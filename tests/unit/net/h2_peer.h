/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_H2_PEER_H
#define NAILUP_TESTS_H2_PEER_H

/* A client of net/h2.h in memory, which writes each frame by hand, so that it may also break every
 * rule. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "net/h2.h"

enum { PEER_MESSAGE_MAX = 2000, PEER_FRAMES_MAX = 4096 };

/* A frame of the server. */
struct peer_frame {
    uint8_t type, flags;
    uint32_t stream;
    size_t len;
    uint32_t code; /* of GOAWAY and RST_STREAM */
    uint32_t last; /* of GOAWAY */
    char status[4], age[32], length[16], kind[32];
};

struct peer {
    struct h2 *h2;
    struct buf out; /* of the server */
    nghttp2_hd_inflater *inflater;
    enum err err; /* of the last call */
    struct peer_frame frames[PEER_FRAMES_MAX];
    size_t count; /* of frames that the server has sent */
    uint8_t body[128 * 1024];
    size_t body_len; /* of all DATA */
};

static inline void peer_take_field(struct peer_frame *frame, const nghttp2_nv *field)
{
    static const struct {
        const char *name;
        size_t at, max;
    } kept[] = {
        {":status", offsetof(struct peer_frame, status), 4},
        {"cache-control", offsetof(struct peer_frame, age), 32},
        {"content-length", offsetof(struct peer_frame, length), 16},
        {"content-type", offsetof(struct peer_frame, kind), 32},
    };
    for (size_t i = 0; i < ARRAY_LEN(kept); i++)
        if (strlen(kept[i].name) == field->namelen &&
            memcmp(kept[i].name, field->name, field->namelen) == 0)
            snprintf((char *)frame + kept[i].at, kept[i].max, "%.*s", (int)field->valuelen,
                     (const char *)field->value);
}

static inline void peer_inflate(struct peer *peer, struct peer_frame *frame, struct span block)
{
    for (int flags = 0; !(flags & NGHTTP2_HD_INFLATE_FINAL);) {
        nghttp2_nv field;
        ssize_t len =
            nghttp2_hd_inflate_hd2(peer->inflater, &field, &flags, block.data, block.len, 1);
        assert_true(len >= 0);
        block = span_of(block.data + len, block.len - (size_t)len);
        if (flags & NGHTTP2_HD_INFLATE_EMIT)
            peer_take_field(frame, &field);
    }
    nghttp2_hd_inflate_end_headers(peer->inflater);
}

/* Reads all whole frames of the server. */
static inline void peer_read(struct peer *peer)
{
    while (buf_len(&peer->out) >= 9) {
        const uint8_t *at = buf_span(&peer->out).data;
        size_t len = get_u32(at) >> 8;
        if (buf_len(&peer->out) < 9 + len)
            return;
        assert_true(peer->count < PEER_FRAMES_MAX);
        struct peer_frame *frame = &peer->frames[peer->count++];
        *frame = (struct peer_frame){.type = at[3], .flags = at[4], .stream = get_u32(at + 5)};
        frame->len = len;
        if (frame->type == NGHTTP2_HEADERS)
            peer_inflate(peer, frame, span_of(at + 9, len));
        if (frame->type == NGHTTP2_RST_STREAM)
            frame->code = get_u32(at + 9);
        if (frame->type == NGHTTP2_GOAWAY) {
            frame->last = get_u32(at + 9);
            frame->code = get_u32(at + 13);
        }
        if (frame->type == NGHTTP2_DATA) {
            assert_true(peer->body_len + len <= sizeof(peer->body));
            memcpy(peer->body + peer->body_len, at + 9, len);
            peer->body_len += len;
        }
        buf_consume(&peer->out, 9 + len);
    }
}

/* Takes all frames that the server has. */
static inline void peer_collect(struct peer *peer)
{
    size_t before;
    do {
        before = peer->count;
        enum err err = h2_send(peer->h2, &peer->out);
        peer->err = peer->err ? peer->err : err;
        peer_read(peer);
    } while (peer->count > before && !peer->err);
}

static inline void peer_send_bytes(struct peer *peer, const void *bytes, size_t len)
{
    uint8_t *copy = malloc(MAX(len, 1)); /* so that ASan detects a read beyond it */
    memcpy(copy, bytes, len);
    enum err err = h2_receive(peer->h2, span_of(copy, len));
    peer->err = peer->err ? peer->err : err;
    free(copy);
}

static inline void peer_frame(struct peer *peer, uint8_t type, unsigned flags, uint32_t stream,
                              struct span payload)
{
    static uint8_t bytes[9 + 20 * 1024];
    assert_true(payload.len <= sizeof(bytes) - 9);
    put_u32(bytes, (uint32_t)payload.len << 8 | type);
    bytes[4] = (uint8_t)flags;
    put_u32(bytes + 5, stream);
    if (payload.len > 0)
        memcpy(bytes + 9, payload.data, payload.len);
    peer_send_bytes(peer, bytes, 9 + payload.len);
}

/* Adds a field without indexing and without Huffman codes (RFC 7541 section 6.2.2). */
static inline size_t peer_add_field(uint8_t *out, const char *name, const char *value)
{
    size_t name_len = strlen(name), value_len = strlen(value), len = 0;
    out[len++] = 0;
    assert_true(name_len < 127);
    out[len++] = (uint8_t)name_len;
    memcpy(out + len, name, name_len);
    len += name_len;
    if (value_len < 127) {
        out[len++] = (uint8_t)value_len;
    } else { /* RFC 7541 section 5.1 */
        size_t rest = value_len - 127;
        out[len++] = 127;
        for (; rest >= 128; rest >>= 7)
            out[len++] = (uint8_t)(rest | 128);
        out[len++] = (uint8_t)rest;
    }
    memcpy(out + len, value, value_len);
    return len + value_len;
}

static inline size_t peer_add_head(uint8_t *out, const char *method, const char *path,
                                   const char *type)
{
    size_t len = peer_add_field(out, ":method", method);
    len += peer_add_field(out + len, ":scheme", "https");
    len += peer_add_field(out + len, ":authority", "dns.test");
    len += peer_add_field(out + len, ":path", path);
    return type ? len + peer_add_field(out + len, "content-type", type) : len;
}

static inline void peer_head(struct peer *peer, uint32_t stream, unsigned flags, const char *method,
                             const char *path, const char *type)
{
    static uint8_t block[20 * 1024];
    size_t len = peer_add_head(block, method, path, type);
    peer_frame(peer, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS | flags, stream,
               span_of(block, len));
}

static inline void peer_get(struct peer *peer, uint32_t stream, const char *path)
{
    peer_head(peer, stream, NGHTTP2_FLAG_END_STREAM, "GET", path, NULL);
}

static inline void peer_data(struct peer *peer, uint32_t stream, unsigned flags, const void *bytes,
                             size_t len)
{
    peer_frame(peer, NGHTTP2_DATA, flags, stream, span_of(bytes, len));
}

static inline void peer_post(struct peer *peer, uint32_t stream, const char *message)
{
    peer_head(peer, stream, 0, "POST", "/dns-query", "application/dns-message");
    peer_data(peer, stream, NGHTTP2_FLAG_END_STREAM, message, strlen(message));
}

static inline void peer_u32(struct peer *peer, uint8_t type, uint32_t stream, uint32_t value)
{
    uint8_t bytes[4];
    put_u32(bytes, value);
    peer_frame(peer, type, 0, stream, span_of(bytes, 4));
}

static inline void peer_reset(struct peer *peer, uint32_t stream)
{
    peer_u32(peer, NGHTTP2_RST_STREAM, stream, NGHTTP2_CANCEL);
}

static inline void peer_setting(struct peer *peer, uint16_t id, uint32_t value)
{
    uint8_t bytes[6];
    put_u16(bytes, id);
    put_u32(bytes + 2, value);
    peer_frame(peer, NGHTTP2_SETTINGS, 0, 0, span_of(bytes, 6));
}

/* Takes the next message and compares it. Returns its exchange. */
static inline uint32_t peer_expect(struct peer *peer, const char *message)
{
    uint32_t exchange;
    struct span got;
    assert_true(h2_next(peer->h2, &exchange, &got));
    assert_int_equal(got.len, strlen(message));
    assert_memory_equal(got.data, message, got.len);
    return exchange;
}

static inline void peer_expect_none(struct peer *peer)
{
    uint32_t exchange;
    struct span got;
    assert_false(h2_next(peer->h2, &exchange, &got));
}

static inline void peer_reply(struct peer *peer, uint32_t exchange, size_t len)
{
    uint8_t *room = h2_reserve(peer->h2, len);
    assert_non_null(room);
    memset(room, 'r', len);
    assert_true(h2_reply(peer->h2, exchange, len, 60));
}

/* The last frame of this type on the stream; NULL: none. */
static inline const struct peer_frame *peer_find(const struct peer *peer, uint8_t type,
                                                 uint32_t stream)
{
    for (size_t i = peer->count; i-- > 0;)
        if (peer->frames[i].type == type && peer->frames[i].stream == stream)
            return &peer->frames[i];
    return NULL;
}

static inline void peer_expect_status(struct peer *peer, uint32_t stream, const char *status)
{
    peer_collect(peer);
    const struct peer_frame *frame = peer_find(peer, NGHTTP2_HEADERS, stream);
    assert_non_null(frame);
    assert_string_equal(frame->status, status);
}

static inline void peer_expect_reset(struct peer *peer, uint32_t stream, uint32_t code)
{
    peer_collect(peer);
    const struct peer_frame *frame = peer_find(peer, NGHTTP2_RST_STREAM, stream);
    assert_non_null(frame);
    assert_int_equal(frame->code, code);
}

/* The connection has ended with this error and code. */
static inline void peer_expect_end(struct peer *peer, enum err err, uint32_t code)
{
    peer_collect(peer);
    assert_int_equal(peer->err, err);
    const struct peer_frame *frame = peer_find(peer, NGHTTP2_GOAWAY, 0);
    assert_non_null(frame);
    assert_int_equal(frame->code, code);
}

static inline void peer_preface(struct peer *peer)
{
    peer_send_bytes(peer, NGHTTP2_CLIENT_MAGIC, NGHTTP2_CLIENT_MAGIC_LEN);
    peer_frame(peer, NGHTTP2_SETTINGS, 0, 0, span_of(NULL, 0));
}

static inline int peer_set_up(void **state)
{
    struct peer *peer = calloc(1, sizeof(*peer));
    peer->h2 = h2_new("/dns-query", PEER_MESSAGE_MAX);
    buf_init(&peer->out, 1024 * 1024);
    *state = peer;
    return nghttp2_hd_inflate_new(&peer->inflater) || !peer->h2;
}

static inline int peer_tear_down(void **state)
{
    struct peer *peer = *state;
    h2_free(peer->h2);
    buf_deinit(&peer->out);
    nghttp2_hd_inflate_del(peer->inflater);
    free(peer);
    return 0;
}

#define WITH_PEER(test) cmocka_unit_test_setup_teardown(test, peer_set_up, peer_tear_down)

#endif
