/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_CLIENT_HANDSHAKE_H
#define NAILUP_SERVE_CLIENT_HANDSHAKE_H

/* How clients' TLS handshakes ended: counted, and logged where an operator can do something. */

#include "base/addr.h"
#include "base/err.h"

struct stats;
struct tls;

void client_handshake_done(struct stats *stats, const struct tls *tls);
void client_handshake_failed(struct stats *stats, const struct addr *client, const struct tls *tls,
                             enum err why);

#endif
