/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_IMPORT_UNBOUND_LEX_H
#define NAILUP_IMPORT_UNBOUND_LEX_H

/*
 * The text of unbound.conf as words: keywords with a colon behind them, and values, bare or between
 * quotes. What keywords mean and how many values each has is the caller's. No memory is taken.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"

struct unbound_lex {
    struct span text;      /* what is left */
    uint32_t line, column; /* of its first byte, from 1 */
};

enum unbound_token_kind {
    UNBOUND_END, /* of the text; of the line, where that was asked for */
    UNBOUND_WORD,
    UNBOUND_ERROR, /* text is what is wrong, a sentence; nothing can be read behind it */
};

struct unbound_token {
    enum unbound_token_kind kind;
    uint32_t line, column;
    struct span text; /* a word without its quotes or its colon */
};

void unbound_lex_init(struct unbound_lex *lex, struct span text);

/* The next keyword. */
struct unbound_token unbound_lex_keyword(struct unbound_lex *lex);

/* The next value, which may stand in a later line unless in_line. */
struct unbound_token unbound_lex_value(struct unbound_lex *lex, bool in_line);

#endif
