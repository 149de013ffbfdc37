/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_IMPORT_UNBOUND_LEX_H
#define NAILUP_IMPORT_UNBOUND_LEX_H

/*
 * Splits the text of unbound.conf into words: keywords followed by a colon, and values, bare or
 * quoted. The caller knows the keywords and their number of values. Allocates nothing.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"

struct unbound_lex {
    struct span text;      /* the rest of the text */
    uint32_t line, column; /* the place of its first byte, from 1 */
};

enum unbound_token_kind {
    UNBOUND_END, /* end of the text, or of the line if in_line */
    UNBOUND_WORD,
    UNBOUND_ERROR, /* text is the error sentence; the rest cannot be read */
};

struct unbound_token {
    enum unbound_token_kind kind;
    uint32_t line, column;
    struct span text; /* a word without quotes or colon */
};

void unbound_lex_init(struct unbound_lex *lex, struct span text);

/* Reads the next keyword. */
struct unbound_token unbound_lex_keyword(struct unbound_lex *lex);

/* Reads the next value, which may be on a later line unless in_line. */
struct unbound_token unbound_lex_value(struct unbound_lex *lex, bool in_line);

#endif
