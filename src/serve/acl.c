/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Looks a client up in the access list. What refusing and dropping mean is left to those who ask.
 * Invariant: nobody is let in who is not in a prefix that says allow.
 */
#include "serve/acl.h"

enum server_access acl_find(const struct prefix_set *access, const struct addr *client)
{
    switch (prefix_set_find(access, client)) {
    case SERVER_ALLOW:
        return SERVER_ALLOW;
    case SERVER_DROP:
        return SERVER_DROP;
    default:
        return SERVER_REFUSE;
    }
}
