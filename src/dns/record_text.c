/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Walks over the words of a line (RFC 1035 section 5.1). present.c parses them. */
#include "dns/record_text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/check.h"

static const char no_owner[] =
    "begins with a space or a tab and so has no owner; write the name first, "
    "as nas.home.arpa. A 192.0.2.7";
static const char directive[] =
    "is a directive of zone files, which has no meaning here; write full "
    "names and a TTL in each record";
static const char at_sign[] =
    "has an @, which is not a name here; write the full name, or \"@\" for text";
static const char large_ttl[] = "has a TTL above 2147483647; lower it";
static const char no_ttl[] =
    "has a second word that is neither a TTL, such as 3600 or 1h, nor a type";
static const char open_quote[] = "has an open quote; close it, or write \\\" for a quote character";
static const char open_paren[] = "has an unmatched parenthesis; remove it";

struct walk {
    unsigned words, depth; /* words begun; open parentheses */
    bool in_word, in_quote;
};

static bool record_text_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static uint64_t unit_s(char c)
{
    static const char units[] = "sSmMhHdDwW";
    static const uint32_t seconds[] = {1, 60, 3600, 86400, 604800};
    const char *unit = c ? strchr(units, c) : NULL;
    return unit ? seconds[(unit - units) / 2] : 0;
}

/* Checks a word such as 3600 or 1h30m. */
static const char *ttl_fault(const char *word)
{
    uint64_t sum = 0, part = 0;
    for (; *word && !record_text_is_blank(*word); word++) {
        if (*word >= '0' && *word <= '9') {
            part = part * 10 + (uint64_t)(*word - '0');
        } else if (unit_s(*word)) {
            sum += part * unit_s(*word);
            part = 0;
        } else {
            return no_ttl;
        }
        if (part > INT32_MAX || sum + part > INT32_MAX)
            return large_ttl;
    }
    return NULL;
}

static const char *begin_word(struct walk *walk, const char *at)
{
    walk->in_quote = *at == '"'; /* inside a word a quote is an ordinary character */
    walk->in_word = !walk->in_quote;
    walk->words++;
    if (*at == '@' && (at[1] == '\0' || strchr(" \t();", at[1])))
        return at_sign;
    return walk->words == 2 && *at >= '0' && *at <= '9' ? ttl_fault(at) : NULL;
}

/* Steps over one character outside quotes. */
static const char *record_text_step(struct walk *walk, const char *at)
{
    if (record_text_is_blank(*at)) {
        walk->in_word = false;
    } else if (*at == '(') {
        walk->in_word = false;
        walk->depth++;
    } else if (*at == ')') {
        walk->in_word = false;
        if (walk->depth-- == 0)
            return open_paren;
    } else if (!walk->in_word) {
        return begin_word(walk, at);
    }
    return NULL;
}

/* A host name may begin with a $ as well, but no host name is one of these words. */
static bool is_directive(const char *line)
{
    static const char *const words[] = {"$ORIGIN", "$TTL", "$INCLUDE", "$GENERATE"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        size_t len = strlen(words[i]);
        if (strncasecmp(line, words[i], len) == 0 &&
            (!line[len] || record_text_is_blank(line[len])))
            return true;
    }
    return false;
}

const char *record_text_fault(const char *line)
{
    struct walk walk = {0};
    const char *fault = record_text_is_blank(*line) ? no_owner
                        : is_directive(line)        ? directive
                                                    : NULL;
    for (const char *at = line; *at && !fault; at++) {
        if (*at == ';' && !walk.in_quote)
            break;
        if (!walk.in_quote)
            fault = record_text_step(&walk, at);
        else if (*at == '"')
            walk.in_quote = false;
        if (*at == '\\' && at[1])
            at++;
    }
    if (fault)
        return fault;
    return walk.in_quote ? open_quote : walk.depth ? open_paren : NULL;
}
