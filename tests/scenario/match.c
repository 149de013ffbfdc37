/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Compares messages. Records are compared as text, because one side is compressed and the other is
 * not. Their order within a section does not matter (RFC 1035 gives it no meaning).
 */
#include "scenario/match.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "dns/message.h"
#include "dns/present.h"

enum { TEXT_MAX = 512 * 1024, RECORDS_MAX = 2000 };

const char *match_text(struct span bytes)
{
    static char texts[2][TEXT_MAX];
    static unsigned which;
    char *text = texts[which++ & 1];
    if (present_message(bytes, text, TEXT_MAX) == ERR_OK)
        return text;
    size_t len = strlen(text);
    for (size_t i = 0; i < bytes.len && len + 4 < TEXT_MAX; i++)
        len += (size_t)snprintf(text + len, TEXT_MAX - len, "%02x ", bytes.data[i]);
    return text;
}

/* ---- records as lines ---- */

struct lines {
    char *text;
    char *line[RECORDS_MAX];
    size_t count;
};

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Removes the TTL from "owner<tab>TTL<tab>...". */
static void drop_ttl(char *line)
{
    char *ttl = strchr(line, '\t');
    char *after = ttl ? strchr(ttl + 1, '\t') : NULL;
    if (after)
        memmove(ttl, after, strlen(after) + 1);
}

