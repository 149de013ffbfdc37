/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TLS_TLS_ERRORS_H
#define NAILUP_TLS_TLS_ERRORS_H

/* OpenSSL's errors in our words. */

#include "tls/tls_inside.h"

/* The peer's first bytes: whether it speaks TLS at all. To be called with all that comes during the
 * handshake. */
void tls_errors_note(struct tls *tls, struct span wire);

/* What a failed call left in OpenSSL's queue; 0: nothing. */
enum err tls_errors_of(const struct tls *tls, unsigned long code);

#endif
