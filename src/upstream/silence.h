/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_SILENCE_H
#define NAILUP_UPSTREAM_SILENCE_H

/*
 * Is this connection still alive? Judged by what was heard since queries were sent, whatever new
 * queries do. Pure.
 *
 *   doubted: a query on it was asked elsewhere too, as nothing had come for a while
 *   suspect: nothing has come for stall-timeout since a query was sent
 *   In both a further query may be sent on it as a probe; when a suspect one leaves that unanswered
 *   as well, it is dead. Any byte clears all of it: one lost name never kills a connection.
 */

#include <stdbool.h>
#include <stdint.h>

struct silence {
    uint64_t heard_at;  /* last byte; 0: none yet */
    uint64_t since_at;  /* first query sent after the last byte; 0: none */
    uint64_t probed_at; /* doubted or suspect: when a further query was sent; 0: not yet */
    bool doubted, suspect;
};

/* A query was sent. */
void silence_sent(struct silence *silence, uint64_t now);

/* A byte came. */
void silence_heard(struct silence *silence, uint64_t now);

void silence_doubt(struct silence *silence);
void silence_suspect(struct silence *silence);

static inline bool silence_is_doubtful(const struct silence *silence)
{
    return silence->doubted || silence->suspect;
}

/* The next query is to be sent on it, and elsewhere as well. */
static inline bool silence_wants_probe(const struct silence *silence)
{
    return silence_is_doubtful(silence) && !silence->probed_at;
}

/* When it becomes suspect, or being suspect is dead; UINT64_MAX when there is nothing to wait for.
 * stall_us is stall-timeout, probe_us how long a probe may take. */
uint64_t silence_due_at(const struct silence *silence, uint64_t stall_us, uint64_t probe_us);

#endif
