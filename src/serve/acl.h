/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_ACL_H
#define NAILUP_SERVE_ACL_H

/* Decides which clients may ask: the longest prefix of the access list counts. Pure, any thread. */

#include "base/addr.h"
#include "base/prefix.h"
#include "serve/server_options.h"

/* Refuses an address that no prefix contains. access is frozen; its values are enum server_access.
 */
enum server_access acl_find(const struct prefix_set *access, const struct addr *client);

#endif
