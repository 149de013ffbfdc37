/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_HOST_ANSWER_H
#define NAILUP_DAEMON_HOST_ANSWER_H

/* The addresses in an answer to a question for A or AAAA. Pure. */

#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "dns/message.h"
#include "dns/question.h"

enum { HOST_ANSWER_MAX = 8 }; /* addresses of one family that count; the rest is ignored */

enum host_answer_kind {
    HOST_FAILED, /* no answer, or one that says nothing */
    HOST_NONE,   /* the name has no such address */
    HOST_FOUND,
};

struct host_answer {
    enum host_answer_kind kind;
    uint32_t ttl_s; /* the shortest of the addresses and the aliases before them */
    size_t count;
    struct addr addrs[HOST_ANSWER_MAX]; /* port 0, ascending */
};

/* Reads the answer, which has parsed OK. Follows aliases within it. */
void host_answer_read(struct host_answer *out, const struct message *message,
                      const struct question *question);

#endif
