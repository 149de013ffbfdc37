/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The four instants of silence.h and what follows from them. */

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
    if (silence->doubted)
        return;
    silence->doubted = true;
    silence->probed_at = 0;
}

void silence_suspect(struct silence *silence)
{
    silence->suspect = true;
    silence->probed_at = 0;
}

uint64_t silence_due_at(const struct silence *silence, uint64_t stall_us, uint64_t probe_us)
{
    if (silence->suspect)
        return silence->probed_at ? silence->probed_at + probe_us : UINT64_MAX;
    return silence->since_at ? silence->since_at + stall_us : UINT64_MAX;
}
