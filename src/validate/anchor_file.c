/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Cuts the text into records, each without comments and in one line, and gives them to dns/present.
 * Comments are read here, because that parser drops them.
 *
 * Invariant: a file counts as a whole or not at all. A file with states was written by a program,
 * so the end of its last line is missing only if the program was interrupted, and a key without a
 * state in it would pass by the waiting time of RFC 5011. Both are errors.
 */
#include "validate/anchor_file.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "dns/present.h"
#include "dns/record_text.h"
#include "dns/rrtype.h"

/* The numbers of Unbound's files; the states are those of RFC 5011 section 4. */
enum anchor_state {
    STATE_NONE = -1, /* no comment has one */
    STATE_VALID = 2,
    STATE_MISSING = 3,
    STATE_LAST = 5, /* START, ADDPEND, VALID, MISSING, REVOKED, REMOVED */
};

enum { RECORD_TTL_S = 3600, RECORD_WIRE_MAX = ANCHOR_RECORD_TEXT_MAX };

#define EXAMPLE "\". IN DS 38696 8 2 683D2D0A...\""

static const char no_record[] = "is no DS or DNSKEY record in zone file format, such as " EXAMPLE;
static const char other_record[] = "is a record of another type or class; leave only DS and DNSKEY "
                                   "records of class IN in it";
static const char unfit_record[] =
    "may not be a trust anchor: the digest of a DS record must have its full length, and a DNSKEY "
    "record needs the zone bit (256 or 257), protocol 3, no revoke bit, and a whole key; replace "
    "it";
static const char too_many[] = "is one record or zone too many; a zone may have 32 records";
static const char too_long[] = "is a record of more than 16 KiB; remove it";
static const char open_paren[] = "has a parenthesis that is not closed; was the file cut off?";
static const char close_paren[] = "has a closing parenthesis without an opening one; remove it";
static const char strange_byte[] = "has a byte that is not printable ASCII; is this a text file?";
static const char no_first_owner[] =
    "begins with a blank, so that its owner is that of the record before, and there is none; write "
    "the name first, as in " EXAMPLE;
static const char unknown_state[] =
    "has a state that RFC 5011 does not know; states are 0 to 5 and 2 is a valid key";
static const char second_state[] = "has two states; leave one of them";
static const char no_state[] =
    "has no state, but other lines of this file have; was the file written in part? Fetch the "
    "zone's current anchor";
static const char no_end[] = "the last line has no end, so the file was written in part; fetch the "
                             "zone's current anchor";
static const char all_revoked[] = "says that all keys of the zone were revoked; fetch the zone's "
                                  "current anchor, or leave the file out";
static const char none_valid[] = "has no key in the state VALID (2) or MISSING (3); fetch the "
                                 "zone's current anchor";
static const char is_empty[] = "has no trust anchor; write a DS or DNSKEY record such as " EXAMPLE;
static const char too_large[] = "is larger than 1 MiB; keep only trust anchors in it";

struct anchor_reading {
    struct anchors *out;
    struct span text;
    size_t at, line; /* the next byte and its line */
    /* The record that is being cut out: */
    size_t begun; /* the line of its first word, or of a fault */
    bool has_word;
    size_t len;
    int state; /* enum anchor_state */
    char record[ANCHOR_RECORD_TEXT_MAX + 1];
    char owner[ANCHOR_RECORD_TEXT_MAX + 1]; /* of the record before; "": none */
    uint8_t wire[RECORD_WIRE_MAX];
    /* The whole text: */
    bool is_autotrust, has_revoked;
    size_t stateless; /* the first line of a record without a state; 0: none */
    bool has_state;
    size_t count; /* of records that count */
};

/* ---- comments ---- */

static bool span_begins(struct span text, const char *word)
{
    size_t len = strlen(word);
    return text.len >= len && memcmp(text.data, word, len) == 0;
}

