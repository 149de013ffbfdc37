/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Instants of sending and hearing (silence.h). */

#include "upstream/silence.h"

void silence_sent(struct silence *silence, uint64_t now)
{
    if (silence_wants_probe(silence))
        silence->probed_at = now;
    if (!silence->since_at)
        silence->since_at = now;
}

void silence_heard(struct silence *silence, uint64_t now)
{
    *silence = (struct silence){.heard_at = now};
}

void silence_doubt(struct silence *silence)
{
    if (silence_is_in_doubt(silence))
        return;
    silence->step = SILENCE_IN_DOUBT;
    silence->probed_at = 0;
}

void silence_suspect(struct silence *silence)
{
    silence->step = SILENCE_SUSPECT;
    silence->probed_at = 0;
}

uint64_t silence_due_at(const struct silence *silence, uint64_t stall_us, uint64_t probe_us)
{
    if (silence_is_suspect(silence))
        return silence->probed_at ? silence->probed_at + probe_us : UINT64_MAX;
    return silence->since_at ? silence->since_at + stall_us : UINT64_MAX;
}
