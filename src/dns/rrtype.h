/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DNS_RRTYPE_H
#define NAILUP_DNS_RRTYPE_H

/*
 * Numbers of the DNS parameters registry, and facts about each type: its text, whether it is data,
 * whether it belongs to DNSSEC, and where its RDATA has domain names.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum rrtype {
    RRTYPE_A = 1,
    RRTYPE_NS = 2,
    RRTYPE_MD = 3,
    RRTYPE_MF = 4,
    RRTYPE_CNAME = 5,
    RRTYPE_SOA = 6,
    RRTYPE_MB = 7,
    RRTYPE_MG = 8,
    RRTYPE_MR = 9,
    RRTYPE_NULL = 10,
    RRTYPE_WKS = 11,
    RRTYPE_PTR = 12,
    RRTYPE_HINFO = 13,
    RRTYPE_MINFO = 14,
    RRTYPE_MX = 15,
    RRTYPE_TXT = 16,
    RRTYPE_RP = 17,
    RRTYPE_AFSDB = 18,
    RRTYPE_X25 = 19,
    RRTYPE_ISDN = 20,
    RRTYPE_RT = 21,
    RRTYPE_NSAP_PTR = 23,
    RRTYPE_SIG = 24,
    RRTYPE_KEY = 25,
    RRTYPE_PX = 26,
    RRTYPE_GPOS = 27,
    RRTYPE_AAAA = 28,
    RRTYPE_LOC = 29,
    RRTYPE_NXT = 30,
    RRTYPE_SRV = 33,
    RRTYPE_NAPTR = 35,
    RRTYPE_KX = 36,
    RRTYPE_CERT = 37,
    RRTYPE_DNAME = 39,
    RRTYPE_OPT = 41,
    RRTYPE_APL = 42,
    RRTYPE_DS = 43,
    RRTYPE_SSHFP = 44,
    RRTYPE_IPSECKEY = 45,
    RRTYPE_RRSIG = 46,
    RRTYPE_NSEC = 47,
    RRTYPE_DNSKEY = 48,
    RRTYPE_DHCID = 49,
    RRTYPE_NSEC3 = 50,
    RRTYPE_NSEC3PARAM = 51,
    RRTYPE_TLSA = 52,
    RRTYPE_SMIMEA = 53,
    RRTYPE_HIP = 55,
    RRTYPE_TALINK = 58,
    RRTYPE_CDS = 59,
    RRTYPE_CDNSKEY = 60,
    RRTYPE_OPENPGPKEY = 61,
    RRTYPE_CSYNC = 62,
    RRTYPE_ZONEMD = 63,
    RRTYPE_SVCB = 64,
    RRTYPE_HTTPS = 65,
    RRTYPE_SPF = 99,
    RRTYPE_NID = 104,
    RRTYPE_L32 = 105,
    RRTYPE_L64 = 106,
    RRTYPE_LP = 107,
    RRTYPE_EUI48 = 108,
    RRTYPE_EUI64 = 109,
    RRTYPE_NXNAME = 128, /* occurs only in the type bitmap of a compact denial (RFC 9824) */
    RRTYPE_TKEY = 249,
    RRTYPE_TSIG = 250,
    RRTYPE_IXFR = 251,
    RRTYPE_AXFR = 252,
    RRTYPE_MAILB = 253,
    RRTYPE_MAILA = 254,
    RRTYPE_ANY = 255,
    RRTYPE_URI = 256,
    RRTYPE_CAA = 257,
    RRTYPE_TA = 32768,
    RRTYPE_DLV = 32769,
};

enum rrclass {
    RRCLASS_IN = 1,
    RRCLASS_CH = 3,
    RRCLASS_HS = 4,
    RRCLASS_NONE = 254,
    RRCLASS_ANY = 255,
};

/* Flags of the OPT record (RFC 6891 section 6.1.4). */
enum edns_flag { EDNS_FLAG_DO = 0x8000 };

enum opcode {
    OPCODE_QUERY = 0,
    OPCODE_IQUERY = 1,
    OPCODE_STATUS = 2,
    OPCODE_NOTIFY = 4,
    OPCODE_UPDATE = 5,
    OPCODE_DSO = 6,
};

