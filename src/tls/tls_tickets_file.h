/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TLS_TLS_TICKETS_FILE_H
#define NAILUP_TLS_TLS_TICKETS_FILE_H

/* A small file of secrets: only its owner can read it, and it is replaced as a whole. The calls
 * block. */

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/span.h"

/* Reads a plain file of ours of at most max bytes into memory that tls_tickets_file_wipe() takes
 * back. Errors as with tls_tickets_load(). */
MUST_USE enum err tls_tickets_file_read(const char *path, size_t max, uint8_t **data, size_t *len);

void tls_tickets_file_wipe(uint8_t *data, size_t len);

/* Puts bytes in the place of the file at path. Errors as with tls_tickets_save(); the old file is
 * untouched then. What an earlier crash left beside it is removed. Not for two callers at once. */
MUST_USE enum err tls_tickets_file_replace(const char *path, struct span bytes);

#endif
