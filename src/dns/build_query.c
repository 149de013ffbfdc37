/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Writes a query to an upstream at once: its size is known beforehand, so one check of the room is
 * enough. Runs for every query to an upstream.
 */
#include "dns/build.h"

#include <string.h>

#include "base/check.h"
#include "dns/edns.h"
#include "dns/rrtype.h"
#include "dns/word.h"

enum { OPT_LEN = 11, OPTION_HEAD = 4 };

static uint16_t flags_of(const struct build_query_options *options)
{
    return (uint16_t)((options->recursion_desired ? HEADER_RD : 0) |
                      (options->checking_disabled ? HEADER_CD : 0) |
                      (options->authentic_data ? HEADER_AD : 0));
}

static uint16_t options_len(const struct build_query_options *options)
{
    return (uint16_t)((options->keepalive ? OPTION_HEAD : 0) +
                      (options->cookie_len ? OPTION_HEAD + options->cookie_len : 0));
}

/* Returns the length of the padding option for a message of len bytes without it; 0: none. */
static uint16_t padding_len(const struct build_query_options *options, size_t len)
{
    if (!options->pad_block)
        return 0;
    size_t over = (len + OPTION_HEAD) % options->pad_block;
    return (uint16_t)(OPTION_HEAD + (over ? options->pad_block - over : 0));
}

static uint8_t *build_query_write_option(uint8_t *at, uint16_t code, const uint8_t *data,
                                         uint8_t len)
{
    put_u16(at, code);
    put_u16(at + 2, len);
    word_copy(at + OPTION_HEAD, data, len);
    return at + OPTION_HEAD + len;
}

static uint8_t *build_query_write_opt(uint8_t *at, const struct build_query_options *options,
                                      uint16_t padding)
{
    *at = 0;
    put_u16(at + 1, RRTYPE_OPT);
    put_u16(at + 3, options->udp_size);
    put_u32(at + 5, options->dnssec_ok ? EDNS_FLAG_DO : 0);
    put_u16(at + 9, (uint16_t)(options_len(options) + padding));
    at += OPT_LEN;
    if (options->keepalive)
        at = build_query_write_option(at, EDNS_TCP_KEEPALIVE, NULL, 0);
    if (options->cookie_len)
        at = build_query_write_option(at, EDNS_COOKIE, options->cookie, options->cookie_len);
    if (padding) { /* RFC 7830 section 3: zeros */
        memset(at, 0, padding);
        put_u16(at, EDNS_PADDING);
        put_u16(at + 2, (uint16_t)(padding - OPTION_HEAD));
        at += padding;
    }
    return at;
}

size_t build_query(uint8_t *out, size_t size, const struct question *question,
                   const struct build_query_options *options)
{
    MUST(options->cookie_len <= EDNS_COOKIE_CLIENT + EDNS_COOKIE_SERVER_MAX);
    MUST(options->edns ||
         !(options->keepalive || options->cookie_len || options->dnssec_ok || options->pad_block));
    size_t len = HEADER_LEN + (size_t)question->name.len + 4;
    if (options->edns)
        len += OPT_LEN + (size_t)options_len(options);
    uint16_t padding = padding_len(options, len);
    len += padding;
    if (len > size)
        return 0;

    put_u16(out, options->id);
    put_u16(out + 2, flags_of(options));
    put_u16(out + 4, 1);
    put_u32(out + 6, 0);
    put_u16(out + 10, options->edns);
    uint8_t *at = out + HEADER_LEN;
    word_copy(at, question->name.wire, question->name.len);
    at += question->name.len;
    put_u16(at, question->type);
    put_u16(at + 2, question->cls);
    at += 4;
    if (options->edns)
        at = build_query_write_opt(at, options, padding);
    MUST((size_t)(at - out) == len);
    return len;
}
