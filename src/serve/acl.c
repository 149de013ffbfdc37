/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Looks a client up in the access list. The callers refuse and drop. Invariant: only a client in a
 * prefix with the value SERVER_ALLOW or SERVER_SNOOP is allowed.
 */
#include "serve/acl.h"

enum server_access acl_find(const struct prefix_set *access, const struct addr *client)
{
    switch (prefix_set_find(access, client)) {
    case SERVER_ALLOW:
        return SERVER_ALLOW;
    case SERVER_SNOOP:
        return SERVER_SNOOP;
    case SERVER_DROP:
        return SERVER_DROP;
    default:
        return SERVER_REFUSE;
    }
}
