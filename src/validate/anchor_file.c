/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Splits the text into records, each in one line and without comments, and gives them to
 * dns/present. Comments are read here, because that parser drops them.
 *
 * Invariant: a file counts as a whole or not at all. A file with states was written by a program,
 * so the end of its last line is missing only if the program was interrupted, and a key without a
 * state in it would evade the waiting time of RFC 5011. Both are errors.
 */
#include "validate/anchor_file.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "dns/present.h"
#include "dns/record_text.h"
#include "dns/rrtype.h"
#include "validate/dnskey.h"

enum {
    STATE_NONE = -1, /* no comment has one */
    RECORD_TTL_S = 3600,
    RECORD_WIRE_MAX = ANCHOR_RECORD_TEXT_MAX,
    ZONE_TEXT_MAX = 254, /* the longest owner that ldns reads, with its escapes and the last dot */
};

#define EXAMPLE "\". IN DS 38696 8 2 683D2D0A...\""

static const char no_record[] =
    "is not a DS or DNSKEY record in zone file format, such as " EXAMPLE;
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
    "begins with a space, so its owner is that of the previous record, but there is none; write "
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
static const char second_zone[] =
    "is of a different zone than the previous record; nailupd keeps a file up "
    "to date only if it has one zone";
static const char long_zone[] = "is of a zone whose name takes more than 254 characters; nailupd "
                                "keeps no file up to date for it";
static const char too_many_keys[] = "is one key too many; 16 keys of a zone are kept up to date";
static const char too_large[] = "is larger than 1 MiB; keep only trust anchors in it";

