/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Answers of HTTP/1.1, which clients of HTTP/1.0 understand too (RFC 9110 section 6.2). */

#include "control/http_response.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"

static const struct {
    enum http_status status;
    const char *reason, *advice;
} rows[] = {
    {HTTP_OK, "OK", ""},
    {HTTP_BAD_REQUEST, "Bad Request", "not an HTTP/1.1 request; metrics are at /metrics"},
    {HTTP_NOT_FOUND, "Not Found", "metrics are at /metrics"},
    {HTTP_NOT_ALLOWED, "Method Not Allowed", "metrics are at /metrics; use GET or HEAD"},
    {HTTP_MISDIRECTED, "Misdirected Request",
     "the live page wants an IP address or localhost in its URL, because names can be forged"},
    {HTTP_HEAD_TOO_LARGE, "Request Header Fields Too Large", "send fewer or shorter fields"},
    {HTTP_UNAVAILABLE, "Service Unavailable", "out of memory; try again"},
    {HTTP_VERSION_UNKNOWN, "HTTP Version Not Supported", "use HTTP/1.1"},
};

static size_t row_of(enum http_status status)
{
    size_t i = 0;

    while (rows[i].status != status)
        MUST(++i < ARRAY_LEN(rows));
    return i;
}

/* RFC 9110 section 5.6.7. */
static const char *date_of(time_t now, char out[40])
{
    struct tm utc;

    gmtime_r(&now, &utc);
    strftime(out, 40, "%a, %d %b %Y %H:%M:%S GMT", &utc);
    return out;
}

/* A browser then loads and runs only our own files, never shows the page in a frame of another
 * site, and lets no other site read it. */
static const char guard_of_page[] =
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n";

static enum err http_response_put_head(struct buf *out, enum http_status status, const char *type,
                                       size_t len, const char *guard, time_t now)
{
    char text[HTTP_RESPONSE_MAX / 2], date[40];
    const char *allow = status == HTTP_NOT_ALLOWED ? "Allow: GET, HEAD\r\n" : "";
    int text_len = snprintf(text, sizeof(text),
                            "HTTP/1.1 %d %s\r\nDate: %s\r\nContent-Type: %s\r\n"
                            "Content-Length: %zu\r\nCache-Control: no-store\r\n%s%s"
                            "Connection: close\r\n\r\n",
                            (int)status, rows[row_of(status)].reason, date_of(now, date), type, len,
                            guard, allow);

    MUST(text_len > 0 && (size_t)text_len < sizeof(text));
    return buf_append(out, text, (size_t)text_len);
}

enum err http_response_page(struct buf *out, enum http_page page, size_t page_len, time_t now)
{
    static const char *const types[HTTP_PAGE_COUNT] = {
        "text/plain; version=0.0.4; charset=utf-8", "text/html; charset=utf-8",
        "text/javascript; charset=utf-8", "text/css; charset=utf-8", "application/json"};
    return http_response_put_head(out, HTTP_OK, types[page], page_len,
                                  page == HTTP_PAGE_METRICS ? "" : guard_of_page, now);
}

enum err http_response_refuse(struct buf *out, struct http_request request, time_t now)
{
    char body[HTTP_RESPONSE_MAX / 4];
    size_t row = row_of(request.status);
    int len = snprintf(body, sizeof(body), "%d %s: %s\n", (int)request.status, rows[row].reason,
                       rows[row].advice);

    MUST(len > 0 && (size_t)len < sizeof(body));
    enum err err = http_response_put_head(out, request.status, "text/plain; charset=utf-8",
                                          (size_t)len, "", now);
    if (err || request.is_head)
        return err;
    return buf_append(out, body, (size_t)len);
}
