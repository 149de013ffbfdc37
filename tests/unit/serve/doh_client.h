/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_UNIT_SERVE_DOH_CLIENT_H
#define NAILUP_TESTS_UNIT_SERVE_DOH_CLIENT_H

/* The harness with a listener for HTTPS, and a client that speaks HTTP/2 with libnghttp2. */

#include "unit/serve/harness_tls.h"

#include <nghttp2/nghttp2.h>

enum { DOH_REQUESTS_MAX = 1024 };

struct doh_request {
    bool is_closed;
    uint32_t code; /* of its end */
    char status[4];
    char age[32];
    size_t len; /* of the body so far */
    uint8_t body[512];
    const uint8_t *sent; /* the query, and the part that has left */
    size_t sent_len, sent_at;
};

struct doh_client {
    struct dot_client *dot;
    nghttp2_session *session;
    struct doh_request requests[DOH_REQUESTS_MAX]; /* by half the stream's number */
    unsigned goaways;
    int32_t last; /* of the last GOAWAY */
    uint32_t code;
};

static struct doh_client doh;
static struct addr https_listen[1];

static struct doh_request *doh_request_of(int32_t stream)
{
    return &doh.requests[stream / 2];
}

static int doh_on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                         size_t name_len, const uint8_t *value, size_t value_len, uint8_t flags,
                         void *owner)
{
    struct doh_request *request = doh_request_of(frame->hd.stream_id);
    (void)session, (void)flags, (void)owner;
    if (name_len == 7 && memcmp(name, ":status", 7) == 0)
        snprintf(request->status, sizeof(request->status), "%.*s", (int)value_len, value);
    if (name_len == 13 && memcmp(name, "cache-control", 13) == 0)
        snprintf(request->age, sizeof(request->age), "%.*s", (int)value_len, value);
    return 0;
}

static int doh_on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *data,
                       size_t len, void *owner)
{
    struct doh_request *request = doh_request_of(id);
    (void)session, (void)flags, (void)owner;
    if (request->len + len <= sizeof(request->body))
        memcpy(request->body + request->len, data, len);
    request->len += len;
    return 0;
}

static int doh_on_close(nghttp2_session *session, int32_t id, uint32_t code, void *owner)
{
    (void)session, (void)owner;
    doh_request_of(id)->is_closed = true;
    doh_request_of(id)->code = code;
    return 0;
}

static int doh_on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *owner)
{
    (void)session, (void)owner;
    if (frame->hd.type != NGHTTP2_GOAWAY)
        return 0;
    doh.goaways++;
    doh.last = frame->goaway.last_stream_id;
    doh.code = frame->goaway.error_code;
    return 0;
}

static inline ssize_t doh_on_read(nghttp2_session *session, int32_t id, uint8_t *out, size_t room,
                                  uint32_t *flags, nghttp2_data_source *source, void *owner)
{
    struct doh_request *request = source->ptr;
    size_t len = MIN(room, request->sent_len - request->sent_at);
    (void)session, (void)id, (void)owner;
    memcpy(out, request->sent + request->sent_at, len);
    request->sent_at += len;
    if (request->sent_at == request->sent_len)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)len;
}

/* Sends what the client has, in one record, and takes what comes, without giving windows back. */
static inline void doh_settle(void)
{
    const uint8_t *bytes;
    for (bool moved = true; moved;) {
        uint8_t *all = NULL;
        size_t all_len = 0;
        moved = false;
        for (ssize_t len; (len = nghttp2_session_mem_send(doh.session, &bytes)) > 0;) {
            all = realloc(all, all_len + (size_t)len);
            memcpy(all + all_len, bytes, (size_t)len);
            all_len += (size_t)len;
        }
        if (all_len > 0 && fake_conn_state(doh.dot->conn) == FAKE_CONN_OPEN)
            dot_send(doh.dot, span_of(all, all_len));
        free(all);
        dot_settle(doh.dot, loop);
        size_t len = doh.dot->plain_end - doh.dot->plain_start;
        if (len > 0) {
            moved = true;
            assert_true(nghttp2_session_mem_recv(doh.session, doh.dot->plain + doh.dot->plain_start,
                                                 len) >= 0);
            doh.dot->plain_start += len;
        }
    }
}

