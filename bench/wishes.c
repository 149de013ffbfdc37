/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Reads the wishes that a name expresses. answer.c decides whether to grant them.
 */

#include "wishes.h"

#include <stddef.h>
#include <string.h>

#include "base/check.h"

enum { DELAY_MAX_MS = 600000 };

/* The label has no terminating NUL. */
static bool is_label(const uint8_t *label, size_t len, const char *word)
{
    return strlen(word) == len && memcmp(label, word, len) == 0;
}

/* Reads the number after a prefix such as "d" or "ttl". The number must end the label. */
static bool label_number(const uint8_t *label, size_t len, const char *prefix, uint32_t *out)
{
    size_t at = strlen(prefix);
    if (len <= at || len > at + 6 || memcmp(label, prefix, at) != 0)
        return false;
    uint32_t value = 0;
    for (; at < len; at++) {
        if (label[at] < '0' || label[at] > '9')
            return false;
        value = value * 10 + (uint32_t)(label[at] - '0');
    }
    *out = value;
    return true;
}

static void read_silence(struct wishes *wishes, const uint8_t *label, size_t len, bool is_stream)
{
    bool other_transport = is_label(label, len, is_stream ? "silentudp" : "silenttcp");
    if (len >= 6 && memcmp(label, "silent", 6) == 0 && !other_transport)
        wishes->verdict = ANSWER_SILENT;
}

static void read_verdict(struct wishes *wishes, const uint8_t *label, size_t len)
{
    if (is_label(label, len, "close"))
        wishes->verdict = ANSWER_CLOSE;
    else if (is_label(label, len, "reset"))
        wishes->verdict = ANSWER_RESET;
    else if (is_label(label, len, "stall"))
        wishes->verdict = ANSWER_STALL;
    else if (is_label(label, len, "half"))
        wishes->verdict = ANSWER_HALF;
}

static void read_content(struct wishes *wishes, const uint8_t *label, size_t len)
{
    static const struct {
        const char *word;
        size_t flag;
    } words[] = {
        {"nodata", offsetof(struct wishes, nodata)},
        {"big", offsetof(struct wishes, big)},
        {"cname", offsetof(struct wishes, alias)},
        {"tc", offsetof(struct wishes, truncated)},
        {"wrongid", offsetof(struct wishes, wrong_id)},
        {"wrongname", offsetof(struct wishes, wrong_name)},
    };
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (is_label(label, len, words[i].word))
            *(bool *)((char *)wishes + words[i].flag) = true;
}

static void read_rcode(struct wishes *wishes, const uint8_t *label, size_t len)
{
    if (is_label(label, len, "nx"))
        wishes->rcode = RCODE_NXDOMAIN;
    else if (is_label(label, len, "servfail"))
        wishes->rcode = RCODE_SERVFAIL;
    else if (is_label(label, len, "refused"))
        wishes->rcode = RCODE_REFUSED;
}

static void read_label(struct wishes *wishes, const uint8_t *label, size_t len, bool is_stream)
{
    switch (label[0]) { /* so ordinary names cost nothing */
    case 'd':
        if (label_number(label, len, "d", &wishes->delay_ms)) {
            wishes->has_delay = true;
            wishes->delay_ms = MIN(wishes->delay_ms, DELAY_MAX_MS);
        }
        break;
    case 't':
        if (label_number(label, len, "ttl", &wishes->ttl_s))
            wishes->has_ttl = true;
        read_content(wishes, label, len);
        break;
    case 's':
        read_silence(wishes, label, len, is_stream);
        /* fall through */
    case 'n':
    case 'r':
    case 'c':
    case 'b':
    case 'w':
    case 'h':
        read_verdict(wishes, label, len);
        read_content(wishes, label, len);
        read_rcode(wishes, label, len);
        break;
    default:
        break;
    }
}

void wishes_read(struct wishes *wishes, const struct wire_query *query, bool is_stream)
{
    memset(wishes, 0, sizeof(*wishes));
    for (uint16_t at = 0; query->lower[at]; at = (uint16_t)(at + query->lower[at] + 1)) {
        read_label(wishes, query->lower + at + 1, query->lower[at], is_stream);
        wishes->last_label = at;
    }
}
