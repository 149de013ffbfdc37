/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CACHE_REVIVE_H
#define NAILUP_CACHE_REVIVE_H

/*
 * How an answer comes back from a file: its message is taken as if a stranger had sent it. Pure.
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

/* Fills in message, kind and TTL offsets of the answer, and the question; all else of the answer is
 * zero and the caller's. False for what answer.h does not promise of every answer, for malformed
 * RDATA, for a kind that its rcode and records belie, and for failures. */
MUST_USE bool revive(struct revived *out, struct span message, uint8_t kind);

#endif