struct anchor_reading {
    struct anchors *out;
    struct anchor_point *point; /* NULL: not wanted */
    struct span text;
    size_t at, line; /* the next byte and its line */
    /* The record that is being read: */
    size_t begun; /* the line of its first word, or of a fault */
    bool has_word;
    size_t len;
    int state;          /* enum anchor_state, or STATE_NONE */
    uint32_t sightings; /* ";;count=" */
    int64_t since_s;    /* ";;lastchange=" */
    char record[ANCHOR_RECORD_TEXT_MAX + 1];
    char owner[ANCHOR_RECORD_TEXT_MAX + 1]; /* of the previous record; "": none */
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

/* Reads the number after the word, anywhere in the comment. False: the word is missing. */
static bool find_number(struct span comment, const char *word, int64_t *out)
{
    size_t len = strlen(word);
    for (; comment.len > len; comment.data++, comment.len--) {
        if (memcmp(comment.data, word, len) != 0)
            continue;
        int64_t number = 0;
        for (size_t i = len; i < comment.len && comment.data[i] >= '0' && comment.data[i] <= '9';
             i++)
            number = MIN(number * 10 + (comment.data[i] - '0'), (int64_t)UINT32_MAX);
        *out = number;
        return true;
    }
    return false;
}

/* Takes the times that a program wrote. */
static void take_times(struct anchor_reading *reading, struct span comment)
{
    struct anchor_point *point = reading->point;
    int64_t number;
    if (find_number(comment, ";;lastchange=", &number))
        reading->since_s = number;
    if (find_number(comment, ";;count=", &number))
        reading->sightings = (uint32_t)number;
    if (!point)
        return;
    find_number(comment, ";;last_queried: ", &point->queried_s);
    find_number(comment, ";;last_success: ", &point->succeeded_s);
    find_number(comment, ";;next_probe_time: ", &point->probe_s);
    if (find_number(comment, ";;query_failed: ", &number))
        point->failed = (uint32_t)number;
    if (find_number(comment, ";;query_interval: ", &number))
        point->interval_s = (uint32_t)number;
    if (find_number(comment, ";;retry_time: ", &number))
        point->retry_s = (uint32_t)number;
}

/* Returns NULL, or the fault. */
static const char *take_state(struct anchor_reading *reading, struct span rest)
{
    int state = 0;
    size_t digits = 0;
    for (; digits < rest.len && rest.data[digits] >= '0' && rest.data[digits] <= '9'; digits++)
        state = MIN(state * 10 + (rest.data[digits] - '0'), ANCHOR_REMOVED + 1);
    if (digits == 0 || state > ANCHOR_REMOVED)
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
    take_times(reading, comment);
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

/* Takes one byte of a record, or a backslash with the byte after it. Tabs, line ends and
 * parentheses become spaces. */
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
    reading->sightings = 0;
    reading->since_s = 0;
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

/* A record that begins with a space has the owner of the previous record. */
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
    return state == STATE_NONE || state == ANCHOR_VALID || state == ANCHOR_MISSING;
}

/* Adds the record to the point, if one is wanted. Returns NULL, or the fault. */
static const char *add_to_point(struct anchor_reading *reading, struct name zone, uint16_t type,
                                struct span rdata)
{
    struct anchor_point *point = reading->point;
    char text[NAME_TEXT_MAX];
    if (!point || reading->state == ANCHOR_START || reading->state == ANCHOR_REMOVED)
        return NULL;
    bool is_first = point->count == 0 && point->seed_count == 0;
    if (is_first && strlen(name_format(zone, text)) > ZONE_TEXT_MAX)
        return long_zone;
    if (is_first) {
        point->zone_len = zone.len;
        name_fold(zone, point->zone);
    } else if (!name_equal(zone, anchor_point_zone(point))) {
        return second_zone;
    }
    enum anchor_state state =
        reading->state == STATE_NONE ? ANCHOR_VALID : (enum anchor_state)reading->state;
    enum err err = type == RRTYPE_DS ? anchor_point_add_seed(point, rdata)
                                     : anchor_point_add_key(point, rdata, state, reading->since_s,
                                                            reading->sightings);
    return err == ERR_LIMIT ? too_many_keys : err ? unfit_record : NULL;
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
    *fault = add_to_point(reading, zone, type, rest);
    if (*fault)
        return ERR_INVALID;
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

/* ---- the file ---- */

static enum err anchor_tell(struct anchor_file_problem *problem, size_t line, const char *sentence)
{
    *problem = (struct anchor_file_problem){.line = line, .sentence = sentence};
    return ERR_INVALID;
}

/* Finds the faults that show only at the end of the text. */
static enum err check_whole(const struct anchor_reading *reading,
                            struct anchor_file_problem *problem)
{
    struct span text = reading->text;
    bool is_kept = reading->is_autotrust || reading->has_state;
    if (reading->has_revoked && !(reading->point && reading->point->count > 0))
        return anchor_tell(problem, 0, all_revoked);
    if (is_kept && reading->stateless)
        return anchor_tell(problem, reading->stateless, no_state);
    if (is_kept && reading->line > 1 && text.data[text.len - 1] != '\n')
        return anchor_tell(problem, 0, no_end);
    if (reading->count || reading->has_revoked)
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

static enum err anchor_file_begin(struct anchors *out, struct anchor_point *point, struct span text,
                                  struct anchor_file_problem *problem)
{
    if (text.len > ANCHOR_FILE_BYTES_MAX)
        return anchor_tell(problem, 0, too_large);
    struct anchor_reading *reading = calloc(1, sizeof(*reading));
    if (!reading)
        return ERR_NO_MEMORY;
    reading->out = out;
    reading->point = point;
    reading->text = text;
    reading->line = 1;
    enum err err = anchor_read_records(reading, problem);
    if (!err && point) {
        point->is_kept = reading->is_autotrust || reading->has_state;
        point->is_revoked = reading->has_revoked;
    }
    free(reading);
    return err;
}

enum err anchor_file_read(struct anchors *out, struct span text,
                          struct anchor_file_problem *problem)
{
    return anchor_file_begin(out, NULL, text, problem);
}

enum err anchor_file_read_point(struct anchor_point *out, struct span text,
                                struct anchor_file_problem *problem)
{
    struct anchors *anchors = anchors_new();
    if (!anchors)
        return ERR_NO_MEMORY;
    anchor_point_init(out, name_root());
    enum err err = anchor_file_begin(anchors, out, text, problem);
    anchors_free(anchors);
    return err;
}

/* ---- writing ---- */

static enum err __attribute__((format(printf, 2, 3)))
anchor_print(struct buf *out, const char *format, ...)
{
    char text[NAME_TEXT_MAX + 256];
    va_list arguments;
    va_start(arguments, format);
    int len = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    MUST(len >= 0 && (size_t)len < sizeof(text));
    return buf_append(out, text, (size_t)len);
}

/* Writes the time in the words that Unbound adds for people. */
static enum err print_time(struct buf *out, const char *word, int64_t at_s)
{
    char text[32];
    time_t at = (time_t)at_s;
    struct tm parts;
    if (!gmtime_r(&at, &parts) || !strftime(text, sizeof(text), "%a %b %e %H:%M:%S %Y", &parts))
        text[0] = '\0';
    return anchor_print(out, "%s%lld ;;%s\n", word, (long long)at_s, text);
}

static enum err print_base64(struct buf *out, struct span bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    enum err err = ERR_OK;
    for (size_t i = 0; i < bytes.len && !err; i += 3) {
        size_t left = bytes.len - i;
        uint32_t bits = (uint32_t)bytes.data[i] << 16;
        bits |= left > 1 ? (uint32_t)bytes.data[i + 1] << 8 : 0;
        bits |= left > 2 ? bytes.data[i + 2] : 0;
        char text[4] = {digits[bits >> 18], digits[bits >> 12 & 63],
                        left > 1 ? digits[bits >> 6 & 63] : '=',
                        left > 2 ? digits[bits & 63] : '='};
        err = buf_append(out, text, sizeof(text));
    }
    return err;
}

/* Unbound writes a revoked key with the revoke bit, which changes its tag. */
static enum err print_key(struct buf *out, const struct anchor_point *point,
                          const struct anchor_key *key)
{
    static const char *const padded[] = {"  START  ", " ADDPEND ", "  VALID  ",
                                         " MISSING ", " REVOKED ", " REMOVED "};
    char zone[NAME_TEXT_MAX];
    uint8_t rdata[ANCHOR_KEY_BYTES_MAX];
    struct dnskey read;
    memcpy(rdata, key->rdata, key->len);
    if (key->state == ANCHOR_REVOKED)
        rdata[1] |= DNSKEY_REVOKE;
    if (!dnskey_read(&read, span_of(rdata, key->len)))
        return ERR_OK; /* the table has only keys that were read */
    enum err err = anchor_print(out, "%s\t%u\tIN\tDNSKEY\t%u %u %u ",
                                name_format(anchor_point_zone(point), zone), RECORD_TTL_S,
                                read.flags, read.protocol, read.algorithm);
    if (!err)
        err = print_base64(out, read.key);
    if (!err)
        err = anchor_print(out, " ;{id = %u (ksk)} ;;state=%d [%s] ;;count=%u ", read.tag,
                           (int)key->state, padded[key->state], key->sightings);
    return err ? err : print_time(out, ";;lastchange=", key->since_s);
}

/* A DS record whose key has not been seen is all that is trusted. Unbound writes none, and reads
 * it.
 */
static enum err print_seed(struct buf *out, const struct anchor_point *point,
                           const struct anchor_seed *seed)
{
    char zone[NAME_TEXT_MAX], digest[2 * ANCHOR_SEED_BYTES_MAX + 1] = "";
    struct ds ds;
    if (!ds_read(&ds, span_of(seed->rdata, seed->len)))
        return ERR_OK; /* the table has only records that were read */
    for (size_t i = 0; i < ds.digest.len; i++)
        snprintf(digest + 2 * i, 3, "%02X", ds.digest.data[i]);
    enum err err =
        anchor_print(out, "%s\t%u\tIN\tDS\t%u %u %u %s ;;state=%d [  VALID  ] ;;count=0 ",
                     name_format(anchor_point_zone(point), zone), RECORD_TTL_S, ds.tag,
                     ds.algorithm, ds.digest_type, digest, ANCHOR_VALID);
    return err ? err : print_time(out, ";;lastchange=", 0);
}

static enum err print_head(struct buf *out, const struct anchor_point *point)
{
    char zone[NAME_TEXT_MAX];
    enum err err = anchor_print(out, "; autotrust trust anchor file\n");
    if (!err && point->is_revoked)
        err = anchor_print(out, ";;REVOKED\n; Every key of the zone was revoked, so it no longer "
                                "has a trust anchor.\n; Replace this file by one with the "
                                "zone's current DS or DNSKEY record.\n");
    if (!err)
        err = anchor_print(out, ";;id: %s 1\n", name_format(anchor_point_zone(point), zone));
    if (!err)
        err = print_time(out, ";;last_queried: ", point->queried_s);
    if (!err)
        err = print_time(out, ";;last_success: ", point->succeeded_s);
    if (!err)
        err = print_time(out, ";;next_probe_time: ", point->probe_s);
    return err ? err
               : anchor_print(out, ";;query_failed: %u\n;;query_interval: %u\n;;retry_time: %u\n",
                              point->failed, point->interval_s, point->retry_s);
}

enum err anchor_file_write(struct buf *out, const struct anchor_point *point)
{
    enum err err = print_head(out, point);
    for (size_t i = 0; i < point->count && !err; i++)
        err = print_key(out, point, &point->key[i]);
    for (size_t i = 0; i < point->seed_count && !err; i++)
        err = print_seed(out, point, &point->seed[i]);
    return err;
}
