/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TLS_TLS_KEY_LOG_H
#define NAILUP_TLS_TLS_KEY_LOG_H

#include "base/err.h"
#include "tls/tls_why.h"

struct ssl_ctx_st;

/* Appends the secrets of every later connection to this file, in the format of SSLKEYLOGFILE, so
 * that captured packets can be decrypted. Makes the file private (mode 0600), and refuses a file of
 * another user, a symbolic link, or a file with a second name. The process calls it once, before it
 * makes any context. On error (ERR_PERMISSION, ERR_INVALID, ERR_IO) why is a sentence that names
 * the file. */
MUST_USE enum err tls_log_keys_to(const char *path, char why[TLS_WHY_MAX]);

/* Logs the secrets of the context's connections if tls_log_keys_to() was called. */
void tls_key_log_attach(struct ssl_ctx_st *ctx);

#endif
