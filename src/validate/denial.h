/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_VALIDATE_DENIAL_H
#define NAILUP_VALIDATE_DENIAL_H

/*
 * Proofs about a name and type by verified NSEC and NSEC3 records (RFC 4035 section 5.4, RFC 5155
 * section 8, RFC 6840 section 4, RFC 9824). The only input is verified records of one zone, so an
 * unverified record can never prove anything. One function decides whether a record may speak of a
 * name at all. Pure apart from NSEC3 hashes, which draw from *units_left; any thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"
#include "dns/name.h"

enum {
    DENIAL_RECORDS_MAX = 8,     /* NSEC and NSEC3 records of one message that count */
    DENIAL_ITERATIONS_MAX = 50, /* more make the zone insecure, with EDE 27 (RFC 9276) */
};

/* One verified record. Borrows. Its RRset was signed by the zone and not expanded from a wildcard.
 */
struct denial_record {
    struct name owner;
    uint16_t type; /* NSEC or NSEC3 */
    struct span rdata;
};

/* All verified records of one message and one zone. */
struct denial {
    struct name zone; /* the signer */
    size_t count;
    struct denial_record at[DENIAL_RECORDS_MAX];
    unsigned *units_left; /* in units of algorithm_cost(); hashing stops before it goes below 0 */
};

enum denial_result {
    DENIAL_UNPROVEN,
    DENIAL_PROVEN,
    DENIAL_OPT_OUT,    /* proven except for an opt-out span: an insecure zone may be there */
    DENIAL_ITERATIONS, /* more iterations than DENIAL_ITERATIONS_MAX: the answer is insecure */
    DENIAL_SPENT,      /* the units do not suffice */
};

/* The name does not exist, and no wildcard would answer for it. */
enum denial_result denial_of_name(const struct denial *denial, struct name name);

/* The name exists without this type, or is an empty non-terminal, or a wildcard without this type
 * answers for it. */
enum denial_result denial_of_type(const struct denial *denial, struct name name, uint16_t type);

/* The answer for the name was expanded from the wildcard below the closest encloser, which has
 * this many labels: the next closer name does not exist. */
enum denial_result denial_of_next_closer(const struct denial *denial, struct name name,
                                         unsigned labels);

enum denial_ds {
    DENIAL_DS_UNPROVEN,
    DENIAL_DS_INSECURE, /* a zone cut without DS, or an opt-out span: all below is insecure */
    DENIAL_DS_NO_CUT,   /* the name exists and is no zone cut */
    DENIAL_DS_NO_NAME,  /* the name does not exist, so nothing below it does either */
    DENIAL_DS_ITERATIONS,
    DENIAL_DS_SPENT,
};

/* Proves what it can about a DS record of the name. The zone of the records is strictly above it.
 */
enum denial_ds denial_of_ds(const struct denial *denial, struct name name);

#endif
