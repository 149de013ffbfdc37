/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Reads the requests of DNS over HTTPS (h2_request.h). h2.c has the connection around them. */
#include "net/h2_request.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/check.h"

void h2_request_init(struct h2_request *request, size_t max_bytes)
{
    *request = (struct h2_request){.path_status = H2_NOT_FOUND};
    buf_init(&request->message, max_bytes);
}

void h2_request_deinit(struct h2_request *request)
{
    buf_deinit(&request->message);
}

static bool is_text(struct span span, const char *text)
{
    return span.len == strlen(text) && memcmp(span.data, text, span.len) == 0;
}

static enum h2_status status_of(enum err err, enum h2_status at_limit)
{
    if (!err)
        return H2_OK;
    return err == ERR_LIMIT ? at_limit : H2_NO_MEMORY;
}

/* ---- the path ---- */

/* The value of a digit (RFC 4648 section 5), or -1. */
static int base64url_digit(uint8_t c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '-' ? 62 : c == '_' ? 63 : -1;
}

/* Appends the message of a query. It has no padding (RFC 8484 section 6), and the unused bits of
 * its last digit are zero. */
static enum h2_status take_base64url(struct buf *out, struct span text)
{
    uint32_t bits = 0;
    unsigned count = 0;
    for (size_t i = 0; i < text.len; i++) {
        int digit = base64url_digit(text.data[i]);
        if (digit < 0)
            return H2_BAD_REQUEST;
        bits = (bits << 6 | (uint32_t)digit) & 0xffff;
        count += 6;
        if (count < 8)
            continue;
        count -= 8;
        uint8_t byte = (uint8_t)(bits >> count);
        enum err err = buf_append(out, &byte, 1);
        if (err)
            return status_of(err, H2_PATH_TOO_LONG);
    }
    bool has_rest = count == 6 || (bits & ((1U << count) - 1)) != 0;
    return has_rest ? H2_BAD_REQUEST : H2_OK;
}

/* Cuts the text before the first mark off *rest, and drops the mark. */
static struct span cut_at(struct span *rest, char mark)
{
    const uint8_t *at = rest->len > 0 ? memchr(rest->data, mark, rest->len) : NULL;
    size_t len = at ? (size_t)(at - rest->data) : rest->len;
    struct span head = span_of(rest->data, len);
    size_t skip = at ? len + 1 : len;
    *rest = span_of(rest->data + skip, rest->len - skip);
    return head;
}

/* Takes the message of the variable "dns" (RFC 8484 section 4.1.1). */
static enum h2_status take_query(struct h2_request *request, struct span query)
{
    while (query.len > 0) {
        struct span value = cut_at(&query, '&');
        if (!is_text(cut_at(&value, '='), "dns"))
            continue;
        if (request->has_path_message)
            return H2_BAD_REQUEST;
        request->has_path_message = true;
        enum h2_status status = take_base64url(&request->message, value);
        if (status != H2_OK)
            return status;
    }
    return H2_OK;
}

static enum h2_status take_path(struct h2_request *request, const char *path, struct span target)
{
    struct span here = cut_at(&target, '?');
    return is_text(here, path) ? take_query(request, target) : H2_NOT_FOUND;
}

/* ---- fields ---- */

static enum h2_method method_of(struct span name)
{
    if (is_text(name, "GET"))
        return H2_METHOD_GET;
    return is_text(name, "POST") ? H2_METHOD_POST : H2_METHOD_OTHER;
}

/* Parameters after the type mean nothing here, and case does not matter (RFC 9110 section 8.3.1).
 */
static bool is_dns_type(struct span value)
{
    static const char type[] = "application/dns-message";
    struct span text = cut_at(&value, ';');
    while (text.len > 0 && isspace(text.data[text.len - 1]))
        text.len--;
    return text.len == strlen(type) && strncasecmp((const char *)text.data, type, text.len) == 0;
}

void h2_request_take_field(struct h2_request *request, const char *path, struct span name,
                           struct span value)
{
    request->head_bytes += name.len + value.len + H2_REQUEST_FIELD_OVERHEAD;
    if (request->head_bytes > H2_REQUEST_HEAD_MAX)
        return;
    if (is_text(name, ":method"))
        request->method = method_of(value);
    else if (is_text(name, ":path"))
        request->path_status = take_path(request, path, value);
    else if (is_text(name, "content-type"))
        request->has_dns_type = is_dns_type(value);
}

enum h2_status h2_request_end_head(struct h2_request *request)
{
    if (request->head_bytes > H2_REQUEST_HEAD_MAX)
        return H2_HEAD_TOO_LARGE;
    if (request->path_status == H2_NOT_FOUND)
        return H2_NOT_FOUND;
    switch (request->method) {
    case H2_METHOD_GET:
        return request->path_status;
    case H2_METHOD_POST:
        buf_clear(&request->message);
        return request->has_dns_type ? H2_OK : H2_BAD_TYPE;
    case H2_METHOD_OTHER:
        break;
    }
    return H2_BAD_METHOD;
}

/* ---- the body ---- */

enum h2_status h2_request_take_body(struct h2_request *request, struct span bytes)
{
    if (request->method != H2_METHOD_POST)
        return H2_OK;
    return status_of(buf_append(&request->message, bytes.data, bytes.len), H2_BODY_TOO_LARGE);
}

enum h2_status h2_request_end(const struct h2_request *request)
{
    return buf_len(&request->message) > 0 ? H2_OK : H2_BAD_REQUEST;
}
