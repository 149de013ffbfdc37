/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * HTTP/2 for DNS over HTTPS (h2.h). The only user of libnghttp2.
 *
 * Invariant: each open stream of the peer has one h2_stream, which is the user data of the stream
 * in the library. It is in the list of one state. unsent counts the replies of all streams that the
 * library has not moved yet.
 */
#include "net/h2.h"

#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/list.h"
#include "net/h2_request.h"

enum { H2_KEEP_BYTES = 1024 };

enum h2_stream_state {
    H2_STREAM_OPEN,     /* the request is incomplete */
    H2_STREAM_READY,    /* its message waits to be taken */
    H2_STREAM_ASKED,    /* the owner has the message */
    H2_STREAM_ANSWERED, /* a reply or a status is on its way */
};

struct h2_stream {
    struct list node;
    int32_t id;
    enum h2_stream_state state;
    bool has_ended;    /* the peer sends no more */
    size_t unconsumed; /* bytes of the body that take up the window until the message is taken */
    struct h2_request request;
    uint8_t *reply;
    size_t reply_len, reply_sent;
    size_t counted;     /* its part of unsent */
    size_t field_bytes; /* of header fields and trailers */
    bool is_cut;        /* its body is too long, and the peer need not send the rest */
};

struct h2 {
    nghttp2_session *session;
    struct list streams; /* struct h2_stream in all states but READY */
    struct list ready;
    int32_t taken_id; /* the stream of the message that was taken last; 0: none */
    struct buf room;  /* for a reply that is being written */
    size_t max_message_bytes;
    size_t library_bytes; /* memory of libnghttp2 */
    size_t stream_bytes;  /* of streams and their replies */
    size_t message_bytes; /* of their messages */
    size_t unsent;
    uint64_t refused;
    size_t spare_frames, spare_bytes;
    enum err failure; /* of a callback */
    bool has_announced, has_ended;
    char path[H2_PATH_MAX + 1];
};

/* ---- the memory of the library ---- */

/* Before each block, so that it can be counted. */
struct h2_block {
    _Alignas(max_align_t) size_t size;
};

static void *h2_realloc(void *memory, size_t size, void *context)
{
    struct h2 *h2 = context;
    struct h2_block *old = memory ? (struct h2_block *)memory - 1 : NULL;
    size_t old_size = old ? old->size : 0;
    if (size > SIZE_MAX - sizeof(*old))
        return NULL;
    struct h2_block *block = realloc(old, sizeof(*block) + size);
    if (!block)
        return NULL;
    block->size = sizeof(*block) + size;
    h2->library_bytes += block->size - old_size;
    return block + 1;
}

static void *h2_malloc(size_t size, void *context)
{
    return h2_realloc(NULL, size, context);
}

static void *h2_calloc(size_t count, size_t size, void *context)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    void *memory = h2_malloc(bytes, context);
    return memory ? memset(memory, 0, bytes) : NULL;
}

static void h2_release(void *memory, void *context)
{
    struct h2 *h2 = context;
    if (!memory)
        return;
    struct h2_block *block = (struct h2_block *)memory - 1;
    h2->library_bytes -= block->size;
    free(block);
}

/* ---- streams ---- */

static struct h2_stream *h2_stream_find(struct h2 *h2, int32_t id)
{
    return nghttp2_session_get_stream_user_data(h2->session, id);
}

static struct h2_stream *h2_stream_new(struct h2 *h2, int32_t id)
{
    struct h2_stream *stream = calloc(1, sizeof(*stream));
    if (!stream)
        return NULL;
    stream->id = id;
    h2_request_init(&stream->request, h2->max_message_bytes);
    list_append(&h2->streams, &stream->node);
    h2->stream_bytes += sizeof(*stream);
    return stream;
}

/* The message has been read or means nothing. */
static void h2_stream_drop_message(struct h2 *h2, struct h2_stream *stream)
{
    h2->message_bytes -= stream->request.message.cap;
    h2_request_deinit(&stream->request);
}

