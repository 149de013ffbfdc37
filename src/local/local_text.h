/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_LOCAL_LOCAL_TEXT_H
#define NAILUP_LOCAL_LOCAL_TEXT_H

/*
 * Hosts files and block lists: text to entries of a table that is being built. Others wrote these
 * files and others update them, so a line that is not understood is told and passed over.
 *
 * hosts file, as in hosts(5):  ADDRESS NAME [NAME ...]   # comment
 * block list, line by line:    NAME, *.NAME or .NAME, all of which mean the name and all below it,
 *                              or ADDRESS NAME [NAME ...], whose address has no meaning; comments
 *                              begin with # anywhere, or with ; or ! at the start of a line
 *
 * Pure but for the table. One thread.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/span.h"
#include "local/local_build.h"

/* Who is told of lines that are not understood: the sentence (static text) is about the word. */
struct local_text_report {
    void (*on_problem)(void *context, size_t line, size_t column, struct span word,
                       const char *sentence);
    void *context;
};

/* ERR_LIMIT, ERR_NO_MEMORY: the table has no room; the text was read in part. */
MUST_USE enum err local_text_hosts(struct local_build *build, struct span text,
                                   const struct local_text_report *report);

/* list is of local_build_list(). */
MUST_USE enum err local_text_list(struct local_build *build, uint32_t list, struct span text,
                                  const struct local_text_report *report);

#endif
