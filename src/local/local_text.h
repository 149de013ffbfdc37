/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_LOCAL_LOCAL_TEXT_H
#define NAILUP_LOCAL_LOCAL_TEXT_H

/*
 * Reads hosts files and block lists into a table that is being built. Other people write and update
 * these files, so a malformed line is reported and skipped.
 *
 * hosts file, as in hosts(5):  ADDRESS NAME [NAME ...]   # comment
 * block list, line by line:    NAME, *.NAME or .NAME, which all mean the name and all names below,
 *                              or ADDRESS NAME [NAME ...], whose address is ignored; comments
 *                              begin with # anywhere, or with ; or ! at the start of a line
 *
 * Touches only the table. One thread.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/span.h"
#include "local/local_build.h"

/* Receives faults. The sentence (static text) follows the word. */
struct local_text_report {
    void (*on_problem)(void *context, size_t line, size_t column, struct span word,
                       const char *sentence);
    void *context;
};

/* Reads a hosts file. ERR_LIMIT, ERR_NO_MEMORY: the table has no room, and the rest was not read.
 */
MUST_USE enum err local_text_hosts(struct local_build *build, struct span text,
                                   const struct local_text_report *report);

/* Reads a block list. list comes from local_build_list(). */
MUST_USE enum err local_text_list(struct local_build *build, uint32_t list, struct span text,
                                  const struct local_text_report *report);

#endif
