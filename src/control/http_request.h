/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONTROL_HTTP_REQUEST_H
#define NAILUP_CONTROL_HTTP_REQUEST_H

/*
 * Reads the head of an HTTP request (RFC 9112) from an untrusted peer. Pure; any thread.
 */

#include <stdbool.h>

#include "base/span.h"

/* The status of the answer: numbers of RFC 9110. */
enum http_status {
    HTTP_OK = 200,
    HTTP_BAD_REQUEST = 400,
    HTTP_NOT_FOUND = 404,
    HTTP_NOT_ALLOWED = 405,
    HTTP_MISDIRECTED = 421,
    HTTP_HEAD_TOO_LARGE = 431,
    HTTP_UNAVAILABLE = 503,
    HTTP_VERSION_UNKNOWN = 505,
};

enum { HTTP_HEAD_MAX = 8192 }; /* bytes of a request's head with its empty line */

/* The paths that are served, in the order of their rows in http_request.c. */
enum http_page {
    HTTP_PAGE_METRICS, /* /metrics */
    HTTP_PAGE_BOARD,   /* /: the live page */
    HTTP_PAGE_SCRIPT,  /* /board.js */
    HTTP_PAGE_STYLE,   /* /board.css */
    HTTP_PAGE_FIGURES, /* /board.json: what the live page shows */
    HTTP_PAGE_COUNT,
};

struct http_request {
    enum http_status status;
    enum http_page page; /* if the status is HTTP_OK */
    bool is_head;        /* the method is HEAD: the answer has no body */
};

/*
 * Judges the bytes of a request so far, from its first byte on. False: more bytes are needed.
 * HTTP_OK is a GET or HEAD of a page. Ignores a body after the head. The live page and its parts
 * are only for requests whose Host is an IP address or localhost: a hostile web site can point a
 * name of its own to this server, and its script would read the answers (DNS rebinding).
 */
bool http_request_read(struct span bytes, struct http_request *out);

#endif
