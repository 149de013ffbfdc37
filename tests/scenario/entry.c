/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Reads entries. match.c defines MATCH words, and servers.c ADJUST words. */
#include "scenario/entry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/check.h"
#include "dns/message.h"
#include "dns/rrtype.h"
#include "scenario/compose_message.h"
#include "scenario/script.h"
#include "scenario/zone_sign.h"

enum place { PLACE_RECORDS, PLACE_HEX_ANSWER, PLACE_HEX_EDNS };

struct reading {
    struct script *script;
    struct reader *reader;
    struct entry *entry;
    struct compose_message message;
    enum section section;
    enum place place;
    bool has_message;
    struct script_zone signer; /* of ADJUST sign=zone */
    uint8_t signer_wire[NAME_WIRE_MAX];
    unsigned sig_labels;
};

struct word_bit {
    const char *word;
    uint32_t bit;
};

static const struct word_bit match_words[] = {
    {"opcode", MATCH_OPCODE},
    {"qtype", MATCH_QTYPE},
    {"qname", MATCH_QNAME},
    {"qclass", MATCH_QCLASS},
    {"subdomain", MATCH_SUBDOMAIN},
    {"all", MATCH_ALL},
    {"all_noedns", MATCH_ALL},
    {"ttl", MATCH_TTL},
    {"answer", MATCH_ANSWER},
    {"rcode", MATCH_RCODE},
    {"question", MATCH_QUESTION},
    {"DO", MATCH_DO},
    {"noedns", MATCH_NOEDNS},
    {"edns", MATCH_EDNS},
    {"ednsdata", MATCH_EDNSDATA},
    {"UDP", MATCH_UDP},
    {"TCP", MATCH_TCP},
    {"rd", MATCH_RD},
    {"case", MATCH_CASE},
    {"flags", MATCH_FLAGS},
    {"keepalive", MATCH_KEEPALIVE},
    {"nokeepalive", MATCH_NOKEEPALIVE},
    {"id", MATCH_ID},
};
static const struct word_bit adjust_words[] = {
    {"copy_id", ADJUST_COPY_ID},
    {"copy_query", ADJUST_COPY_QUERY},
    {"wrong_id", ADJUST_WRONG_ID},
    {"flip_case", ADJUST_FLIP_CASE},
    {"close", ADJUST_CLOSE},
    {"reset", ADJUST_RESET},
    {"silent", ADJUST_SILENT},
    {"cookie", ADJUST_COOKIE},
    {"from_elsewhere", ADJUST_SPOOF},
    {"icmp", ADJUST_ICMP},
    {"wrong_cookie", ADJUST_WRONG_COOKIE},
};

static bool bit_of(const struct word_bit *table, size_t count, const char *word, uint32_t *bits)
{
    for (size_t i = 0; i < count; i++) {
        if (strcasecmp(table[i].word, word) != 0)
            continue;
        *bits |= table[i].bit;
        return true;
    }
    return false;
}

static bool need(struct script *script, const char *kind, const char *word)
{
    if (!script->needs[0])
        snprintf(script->needs, sizeof(script->needs), "%.40s %.160s", kind, word);
    return false;
}

static bool wrong(struct reading *work, const char *what, const char *text)
{
    if (!work->script->error[0])
        snprintf(work->script->error, sizeof(work->script->error), "line %d: %s: %.160s",
                 work->reader->line, what, text);
    return false;
}

/* ---- words ---- */

