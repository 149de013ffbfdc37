/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Is as strict as RFC 9112 requires of servers, because a request that two parties read differently
 * is an attack: one space between words, no space before a colon, no folded lines, one Host. A line
 * may end without its CR (section 2.2).
 *
 * Invariant: nothing is judged before the empty line has come, except an excess of bytes.
 */

#include "control/http_request.h"

#include <string.h>
#include <strings.h>

#include "base/addr.h"
#include "base/check.h"

static struct span from(struct span bytes, size_t at)
{
    return at ? span_of(bytes.data + at, bytes.len - at) : bytes;
}

/* Section 2.2: empty lines before a request are ignored. */
static struct span without_empty_lines(struct span bytes)
{
    size_t at = 0;

    while (at < bytes.len && (bytes.data[at] == '\r' || bytes.data[at] == '\n'))
        at++;
    return from(bytes, at);
}

/* Takes a line with its end; *line is the line without it. False: the end has not come. */
static bool http_request_take_line(struct span *rest, struct span *line)
{
    const uint8_t *end = rest->len ? memchr(rest->data, '\n', rest->len) : NULL;

    if (!end)
        return false;
    size_t len = (size_t)(end - rest->data);
    *line = span_of(rest->data, len);
    *rest = from(*rest, len + 1);
    if (len > 0 && line->data[len - 1] == '\r')
        line->len--;
    return true;
}

/* Finds the lines before the empty line. False: the empty line has not come. */
static bool find_head(struct span bytes, struct span *head)
{
    struct span rest = bytes, line;

    while (http_request_take_line(&rest, &line)) {
        if (line.len > 0)
            continue;
        *head = span_of(bytes.data, (size_t)(line.data - bytes.data));
        return true;
    }
    return false;
}

/* ---- words ---- */

static bool http_request_is_token_char(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c != 0 && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_token(struct span word)
{
    for (size_t i = 0; i < word.len; i++) {
        if (!http_request_is_token_char(word.data[i]))
            return false;
    }
    return word.len > 0;
}

static bool is_visible(struct span word)
{
    for (size_t i = 0; i < word.len; i++) {
        if (word.data[i] <= ' ' || word.data[i] >= 0x7f)
            return false;
    }
    return word.len > 0;
}

static bool http_request_is_text(struct span text)
{
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.data[i];
        if ((c < ' ' && c != '\t') || c == 0x7f)
            return false;
    }
    return true;
}

static bool equals(struct span word, const char *text)
{
    return span_equal(word, span_of(text, strlen(text)));
}

static bool equals_in_any_case(struct span word, const char *text)
{
    return word.len == strlen(text) && strncasecmp((const char *)word.data, text, word.len) == 0;
}

/* Splits at the byte: *word is the part before it, *rest the part after it. */
static bool http_request_cut(struct span *rest, char at, struct span *word)
{
    const uint8_t *end = rest->len ? memchr(rest->data, at, rest->len) : NULL;

    if (!end)
        return false;
    *word = span_of(rest->data, (size_t)(end - rest->data));
    *rest = from(*rest, word->len + 1);
    return true;
}

/* ---- lines ---- */

struct request_line {
    struct span method, target;
    unsigned major, minor;
};

static bool http_request_is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static bool read_request_line(struct span line, struct request_line *out)
{
    if (!http_request_cut(&line, ' ', &out->method) || !http_request_cut(&line, ' ', &out->target))
        return false;
    const uint8_t *version = line.data;
    if (line.len != 8 || memcmp(version, "HTTP/", 5) != 0 || !http_request_is_digit(version[5]) ||
        version[6] != '.' || !http_request_is_digit(version[7]))
        return false;
    out->major = version[5] - '0';
    out->minor = version[7] - '0';
    return is_token(out->method) && is_visible(out->target);
}

/* Counts the Host fields (section 3.2); *host is the value of the last one. */
static bool read_fields(struct span lines, unsigned *hosts, struct span *host)
{
    struct span value, name;

    *hosts = 0;
    *host = span_of(NULL, 0);
    while (http_request_take_line(&lines, &value)) {
        if (!http_request_cut(&value, ':', &name) || !is_token(name) ||
            !http_request_is_text(value))
            return false;
        if (!equals_in_any_case(name, "host"))
            continue;
        *host = value;
        ++*hosts;
    }
    return true;
}

