/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONTROL_HTTP_RESPONSE_H
#define NAILUP_CONTROL_HTTP_RESPONSE_H

/* Writes the head of an answer with a page, and answers without one. Every answer ends its
 * connection. Pure. */

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "base/buf.h"
#include "base/err.h"
#include "control/http_request.h"

enum { HTTP_RESPONSE_MAX = 2048 }; /* the most that one function appends */

/* Appends the head of an answer with a page of page_len bytes. The live page may load and run only
 * what this server sends. now is the wall clock. Errors come from the buf: ERR_LIMIT,
 * ERR_NO_MEMORY. */
MUST_USE enum err http_response_page(struct buf *out, enum http_page page, size_t page_len,
                                     time_t now);

/* Appends a complete answer that says why there is no page, and what to do. */
MUST_USE enum err http_response_refuse(struct buf *out, struct http_request request, time_t now);

#endif
