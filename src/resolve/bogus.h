/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_BOGUS_H
#define NAILUP_RESOLVE_BOGUS_H

/* The sentence and the life of a bogus answer, for clients, the log and the cache. Pure; any
 * thread. */

#include <stdint.h>

#include "cache/answer.h"

struct verdict;

/* How long a bogus answer is remembered (RFC 9520): the longer the name stays bogus, the longer.
 * The zone's operator may repair it at any time. */
enum { BOGUS_TTL_MIN_S = 5, BOGUS_TTL_MAX_S = 60 };

/* Writes "a signature has expired 3 days ago, zone example.org". A long zone loses its first
 * labels. now_s is the wall clock. Returns out. */
const char *bogus_text(char out[ANSWER_TEXT_MAX], const struct verdict *verdict, uint32_t now_s);

/* Returns the life of a bogus answer. before is what the cache has for its question, live or
 * expired; NULL: nothing. */
uint32_t bogus_ttl(const struct answer *before, uint64_t now_us);

#endif
