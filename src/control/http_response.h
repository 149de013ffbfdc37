/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONTROL_HTTP_RESPONSE_H
#define NAILUP_CONTROL_HTTP_RESPONSE_H

/* What is said before a page, and instead of one. Every answer ends its connection. Pure. */

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "base/buf.h"
#include "base/err.h"
#include "control/http_request.h"

enum { HTTP_RESPONSE_MAX = 1024 }; /* bytes that one of these appends at most */

/* The head of an answer with a page of page_len bytes in the text format of Prometheus. now is the
 * time of day. ERR_LIMIT and ERR_NO_MEMORY of the buf. */
MUST_USE enum err http_response_page(struct buf *out, size_t page_len, time_t now);

/* A whole answer that is no page: why, and what to do. */
MUST_USE enum err http_response_refuse(struct buf *out, struct http_request request, time_t now);

#endif
