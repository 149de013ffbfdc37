/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The answer to AXFR is SOA, records, the same SOA. The answer to IXFR is one of these:
 *   SOA, or the same SOA twice            nothing is newer
 *   SOA(new), records, SOA(new)           the whole zone
 *   SOA(new), [SOA(old) removed SOA(next) added]..., SOA(new)
 * The second record tells them apart (RFC 1995 section 4).
 *
 * Invariant: the sink receives the SOA record of the final version, added once more than removed.
 */
#include "transfer/xfr_reader.h"

#include <string.h>

#include "dns/rdata.h"
#include "dns/rrtype.h"
#include "transfer/xfr_serial.h"

enum { SOA_NUMBERS = 20 }; /* bytes after the names: serial, refresh, retry, expire, minimum */

const char *xfr_result_text(enum xfr_result result)
{
    static const char *const texts[] = {
        [XFR_MORE] = "the transfer continues",
        [XFR_COMPLETE] = "the transfer is complete",
        [XFR_CURRENT] = "the zone is up to date",
        [XFR_MALFORMED] = "the server sent a malformed message or record",
        [XFR_UNRELATED] = "the server sent a message that does not belong to the transfer",
        [XFR_TRUNCATED] = "the server sent a truncated message",
        [XFR_RCODE] = "the server refused the transfer",
        [XFR_EMPTY] = "the transfer does not begin with the zone's SOA record",
        [XFR_BARE] = "the zone has no record but SOA",
        [XFR_OLDER] = "the server's version is older than ours",
        [XFR_DISORDER] = "the changes do not lead from one version to the next",
        [XFR_EXTRA] = "records follow the end of the transfer",
        [XFR_TOO_LARGE] = "the transfer exceeds its bound",
        [XFR_REJECTED] = "the zone cannot take a record",
    };
    return texts[result];
}

/* A record of the answer section, uncompressed. */
struct xfr_record {
    struct name owner;
    uint16_t type;
    uint32_t ttl;
    struct span rdata;
    bool is_soa; /* the record is the SOA record at the apex */
    uint32_t serial;
};

/* ---- the sink ---- */

static enum xfr_result sink_result(struct xfr_reader *reader, enum err err)
{
    reader->err = err;
    return err == ERR_OK ? XFR_MORE : XFR_REJECTED;
}

static enum xfr_result sink_begin(struct xfr_reader *reader, bool is_whole)
{
    reader->is_whole = is_whole;
    return sink_result(reader, reader->sink->begin(reader->sink_owner, is_whole));
}

static enum xfr_result sink_add(struct xfr_reader *reader, const struct xfr_record *record)
{
    return sink_result(reader, reader->sink->add(reader->sink_owner, record->owner, record->type,
                                                 record->ttl, record->rdata));
}

static enum xfr_result sink_remove(struct xfr_reader *reader, const struct xfr_record *record)
{
    return sink_result(reader, reader->sink->remove(reader->sink_owner, record->owner, record->type,
                                                    record->rdata));
}

/* Begins a whole zone with the SOA record that came first. */
static enum xfr_result begin_whole(struct xfr_reader *reader)
{
    struct xfr_record soa = {.owner = reader->zone,
                             .type = RRTYPE_SOA,
                             .ttl = reader->soa_ttl,
                             .rdata = span_of(reader->soa, reader->soa_len)};
    enum xfr_result result = sink_begin(reader, true);
    reader->state = XFR_IN_WHOLE;
    return result == XFR_MORE ? sink_add(reader, &soa) : result;
}

/* ---- one record in each state ---- */

static enum xfr_result take_first(struct xfr_reader *reader, const struct xfr_record *record)
{
    if (!record->is_soa)
        return XFR_EMPTY;
    memcpy(reader->soa, record->rdata.data, record->rdata.len);
    reader->soa_len = (uint16_t)record->rdata.len;
    reader->soa_ttl = record->ttl;
    reader->serial = record->serial;
    if (reader->type == RRTYPE_AXFR)
        return begin_whole(reader);
    reader->state = XFR_AT_SECOND;
    return XFR_MORE;
}

/* Whether this SOA record is the first one again. Servers may write its names in another case. */
static bool is_first_soa(const struct xfr_reader *reader, const struct xfr_record *record)
{
    return memcmp(record->rdata.data + record->rdata.len - SOA_NUMBERS,
                  reader->soa + reader->soa_len - SOA_NUMBERS, SOA_NUMBERS) == 0;
}

static enum xfr_result end_at(struct xfr_reader *reader, const struct xfr_record *soa)
{
    if (!is_first_soa(reader, soa))
        return XFR_DISORDER;
    reader->state = XFR_AT_END;
    return XFR_MORE;
}

/* A zone with only an SOA record would replace a good version with nothing. NS records are not
 * required, because policy feeds may lack them: BIND refuses such a zone, and Unbound takes it. */
static enum xfr_result take_of_whole(struct xfr_reader *reader, const struct xfr_record *record)
{
    if (!record->is_soa)
        return sink_add(reader, record);
    enum xfr_result result = end_at(reader, record);
    bool is_bare = reader->records - reader->out_of_zone == 2; /* both are SOA */
    return result == XFR_MORE && is_bare ? XFR_BARE : result;
}

/* The SOA record of a version that changes start from. */
static enum xfr_result begin_step(struct xfr_reader *reader, const struct xfr_record *record)
{
    reader->state = XFR_IN_REMOVE;
    return sink_remove(reader, record);
}

/* Judges the serial of the first SOA record in an answer to IXFR. */
static enum xfr_result judge_first(const struct xfr_reader *reader)
{
    if (reader->serial == reader->held_serial)
        return XFR_CURRENT;
    return xfr_serial_is_newer(reader->serial, reader->held_serial) ? XFR_MORE : XFR_OLDER;
}