/* Returns NULL, or the fault. */
static const char *take_state(struct anchor_reading *reading, struct span rest)
{
    int state = 0;
    size_t digits = 0;
    for (; digits < rest.len && rest.data[digits] >= '0' && rest.data[digits] <= '9'; digits++)
        state = MIN(state * 10 + (rest.data[digits] - '0'), STATE_LAST + 1);
    if (digits == 0 || state > STATE_LAST)
        return unknown_state;
    if (reading->state != STATE_NONE)
        return second_state;
    reading->state = state;
    return NULL;
}

static const char *take_comment(struct anchor_reading *reading, struct span comment)
{
    static const char state[] = ";;state=";
    reading->is_autotrust |= span_begins(comment, ";;id:");
    reading->has_revoked |= span_begins(comment, ";;REVOKED");
    for (; comment.len; comment.data++, comment.len--) {
        if (!span_begins(comment, state))
            continue;
        size_t len = sizeof(state) - 1;
        const char *fault = take_state(reading, span_of(comment.data + len, comment.len - len));
        if (fault)
            return fault;
    }
    return NULL;
}

/* Reads the comment that begins here, up to the end of the line. */
static const char *anchor_skip_comment(struct anchor_reading *reading)
{
    const uint8_t *begin = reading->text.data + reading->at;
    size_t left = reading->text.len - reading->at;
    const uint8_t *end = memchr(begin, '\n', left);
    size_t len = end ? (size_t)(end - begin) : left;
    reading->at += len;
    return take_comment(reading, span_of(begin, len));
}

/* ---- records ---- */

static const char *anchor_put_byte(struct anchor_reading *reading, char byte)
{
    if (reading->len == ANCHOR_RECORD_TEXT_MAX)
        return too_long;
    if (byte != ' ' && !reading->has_word) {
        reading->has_word = true;
        reading->begun = reading->line;
    }
    reading->record[reading->len++] = byte;
    return NULL;
}

/* Takes one byte of a record, and the byte behind a backslash with it. Blanks, line ends and
 * parentheses become blanks. */
static const char *take_byte(struct anchor_reading *reading, unsigned *depth)
{
    struct span text = reading->text;
    char byte = (char)text.data[reading->at++];
    if (byte == '\n')
        reading->line++;
    if (byte == ')' && *depth == 0)
        return close_paren;
    *depth += byte == '(';
    *depth -= byte == ')';
    if (byte == '\n' || byte == '\r' || byte == '\t' || byte == '(' || byte == ')')
        byte = ' ';
    if (byte < ' ' || byte > '~')
        return strange_byte;
    const char *fault = anchor_put_byte(reading, byte);
    if (fault || byte != '\\' || reading->at == text.len || text.data[reading->at] <= ' ' ||
        text.data[reading->at] > '~')
        return fault;
    return anchor_put_byte(reading, (char)text.data[reading->at++]);
}

/* Cuts out the next record with the end of its last line; it may be blank. Returns NULL, or the
 * fault. */
static const char *cut_record(struct anchor_reading *reading)
{
    unsigned depth = 0;
    bool has_ended = false;
    const char *fault = NULL;
    reading->len = 0;
    reading->state = STATE_NONE;
    reading->has_word = false;
    reading->begun = reading->line;
    while (!fault && !has_ended && reading->at < reading->text.len) {
        uint8_t byte = reading->text.data[reading->at];
        has_ended = byte == '\n' && depth == 0;
        fault = byte == ';' ? anchor_skip_comment(reading) : take_byte(reading, &depth);
    }
    reading->record[reading->len] = '\0';
    if (fault)
        reading->begun = reading->line;
    return fault ? fault : depth ? open_paren : NULL;
}

/* A record that begins with a blank has the owner of the record before. */
static const char *complete_owner(struct anchor_reading *reading)
{
    if (*reading->record != ' ') {
        size_t len = strcspn(reading->record, " ");
        memcpy(reading->owner, reading->record, len);
        reading->owner[len] = '\0';
        return NULL;
    }
    size_t len = strlen(reading->owner);
    if (len == 0)
        return no_first_owner;
    if (len + reading->len > ANCHOR_RECORD_TEXT_MAX)
        return too_long;
    memmove(reading->record + len, reading->record, reading->len + 1);
    memcpy(reading->record, reading->owner, len);
    return NULL;
}