/* Gives the bytes of the body back to the window of the connection. */
static void h2_stream_consume(struct h2 *h2, struct h2_stream *stream)
{
    if (stream->unconsumed > 0 &&
        nghttp2_session_consume_connection(h2->session, stream->unconsumed))
        h2->failure = ERR_NO_MEMORY;
    stream->unconsumed = 0;
}

static void h2_stream_free(struct h2 *h2, struct h2_stream *stream)
{
    h2_stream_drop_message(h2, stream);
    h2->stream_bytes -= sizeof(*stream) + stream->reply_len;
    h2->unsent -= stream->counted;
    list_remove(&stream->node);
    free(stream->reply);
    free(stream);
}

static void h2_stream_move(struct h2 *h2, struct h2_stream *stream, enum h2_stream_state to)
{
    stream->state = to;
    list_remove(&stream->node);
    list_append(to == H2_STREAM_READY ? &h2->ready : &h2->streams, &stream->node);
}

static void h2_stream_reset(struct h2 *h2, struct h2_stream *stream, uint32_t code)
{
    h2_stream_move(h2, stream, H2_STREAM_ANSWERED);
    h2_stream_drop_message(h2, stream);
    h2_stream_consume(h2, stream);
    if (nghttp2_submit_rst_stream(h2->session, NGHTTP2_FLAG_NONE, stream->id, code))
        h2->failure = ERR_NO_MEMORY;
}

/* ---- replies ---- */

static void h2_credit_frames(struct h2 *h2, size_t count)
{
    h2->spare_frames = MIN(h2->spare_frames + count, H2_SPARE_FRAMES_MAX);
}

#define FIELD(text, data, len)                                                                     \
    (nghttp2_nv)                                                                                   \
    {                                                                                              \
        (uint8_t *)(text), (uint8_t *)(data), sizeof(text) - 1, (len),                             \
            NGHTTP2_NV_FLAG_NO_COPY_NAME                                                           \
    }

/* Refuses a request. */
static void h2_stream_refuse(struct h2 *h2, struct h2_stream *stream, enum h2_status status)
{
    char text[4];
    snprintf(text, sizeof(text), "%03u", (unsigned)status % 1000);
    nghttp2_nv fields[2] = {FIELD(":status", text, 3), FIELD("allow", "GET, POST", 9)};
    size_t count = status == H2_BAD_METHOD ? 2 : 1;
    h2->refused++;
    h2_stream_move(h2, stream, H2_STREAM_ANSWERED);
    h2_stream_drop_message(h2, stream);
    h2_stream_consume(h2, stream);
    if (nghttp2_submit_response(h2->session, stream->id, fields, count, NULL))
        h2->failure = ERR_NO_MEMORY;
}

static ssize_t h2_on_read(nghttp2_session *session, int32_t id, uint8_t *out, size_t room,
                          uint32_t *flags, nghttp2_data_source *source, void *owner)
{
    struct h2 *h2 = owner;
    struct h2_stream *stream = source->ptr;
    size_t left = stream->reply_len - stream->reply_sent, len = MIN(left, room);
    (void)session, (void)id;
    memcpy(out, stream->reply + stream->reply_sent, len);
    stream->reply_sent += len;
    size_t now_sent = len == left ? stream->counted : len;
    stream->counted -= now_sent;
    h2->unsent -= now_sent;
    h2_credit_frames(h2, len / H2_REPLY_BYTES_PER_FRAME);
    if (len == left)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)len;
}

uint8_t *h2_reserve(struct h2 *h2, size_t max_len)
{
    buf_clear(&h2->room);
    return buf_reserve(&h2->room, max_len);
}

/* Keeps a copy of the room until it has left. */
static bool h2_stream_keep_reply(struct h2 *h2, struct h2_stream *stream, size_t len)
{
    stream->reply = malloc(MAX(len, 1));
    if (!stream->reply)
        return false;
    memcpy(stream->reply, h2->room.data + h2->room.end, len);
    stream->reply_len = len;
    stream->counted = len + H2_REPLY_HEAD_BYTES;
    h2->stream_bytes += len;
    h2->unsent += stream->counted;
    return true;
}

