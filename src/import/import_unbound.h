/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_IMPORT_IMPORT_UNBOUND_H
#define NAILUP_IMPORT_IMPORT_UNBOUND_H

/*
 * Converts an unbound.conf to a nailup.yaml, for nailupd --import-unbound. The output loads
 * (config_load), whatever the file says. Lines without a counterpart become comments with their
 * place and the nearest option.
 */

#include "base/buf.h"
#include "base/err.h"
#include "base/span.h"

enum {
    IMPORT_BYTES_MAX = 1024 * 1024, /* of the output: larger lists belong in files of their own */
    IMPORT_MESSAGES_BYTES = 32 * 1024,
};

/*
 * Reads the file at path, the files that it includes, and the files that the output names
 * (certificates). ERR_OK: out has the text, at most IMPORT_BYTES_MAX bytes, and messages has what
 * the operator must do before using it, often nothing. Otherwise out is undefined and messages has
 * a line for each error, `FILE:LINE:COLUMN: error: sentence`. The caller owns both. Any thread.
 */
MUST_USE enum err import_unbound(const char *path, struct buf *out, struct buf *messages);

/* Like import_unbound() for text in memory, without reading any file. For tests and fuzzing. */
MUST_USE enum err import_unbound_text(const char *name, struct span text, struct buf *out,
                                      struct buf *messages);

#endif
