/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_VALIDATE_RRSETS_H
#define NAILUP_VALIDATE_RRSETS_H

/*
 * The RRsets of a message's answer and authority sections, each with the signatures that cover it.
 * They are indexes into the message. Only the owner of each RRset is copied, because a validation
 * looks at it many times and most owners are compressed. One worker owns one struct rrsets and
 * fills it again for each message, so filling it costs no more than the message has records. Pure.
 */

#include <stdbool.h>
#include <stdint.h>

#include "dns/message.h"

enum {
    RRSETS_MAX = 32,           /* RRsets of one message; an answer with more is too costly */
    RRSETS_RECORDS_MAX = 2048, /* records of one message */
    RRSETS_NONE = 0xffff,      /* the end of a list of records */
};

struct rrset {
    uint16_t type;
    enum section section;
    uint16_t count; /* records; 0: only signatures */
    uint16_t sig_count;
    uint16_t first, first_sig; /* indexes into rrsets.record, or RRSETS_NONE; the lists go on by
                                  rrsets.next and keep the order of the message */
};

struct rrsets {
    const struct message *message;
    uint16_t count;
    uint16_t record_count;
    struct rrset set[RRSETS_MAX];
    uint8_t owner_len[RRSETS_MAX];
    uint8_t owner[RRSETS_MAX][NAME_WIRE_MAX]; /* of each RRset, in the case of its first record */
    struct rr record[RRSETS_RECORDS_MAX];     /* in the order of the message */
    uint16_t next[RRSETS_RECORDS_MAX];
    uint8_t set_of[RRSETS_RECORDS_MAX]; /* the RRset of each record */
};

/*
 * Reads the RRsets of class cls. Owners are compared without case. An RRSIG belongs to the RRset of
 * the type that it covers in the same section, even if none of that type follows. Two sections
 * never share an RRset. Each record passes message_check_rr(). False: the message has malformed
 * RDATA, or more RRsets or records than the bounds; *out is useless then. message has parsed OK and
 * outlives *out.
 */
MUST_USE bool rrsets_read(struct rrsets *out, const struct message *message, uint16_t cls);

/* Whether the section has a signature, before the message is read. */
bool rrsets_are_signed(const struct message *message, enum section section);

/* Returns the owner of the RRset, which is one of these sets. It is uncompressed and borrows from
 * *sets. */
static inline struct name rrsets_owner(const struct rrsets *sets, const struct rrset *set)
{
    size_t at = (size_t)(set - sets->set);
    return (struct name){.wire = sets->owner[at], .len = sets->owner_len[at]};
}

/* Returns the RRset with this owner and type in the section, or NULL. */
const struct rrset *rrsets_find(const struct rrsets *sets, enum section section, struct name owner,
                                uint16_t type);

/* Returns the RRset that this record of the message belongs to or signs. NULL: the record is in
 * another section or class. */
const struct rrset *rrsets_with(const struct rrsets *sets, const struct rr *rr);

static inline struct span rrsets_rdata(const struct rrsets *sets, uint16_t record)
{
    return message_rdata(sets->message, &sets->record[record]);
}

#endif