static void lines_of(struct lines *lines, const char *text, enum section section, bool with_ttl)
{
    static const char *const titles[] = {"", "\n;; ANSWER SECTION:\n", "\n;; AUTHORITY SECTION:\n",
                                         "\n;; ADDITIONAL SECTION:\n"};
    const char *start = strstr(text, titles[section]);
    lines->count = 0;
    lines->text = NULL;
    if (!start)
        return;
    start += strlen(titles[section]);
    const char *end = strstr(start, "\n\n");
    lines->text = strndup(start, end ? (size_t)(end - start) : strlen(start));
    MUST(lines->text);
    for (char *c = lines->text; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    for (char *at = lines->text, *line; (line = strsep(&at, "\n"));) {
        if (!*line || lines->count == RECORDS_MAX)
            continue;
        if (!with_ttl)
            drop_ttl(line);
        lines->line[lines->count++] = line;
    }
    qsort(lines->line, lines->count, sizeof(lines->line[0]), by_text);
}

static bool same_section(const char *a, const char *b, enum section section, bool with_ttl)
{
    static struct lines one, two;
    lines_of(&one, a, section, with_ttl);
    lines_of(&two, b, section, with_ttl);
    bool same = one.count == two.count;
    for (size_t i = 0; same && i < one.count; i++)
        same = strcmp(one.line[i], two.line[i]) == 0;
    free(one.text);
    free(two.text);
    return same;
}

/* ---- parts ---- */

struct both {
    const struct entry *entry;
    struct message want, got;
    bool over_tcp;
};

static bool same_records(const struct both *both, enum section first, enum section last)
{
    bool with_ttl = both->entry->match & MATCH_TTL;
    const char *want = match_text(both->want.bytes);
    const char *got = match_text(both->got.bytes);
    for (enum section section = first; section <= last; section++)
        if (!same_section(want, got, section, with_ttl))
            return false;
    return true;
}

static bool same_question(const struct both *both)
{
    if (both->want.has_question != both->got.has_question)
        return false;
    return !both->want.has_question || question_equal(&both->want.question, &both->got.question);
}

static bool same_options(const struct both *both)
{
    return span_equal(both->want.edns.options, both->got.edns.options);
}

static uint32_t serial_of(const struct message *message)
{
    struct rr_iter iter = message_all_rrs(message);
    for (struct rr rr; message_rr_next(&iter, &rr);)
        if (rr.type == 6 && rr.rdata_len >= 20)
            return get_u32(message->bytes.data + rr.rdata_offset + rr.rdata_len - 20);
    return 0;
}

static bool has_ede(const struct message *message, int wanted)
{
    bool any = false;
    struct span rest = message->edns.options;
    for (struct edns_option option; edns_option_next(&rest, &option);) {
        if (option.code != EDNS_EDE || option.data.len < 2)
            continue;
        any = true;
        if (get_u16(option.data.data) == wanted)
            return true;
    }
    return wanted == EDE_ANY ? any : wanted == EDE_ABSENT && !any;
}

static bool ede_matches(const struct both *both)
{
    for (unsigned i = 0; i < both->entry->ede_count; i++)
        if (!has_ede(&both->got, both->entry->ede[i]))
            return false;
    return true;
}

static bool says(const struct both *both)
{
    struct span rest = both->got.edns.options;
    const char *text = both->entry->says;
    for (struct edns_option option; edns_option_next(&rest, &option);)
        if (option.code == EDNS_EDE && option.data.len > 2 &&
            memmem(option.data.data + 2, option.data.len - 2, text, strlen(text)))
            return true;
    return false;
}

static bool has_keepalive(const struct both *both)
{
    struct edns_keepalive keepalive;
    return both->got.edns.present && edns_find_keepalive(&both->got.edns, &keepalive) == EDNS_FOUND;
}

static enum entry_cookie cookie_of(const struct message *message)
{
    struct edns_cookie cookie;
    if (!message->edns.present || edns_find_cookie(&message->edns, &cookie) != EDNS_FOUND)
        return COOKIE_NONE;
    return cookie.server.len ? COOKIE_SERVER : COOKIE_CLIENT;
}

static bool same_flags(const struct both *both)
{
    uint16_t apart = both->entry->match & MATCH_APART_AD ? HEADER_AD : 0;
    apart |= both->entry->match & MATCH_APART_POLICY ? HEADER_AA : 0;
    return ((both->want.flags ^ both->got.flags) & ~(HEADER_RCODE_MASK | apart)) == 0;
}

static bool same_all(const struct both *both)
{
    enum section last =
        both->entry->match & MATCH_APART_POLICY ? SECTION_AUTHORITY : SECTION_ADDITIONAL;
    return same_flags(both) && message_rcode(&both->want) == message_rcode(&both->got) &&
           same_question(both) && same_records(both, SECTION_ANSWER, last);
}

static bool differs(const struct both *both, enum entry_match bit)
{
    const struct message *want = &both->want, *got = &both->got;
    switch (bit) {
    case MATCH_OPCODE:
        return message_opcode(want) != message_opcode(got);
    case MATCH_QTYPE:
        return want->question.type != got->question.type;
    case MATCH_QNAME:
        return !name_equal(want->question.name, got->question.name);
    case MATCH_QCLASS:
        return want->question.cls != got->question.cls;
    case MATCH_SUBDOMAIN:
        return !name_is_below(got->question.name, want->question.name);
    case MATCH_ALL:
        return !same_all(both);
    case MATCH_ANSWER:
        return !same_records(both, SECTION_ANSWER, SECTION_ANSWER);
    case MATCH_RCODE:
        return message_rcode(want) != message_rcode(got);
    case MATCH_QUESTION:
        return !same_question(both);
    case MATCH_SERIAL:
        return serial_of(want) != serial_of(got);
    case MATCH_DO:
        return want->edns.dnssec_ok != got->edns.dnssec_ok;
    case MATCH_NOEDNS:
        return got->edns.present;
    case MATCH_EDNS:
        return !got->edns.present;
    case MATCH_EDNSDATA:
        return !same_options(both);
    case MATCH_UDP:
        return both->over_tcp;
    case MATCH_TCP:
        return !both->over_tcp;
    case MATCH_RD:
        return (want->flags ^ got->flags) & HEADER_RD;
    case MATCH_EDE:
        return !ede_matches(both);
    case MATCH_CASE:
        return !name_equal_exact(want->question.name, got->question.name);
    case MATCH_FLAGS:
        return !same_flags(both);
    case MATCH_KEEPALIVE:
        return !has_keepalive(both);
    case MATCH_NOKEEPALIVE:
        return has_keepalive(both);
    case MATCH_SIZE:
        return got->bytes.len > both->entry->size_max;
    case MATCH_ID:
        return want->id != got->id;
    case MATCH_SAYS:
        return !says(both);
    case MATCH_COOKIE:
        return cookie_of(got) != both->entry->cookie;
    case MATCH_OFFERS:
        return got->edns.present && got->edns.udp_size > both->entry->offers_max;
    case MATCH_TTL:
    case MATCH_APART_AD:
    case MATCH_APART_POLICY:
        break;
    }
    return false;
}

static const char *const names[] = {
    "opcode",    "qtype",       "qname",    "qclass", "subdomain", "all",    "ttl",
    "answer",    "rcode",       "question", "serial", "DO",        "noedns", "edns",
    "ednsdata",  "UDP",         "TCP",      "rd",     "ede",       "case",   "flags",
    "keepalive", "nokeepalive", "size",     "id",     "says",      "cookie", "offers"};

bool match_message(const struct entry *entry, struct span bytes, bool over_tcp,
                   char why[MATCH_WHY_MAX])
{
    static struct both both;
    both.entry = entry;
    both.over_tcp = over_tcp;
    if (message_parse(&both.got, bytes) == MESSAGE_SHORT) {
        snprintf(why, MATCH_WHY_MAX, "too short");
        return false;
    }
    if (message_parse(&both.want, entry->packets->bytes) == MESSAGE_SHORT)
        both.want = (struct message){.question.name = name_root()};
    for (unsigned i = 0; i < ARRAY_LEN(names); i++) {
        enum entry_match bit = (enum entry_match)(1u << i);
        if (!(entry->match & bit) || !differs(&both, bit))
            continue;
        snprintf(why, MATCH_WHY_MAX, "%s", names[i]);
        return false;
    }
    return true;
}
