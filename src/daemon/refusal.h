/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_REFUSAL_H
#define NAILUP_DAEMON_REFUSAL_H

/* Reports why the daemon does not start: one line on stderr that says what to do, at every log
 * level. The line is JSON if the log format is JSON. */

#include "base/err.h"
#include "serve/server_address.h"

/* Writes the sentence, after "nailupd: " in a text log. Returns EXIT_CANNOT_START. */
int refusal_print(const char *format, ...) PRINTF_LIKE(1, 2);

/* Fills out with a sentence: nailupd cannot listen on this address. */
enum { REFUSAL_TEXT_MAX = 256 };
void refusal_listen(struct server_address address, enum err err, char out[REFUSAL_TEXT_MAX]);

/* Reports that nailupd cannot listen on metrics.listen. */
int refusal_metrics(const struct addr *listen, enum err err);

/* Reports that TLS clients cannot be served, and why. Returns EXIT_CONFIG. */
int refusal_certificate(const char *why);

#endif
