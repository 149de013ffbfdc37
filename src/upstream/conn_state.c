/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The tables of conn_state.h as data. */

#include "upstream/conn_state.h"

#include "base/check.h"

static const char *const state_names[] = {
#define CONN_STATE(name, text, follow, sentence) [CONN_##name] = text,
    CONN_STATES(CONN_STATE)
#undef CONN_STATE
};

static const unsigned followers[] = {
#define CONN_STATE(name, text, follow, sentence) [CONN_##name] = follow,
    CONN_STATES(CONN_STATE)
#undef CONN_STATE
};

static const char *const end_names[] = {[CONN_END_NONE] = "",
#define CONN_END(name, text, counter) [CONN_END_##name] = text,
                                        CONN_ENDS(CONN_END)
#undef CONN_END
};

const char *conn_state_name(enum conn_state state)
{
    MUST(state < CONN_STATE_COUNT);
    return state_names[state];
}

const char *conn_end_name(enum conn_end end)
{
    MUST(end < CONN_END_COUNT);
    return end_names[end];
}

bool conn_state_may_follow(enum conn_state from, enum conn_state to)
{
    return followers[from] & 1u << to;
}

enum conn_end conn_end_of_dial(enum err why)
{
    switch (why) {
    case ERR_TLS_EXPIRED:
    case ERR_TLS_UNTRUSTED:
    case ERR_TLS_NAME:
    case ERR_TLS_PIN:
        return CONN_END_DIAL_IDENTITY;
    case ERR_TLS_NOT_SPOKEN:
    case ERR_TLS_CLOSED:
    case ERR_TLS_ALERT:
    case ERR_TLS_ALPN:
    case ERR_TLS_FAILED:
        return CONN_END_DIAL_TLS;
    case ERR_REFUSED:
    case ERR_RESET:
        return CONN_END_DIAL_REFUSED;
    case ERR_TIMED_OUT:
        return CONN_END_DIAL_TIMEOUT;
    default:
        return CONN_END_DIAL_ERROR;
    }
}
