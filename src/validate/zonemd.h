/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_VALIDATE_ZONEMD_H
#define NAILUP_VALIDATE_ZONEMD_H

/*
 * Checks a zone against the digest in its ZONEMD record (RFC 8976), with OpenSSL. The digest finds
 * damage. It proves no origin by itself: that takes the signature of the record, or a trusted
 * source. Digests millions of records in a second: not for workers. Any thread.
 */

struct zone_data;

/* The checks that the operator wants. */
enum zonemd_mode {
    ZONEMD_IGNORE,  /* nothing is checked */
    ZONEMD_CHECK,   /* a digest that does not match refuses the zone */
    ZONEMD_REQUIRE, /* a zone without a digest that can be checked is refused too */
};

enum zonemd_result {
    ZONEMD_MATCHES,
    ZONEMD_DIFFERS, /* from every digest; or the record is for another serial, or malformed */
    ZONEMD_UNKNOWN, /* no digest of a known scheme and algorithm */
    ZONEMD_ABSENT,
    ZONEMD_NO_MEMORY,
};

/* Checks scheme SIMPLE with SHA-384 and SHA-512. One digest that matches is enough (section 4). */
enum zonemd_result zonemd_check(const struct zone_data *data);

#endif
