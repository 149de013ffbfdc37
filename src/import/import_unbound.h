/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_IMPORT_IMPORT_UNBOUND_H
#define NAILUP_IMPORT_IMPORT_UNBOUND_H

/*
 * An unbound.conf made into a nailup.yaml: what nailupd --import-unbound does. What is printed
 * loads (config_load), whatever the file says; lines that became nothing stand in it as comments,
 * each with its place and the nearest thing there is.
 */

#include "base/buf.h"
#include "base/err.h"
#include "base/span.h"

enum { IMPORT_MESSAGES_BYTES = 32 * 1024 };

/*
 * Reads the file at path and those that it includes, and the files that the outcome names
 * (certificates). ERR_OK: out has the text, CONFIG_FILE_MAX bytes at most, and messages what must
 * be done before it is of use, often nothing. Else out is of no use and messages has a line for
 * each error, `FILE:LINE:COLUMN: error: sentence`. Both are the caller's. Any thread.
 */
MUST_USE enum err import_unbound(const char *path, struct buf *out, struct buf *messages);

/* As import_unbound() for text at hand, without a look at any file. */
MUST_USE enum err import_unbound_text(const char *name, struct span text, struct buf *out,
                                      struct buf *messages);

#endif
