/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TLS_TLS_KEY_LOG_H
#define NAILUP_TLS_TLS_KEY_LOG_H

#include "base/err.h"
#include "tls/tls_why.h"

/* Secrets of every connection made from now on are appended to this file in the format of
 * SSLKEYLOGFILE, so that a captured packet can be read. The file is made private (mode
 * 0600); one of another user, a symbolic link, or one with a second name is refused. For the
 * process, once, before any context is made. On error (ERR_PERMISSION, ERR_INVALID, ERR_IO) why is
 * a sentence that names the file. */
MUST_USE enum err tls_log_keys_to(const char *path, char why[TLS_WHY_MAX]);

struct ssl_ctx_st;

/* Has the secrets of the context's connections written, if they are to be. */
void tls_key_log_attach(struct ssl_ctx_st *ctx);

#endif
