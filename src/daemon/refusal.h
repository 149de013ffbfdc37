/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_REFUSAL_H
#define NAILUP_DAEMON_REFUSAL_H

/* Why the daemon does not start: one line on stderr that says what to do, in every log level. Lines
 * are JSON where the log is. */

#include "base/err.h"
#include "serve/server_address.h"

/* The sentence, behind "nailupd: " in text; returns EXIT_CANNOT_START. */
int refusal(const char *format, ...) PRINTF_LIKE(1, 2);

/* That this address cannot be listened on. */
int refusal_listen(struct server_address address, enum err err);

/* The same as words for others, instead. */
enum { REFUSAL_TEXT_MAX = 256 };
void refusal_listen_text(struct server_address address, enum err err, char out[REFUSAL_TEXT_MAX]);

/* That metrics.listen cannot. */
int refusal_metrics(const struct addr *listen, enum err err);

/* That TLS clients cannot be served, and why; returns EXIT_CONFIG. */
int refusal_certificate(const char *why);

#endif
