/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "resolve/sentinel.h"

#include <stdbool.h>
#include <string.h>

#include "base/check.h"
#include "dns/rrtype.h"
#include "validate/anchors.h"
#include "validate/dnskey.h"

enum { TAG_DIGITS = 5, TAG_MAX = 65535 };

/* Reads the tag after this word, if the first label consists of the word and five digits (RFC 8509
 * section 2). Names are in lower case. */
static bool read_tag(struct name name, const char *word, uint32_t *tag)
{
    size_t len = strlen(word);
    if (name.wire[0] != len + TAG_DIGITS || memcmp(name.wire + 1, word, len) != 0)
        return false;
    *tag = 0;
    for (size_t i = 1 + len; i < 1 + len + TAG_DIGITS; i++) {
        if (name.wire[i] < '0' || name.wire[i] > '9')
            return false;
        *tag = *tag * 10 + (name.wire[i] - '0');
    }
    return *tag <= TAG_MAX;
}

static bool has_tag(const struct anchor_record *record, uint32_t tag)
{
    struct ds ds;
    struct dnskey key;
    if (record->type == RRTYPE_DS)
        return ds_read(&ds, record->rdata) && ds.tag == tag;
    return dnskey_read(&key, record->rdata) && key.tag == tag;
}

enum sentinel sentinel_judge(const struct question *question, const struct anchors *anchors)
{
    uint32_t tag;
    bool is_trusted = false;
    if (question->type != RRTYPE_A && question->type != RRTYPE_AAAA)
        return SENTINEL_NONE;
    bool asks_is = read_tag(question->name, "root-key-sentinel-is-ta-", &tag);
    if (!asks_is && !read_tag(question->name, "root-key-sentinel-not-ta-", &tag))
        return SENTINEL_NONE;
    const struct anchor *root = anchors ? anchors_find(anchors, name_root()) : NULL;
    if (!root || root->kind != ANCHOR_TRUSTED)
        return SENTINEL_NONE;
    for (size_t i = 0; i < root->count; i++)
        is_trusted |= has_tag(&root->record[i], tag);
    return is_trusted == asks_is ? SENTINEL_PASS : SENTINEL_FAIL;
}
