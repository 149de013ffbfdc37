/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_VALIDATE_ANCHOR_FILE_H
#define NAILUP_VALIDATE_ANCHOR_FILE_H

/*
 * Reads and writes trust anchors as text. It reads DS and DNSKEY records of any owner in the format
 * of RFC 1035 section 5, with comments and records over several lines, but without directives such
 * as $ORIGIN. Names are absolute with or without a final dot.
 *
 * It also reads and writes the files that Unbound keeps for RFC 5011. There each key has its state
 * in a comment, ";;state=2", and only keys of the states VALID and MISSING count.
 *
 * Only for the operator's text. Pure; any thread.
 */

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/span.h"
#include "validate/anchor_update.h"
#include "validate/anchors.h"

enum {
    ANCHOR_FILE_BYTES_MAX = 1024 * 1024,
    ANCHOR_RECORD_TEXT_MAX = 16 * 1024, /* bytes of one record without its comments */
};

/* The problem with a text: in this line, or in the whole text when line is 0. The sentence follows
 * the place and has the remedy. Static text. */
struct anchor_file_problem {
    size_t line;
    const char *sentence;
};

/* Adds all records of the text that count; there is at least one. ERR_INVALID: *problem says why;
 * ERR_NO_MEMORY. After an error the table may only be freed, because it has a part of the text. */
MUST_USE enum err anchor_file_read(struct anchors *out, struct span text,
                                   struct anchor_file_problem *problem);

/* Reads the same text as the state of one zone's anchors. Keys without a state are VALID, and DS
 * records are seeds. Also reads a text that says that all keys were revoked, if it has one of them.
 * Errors as above, and ERR_INVALID for a text with several zones or with more keys than are
 * tracked. */
MUST_USE enum err anchor_file_read_point(struct anchor_point *out, struct span text,
                                         struct anchor_file_problem *problem);

/* Appends the file of a point in Unbound's form, which anchor_file_read_point() reads to the same
 * point; seeds are left out. ERR_LIMIT, ERR_NO_MEMORY. */
MUST_USE enum err anchor_file_write(struct buf *out, const struct anchor_point *point);

#endif
