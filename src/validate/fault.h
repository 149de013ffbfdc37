/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_VALIDATE_FAULT_H
#define NAILUP_VALIDATE_FAULT_H

/* Why an answer is bogus: one table of faults with their extended errors (RFC 8914) and words. */

#include <stdint.h>

/* FAULT(name, EDE, words) */
#define FAULTS(FAULT)                                                                              \
    FAULT(NONE, EDE_NONE, "")                                                                      \
    FAULT(WRONG, EDE_DNSSEC_BOGUS, "a signature is wrong")                                         \
    FAULT(LABELS, EDE_DNSSEC_BOGUS, "a signature has a wrong number of labels")                    \
    FAULT(SIGNER, EDE_DNSSEC_BOGUS, "the signer of a signature is not a signed zone")              \
    FAULT(EXPIRED, EDE_SIGNATURE_EXPIRED, "a signature has expired")                               \
    FAULT(NOT_YET_VALID, EDE_SIGNATURE_NOT_YET_VALID, "a signature is not yet valid")              \
    FAULT(ENDS_FIRST, EDE_SIGNATURE_EXPIRED_BEFORE_VALID,                                          \
          "a signature expires before it is valid")                                                \
    FAULT(NO_KEY, EDE_DNSKEY_MISSING, "no key of the zone fits a signature")                       \
    FAULT(NO_DS_KEY, EDE_DNSKEY_MISSING, "no key of the zone fits its DS records")                 \
    FAULT(NO_KEYS, EDE_DNSKEY_MISSING, "the keys of the zone cannot be fetched")                   \
    FAULT(NO_DS, EDE_DNSSEC_INDETERMINATE, "the DS records of the zone cannot be fetched")         \
    FAULT(NO_ZONE_BIT, EDE_NO_ZONE_KEY_BIT, "the key is not a zone key")                           \
    FAULT(NO_SIGNATURE, EDE_RRSIGS_MISSING, "a signature is missing")                              \
    FAULT(NO_PROOF, EDE_NSEC_MISSING, "a proof of absence is missing or wrong")                    \
    FAULT(ALIAS, EDE_DNSSEC_BOGUS, "a CNAME record contradicts its DNAME record")                  \
    FAULT(ANCHOR, EDE_UNSUPPORTED_DNSKEY_ALGORITHM,                                                \
          "no trust anchor has an algorithm and a digest that count")                              \
    FAULT(SIZE, EDE_DNSSEC_BOGUS, "the answer has too many records to be validated")               \
    FAULT(COST, EDE_OTHER, "the validation of the answer costs too much")

enum fault {
#define FAULT(name, ede, words) FAULT_##name,
    FAULTS(FAULT)
#undef FAULT
        FAULT_COUNT
};

/* Returns the extended error of the fault. */
uint16_t fault_ede(enum fault fault);

/* Returns the words for people; static storage. */
const char *fault_words(enum fault fault);

#endif
