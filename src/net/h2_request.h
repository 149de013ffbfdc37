/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_NET_H2_REQUEST_H
#define NAILUP_NET_H2_REQUEST_H

/*
 * Private to src/net: one HTTP request of DNS over HTTPS (RFC 8484 section 4.1), as its header
 * fields and its body arrive. Finds the DNS message, or the status that refuses the request. Does
 * not read the message. Pure: no socket, no time.
 *
 * Life: h2_request_init() -> h2_request_take_field() for each field -> h2_request_end_head() ->
 * h2_request_take_body() for each piece -> h2_request_end() -> the message -> h2_request_deinit().
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/span.h"

enum {
    /* The header fields of a request, counted as in RFC 9113 section 6.5.2. The longest message
     * takes a third of it in the path of a GET. */
    H2_REQUEST_HEAD_MAX = 16 * 1024,
    H2_REQUEST_FIELD_OVERHEAD = 32,
};

/* RFC 9110 section 15, RFC 6585 section 5. */
enum h2_status {
    H2_OK = 200,
    H2_BAD_REQUEST = 400,
    H2_NOT_FOUND = 404,
    H2_BAD_METHOD = 405,
    H2_BODY_TOO_LARGE = 413,
    H2_PATH_TOO_LONG = 414,
    H2_BAD_TYPE = 415,
    H2_HEAD_TOO_LARGE = 431,
    H2_NO_MEMORY = 503,
};

enum h2_method {
    H2_METHOD_OTHER,
    H2_METHOD_GET,
    H2_METHOD_POST,
};

struct h2_request {
    enum h2_method method;
    enum h2_status path_status; /* of the path and its query */
    bool has_path_message;      /* the query of the path has one */
    bool has_dns_type;          /* the body is application/dns-message */
    size_t head_bytes;
    struct buf message; /* from the path of a GET or the body of a POST */
};

/* Longer messages than max_bytes are refused. */
void h2_request_init(struct h2_request *request, size_t max_bytes);
void h2_request_deinit(struct h2_request *request);

/* path is the one that is served. Fields beyond H2_REQUEST_HEAD_MAX are ignored. */
void h2_request_take_field(struct h2_request *request, const char *path, struct span name,
                           struct span value);

/* The fields are complete. Returns H2_OK, or the status that refuses the request. */
enum h2_status h2_request_end_head(struct h2_request *request);

/* A piece of the body; that of a GET has no meaning. */
enum h2_status h2_request_take_body(struct h2_request *request, struct span bytes);

/* The request is complete. With H2_OK the message has at least one byte. */
enum h2_status h2_request_end(const struct h2_request *request);

#endif
