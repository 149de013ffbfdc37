/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TLS_TLS_ERRORS_H
#define NAILUP_TLS_TLS_ERRORS_H

/* Translates OpenSSL's errors into ours. Pure. */

#include "base/err.h"
#include "base/span.h"

enum { TLS_FIRST_BYTES = 2 };

/* The error for a code of OpenSSL's queue (0: the queue is empty). first holds up to
 * TLS_FIRST_BYTES that the peer sent first: they show whether it speaks TLS at all. */
enum err tls_errors_of(unsigned long code, struct span first);

#endif
