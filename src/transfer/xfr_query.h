/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TRANSFER_XFR_QUERY_H
#define NAILUP_TRANSFER_XFR_QUERY_H

/*
 * The queries of a transfer, and the answer to the first of them: which serial does the primary
 * have? Signatures come later (transfer/tsig.h). Pure.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/span.h"
#include "dns/name.h"

/* A query without its signature. */
enum { XFR_QUERY_MAX = 12 + NAME_WIRE_MAX + 4 + 12 + 22 };

/* Writes a query of type SOA, AXFR, or IXFR, which has the serial that we hold in its SOA record
 * (RFC 1995 section 3). Returns its length. */
size_t xfr_query_write(uint8_t out[XFR_QUERY_MAX], struct name zone, uint16_t type, uint16_t id,
                       uint32_t held_serial);

enum xfr_probe {
    XFR_PROBE_SERIAL,      /* *serial is the primary's */
    XFR_PROBE_MALFORMED,   /* not a message, or a malformed SOA record */
    XFR_PROBE_UNRELATED,   /* another id, question or opcode */
    XFR_PROBE_RCODE,       /* *rcode is not NOERROR */
    XFR_PROBE_NOT_PRIMARY, /* the server is not authoritative for the zone */
};

/* Reads the answer to the SOA query with this id. Sets *rcode for every sound answer. */
enum xfr_probe xfr_probe_read(struct span bytes, struct name zone, uint16_t id, uint32_t *serial,
                              uint16_t *rcode);

#endif
