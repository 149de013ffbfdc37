/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_DAEMON_SHOWN_CALL_H
#define NAILUP_TESTS_DAEMON_SHOWN_CALL_H

/* A call whose reply becomes text when the call is done. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "control/call.h"

static char shown[4096]; /* the reply of the last call */

static inline void shown_on_done(struct call *call, void *context)
{
    struct span text = buf_span(&call->reply.buf);

    (void)context;
    assert_true(text.len < sizeof(shown));
    memcpy(shown, text.data, text.len);
    shown[text.len] = '\0';
    call_free(call);
}

/* Begins a reply. call_done() ends it. */
static inline struct call *shown_call(void)
{
    struct call *call = call_new(NULL, NULL, shown_on_done, NULL);

    reply_ok(&call->reply);
    return call;
}

#endif
