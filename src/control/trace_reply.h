/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONTROL_TRACE_REPLY_H
#define NAILUP_CONTROL_TRACE_REPLY_H

/* Writes a trace as a reply: its end, each step, the records. Slow; for people. Any thread. */

#include <stdint.h>

#include "control/reply.h"
#include "dns/question.h"

struct answer;
struct trace;

/* The end of a trace. */
struct trace_end {
    const struct question *question;
    const struct answer *answer; /* NULL: none; see why */
    const char *why;
    uint64_t now; /* us of the worker's clock */
};

void trace_reply_write(struct reply *reply, const struct trace *trace, const struct trace_end *end);

#endif
