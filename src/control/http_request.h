/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONTROL_HTTP_REQUEST_H
#define NAILUP_CONTROL_HTTP_REQUEST_H

/*
 * The head of an HTTP request (RFC 9112), from whoever connects. Pure: bytes in, a verdict out; so
 * any thread.
 */

#include <stdbool.h>

#include "base/span.h"

/* What the answer to a request has to say: numbers of RFC 9110. */
enum http_status {
    HTTP_OK = 200,
    HTTP_BAD_REQUEST = 400,
    HTTP_NOT_FOUND = 404,
    HTTP_NOT_ALLOWED = 405,
    HTTP_HEAD_TOO_LARGE = 431,
    HTTP_UNAVAILABLE = 503,
    HTTP_VERSION_UNKNOWN = 505,
};

enum { HTTP_HEAD_MAX = 8192 }; /* bytes of a request's head with its empty line */

struct http_request {
    enum http_status status;
    bool is_head; /* the answer has no body */
};

/* Judges what has come of a request, from its first byte on. False: more is needed. HTTP_OK is a
 * GET or HEAD of path. A body behind the head is not looked at. */
bool http_request_read(struct span bytes, const char *path, struct http_request *out);

#endif
