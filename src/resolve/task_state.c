/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The table of states as data: pure. */
#include "resolve/task_state.h"

#include "base/check.h"

static const struct {
    const char *name;
    unsigned may_follow;
} states[] = {
#define TASK_STATE(name, text, follow, sentence) {text, follow},
    TASK_STATES(TASK_STATE)
#undef TASK_STATE
};

const char *task_state_name(enum task_state state)
{
    MUST(state < TASK_STATE_COUNT);
    return states[state].name;
}

bool task_state_may_follow(enum task_state from, enum task_state to)
{
    MUST(from < TASK_STATE_COUNT && to < TASK_STATE_COUNT);
    return states[from].may_follow >> to & 1;
}
