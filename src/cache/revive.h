/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CACHE_REVIVE_H
#define NAILUP_CACHE_REVIVE_H

/*
 * Checks a message from a file as strictly as one from the network, and makes an answer of it.
 * Pure.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/span.h"
#include "cache/answer.h"
#include "dns/question.h"

enum { REVIVE_RECORDS_MAX = 4096 };

struct revived {
    struct answer answer; /* borrows the message, and offsets */
    struct question question;
    uint16_t offsets[REVIVE_RECORDS_MAX];
};

/* Fills in the question, and message, kind and TTL offsets of the answer; sets its other fields to
 * zero. Returns false when the message breaks a promise of answer.h, has malformed RDATA, has an
 * rcode or records that contradict the kind, or is a failure. */
MUST_USE bool revive(struct revived *out, struct span message, uint8_t kind);

#endif