static inline void doh_window(uint32_t bytes)
{
    nghttp2_settings_entry settings = {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, bytes};
    assert_int_equal(nghttp2_submit_settings(doh.session, 0, &settings, 1), 0);
}

/* Opens a client whose streams have windows of this size. The window of the connection is wide. */
static inline void doh_open_on(struct fake_conn *conn, uint32_t window)
{
    nghttp2_session_callbacks *callbacks;
    nghttp2_option *option;
    assert_in_range(client_count, 0, CLIENTS_MAX - 1);
    doh = (struct doh_client){.dot = &clients[client_count++]};
    dot_begin(doh.dot, conn, 0, NULL);
    SSL_set_alpn_protos(doh.dot->ssl, (const unsigned char *)"\2h2", 3);
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, doh_on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, doh_on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, doh_on_close);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, doh_on_frame);
    nghttp2_option_new(&option);
    nghttp2_option_set_no_auto_window_update(option, 1);
    assert_int_equal(nghttp2_session_client_new2(&doh.session, callbacks, NULL, option), 0);
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    doh_window(window);
    nghttp2_session_set_local_window_size(doh.session, 0, 0, 16 * 1024 * 1024);
    dot_settle(doh.dot, loop);
    assert_true(doh.dot->is_secured);
    doh_settle();
}

static inline struct fake_conn *doh_connect(void)
{
    struct addr client = fake_addr("127.0.0.9@4000");
    struct fake_conn *conn = fake_client_tcp_open(net, &https_listen[0], &client);
    fake_loop_settle(loop);
    return conn;
}

static inline void doh_open(uint32_t window)
{
    doh_open_on(doh_connect(), window);
}

#define DOH_FIELD(name, value)                                                                     \
    (nghttp2_nv)                                                                                   \
    {                                                                                              \
        (uint8_t *)(name), (uint8_t *)(value), strlen(name), strlen(value), 0                      \
    }

/* Submits the request with these bytes; doh_settle() sends it. bytes live as long as the test. */
static inline struct doh_request *doh_submit(struct span bytes)
{
    nghttp2_nv fields[] = {DOH_FIELD(":method", "POST"), DOH_FIELD(":scheme", "https"),
                           DOH_FIELD(":authority", "localhost"), DOH_FIELD(":path", "/dns-query"),
                           DOH_FIELD("content-type", "application/dns-message")};
    struct doh_request *request =
        doh_request_of((int32_t)nghttp2_session_get_next_stream_id(doh.session));
    request->sent = bytes.data;
    request->sent_len = bytes.len;
    nghttp2_data_provider provider = {.source.ptr = request, .read_callback = doh_on_read};
    assert_true(nghttp2_submit_request(doh.session, NULL, fields, 5, &provider, NULL) > 0);
    return request;
}

static inline struct doh_request *doh_ask(const char *name, uint16_t id)
{
    make_query(name, id);
    struct doh_request *request = doh_submit(span_of(sent, sent_len));
    doh_settle();
    return request;
}

/* Asks many times at once for the query in sent. */
static inline void doh_ask_many(const char *name, unsigned count)
{
    make_query(name, 0);
    for (unsigned i = 0; i < count; i++)
        doh_submit(span_of(sent, sent_len));
    doh_settle();
}

static inline void doh_expect_answer(const struct doh_request *request, uint16_t id)
{
    assert_string_equal(request->status, "200");
    assert_true(request->is_closed);
    got_message(span_of(request->body, request->len));
    assert_int_equal(got.id, id);
}

static inline int doh_setup(void **state)
{
    (void)state;
    begin();
    https_listen[0] = fake_addr("127.0.0.1@443");
    options.listen_https = https_listen;
    options.listen_https_count = 1;
    options.https_path = (char *)"/dns-query";
    open_server();
    return 0;
}

static inline int doh_teardown(void **state)
{
    nghttp2_session_del(doh.session);
    doh.session = NULL;
    return teardown(state);
}

#define DOH_TEST(test) cmocka_unit_test_setup_teardown(test, doh_setup, doh_teardown)

#endif
