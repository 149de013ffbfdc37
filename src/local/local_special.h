/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_LOCAL_LOCAL_SPECIAL_H
#define NAILUP_LOCAL_LOCAL_SPECIAL_H

/*
 * Special-use names. No public server can answer them, and a query would reveal names of the
 * private network: localhost, invalid, test and the reverse names of private addresses (RFC 6761),
 * local (RFC 6762 section 22.1), the zones of RFC 6303 and 7793, onion (RFC 7686), home.arpa (RFC
 * 8375), resolver.arpa (RFC 9462) and service.arpa (RFC 9665).
 */

#include "base/err.h"
#include "local/local_build.h"

/* Adds them. Call it right before local_build_end(): rules of the operator win. */
MUST_USE enum err local_special_add(struct local_build *build);

#endif
