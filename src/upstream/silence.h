/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_SILENCE_H
#define NAILUP_UPSTREAM_SILENCE_H

/*
 * Is this connection still alive? Only the bytes that came since its queries left decide. Pure.
 *
 *   in doubt: nothing came for a while, and a query on it went elsewhere, too
 *   suspect:  nothing came for stall-timeout after a query
 *
 * In both conditions another query may serve as a probe. A suspect connection that leaves the probe
 * unanswered is dead. Any byte clears both: one unanswered name never kills a connection.
 */

#include <stdbool.h>
#include <stdint.h>

/* Each step includes the one before it. */
enum silence_step {
    SILENCE_NONE,
    SILENCE_IN_DOUBT,
    SILENCE_SUSPECT,
};

struct silence {
    uint64_t heard_at;  /* the last byte; 0: none yet */
    uint64_t since_at;  /* the first query after the last byte; 0: none */
    uint64_t probed_at; /* when the probe of the doubt left; 0: not yet */
    enum silence_step step;
};

/* Notes that a query left. */
void silence_sent(struct silence *silence, uint64_t now);

/* Notes that a byte came. */
void silence_heard(struct silence *silence, uint64_t now);

/* A connection that is in doubt or suspect stays as it is, and so does its probe. */
void silence_doubt(struct silence *silence);

/* Even a connection whose probe is under way gets another one. */
void silence_suspect(struct silence *silence);

/* A suspect connection is in doubt, too. */
static inline bool silence_is_in_doubt(const struct silence *silence)
{
    return silence->step != SILENCE_NONE;
}

static inline bool silence_is_suspect(const struct silence *silence)
{
    return silence->step == SILENCE_SUSPECT;
}

/* Whether the next query leaves on it as a probe, and elsewhere as well. */
static inline bool silence_wants_probe(const struct silence *silence)
{
    return silence_is_in_doubt(silence) && !silence->probed_at;
}

/* When the connection becomes suspect, or, if it is suspect, counts as dead; UINT64_MAX: no query
 * waits. stall_us is stall-timeout, probe_us the time for a probe. */
uint64_t silence_due_at(const struct silence *silence, uint64_t stall_us, uint64_t probe_us);

#endif