/* An rcode above 15 needs an OPT record for its upper bits. */
enum rcode {
    RCODE_NOERROR = 0,
    RCODE_FORMERR = 1,
    RCODE_SERVFAIL = 2,
    RCODE_NXDOMAIN = 3,
    RCODE_NOTIMP = 4,
    RCODE_REFUSED = 5,
    RCODE_YXDOMAIN = 6,
    RCODE_YXRRSET = 7,
    RCODE_NXRRSET = 8,
    RCODE_NOTAUTH = 9,
    RCODE_NOTZONE = 10,
    RCODE_DSOTYPENI = 11,
    RCODE_BADVERS = 16,
    RCODE_BADKEY = 17,
    RCODE_BADTIME = 18,
    RCODE_BADMODE = 19,
    RCODE_BADNAME = 20,
    RCODE_BADALG = 21,
    RCODE_BADTRUNC = 22,
    RCODE_BADCOOKIE = 23,
};

enum { RRTYPE_TEXT_MAX = 16 }; /* "NSEC3PARAM", "TYPE65535", "CLASS65535" and the NUL */

/* Writes "AAAA", or "TYPE123" (RFC 3597) for an unknown type. Returns out. */
const char *rrtype_name(uint16_t type, char out[RRTYPE_TEXT_MAX]);

/* Does the inverse, in any case. ERR_INVALID: an unknown word. */
MUST_USE enum err rrtype_parse(uint16_t *type, const char *text);

/* Writes "IN", "CH" or "CLASS7". Returns out. */
const char *rrtype_class_name(uint16_t cls, char out[RRTYPE_TEXT_MAX]);

/* Write "NOERROR" or "RCODE77"; "QUERY" or "OPCODE9". Return out. */
const char *rrtype_rcode_name(uint16_t rcode, char out[RRTYPE_TEXT_MAX]);
const char *rrtype_opcode_name(uint8_t opcode, char out[RRTYPE_TEXT_MAX]);

/* Returns whether the type is not zone data: 0, OPT and 128 to 255 (TKEY, TSIG, IXFR, AXFR, ANY
 * ...; RFC 6895 section 3.1). Such records are never cached. */
static inline bool rrtype_is_meta(uint16_t type)
{
    return type == 0 || type == RRTYPE_OPT || (type >= 128 && type <= 255);
}

/* Returns whether it is IXFR, AXFR, MAILB or MAILA. Such questions are never forwarded. */
static inline bool rrtype_is_transfer(uint16_t type)
{
    return type >= RRTYPE_IXFR && type <= RRTYPE_MAILA;
}

/* Returns whether an answer to a query without DO leaves the type out unless it is the QTYPE (RFC
 * 4035 section 3.2.1): RRSIG, NSEC, NSEC3. DS and DNSKEY come only as the QTYPE or in referrals. */
static inline bool rrtype_is_dnssec(uint16_t type)
{
    return type == RRTYPE_RRSIG || type == RRTYPE_NSEC || type == RRTYPE_NSEC3;
}

/*
 * The shape of a type's RDATA: fixed bytes, character-strings, names, fixed bytes or anything.
 */
struct rrtype_layout {
    uint8_t prefix;  /* fixed bytes at the start */
    uint8_t strings; /* then this many character-strings */
    uint8_t names;   /* then this many domain names */
    uint8_t suffix;  /* then exactly this many bytes, or RRTYPE_REST */
    bool pointers;   /* names may arrive compressed (RFC 1035 types and RFC 3597 section 4) */
    bool compress;   /* names may be sent compressed (RFC 3597 section 4: RFC 1035 types only) */
};

enum {
    RRTYPE_REST = 0xff,    /* any number of bytes, or none */
    RRTYPE_STRINGS = 0xfe, /* one or more character-strings up to the end (TXT) */
};

/* Returns the layout, or NULL when RDATA of this type and class is opaque. Static storage. */
const struct rrtype_layout *rrtype_layout(uint16_t type, uint16_t cls);

#endif
