/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_VALIDATE_DNSKEY_H
#define NAILUP_VALIDATE_DNSKEY_H

/* DNSKEY and DS records (RFC 4034 sections 2 and 5), and how they fit together. */

#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"
#include "dns/name.h"

enum dnskey_flag { DNSKEY_ZONE = 0x0100, DNSKEY_REVOKE = 0x0080, DNSKEY_SEP = 0x0001 };

/* Borrows from the RDATA. */
struct dnskey {
    uint16_t flags;
    uint8_t protocol;
    uint8_t algorithm;
    uint16_t tag;    /* RFC 4034 appendix B */
    struct span key; /* the public key field */
    struct span rdata;
};

/* Reads the fields and computes the tag. False: malformed. */
MUST_USE bool dnskey_read(struct dnskey *out, struct span rdata);

/* Whether the key may sign a zone's data: the zone bit is set, protocol 3, not revoked. */
static inline bool dnskey_may_sign(const struct dnskey *key)
{
    return (key->flags & (DNSKEY_ZONE | DNSKEY_REVOKE)) == DNSKEY_ZONE && key->protocol == 3;
}

struct ds {
    uint16_t tag;
    uint8_t algorithm;
    uint8_t digest_type;
    struct span digest;
};

/* Reads the fields. False: malformed. */
MUST_USE bool ds_read(struct ds *out, struct span rdata);

/* Whether tag, algorithm and digest of the DS are those of the key at this owner. Uses OpenSSL
 * (verify_digest() of verify.h). The digest type must be supported. */
bool ds_fits(const struct ds *ds, struct name owner, const struct dnskey *key);

#endif
