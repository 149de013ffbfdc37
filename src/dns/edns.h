/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DNS_EDNS_H
#define NAILUP_DNS_EDNS_H

/*
 * EDNS (RFC 6891): the contents of an OPT record, and its options, read and written.
 * message_parse() fills struct edns and checks that the options fit their record. No allocation,
 * any thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"
#include "dns/rrtype.h"

struct build;

enum {
    EDNS_OPTIONS_MAX = 64,   /* options of one record; more make the message malformed */
    EDNS_UDP_SIZE_MIN = 512, /* smaller sizes count as this (RFC 6891 section 6.2.3) */
    EDNS_COOKIE_CLIENT = 8,  /* bytes of a client cookie (RFC 7873) */
    EDNS_COOKIE_SERVER_MIN = 8,
    EDNS_COOKIE_SERVER_MAX = 32,
    EDNS_PADDING_QUERY = 128, /* block lengths of RFC 8467 section 4.1 */
    EDNS_PADDING_ANSWER = 468,
};

enum edns_code {
    EDNS_NSID = 3,
    EDNS_CLIENT_SUBNET = 8,
    EDNS_EXPIRE = 9,
    EDNS_COOKIE = 10,
    EDNS_TCP_KEEPALIVE = 11,
    EDNS_PADDING = 12,
    EDNS_CHAIN = 13,
    EDNS_KEY_TAG = 14,
    EDNS_EDE = 15,
};

/* Extended DNS errors (RFC 8914 section 4 and the registry). */
enum ede {
    EDE_OTHER = 0,
    EDE_UNSUPPORTED_DNSKEY_ALGORITHM = 1,
    EDE_UNSUPPORTED_DS_DIGEST = 2,
    EDE_STALE_ANSWER = 3,
    EDE_FORGED_ANSWER = 4,
    EDE_DNSSEC_INDETERMINATE = 5,
    EDE_DNSSEC_BOGUS = 6,
    EDE_SIGNATURE_EXPIRED = 7,
    EDE_SIGNATURE_NOT_YET_VALID = 8,
    EDE_DNSKEY_MISSING = 9,
    EDE_RRSIGS_MISSING = 10,
    EDE_NO_ZONE_KEY_BIT = 11,
    EDE_NSEC_MISSING = 12,
    EDE_CACHED_ERROR = 13,
    EDE_NOT_READY = 14,
    EDE_BLOCKED = 15,
    EDE_CENSORED = 16,
    EDE_FILTERED = 17,
    EDE_PROHIBITED = 18,
    EDE_STALE_NXDOMAIN_ANSWER = 19,
    EDE_NOT_AUTHORITATIVE = 20,
    EDE_NOT_SUPPORTED = 21,
    EDE_NO_REACHABLE_AUTHORITY = 22,
    EDE_NETWORK_ERROR = 23,
    EDE_INVALID_DATA = 24,
    EDE_SIGNATURE_EXPIRED_BEFORE_VALID = 25,
    EDE_TOO_EARLY = 26,
    EDE_UNSUPPORTED_NSEC3_ITERATIONS = 27,
    EDE_UNABLE_TO_CONFORM_TO_POLICY = 28,
    EDE_SYNTHESIZED = 29,
    EDE_NONE = 0xffff, /* ours: no extended error */
};

struct edns {
    bool present;      /* false: the rest is zero */
    bool dnssec_ok;    /* DO */
    uint8_t ext_rcode; /* upper eight bits of the rcode */
    uint8_t version;
    uint16_t udp_size;   /* the size that was sent; edns_udp_size() applies the minimum */
    uint16_t flags;      /* DO and Z bits */
    uint16_t offset;     /* the OPT record's offset in the message */
    uint16_t end;        /* offset after it */
    struct span options; /* borrowed from the message */
};

/* Returns the UDP payload size that the sender accepts: at least 512, also without EDNS. */
static inline uint16_t edns_udp_size(const struct edns *edns)
{
    return edns->udp_size < EDNS_UDP_SIZE_MIN ? EDNS_UDP_SIZE_MIN : edns->udp_size;
}

/* ---- reading ---- */

struct edns_option {
    uint16_t code;
    struct span data; /* borrowed */
};

/* Takes the next option from the front of rest. Returns false and leaves rest alone at the end
 * (rest->len is 0) or when the option does not fit. */
bool edns_option_next(struct span *rest, struct edns_option *out);

/* Returns whether the options are a sound list of at most EDNS_OPTIONS_MAX. */
bool edns_options_check(struct span options);

enum edns_found {
    EDNS_ABSENT,
    EDNS_FOUND,
    EDNS_BAD, /* present with a length that its RFC forbids: FORMERR */
};

/* Finds the first option with this code (RFC 7873 section 5.2: later cookies are ignored). */
enum edns_found edns_find(const struct edns *edns, enum edns_code code, struct span *data);

struct edns_cookie {
    struct span client; /* eight bytes */
    struct span server; /* empty, or 8 to 32 bytes */
};

/* RFC 7873 section 4: 8 bytes, or 16 to 40. */
enum edns_found edns_find_cookie(const struct edns *edns, struct edns_cookie *out);

struct edns_keepalive {
    bool has_timeout;
    uint16_t timeout_100ms; /* units of 100 ms */
};

/* RFC 7828 section 3.1: empty from a client, two bytes from a server. */
enum edns_found edns_find_keepalive(const struct edns *edns, struct edns_keepalive *out);

struct edns_ede {
    uint16_t code;    /* enum ede, or an unknown code */
    struct span text; /* UTF-8 that the sender chose: escape before logging */
};

/* The first extended error (RFC 8914 section 2). */
enum edns_found edns_find_ede(const struct edns *edns, struct edns_ede *out);

/* Returns "Stale Answer", or "" for an unknown code. Static storage. */
const char *edns_ede_name(uint16_t code);

/* ---- writing: between build_opt_begin() and build_opt_end() ---- */

/* client is EDNS_COOKIE_CLIENT bytes; server empty or of a length the RFC allows (MUST). */
void edns_add_cookie(struct build *build, const uint8_t *client, struct span server);

/* Adds the empty option of a client, or the option of a server with its timeout. */
void edns_add_keepalive_query(struct build *build);
void edns_add_keepalive_answer(struct build *build, uint16_t timeout_100ms);

/* text may be empty; at most 255 bytes of it are sent. */
void edns_add_ede(struct build *build, uint16_t code, const char *text);

/* Pads the message to a multiple of block (RFC 8467); the OPT record must be the message's last and
 * this its last option. Pads less if the buffer is too small, so padding alone never causes an
 * overflow. */
void edns_add_padding(struct build *build, uint16_t block);

#endif
