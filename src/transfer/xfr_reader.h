/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TRANSFER_XFR_READER_H
#define NAILUP_TRANSFER_XFR_READER_H

/*
 * Reads the messages that answer AXFR (RFC 5936) and IXFR (RFC 1995), and gives their records to a
 * sink: those of a whole zone, or the changes from the version that we hold. It finds the end of
 * the transfer itself. Pure: no network, no clock, no signatures.
 *
 * The sink throws its records away unless the reader ends with XFR_COMPLETE.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/span.h"
#include "dns/message.h"
#include "dns/name.h"

enum { XFR_SOA_RDATA_MAX = 2 * NAME_WIRE_MAX + 20 };

/* Takes the records. A function that returns an error ends the transfer with XFR_REJECTED. */
struct xfr_sink {
    /* Called once, before any record. Without is_whole, changes to the held version follow. */
    enum err (*begin)(void *owner, bool is_whole);
    /* The name and the RDATA, which is uncompressed, are borrowed until the return. */
    enum err (*add)(void *owner, struct name name, uint16_t type, uint32_t ttl, struct span rdata);
    enum err (*remove)(void *owner, struct name name, uint16_t type, struct span rdata);
};

enum xfr_result {
    XFR_MORE,      /* further messages must come */
    XFR_COMPLETE,  /* the sink has all records */
    XFR_CURRENT,   /* IXFR: the server has the serial that we hold; begin() did not come */
    XFR_MALFORMED, /* a message or record that breaks a rule */
    XFR_UNRELATED, /* another id, question or opcode, or no answer at all */
    XFR_TRUNCATED, /* the TC bit */
    XFR_RCODE,     /* the server refused: see rcode */
    XFR_EMPTY,     /* no SOA record at the start */
    XFR_BARE,      /* a whole zone that only has its SOA record */
    XFR_OLDER,     /* IXFR: the server's version is older than ours */
    XFR_DISORDER,  /* serials that do not lead from one version to the next */
    XFR_EXTRA,     /* records after the end */
    XFR_TOO_LARGE, /* more bytes than max_stream_bytes */
    XFR_REJECTED,  /* the sink refused a record: see err */
};

/* Returns a sentence for logs. Static storage. */
const char *xfr_result_text(enum xfr_result result);

enum xfr_reader_state {
    XFR_AT_START,  /* the SOA record of the new version is due */
    XFR_AT_SECOND, /* IXFR: the second record shows the form of the answer */
    XFR_IN_WHOLE,  /* records of the zone, until the SOA record returns */
    XFR_IN_REMOVE, /* records that the next version lacks, until its SOA record */
    XFR_IN_ADD,    /* records that the next version gains, until a SOA record */
    XFR_AT_END,
};

struct xfr_reader {
    /* Set by the caller; all is borrowed. */
    struct name zone;
    uint16_t type; /* RRTYPE_AXFR or RRTYPE_IXFR */
    uint16_t id;
    uint32_t held_serial; /* IXFR: the version that we hold */
    uint64_t max_stream_bytes;
    const struct xfr_sink *sink;
    void *sink_owner;

    /* Zero at the start; for the caller to read. */
    uint64_t stream_bytes, records;
    uint64_t out_of_zone; /* records outside the zone, which are left out (RFC 5936 section 3.4) */
    uint32_t serial;      /* the new version's serial, known after the first record */
    bool is_whole;        /* the answer has a whole zone */
    uint16_t rcode;
    enum err err;

    /* Private. */
    enum xfr_reader_state state;
    uint32_t step_serial; /* the version that the present changes lead from or to */
    uint32_t soa_ttl;
    uint16_t soa_len;
    uint8_t soa[XFR_SOA_RDATA_MAX]; /* the new version's SOA RDATA */
};

/* Takes the next message. After a result other than XFR_MORE the reader is done. */
MUST_USE enum xfr_result xfr_reader_take(struct xfr_reader *reader, struct span message);

#endif
