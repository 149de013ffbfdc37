/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The table of attempt_state.h as data. */

#include "upstream/attempt_state.h"

static const char *const state_names[] = {
#define ATTEMPT_STATE(name, text, follow, sentence) [ATTEMPT_##name] = text,
    ATTEMPT_STATES(ATTEMPT_STATE)
#undef ATTEMPT_STATE
};

static const unsigned followers[] = {
#define ATTEMPT_STATE(name, text, follow, sentence) [ATTEMPT_##name] = follow,
    ATTEMPT_STATES(ATTEMPT_STATE)
#undef ATTEMPT_STATE
};

const char *attempt_state_name(enum attempt_state state)
{
    return state_names[state];
}

bool attempt_state_may_follow(enum attempt_state from, enum attempt_state to)
{
    return followers[from] & 1u << to;
}
