/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RECURSE_ROOT_HINTS_H
#define NAILUP_RECURSE_ROOT_HINTS_H

/*
 * Where recursion begins when it knows nothing: the servers of the root as this program knows them,
 * or as a file of the operator says. They are only asked for who the servers are (RFC 9609), and
 * serve themselves when nobody says so. Any thread.
 */

#include <stddef.h>

#include "base/err.h"
#include "base/span.h"
#include "recurse/delegation.h"

enum { ROOT_HINTS_BYTES_MAX = 1024 * 1024 /* of a file */ };

/* What is wrong with a file: about the line, or the whole when that is 0. Static text. */
struct root_hints_problem {
    size_t line;
    const char *sentence;
};

/* The thirteen of IANA, with IPv4 and IPv6 addresses. */
void root_hints_builtin(struct delegation *out);

/* From a file in zone format: NS records of the root, and A and AAAA records of what they name, in
 * any order; one server of any name is enough, and what else is there is passed over, as are
 * servers without an address and those above DELEGATION_SERVERS_MAX. ERR_INVALID: *problem says
 * why; ERR_LIMIT: too large; ERR_NO_MEMORY. */
MUST_USE enum err root_hints_parse(struct delegation *out, struct span text,
                                   struct root_hints_problem *problem);

#endif
