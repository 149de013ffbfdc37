/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_IMPORT_UNBOUND_SOURCE_H
#define NAILUP_IMPORT_UNBOUND_SOURCE_H

/*
 * Reads an unbound.conf and its included files as one sequence of statements, each an option with
 * its values and its clause.
 */

#include "base/buf.h"
#include "base/err.h"
#include "import/draft.h"
#include "import/unbound_words.h"

enum {
    UNBOUND_FILE_MAX = 64 * 1024 * 1024,   /* bytes of one file */
    UNBOUND_BYTES_MAX = 128 * 1024 * 1024, /* the bound over all files, counted at each inclusion */
    UNBOUND_FILES_MAX = 1000,
    UNBOUND_DEPTH_MAX = 16, /* levels of included files */
    UNBOUND_ARGS_MAX = 3,
    UNBOUND_STATEMENTS_MAX = 200000, /* except the ones that are only counted */
    UNBOUND_PATH_MAX = 1024,
    UNBOUND_BRACES_MAX = 8, /* the most braces of a pattern: each may double the matches */
};

struct unbound_statement {
    enum unbound_clause clause;
    bool begins_clause;                 /* the clause itself, not an option in it */
    const struct unbound_word *word;    /* NULL: unknown */
    const char *args[UNBOUND_ARGS_MAX]; /* as many as the word has */
    struct draft_origin *origin;
};

struct unbound_source {
    struct draft *draft; /* owns the memory */
    bool reads_files;    /* false: includes are noted and skipped */
    /* Called for each clause and each option, in order. */
    void (*on_statement)(void *context, const struct unbound_statement *statement);
    void *context;
    struct buf *messages;  /* FILE:LINE:COLUMN: error: SENTENCE */
    const char *directory; /* directory of relative file names; the maps may change it */
    uint32_t order, statements;
    size_t files, bytes;
};

/* Reads a file and the files that it includes. On an error, messages has the reason. */
MUST_USE enum err unbound_source_file(struct unbound_source *source, const char *path);

/* Like unbound_source_file() for text in memory; messages call it file. */
MUST_USE enum err unbound_source_text(struct unbound_source *source, const char *file,
                                      struct span text);

#endif