/* Returns 0 or an error of the library. */
static int h2_stream_submit_reply(struct h2 *h2, struct h2_stream *stream, uint32_t max_age_s)
{
    static const char type[] = "application/dns-message";
    char age[32], length[16];
    /* Private: views and policies may give another client another answer. */
    int age_len = snprintf(age, sizeof(age), "private, max-age=%u", (unsigned)max_age_s);
    int length_len = snprintf(length, sizeof(length), "%u", (unsigned)stream->reply_len);
    nghttp2_nv fields[] = {FIELD(":status", "200", 3),
                           FIELD("content-type", type, sizeof(type) - 1),
                           FIELD("content-length", length, (size_t)length_len),
                           FIELD("cache-control", age, (size_t)age_len)};
    nghttp2_data_provider provider = {.source.ptr = stream, .read_callback = h2_on_read};
    return nghttp2_submit_response(h2->session, stream->id, fields, ARRAY_LEN(fields), &provider);
}

bool h2_reply(struct h2 *h2, uint32_t exchange, size_t len, uint32_t max_age_s)
{
    struct h2_stream *stream = h2_stream_find(h2, (int32_t)exchange);
    bool is_sent = true;
    if (stream && stream->state == H2_STREAM_ASKED) {
        is_sent = h2_stream_keep_reply(h2, stream, len) &&
                  h2_stream_submit_reply(h2, stream, max_age_s) == 0;
        if (is_sent)
            h2_stream_move(h2, stream, H2_STREAM_ANSWERED);
        else
            h2_stream_reset(h2, stream, NGHTTP2_INTERNAL_ERROR);
    }
    if (h2->room.cap > H2_KEEP_BYTES) /* thousands of idle connections must not keep it */
        buf_deinit(&h2->room);
    else
        buf_clear(&h2->room);
    return is_sent;
}

void h2_decline(struct h2 *h2, uint32_t exchange, bool is_malformed)
{
    struct h2_stream *stream = h2_stream_find(h2, (int32_t)exchange);
    if (!stream || stream->state != H2_STREAM_ASKED)
        return;
    if (is_malformed)
        h2_stream_refuse(h2, stream, H2_BAD_REQUEST);
    else
        h2_stream_reset(h2, stream, NGHTTP2_CANCEL);
}

/* ---- requests ---- */

/* The request is complete. */
static void h2_stream_end(struct h2 *h2, struct h2_stream *stream)
{
    stream->has_ended = true;
    if (stream->state != H2_STREAM_OPEN)
        return;
    enum h2_status status = h2_request_end(&stream->request);
    if (h2->has_ended)
        h2_stream_reset(h2, stream, NGHTTP2_REFUSED_STREAM);
    else if (status != H2_OK)
        h2_stream_refuse(h2, stream, status);
    else
        h2_stream_move(h2, stream, H2_STREAM_READY);
}

/* Counts each frame; a peer that has no spare ones is flooding. */
static int h2_on_begin_frame(nghttp2_session *session, const nghttp2_frame_hd *head, void *owner)
{
    struct h2 *h2 = owner;
    (void)session, (void)head;
    if (h2->spare_frames > 0) {
        h2->spare_frames--;
        return 0;
    }
    h2->failure = ERR_HTTP_FLOOD;
    return NGHTTP2_ERR_CALLBACK_FAILURE;
}

static bool is_request(const nghttp2_frame *frame)
{
    return frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST;
}

static int h2_on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *owner)
{
    struct h2 *h2 = owner;
    if (!is_request(frame))
        return 0;
    struct h2_stream *stream = h2_stream_new(h2, frame->hd.stream_id);
    if (stream && nghttp2_session_set_stream_user_data(session, stream->id, stream) == 0)
        return 0;
    if (stream)
        h2_stream_free(h2, stream);
    h2->failure = ERR_NO_MEMORY;
    return NGHTTP2_ERR_CALLBACK_FAILURE;
}

/* One byte may decode to a field of 4 KiB, which costs CPU. So decoded bytes that no request may
 * have are spare bytes of the connection. False: none are left. */
