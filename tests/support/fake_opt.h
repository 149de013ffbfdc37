/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SUPPORT_FAKE_OPT_H
#define NAILUP_SUPPORT_FAKE_OPT_H

/* Adds an OPT record to the answer of a fake server (RFC 6891), which had no additional section. */

#include <stdint.h>

#include "base/span.h"
#include "support/fake_peer.h"

/* One option: the idle timeout of a server (RFC 7828). */
void fake_opt_keepalive(struct fake_answer *answer, uint16_t timeout_100ms);

/* One option: the client's eight bytes and the server's cookie (RFC 7873). rcode has twelve bits,
 * as BADCOOKIE needs; 0 leaves the rcode of the header. */
void fake_opt_cookie(struct fake_answer *answer, const uint8_t *client, struct span server,
                     uint16_t rcode);

#endif