static bool match_word(struct reading *work, const char *word)
{
    struct entry *entry = work->entry;
    const char *value;
    if ((value = reader_value(word, "ede"))) {
        entry->match |= MATCH_EDE;
        if (entry->ede_count == ENTRY_EDE_MAX)
            return false;
        entry->ede[entry->ede_count++] = strcmp(value, "any") == 0    ? EDE_ANY
                                         : strcmp(value, "none") == 0 ? EDE_ABSENT
                                                                      : atoi(value);
        return true;
    }
    if ((value = reader_value(word, "says"))) {
        entry->match |= MATCH_SAYS;
        snprintf(entry->says, sizeof(entry->says), "%s", value);
        for (char *c = entry->says; *c; c++)
            *c = *c == '_' ? ' ' : *c;
        return true;
    }
    if ((value = reader_value(word, "size"))) {
        entry->match |= MATCH_SIZE;
        entry->size_max = strtoul(value, NULL, 10);
        return true;
    }
    if ((value = reader_value(word, "offers"))) {
        entry->match |= MATCH_OFFERS;
        entry->offers_max = (uint16_t)strtoul(value, NULL, 10);
        return true;
    }
    if ((value = reader_value(word, "cookie"))) {
        entry->match |= MATCH_COOKIE;
        entry->cookie = strcmp(value, "none") == 0     ? COOKIE_NONE
                        : strcmp(value, "client") == 0 ? COOKIE_CLIENT
                                                       : COOKIE_SERVER;
        return true;
    }
    return bit_of(match_words, ARRAY_LEN(match_words), word, &entry->match) ||
           need(work->script, "MATCH", word);
}

static bool adjust_word(struct reading *work, const char *word)
{
    struct entry *entry = work->entry;
    const char *value;
    if ((value = reader_value(word, "sleep")))
        return reader_duration(value, &entry->sleep_us);
    if ((value = reader_value(word, "gap")))
        return reader_duration(value, &entry->gap_us);
    if ((value = reader_value(word, "copies")))
        entry->copies = (unsigned)strtoul(value, NULL, 10);
    else if (strcmp(word, "answer_a") == 0)
        entry->addrs = 1;
    else if ((value = reader_value(word, "answer_a")))
        entry->addrs = (unsigned)strtoul(value, NULL, 10);
    else if ((value = reader_value(word, "mints")))
        entry->mints = MIN((unsigned)strtoul(value, NULL, 10), (unsigned)ENTRY_MINTS_MAX);
    else if ((value = reader_value(word, "pieces")))
        entry->piece_bytes = (unsigned)strtoul(value, NULL, 10);
    else if ((value = reader_value(word, "sign")))
        return zone_sign_word(&work->signer.signing, "signed") &&
               name_parse(&work->signer.apex, work->signer_wire, value, strlen(value)) == ERR_OK;
    else if ((value = reader_value(word, "sig_labels")))
        work->sig_labels = (unsigned)strtoul(value, NULL, 10);
    else if (work->signer.signing.is_signed && zone_sign_word(&work->signer.signing, word))
        return true;
    else
        return bit_of(adjust_words, ARRAY_LEN(adjust_words), word, &entry->adjust) ||
               need(work->script, "ADJUST", word);
    return true;
}

static bool reply_word(struct reading *work, const char *word)
{
    return compose_message_word(&work->message, word) || need(work->script, "REPLY", word);
}

static bool each_word(struct reading *work, const char *line,
                      bool (*take)(struct reading *work, const char *word))
{
    char word[SCRIPT_WORD_MAX];
    while (reader_word(&line, word, sizeof(word), NULL))
        if (!take(work, word))
            return wrong(work, "unknown word", word);
    return true;
}

/* ---- lines ---- */

static void note_addresses(struct script *script, struct span bytes)
{
    struct message message;
    if (message_parse(&message, bytes) != MESSAGE_OK)
        return;
    struct rr_iter iter = message_all_rrs(&message);
    for (struct rr rr; message_rr_next(&iter, &rr);)
        script_note_record(script, rr.type, message_rdata(&message, &rr));
}