/* Section 3.2.2: servers accept the absolute form too. */
static struct span http_request_path_of(struct span target)
{
    static const char scheme[] = "http://";
    size_t len = sizeof(scheme) - 1, at = 0;

    if (target.len >= len && strncasecmp((const char *)target.data, scheme, len) == 0) {
        for (at = len; at < target.len && target.data[at] != '/'; at++)
            ;
    }
    target = from(target, at);
    const uint8_t *query = target.len ? memchr(target.data, '?', target.len) : NULL;
    return query ? span_of(target.data, (size_t)(query - target.data)) : target;
}

/* ---- the host ---- */

static struct span http_request_trim(struct span text)
{
    while (text.len > 0 && (text.data[0] == ' ' || text.data[0] == '\t'))
        text = from(text, 1);
    while (text.len > 0 && (text.data[text.len - 1] == ' ' || text.data[text.len - 1] == '\t'))
        text.len--;
    return text;
}

/* Takes the port away: digits after the last colon, unless the colon belongs to an address. */
static struct span http_request_without_port(struct span host)
{
    size_t len = host.len;

    while (len > 0 && http_request_is_digit(host.data[len - 1]))
        len--;
    if (len > 0 && host.data[len - 1] == ':')
        host.len = len - 1;
    return host;
}

/* Whether the host is an IP address or localhost (RFC 9110 section 7.2). */
static bool http_request_is_local(struct span host)
{
    char text[ADDR_TEXT_MAX];
    struct addr addr;

    host = http_request_without_port(http_request_trim(host));
    if (equals_in_any_case(host, "localhost"))
        return true;
    if (host.len > 2 && host.data[0] == '[' && host.data[host.len - 1] == ']')
        host = span_of(host.data + 1, host.len - 2);
    else if (host.len > 0 && memchr(host.data, ':', host.len))
        return false;
    if (host.len == 0 || host.len >= sizeof(text) || memchr(host.data, '@', host.len))
        return false;
    memcpy(text, host.data, host.len);
    text[host.len] = '\0';
    return addr_parse(&addr, text, 80) == ERR_OK;
}

/* ---- judging ---- */

static const char *const paths[HTTP_PAGE_COUNT] = {"/metrics", "/", "/board.js", "/board.css",
                                                   "/board.json"};

static enum http_status http_request_find_page(struct span path, struct span host,
                                               enum http_page *out)
{
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        if (!equals(path, paths[i]))
            continue;
        *out = (enum http_page)i;
        return i == HTTP_PAGE_METRICS || http_request_is_local(host) ? HTTP_OK : HTTP_MISDIRECTED;
    }
    return HTTP_NOT_FOUND;
}

static struct http_request http_request_judge(struct span head)
{
    struct http_request request = {.status = HTTP_BAD_REQUEST};
    struct request_line line;
    struct span first, host;
    unsigned hosts;

    if (!http_request_take_line(&head, &first) || !read_request_line(first, &line))
        return request;
    request.is_head = equals(line.method, "HEAD");
    if (line.major != 1) {
        request.status = HTTP_VERSION_UNKNOWN;
        return request;
    }
    if (!read_fields(head, &hosts, &host) || hosts > 1 || (line.minor >= 1 && hosts == 0))
        return request;
    if (!request.is_head && !equals(line.method, "GET"))
        request.status = HTTP_NOT_ALLOWED;
    else
        request.status =
            http_request_find_page(http_request_path_of(line.target), host, &request.page);
    return request;
}

bool http_request_read(struct span bytes, struct http_request *out)
{
    struct span head, request = without_empty_lines(bytes);

    if (find_head(request, &head) && (size_t)(head.data - bytes.data) + head.len < HTTP_HEAD_MAX) {
        *out = http_request_judge(head);
        return true;
    }
    *out = (struct http_request){.status = HTTP_HEAD_TOO_LARGE};
    return bytes.len >= HTTP_HEAD_MAX;
}