static bool h2_pay_for_field(struct h2 *h2, struct h2_stream *stream, size_t len)
{
    len += H2_REQUEST_FIELD_OVERHEAD;
    if (stream) {
        stream->field_bytes += len;
        if (stream->field_bytes <= H2_REQUEST_HEAD_MAX)
            return true;
    }
    if (len > h2->spare_bytes) {
        h2->failure = ERR_HTTP_FLOOD;
        return false;
    }
    h2->spare_bytes -= len;
    return true;
}

static int h2_on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                        size_t name_len, const uint8_t *value, size_t value_len, uint8_t flags,
                        void *owner)
{
    struct h2 *h2 = owner;
    struct h2_stream *stream = h2_stream_find(h2, frame->hd.stream_id);
    (void)session, (void)flags;
    if (!h2_pay_for_field(h2, stream, name_len + value_len))
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    if (!stream || !is_request(frame) || stream->state != H2_STREAM_OPEN)
        return 0;
    size_t before = stream->request.message.cap;
    h2_request_take_field(&stream->request, h2->path, span_of(name, name_len),
                          span_of(value, value_len));
    h2->message_bytes += stream->request.message.cap - before;
    return 0;
}

static int h2_on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *data,
                      size_t len, void *owner)
{
    struct h2 *h2 = owner;
    struct h2_stream *stream = h2_stream_find(h2, id);
    (void)flags;
    if (!stream || stream->state != H2_STREAM_OPEN)
        return nghttp2_session_consume_connection(session, len) ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
    stream->unconsumed += len;
    size_t before = stream->request.message.cap;
    enum h2_status status = h2_request_take_body(&stream->request, span_of(data, len));
    h2->message_bytes += stream->request.message.cap - before;
    if (status != H2_OK) {
        stream->is_cut = true;
        h2_stream_refuse(h2, stream, status);
    }
    return 0;
}

static int h2_on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *owner)
{
    struct h2 *h2 = owner;
    bool has_stream = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
    struct h2_stream *stream = has_stream ? h2_stream_find(h2, frame->hd.stream_id) : NULL;
    (void)session;
    if (!stream)
        return 0;
    if (is_request(frame) && stream->state == H2_STREAM_OPEN) {
        size_t before = stream->request.message.cap;
        enum h2_status status = h2_request_end_head(&stream->request);
        h2->message_bytes += stream->request.message.cap - before;
        if (status == H2_OK && h2->message_bytes > H2_MESSAGES_BYTES)
            status = H2_NO_MEMORY;
        if (status != H2_OK)
            h2_stream_refuse(h2, stream, status);
    }
    if (frame->hd.flags & NGHTTP2_FLAG_END_STREAM)
        h2_stream_end(h2, stream);
    return 0;
}

static int h2_on_stream_close(nghttp2_session *session, int32_t id, uint32_t code, void *owner)
{
    struct h2 *h2 = owner;
    struct h2_stream *stream = h2_stream_find(h2, id);
    (void)session, (void)code;
    if (!stream)
        return 0;
    h2_stream_consume(h2, stream);
    h2_stream_free(h2, stream);
    nghttp2_session_set_stream_user_data(h2->session, id, NULL);
    return 0;
}

/* A peer whose body is too long may stop (RFC 9113 section 8.1). Other refused bodies are read to
 * their end, which is near: curl 7.88 shows no status if a reset follows it. A GOAWAY with an error
 * is the library's verdict on the peer. */
static int h2_on_frame_sent(nghttp2_session *session, const nghttp2_frame *frame, void *owner)
{
    struct h2 *h2 = owner;
    bool is_verdict =
        frame->hd.type == NGHTTP2_GOAWAY && frame->goaway.error_code != NGHTTP2_NO_ERROR;
    if (is_verdict && !h2->failure)
        h2->failure = ERR_HTTP;
    bool is_last = (frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
                   frame->hd.flags & NGHTTP2_FLAG_END_STREAM;
    struct h2_stream *stream = is_last ? h2_stream_find(h2, frame->hd.stream_id) : NULL;
    if (!stream || stream->has_ended || !stream->is_cut)
        return 0;
    return nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, stream->id, NGHTTP2_NO_ERROR)
               ? NGHTTP2_ERR_CALLBACK_FAILURE
               : 0;
}

