/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SUPPORT_FAKE_OPT_H
#define NAILUP_SUPPORT_FAKE_OPT_H

/* Adds an OPT record (RFC 6891) to the answer of a fake server. The answer must have no additional
 * section yet. */

#include <stdint.h>

#include "base/span.h"
#include "support/fake_peer.h"

/* Adds one option: the idle timeout of a server (RFC 7828). */
void fake_opt_keepalive(struct fake_answer *answer, uint16_t timeout_100ms);

/* Adds one option: the client's eight bytes and the server's cookie (RFC 7873). rcode has twelve
 * bits, because BADCOOKIE needs them; 0 keeps the rcode of the header. */
void fake_opt_cookie(struct fake_answer *answer, const uint8_t *client, struct span server,
                     uint16_t rcode);

#endif