static enum xfr_result take_second(struct xfr_reader *reader, const struct xfr_record *record)
{
    enum xfr_result result = judge_first(reader);
    if (result != XFR_MORE)
        return result;
    if (!record->is_soa) {
        result = begin_whole(reader);
        return result == XFR_MORE ? take_of_whole(reader, record) : result;
    }
    if (record->serial != reader->held_serial)
        return XFR_DISORDER;
    reader->step_serial = record->serial;
    result = sink_begin(reader, false);
    return result == XFR_MORE ? begin_step(reader, record) : result;
}

static enum xfr_result take_of_remove(struct xfr_reader *reader, const struct xfr_record *record)
{
    if (!record->is_soa)
        return sink_remove(reader, record);
    if (!xfr_serial_is_newer(record->serial, reader->step_serial))
        return XFR_DISORDER;
    reader->step_serial = record->serial;
    reader->state = XFR_IN_ADD;
    return sink_add(reader, record);
}

static enum xfr_result take_of_add(struct xfr_reader *reader, const struct xfr_record *record)
{
    if (!record->is_soa)
        return sink_add(reader, record);
    if (record->serial != reader->step_serial)
        return XFR_DISORDER;
    return record->serial == reader->serial ? end_at(reader, record) : begin_step(reader, record);
}

static enum xfr_result take_record(struct xfr_reader *reader, const struct xfr_record *record)
{
    switch (reader->state) {
    case XFR_AT_START:
        return take_first(reader, record);
    case XFR_AT_SECOND:
        return take_second(reader, record);
    case XFR_IN_WHOLE:
        return take_of_whole(reader, record);
    case XFR_IN_REMOVE:
        return take_of_remove(reader, record);
    case XFR_IN_ADD:
        return take_of_add(reader, record);
    case XFR_AT_END:
        break;
    }
    return XFR_EXTRA;
}

/* ---- messages ---- */

/* Expands one record. *is_inside: it belongs to the zone. Returns false when it breaks a rule. */
static bool record_read(const struct xfr_reader *reader, const struct message *message,
                        const struct rr *rr, uint8_t owner[NAME_WIRE_MAX],
                        uint8_t rdata[MESSAGE_MAX], struct xfr_record *out, bool *is_inside)
{
    if (rr->cls != RRCLASS_IN || rrtype_is_meta(rr->type))
        return false;
    size_t len = rdata_expand(message, rr, rdata, MESSAGE_MAX);
    if (len == 0 && (rr->rdata_len > 0 || !message_check_rr(message, rr)))
        return false;
    *out = (struct xfr_record){.owner = message_owner(message, rr, owner),
                               .type = rr->type,
                               .ttl = rr->ttl,
                               .rdata = span_of(rdata, len)};
    *is_inside = name_is_below(out->owner, reader->zone);
    if (rr->type != RRTYPE_SOA || !*is_inside)
        return true;
    out->is_soa = true;
    out->serial = get_u32(rdata + len - SOA_NUMBERS);
    return name_equal(out->owner, reader->zone);
}

static enum xfr_result take_records(struct xfr_reader *reader, const struct message *message)
{
    static _Thread_local uint8_t rdata[MESSAGE_MAX];
    uint8_t owner[NAME_WIRE_MAX];
    struct rr_iter iter = message_rrs(message, SECTION_ANSWER);
    for (struct rr rr; message_rr_next(&iter, &rr);) {
        struct xfr_record record;
        bool is_inside;
        if (!record_read(reader, message, &rr, owner, rdata, &record, &is_inside))
            return XFR_MALFORMED;
        reader->records++;
        if (!is_inside && reader->state != XFR_AT_START) {
            reader->out_of_zone++;
            continue;
        }
        enum xfr_result result = take_record(reader, &record);
        if (result != XFR_MORE)
            return result;
    }
    return reader->state == XFR_AT_END ? XFR_COMPLETE : XFR_MORE;
}

/* RFC 5936 section 2.2: the first message repeats the question, and later ones may leave it out. */
static enum xfr_result check_header(struct xfr_reader *reader, const struct message *message)
{
    struct question question = {reader->zone, reader->type, RRCLASS_IN};
    if (!message_is_answer(message) || message->id != reader->id ||
        message_opcode(message) != OPCODE_QUERY)
        return XFR_UNRELATED;
    if (message->has_question && !question_equal(&message->question, &question))
        return XFR_UNRELATED;
    reader->rcode = message_rcode(message);
    if (reader->rcode != RCODE_NOERROR)
        return XFR_RCODE; /* a server that understands nothing may leave out the question */
    if (!message->has_question && reader->state == XFR_AT_START)
        return XFR_UNRELATED;
    return message->flags & HEADER_TC ? XFR_TRUNCATED : XFR_MORE;
}

enum xfr_result xfr_reader_take(struct xfr_reader *reader, struct span bytes)
{
    struct message message;
    reader->stream_bytes += bytes.len;
    if (reader->stream_bytes > reader->max_stream_bytes)
        return XFR_TOO_LARGE;
    if (message_parse(&message, bytes) != MESSAGE_OK || message.has_trailing)
        return XFR_MALFORMED;
    enum xfr_result result = check_header(reader, &message);
    if (result == XFR_MORE)
        result = take_records(reader, &message);
    if (result != XFR_MORE)
        return result;
    if (reader->state == XFR_AT_START)
        return XFR_EMPTY;
    /* Servers of whole zones may send one record a message: the rest follows a newer serial. */
    return reader->state == XFR_AT_SECOND ? judge_first(reader) : XFR_MORE;
}
