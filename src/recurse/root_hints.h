/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RECURSE_ROOT_HINTS_H
#define NAILUP_RECURSE_ROOT_HINTS_H

/*
 * Where recursion starts when the cache is empty: the servers of the root that this program knows,
 * or those of the operator's file. They are asked for the current servers first (RFC 9609), and
 * serve themselves where that fails. Any thread.
 */

#include <stddef.h>

#include "base/err.h"
#include "base/span.h"
#include "recurse/delegation.h"

enum { ROOT_HINTS_BYTES_MAX = 1024 * 1024 /* the bound of a file */ };

/* The problem with a file: in this line, or in the whole file when line is 0. Static text. */
struct root_hints_problem {
    size_t line;
    const char *sentence;
};

/* The thirteen servers of IANA, with IPv4 and IPv6 addresses. */
void root_hints_builtin(struct delegation *out);

/* Reads a file in zone format: NS records of the root, and A and AAAA records of their servers, in
 * any order. One server of any name is enough. Other records are skipped, and so are servers
 * without an address and servers above DELEGATION_SERVERS_MAX. ERR_INVALID: *problem says why;
 * ERR_LIMIT: too large; ERR_NO_MEMORY. */
MUST_USE enum err root_hints_parse(struct delegation *out, struct span text,
                                   struct root_hints_problem *problem);

#endif
