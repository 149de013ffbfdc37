/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DNS_MESSAGE_H
#define NAILUP_DNS_MESSAGE_H

/*
 * A checked view of one message: message_parse() walks it once, and callers may rely on the result.
 * The view borrows the bytes and copies nothing. All bytes from the network enter here. No
 * allocation, any thread.
 *
 *   struct message message;
 *   if (message_parse(&message, bytes) != MESSAGE_OK) ...
 *   struct rr_iter iter = message_rrs(&message, SECTION_ANSWER);
 *   for (struct rr rr; message_rr_next(&iter, &rr);) ...
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/span.h"
#include "dns/edns.h"
#include "dns/header.h"
#include "dns/question.h"

enum {
    MESSAGE_MAX = 65535,                  /* bytes in a message */
    MESSAGE_UDP_MAX = 512,                /* bytes in a datagram without EDNS */
    MESSAGE_QUESTION_OFFSET = HEADER_LEN, /* offset of the QNAME */
};

enum message_check {
    MESSAGE_OK,
    MESSAGE_SHORT,     /* shorter than a header, or longer than MESSAGE_MAX: drop it */
    MESSAGE_MALFORMED, /* id, flags, with has_question the question, and edns without its options
                          are valid: answer a query with FORMERR */
};

struct message {
    struct span bytes; /* borrowed */
    uint16_t id;
    uint16_t flags; /* HEADER_ bits */
    uint16_t counts[SECTION_COUNT];
    uint16_t offsets[SECTION_COUNT]; /* start of each section */
    uint16_t end;                    /* offset after the last record */
    bool has_question;               /* exactly one question, which is sound */
    bool has_trailing;               /* bytes after the last record */
    bool has_tsig;                   /* a TSIG record, the last in additional */
    bool has_sig0;                   /* a SIG(0) record (RFC 2931) */
    bool is_checked;                 /* all RDATA: message_note_checked() */
    struct question question;        /* borrows from bytes; (root, 0, 0) without a question */
    struct edns edns;
};

/* Makes the parsed form of a copied message from the parsed form of the original. */
void message_move(struct message *out, const struct message *from, const uint8_t *copy);

/*
 * Parses bytes. MESSAGE_OK promises: no question or one; every record's fixed part and RDATA fit;
 * every owner name is sound; at most one OPT, in additional, owned by the root, with a sound list
 * of options; at most one TSIG, the last record (RFC 8945 section 5.1). It does not look into other
 * RDATA: message_check_rdata() and copy_rr() do. Trailing bytes are flagged, not refused. The time
 * is linear in the length: a count that is too high fails at the end of the bytes.
 */
enum message_check message_parse(struct message *out, struct span bytes);

static inline bool message_is_answer(const struct message *message)
{
    return message->flags & HEADER_QR;
}

static inline uint8_t message_opcode(const struct message *message)
{
    return (message->flags & HEADER_OPCODE_MASK) >> 11;
}

/* Returns all twelve bits: the header's and the OPT record's. */
static inline uint16_t message_rcode(const struct message *message)
{
    return (uint16_t)(message->edns.ext_rcode << 4 | (message->flags & HEADER_RCODE_MASK));
}

/* One record of a parsed message; offsets count from the header. */
struct rr {
    enum section section;
    uint16_t owner_offset;
    uint16_t type, cls;
    uint16_t rdata_offset, rdata_len;
    uint32_t ttl; /* seconds; 0 when the top bit is set (RFC 2181 section 8) */
};

/* Returns the offset of the TTL's four bytes. */
static inline uint16_t message_ttl_offset(const struct rr *rr)
{
    return (uint16_t)(rr->rdata_offset - 6);
}

static inline struct span message_rdata(const struct message *message, const struct rr *rr)
{
    return span_of(message->bytes.data + rr->rdata_offset, rr->rdata_len);
}

struct rr_iter {
    const struct message *message;
    uint32_t offset;
    uint16_t left;
    enum section section, last;
};

/* Iterate over one section, or over all three, of a message with MESSAGE_OK. OPT and TSIG are among
 * the records. */
struct rr_iter message_rrs(const struct message *message, enum section section);
struct rr_iter message_all_rrs(const struct message *message);

/* Gives the next record. Returns false at the end. */
bool message_rr_next(struct rr_iter *iter, struct rr *out);

/* Copies the owner of a record to out. The result borrows out. */
struct name message_owner(const struct message *message, const struct rr *rr,
                          uint8_t out[NAME_WIRE_MAX]);

/* Returns whether the owner equals the name. Copies nothing. */
bool message_owner_is(const struct message *message, const struct rr *rr, struct name name);

/* Returns whether the RDATA has the shape of its type (rrtype_layout): right lengths; names that
 * are sound, inside the RDATA, and uncompressed where they must be; no bytes left over. Opaque
 * types pass. */
bool message_check_rr(const struct message *message, const struct rr *rr);

/* Does message_check_rr() for every record. */
bool message_check_rdata(const struct message *message);

/* Notes that message_check_rdata() has passed for these bytes, or for the message that they are a
 * copy of. The two functions above then return true at once. */
static inline void message_note_checked(struct message *message)
{
    message->is_checked = true;
}

/* Copies the first name in the RDATA (target of CNAME, DNAME, NS, PTR, MX, SRV; MNAME of SOA) to
 * out. Returns false when the record is unsound or its type has no name. */
MUST_USE bool message_target(const struct message *message, const struct rr *rr,
                             uint8_t out[NAME_WIRE_MAX], struct name *target);

#endif
