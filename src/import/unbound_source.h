/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_IMPORT_UNBOUND_SOURCE_H
#define NAILUP_IMPORT_UNBOUND_SOURCE_H

/*
 * An unbound.conf and the files that it includes as one row of statements, each an option with its
 * values and the clause it stands in.
 */

#include "base/buf.h"
#include "base/err.h"
#include "import/draft.h"
#include "import/unbound_words.h"

enum {
    UNBOUND_FILE_MAX = 64 * 1024 * 1024,   /* bytes of one file */
    UNBOUND_BYTES_MAX = 128 * 1024 * 1024, /* of all, each as often as it is included */
    UNBOUND_FILES_MAX = 1000,
    UNBOUND_DEPTH_MAX = 16, /* files that include each other */
    UNBOUND_ARGS_MAX = 3,
    UNBOUND_STATEMENTS_MAX = 200000, /* those that are only counted apart */
    UNBOUND_PATH_MAX = 1024,
    UNBOUND_BRACES_MAX = 8, /* of one pattern: each may double what it stands for */
};

struct unbound_statement {
    enum unbound_clause clause;
    bool begins_clause;                 /* the clause itself, not an option in it */
    const struct unbound_word *word;    /* NULL: not known */
    const char *args[UNBOUND_ARGS_MAX]; /* as many as the word has */
    struct draft_origin *origin;
};

struct unbound_source {
    struct draft *draft; /* has the memory */
    bool reads_files;    /* else includes are told and passed over */
    /* Each clause and each option, in order. */
    void (*on_statement)(void *context, const struct unbound_statement *statement);
    void *context;
    struct buf *messages;  /* FILE:LINE:COLUMN: error: SENTENCE */
    const char *directory; /* where files with relative names are; set from outside, too */
    uint32_t order, statements;
    size_t files, bytes;
};

/* Reads a file and what it includes. Not ERR_OK: the messages say why. */
MUST_USE enum err unbound_source_file(struct unbound_source *source, const char *path);

/* As unbound_source_file() for text at hand; file is what messages call it. */
MUST_USE enum err unbound_source_text(struct unbound_source *source, const char *file,
                                      struct span text);

#endif