/* ---- bytes ---- */

/* The error of a call that failed: the reason of a callback, or that of the library. */
static enum err h2_failure(const struct h2 *h2, ssize_t result)
{
    if (h2->failure)
        return h2->failure;
    if (result == NGHTTP2_ERR_NOMEM || result == NGHTTP2_ERR_CALLBACK_FAILURE)
        return ERR_NO_MEMORY;
    return result < 0 ? ERR_HTTP : ERR_OK;
}

static void h2_drop_taken(struct h2 *h2)
{
    struct h2_stream *stream = h2->taken_id ? h2_stream_find(h2, h2->taken_id) : NULL;
    if (stream)
        h2_stream_drop_message(h2, stream);
    h2->taken_id = 0;
}

/* Tells the peer that it floods. */
static enum err h2_calm(struct h2 *h2)
{
    int result = nghttp2_session_terminate_session(h2->session, NGHTTP2_ENHANCE_YOUR_CALM);
    h2->failure = ERR_HTTP_FLOOD;
    return result ? ERR_NO_MEMORY : ERR_HTTP_FLOOD;
}

enum err h2_receive(struct h2 *h2, struct span bytes)
{
    h2_drop_taken(h2);
    if (bytes.len > h2->spare_bytes)
        return h2_calm(h2);
    h2->spare_bytes -= bytes.len;
    ssize_t result = nghttp2_session_mem_recv(h2->session, bytes.data, bytes.len);
    enum err err = h2_failure(h2, result);
    /* A peer that reads nothing can make the library queue frames that no credit bounds: resets of
     * streams above the limit, and the heads of replies to streams that it cancels. */
    size_t waiting = nghttp2_session_get_outbound_queue_size(h2->session);
    bool is_flood = err == ERR_HTTP_FLOOD || result == NGHTTP2_ERR_FLOODED ||
                    (!err && waiting > H2_FRAMES_WAITING_MAX);
    return is_flood ? h2_calm(h2) : err;
}

enum err h2_send(struct h2 *h2, struct buf *out)
{
    while (buf_len(out) < H2_SEND_BYTES) {
        const uint8_t *bytes;
        ssize_t len = nghttp2_session_mem_send(h2->session, &bytes);
        if (len < 0)
            return h2_failure(h2, len);
        if (len == 0)
            break;
        enum err err = buf_append(out, bytes, (size_t)len);
        if (err)
            return err;
    }
    return h2->failure == ERR_HTTP_FLOOD ? ERR_OK : h2->failure;
}

bool h2_has_output(const struct h2 *h2)
{
    return nghttp2_session_want_write(h2->session);
}

size_t h2_unsent(const struct h2 *h2)
{
    return h2->unsent;
}

bool h2_is_stalled(const struct h2 *h2)
{
    return h2->unsent > 0 && !h2_has_output(h2);
}

size_t h2_held_bytes(const struct h2 *h2)
{
    return sizeof(*h2) + h2->library_bytes + h2->stream_bytes + h2->message_bytes + h2->room.cap;
}

uint64_t h2_refused(const struct h2 *h2)
{
    return h2->refused;
}

/* ---- messages ---- */

bool h2_has_message(const struct h2 *h2)
{
    return !list_is_empty(&h2->ready);
}

bool h2_next(struct h2 *h2, uint32_t *exchange, struct span *message)
{
    h2_drop_taken(h2);
    if (list_is_empty(&h2->ready))
        return false;
    struct h2_stream *stream = LIST_ITEM(list_first(&h2->ready), struct h2_stream, node);
    h2_stream_move(h2, stream, H2_STREAM_ASKED);
    h2_stream_consume(h2, stream);
    h2_credit_frames(h2, H2_FRAMES_PER_MESSAGE);
    h2->spare_bytes = MIN(h2->spare_bytes + H2_BYTES_PER_MESSAGE, H2_SPARE_BYTES_MAX);
    h2->taken_id = stream->id;
    *exchange = (uint32_t)stream->id;
    *message = buf_span(&stream->request.message);
    return true;
}

