/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TLS_TLS_FILE_H
#define NAILUP_TLS_TLS_FILE_H

/* Reads files of certificates and keys. Any thread. */

#include <stddef.h>

#include "base/err.h"
#include "tls/tls_why.h"

enum { TLS_FILE_MAX = 1024 * 1024 };

/* Reads a regular file of at most TLS_FILE_MAX bytes and appends a NUL. The caller frees it with
 * tls_file_free(). On error (ERR_NOT_FOUND, ERR_PERMISSION, ERR_NO_FILES,
 * ERR_INVALID, ERR_TOO_LARGE, ERR_IO, ERR_NO_MEMORY) why is a sentence that names the file. */
MUST_USE enum err tls_read_file(const char *path, char **text, size_t *len, char why[TLS_WHY_MAX]);

/* Wipes the text, which may be a private key, and sets *text to NULL. *text may be NULL. */
void tls_file_free(char **text, size_t len);

#endif
