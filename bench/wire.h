/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_WIRE_H
#define NAILUP_BENCH_WIRE_H

/*
 * The parts of the DNS wire format (RFC 1035, RFC 6891) that a load generator and a test upstream
 * need. The bench has its own code deliberately: a fault in src/dns must not hide behind the same
 * fault in the program that measures it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"

enum {
    WIRE_HEADER_BYTES = 12,
    WIRE_NAME_MAX = 255,
    WIRE_QUERY_MAX = WIRE_HEADER_BYTES + WIRE_NAME_MAX + 4 + 11,
    WIRE_COOKIE_MAX = 40, /* RFC 7873: 8 bytes from the client, 8 to 32 from the server */

    WIRE_TYPE_A = 1,
    WIRE_TYPE_NS = 2,
    WIRE_TYPE_CNAME = 5,
    WIRE_TYPE_SOA = 6,
    WIRE_TYPE_PTR = 12,
    WIRE_TYPE_MX = 15,
    WIRE_TYPE_TXT = 16,
    WIRE_TYPE_AAAA = 28,
    WIRE_TYPE_OPT = 41,
    WIRE_CLASS_IN = 1,

    WIRE_OPTION_COOKIE = 10,    /* RFC 7873 */
    WIRE_OPTION_KEEPALIVE = 11, /* RFC 7828 */

    WIRE_QR = 0x8000, /* flags in the second 16 bits of a message */
    WIRE_AA = 0x0400,
    WIRE_TC = 0x0200,
    WIRE_RD = 0x0100,
    WIRE_RA = 0x0080,
    WIRE_CD = 0x0010,
};

enum rcode {
    RCODE_NOERROR = 0,
    RCODE_FORMERR = 1,
    RCODE_SERVFAIL = 2,
    RCODE_NXDOMAIN = 3,
    RCODE_NOTIMP = 4,
    RCODE_REFUSED = 5,
    RCODE_BADVERS = 16,
    RCODE_BADCOOKIE = 23,
};

/* A question, as wire_parse_query parsed it. Spans borrow from the message. */
struct wire_query {
    uint16_t id, flags, type, class;
    uint16_t question_end; /* the offset of the first byte after the question */
    uint16_t name_len;
    uint8_t lower[WIRE_NAME_MAX]; /* the name in wire form, in lower case */
    bool has_edns, dnssec_ok;
    uint8_t edns_version;
    uint16_t udp_size;  /* 512 without EDNS (RFC 6891 6.2.5) */
    struct span cookie; /* empty if the query has no cookie */
};

/* Parses a query with one question, no answer or authority, and at most four additional records.
 * Returns false if the message deserves FORMERR. */
bool wire_parse_query(struct span message, struct wire_query *out);

/* Returns the offset after the first question, or 0 if it does not parse. */
size_t wire_question_end(struct span message);

/* Converts text to uncompressed wire form, with \. and \DDD. Returns the length, or 0 for a bad
 * name. */
size_t wire_name_from_text(uint8_t out[WIRE_NAME_MAX], const char *text);

struct wire_style {
    bool recursion_desired, checking_disabled, dnssec_ok;
    uint16_t edns_bytes; /* 0: no EDNS */
};

/* Builds a query with id 0 for a name in wire form. out holds WIRE_QUERY_MAX. Returns the
 * length. */
size_t wire_build_query(uint8_t *out, const uint8_t *name, size_t name_len, uint16_t type,
                        const struct wire_style *style);

/* Reads "A", "aaaa", "TYPE65" and so on. Returns false for an unknown type. */
bool wire_type_from_text(const char *text, uint16_t *out);

/* Returns "NOERROR" and so on. Other codes are "OTHER", and "RCODE<n>" is never printed. */
const char *wire_rcode_text(unsigned rcode);

#endif
