/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Heads of HTTP requests from clients of metrics.listen. The verdict comes with the byte that
 * completes the head, however it is cut, and no later byte changes it. A refusal is a complete
 * response.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "control/http_request.h"
#include "control/http_response.h"

static bool read_copy(const uint8_t *data, size_t size, struct http_request *out)
{
    uint8_t *copy = malloc(size + !size); /* exact size, so that a sanitizer detects overruns */

    MUST(copy);
    memcpy(copy, data, size);
    bool done = http_request_read(span_of(copy, size), out);
    free(copy);
    return done;
}

static void expect_same(struct http_request a, struct http_request b)
{
    MUST(a.status == b.status && a.is_head == b.is_head);
}

static void answer(struct http_request request)
{
    struct buf out;

    buf_init(&out, HTTP_RESPONSE_MAX);
    enum err err = request.status == HTTP_OK ? http_response_page(&out, request.page, SIZE_MAX, 0)
                                             : http_response_refuse(&out, request, 0);
    MUST(err == ERR_OK);
    struct span all = buf_span(&out);
    MUST(memmem(all.data, all.len, "\r\n\r\n", 4));
    buf_deinit(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct http_request whole, part;
    size_t shortest = 0;

    if (size == 0 || !read_copy(data, size, &whole))
        return 0;
    if (whole.status == HTTP_OK)
        MUST(memmem(data, size, whole.is_head ? "HEAD " : "GET ", 4 + whole.is_head));
    answer(whole);
    if (size > 1024)
        return 0;
    while (!read_copy(data, shortest, &part))
        shortest++;
    expect_same(part, whole);
    return 0;
}