static bool end_packet(struct reading *work)
{
    struct arena *arena = &work->script->arena;
    size_t len;
    if (work->signer.signing.is_signed)
        zone_sign_message(&work->signer, work->sig_labels, &work->message);
    uint8_t *bytes = compose_message_finish(&work->message, &len);
    struct entry_packet *packet = arena_take(arena, sizeof(*packet));
    if (!bytes || !packet)
        return wrong(work, "no message", "too large");
    *packet = (struct entry_packet){.bytes = span_of(arena_copy(arena, bytes, len), len)};
    free(bytes);
    struct entry_packet **last = &work->entry->packets;
    while (*last)
        last = &(*last)->next;
    *last = packet;
    work->entry->id = work->message.id;
    note_addresses(work->script, packet->bytes);
    return true;
}

static bool section_line(struct reading *work, const char *line)
{
    static const char *const names[] = {"QUESTION", "ANSWER", "AUTHORITY", "ADDITIONAL"};
    char word[SCRIPT_WORD_MAX];
    reader_word(&line, word, sizeof(word), NULL);
    for (unsigned i = 0; i < SECTION_COUNT; i++) {
        if (strcasecmp(word, names[i]) == 0) {
            work->section = i;
            return true;
        }
    }
    return wrong(work, "unknown section", word);
}

static bool record_line(struct reading *work, const char *line)
{
    bool fine;
    if (work->place == PLACE_HEX_ANSWER)
        fine = compose_message_hex(&work->message.hex, line);
    else if (work->place == PLACE_HEX_EDNS)
        fine = compose_message_hex(&work->message.options, line);
    else if (work->section == SECTION_QUESTION)
        fine = compose_message_question(&work->message, line);
    else
        fine = compose_message_record(&work->message, work->section, line);
    return fine || wrong(work, "not a record", line);
}

static bool next_packet(struct reading *work)
{
    bool fine = end_packet(work);
    compose_message_deinit(&work->message);
    compose_message_init(&work->message);
    work->section = SECTION_QUESTION;
    return fine;
}

/* The caller handles ENTRY_END. */
static bool take_line(struct reading *work, const char *line)
{
    char word[SCRIPT_WORD_MAX];
    const char *rest = line;
    reader_word(&rest, word, sizeof(word), NULL);
    if (strcmp(word, "MATCH") == 0)
        return each_word(work, rest, match_word);
    if (strcmp(word, "ADJUST") == 0)
        return each_word(work, rest, adjust_word);
    if (strcmp(word, "REPLY") == 0)
        return each_word(work, rest, reply_word);
    if (strcmp(word, "SECTION") == 0)
        return section_line(work, rest);
    if (strcmp(word, "EXTRA_PACKET") == 0)
        return next_packet(work);
    if (strcmp(word, "HEX_ANSWER_BEGIN") == 0)
        work->place = PLACE_HEX_ANSWER;
    else if (strcmp(word, "HEX_EDNSDATA_BEGIN") == 0) {
        work->place = PLACE_HEX_EDNS;
        work->message.edns = true; /* EDNS, even without options */
    } else if (strcmp(word, "HEX_ANSWER_END") == 0 || strcmp(word, "HEX_EDNSDATA_END") == 0)
        work->place = PLACE_RECORDS;
    else
        return record_line(work, line);
    return true;
}

static bool read_lines(struct reading *work)
{
    while (reader_next(work->reader)) {
        if (strcmp(work->reader->text, "ENTRY_END") == 0)
            return end_packet(work);
        if (!take_line(work, work->reader->text))
            return false;
    }
    return wrong(work, "no ENTRY_END", "the file ended");
}

struct entry *entry_read(struct script *script, struct reader *reader)
{
    struct entry *entry = arena_take(&script->arena, sizeof(*entry));
    struct reading work = {
        .script = script, .reader = reader, .entry = entry, .sig_labels = ZONE_OWN_LABELS};
    MUST(entry);
    *entry = (struct entry){.line = reader->line};
    compose_message_init(&work.message);
    bool fine = read_lines(&work);
    compose_message_deinit(&work.message);
    return fine ? entry : NULL;
}