/* ---- the end ---- */

void h2_announce_end(struct h2 *h2)
{
    if (h2->has_announced || h2->has_ended)
        return;
    h2->has_announced = true;
    if (nghttp2_submit_shutdown_notice(h2->session))
        h2->failure = ERR_NO_MEMORY;
}

void h2_end(struct h2 *h2)
{
    if (h2->has_ended)
        return;
    h2->has_announced = h2->has_ended = true;
    int32_t last = nghttp2_session_get_last_proc_stream_id(h2->session);
    if (nghttp2_submit_goaway(h2->session, NGHTTP2_FLAG_NONE, last, NGHTTP2_NO_ERROR, NULL, 0))
        h2->failure = ERR_NO_MEMORY;
    while (!list_is_empty(&h2->ready))
        h2_stream_reset(h2, LIST_ITEM(list_first(&h2->ready), struct h2_stream, node),
                        NGHTTP2_REFUSED_STREAM);
}

/* ---- life ---- */

static nghttp2_session_callbacks *new_callbacks(void)
{
    nghttp2_session_callbacks *callbacks;
    if (nghttp2_session_callbacks_new(&callbacks))
        return NULL;
    nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks, h2_on_begin_frame);
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, h2_on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, h2_on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, h2_on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, h2_on_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, h2_on_stream_close);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, h2_on_frame_sent);
    return callbacks;
}

static nghttp2_option *new_option(void)
{
    nghttp2_option *option;
    if (nghttp2_option_new(&option))
        return NULL;
    nghttp2_option_set_no_auto_window_update(option, 1);
    nghttp2_option_set_max_outbound_ack(option, H2_ACKS_MAX);
    return option;
}

static bool new_session(struct h2 *h2)
{
    nghttp2_session_callbacks *callbacks = new_callbacks();
    nghttp2_option *option = new_option();
    nghttp2_mem memory = {h2, h2_malloc, h2_release, h2_calloc, h2_realloc};
    int result = NGHTTP2_ERR_NOMEM;
    if (callbacks && option)
        result = nghttp2_session_server_new3(&h2->session, callbacks, h2, option, &memory);
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    return result == 0;
}

/* A body that is one byte too long is refused; no stream needs more room. */
static bool send_settings(struct h2 *h2)
{
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, H2_STREAMS_MAX},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, (uint32_t)h2->max_message_bytes + 1},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, H2_REQUEST_HEAD_MAX},
        {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
    };
    return nghttp2_submit_settings(h2->session, NGHTTP2_FLAG_NONE, settings, ARRAY_LEN(settings)) ==
           0;
}

struct h2 *h2_new(const char *path, size_t max_message_bytes)
{
    struct h2 *h2 = calloc(1, sizeof(*h2));
    if (!h2)
        return NULL;
    MUST(strlen(path) <= H2_PATH_MAX);
    strcpy(h2->path, path);
    list_init(&h2->streams);
    list_init(&h2->ready);
    buf_init(&h2->room, UINT16_MAX);
    h2->max_message_bytes = max_message_bytes;
    h2->spare_frames = H2_SPARE_FRAMES_MAX;
    h2->spare_bytes = H2_SPARE_BYTES_MAX;
    if (new_session(h2) && send_settings(h2))
        return h2;
    h2_free(h2);
    return NULL;
}

static void free_streams(struct h2 *h2, struct list *streams)
{
    while (!list_is_empty(streams))
        h2_stream_free(h2, LIST_ITEM(list_first(streams), struct h2_stream, node));
}

void h2_free(struct h2 *h2)
{
    if (!h2)
        return;
    nghttp2_session_del(h2->session);
    free_streams(h2, &h2->streams);
    free_streams(h2, &h2->ready);
    buf_deinit(&h2->room);
    free(h2);
}
