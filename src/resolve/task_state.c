/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The table of states as data: pure. */
#include "resolve/task_state.h"

#include "base/check.h"

static const char *const names[] = {
#define TASK_STATE(name, text, follow, sentence) text,
    TASK_STATES(TASK_STATE)
#undef TASK_STATE
};

const uint16_t task_state_followers[] = {
#define TASK_STATE(name, text, follow, sentence) follow,
    TASK_STATES(TASK_STATE)
#undef TASK_STATE
};

const char *task_state_name(enum task_state state)
{
    MUST(state < TASK_STATE_COUNT);
    return names[state];
}
