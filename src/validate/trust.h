/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_VALIDATE_TRUST_H
#define NAILUP_VALIDATE_TRUST_H

/*
 * Reads what a validated answer about DNSKEY or DS records says about a zone. The answers are those
 * of the cache, with their security, so what is known about zones needs no store of its own.
 */

#include <stdbool.h>

#include "cache/answer.h"
#include "dns/name.h"
#include "validate/anchors.h"
#include "validate/validation_view.h"

enum trust {
    TRUST_SECURE,   /* keys: they are in the space; DS: some are usable, and in the space */
    TRUST_INSECURE, /* the zone and all below it is insecure; for DS perhaps by *ede */
    TRUST_NO_CUT,   /* DS: the name is no zone cut */
    TRUST_NO_NAME,  /* DS: the name does not exist */
    TRUST_NONE,     /* the answer proves nothing */
};

/* Reads the answer to (zone, DNSKEY) and keeps its keys in the space. */
enum trust trust_read_keys(struct validation_space *space, struct name zone,
                           const struct answer *answer);

/* Takes the keys of an unverified DNSKEY RRset of space->sets, for judging that RRset only. */
void trust_take_keys(struct validation_space *space, const struct rrset *set);

/* Whether this answer to (zone, DS) says by itself that the zone is insecure: it was found to be
 * when the answer came, so its proof need not be read again. */
bool trust_knows_insecure(const struct answer *answer);

/* Reads the answer to (zone, DS) and keeps its usable DS records in the space. *ede is the reason
 * why a zone with DS records is insecure, or EDE_NONE. */
enum trust trust_read_ds(struct validation_space *space, const struct validation_view *view,
                         struct name zone, const struct answer *answer, uint16_t *ede);

/* Keeps the usable DS records of an anchor in the space. Returns whether the anchor has any usable
 * record. */
bool trust_read_anchor(struct validation_space *space, const struct anchor *anchor, bool allow_sha1,
                       uint16_t *ede);

/* Whether a DS record in the space, or a DNSKEY record of the anchor (NULL: none), vouches for the
 * key of this zone. Draws the digest from *units_left; false also when it does not suffice. */
bool trust_vouches(const struct validation_space *space, const struct anchor *anchor,
                   struct name zone, const struct dnskey *key, unsigned *units_left);

#endif
