/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DNS_PRESENT_H
#define NAILUP_DNS_PRESENT_H

/*
 * The only user of ldns: presentation text of messages and records, and records from text. It is
 * slow and allocates: it serves logs, nailupctl and the operator's files, never the path of a
 * query. ldns gets only records that our own parser has checked, uncompressed and one at a time,
 * because chains of pointers and repeated TSIG records break it. Any thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/span.h"
#include "dns/name.h"

struct message;
struct rr;

enum {
    PRESENT_RRS_MAX = 1000,            /* records of one message that are printed */
    PRESENT_RR_MAX = 255 + 10 + 65535, /* bytes of one record in wire form */
};

/* Prints the message like dig, NUL-terminated in out and truncated to size. ERR_INVALID: the
 * message is malformed or has malformed RDATA; out then says so. */
MUST_USE enum err present_message(struct span bytes, char *out, size_t size);

/* Prints a record of a parsed message as a line of a zone file with its newline, not
 * NUL-terminated. Returns the length, or 0 when size is too small or there is no memory. */
size_t present_rr(const struct message *message, const struct rr *rr, char *out, size_t size);

/* Parses one line of a zone file into an uncompressed record in wire form in out, and sets *len. A
 * relative owner gets the origin, a missing TTL is default_ttl (0: ldns's hour), a missing class is
 * IN. Only for the operator's text. ERR_INVALID: no record; ERR_LIMIT: size is too small. */
MUST_USE enum err present_rr_from_text(uint8_t *out, size_t size, size_t *len, const char *text,
                                       struct name origin, uint32_t default_ttl);

/* Takes a record of this line, uncompressed in wire form. Returning false ends the reading. */
typedef bool (*present_on_record)(void *context, struct span record, size_t line);

/* Parses a whole file in the format of RFC 1035 section 5 ($ORIGIN, $TTL, comments, records over
 * several lines; no $INCLUDE) and passes each record to on_record. *line is the line where the
 * reading ended. Only for the operator's text. ERR_INVALID: that line is no record; ERR_LIMIT: a
 * record is too long. */
MUST_USE enum err present_zone(struct span text, present_on_record on_record, void *context,
                               size_t *line);

#endif
