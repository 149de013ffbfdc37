/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_ZONE_ZONE_LEXER_H
#define NAILUP_ZONE_ZONE_LEXER_H

/* Splits the text of a master file into entries of tokens (RFC 1035 section 5.1). Pure. */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/span.h"
#include "zone/zone_fault.h"

enum {
    ZONE_FILE_TOKENS_MAX = 4096, /* words of one record */
};

/* A word, or the text between two quotes; escapes are still in it. */
struct zone_token {
    struct span text; /* borrowed */
    bool is_quoted;
};

struct zone_lexer {
    struct span rest;
    size_t line;            /* of rest */
    size_t entry_line;      /* of the entry's first token */
    bool begins_with_blank; /* the entry has the owner of the previous entry */
    size_t count;           /* of tokens; 0 at the end of the text */
    struct zone_token tokens[ZONE_FILE_TOKENS_MAX];
};

void zone_lexer_init(struct zone_lexer *lexer, struct span text);

/* Reads the next entry that has tokens. ERR_INVALID and ERR_LIMIT: *fault says why. */
MUST_USE enum err zone_lexer_next(struct zone_lexer *lexer, struct zone_file_fault *fault);

/* Returns whether the token is this word, ignoring case. A quoted token does not match. */
bool zone_token_is(const struct zone_token *token, const char *word);

#endif
