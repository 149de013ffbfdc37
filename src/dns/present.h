/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DNS_PRESENT_H
#define NAILUP_DNS_PRESENT_H

/*
 * The door to ldns: presentation text of messages and records, and records from text. Slow and
 * allocating: for logs, nailupctl and files of the operator, never on the path of a query.
 * ldns is fed only what our own parser has passed, one uncompressed record at a time, since chains
 * of pointers and doubled TSIG records hurt it. Any thread.
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
    PRESENT_RRS_MAX = 1000,            /* records of one message that are written out */
    PRESENT_RR_MAX = 255 + 10 + 65535, /* bytes of one record in wire form */
};

/* The message like dig prints it, NUL-terminated in out, cut short where size ends. ERR_INVALID for
 * bytes that do not parse or have malformed RDATA; out then says so. */
MUST_USE enum err present_message(struct span bytes, char *out, size_t size);

/* A record of a message that parsed, as a line of a zone file with its newline; not NUL-terminated.
 * Returns the length, or 0 when size is too small or memory is out. */
size_t present_rr(const struct message *message, const struct rr *rr, char *out, size_t size);

/* One line of a zone file to an uncompressed record in wire form in out, its length in *len. A
 * relative owner gets origin, a missing TTL default_ttl (0 means ldns's hour), a missing class IN.
 * Operator's text only. ERR_INVALID: not a record; ERR_LIMIT: size too small. */
MUST_USE enum err present_rr_from_text(uint8_t *out, size_t size, size_t *len, const char *text,
                                       struct name origin, uint32_t default_ttl);

/* Takes a record, uncompressed and in wire form, of the line; false ends the reading. */
typedef bool (*present_on_record)(void *context, struct span record, size_t line);

/* A whole file in the format of RFC 1035 section 5: $ORIGIN, $TTL, comments, records over several
 * lines; no $INCLUDE. Each record goes to on_record. *line is where the reading ended. Operator's
 * text only. ERR_INVALID: that line is no record; ERR_LIMIT: a record is too long. */
MUST_USE enum err present_zone(struct span text, present_on_record on_record, void *context,
                               size_t *line);

#endif