static bool state_counts(int state)
{
    return state == STATE_NONE || state == STATE_VALID || state == STATE_MISSING;
}

/* Adds the record of this length in reading->wire. */
static enum err add_wire(struct anchor_reading *reading, size_t len, const char **fault)
{
    struct name zone;
    uint16_t type, class, rdata_len;
    uint32_t ttl;
    size_t at = name_view(span_of(reading->wire, len), 0, &zone);
    struct span rest = span_of(reading->wire + at, len - at);
    *fault = no_record;
    if (!at || !span_take_u16(&rest, &type) || !span_take_u16(&rest, &class) ||
        !span_take_u32(&rest, &ttl) || !span_take_u16(&rest, &rdata_len) || rest.len != rdata_len)
        return ERR_INVALID;
    if ((type != RRTYPE_DS && type != RRTYPE_DNSKEY) || class != RRCLASS_IN) {
        *fault = other_record;
        return ERR_INVALID;
    }
    if (!state_counts(reading->state))
        return ERR_OK;
    enum err err = anchors_add(reading->out, zone, type, rest);
    *fault = err == ERR_LIMIT ? too_many : unfit_record;
    reading->count += err == ERR_OK;
    return err == ERR_LIMIT ? ERR_INVALID : err;
}

static enum err add_record(struct anchor_reading *reading, const char **fault)
{
    size_t len;
    *fault = complete_owner(reading);
    if (!*fault)
        *fault = record_text_fault(reading->record);
    if (*fault)
        return ERR_INVALID;
    enum err err = present_rr_from_text(reading->wire, sizeof(reading->wire), &len, reading->record,
                                        name_root(), RECORD_TTL_S);
    *fault = err == ERR_LIMIT ? too_long : no_record;
    if (err)
        return err == ERR_NO_MEMORY ? err : ERR_INVALID;
    if (reading->state != STATE_NONE)
        reading->has_state = true;
    else if (!reading->stateless)
        reading->stateless = reading->begun;
    return add_wire(reading, len, fault);
}

/* ---- the whole ---- */

static enum err anchor_tell(struct anchor_file_problem *problem, size_t line, const char *sentence)
{
    *problem = (struct anchor_file_problem){.line = line, .sentence = sentence};
    return ERR_INVALID;
}

/* Checks what only shows at the end. */
static enum err check_whole(const struct anchor_reading *reading,
                            struct anchor_file_problem *problem)
{
    struct span text = reading->text;
    bool is_kept = reading->is_autotrust || reading->has_state;
    if (reading->has_revoked)
        return anchor_tell(problem, 0, all_revoked);
    if (is_kept && reading->stateless)
        return anchor_tell(problem, reading->stateless, no_state);
    if (is_kept && reading->line > 1 && text.data[text.len - 1] != '\n')
        return anchor_tell(problem, 0, no_end);
    if (reading->count)
        return ERR_OK;
    return anchor_tell(problem, 0, reading->has_state ? none_valid : is_empty);
}

static enum err anchor_read_records(struct anchor_reading *reading,
                                    struct anchor_file_problem *problem)
{
    while (reading->at < reading->text.len) {
        const char *fault = cut_record(reading);
        enum err err = fault ? ERR_INVALID : ERR_OK;
        if (!err && reading->has_word)
            err = add_record(reading, &fault);
        if (err)
            return err == ERR_INVALID ? anchor_tell(problem, reading->begun, fault) : err;
    }
    return check_whole(reading, problem);
}

enum err anchor_file_read(struct anchors *out, struct span text,
                          struct anchor_file_problem *problem)
{
    if (text.len > ANCHOR_FILE_BYTES_MAX)
        return anchor_tell(problem, 0, too_large);
    struct anchor_reading *reading = calloc(1, sizeof(*reading));
    if (!reading)
        return ERR_NO_MEMORY;
    reading->out = out;
    reading->text = text;
    reading->line = 1;
    enum err err = anchor_read_records(reading, problem);
    free(reading);
    return err;
}
