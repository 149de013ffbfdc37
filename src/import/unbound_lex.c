/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Splits unbound.conf into words. A # starts a comment only at the start of a word, so that a
 * server's name can follow its address. A backslash escapes the next character and stays in the
 * text. Invariant: each call consumes a byte or ends.
 */
#include "import/unbound_lex.h"

#include <string.h>

void unbound_lex_init(struct unbound_lex *lex, struct span text)
{
    *lex = (struct unbound_lex){text, 1, 1};
}

static bool unbound_lex_is_at(const struct unbound_lex *lex, const char *bytes)
{
    return lex->text.len && lex->text.data[0] && strchr(bytes, lex->text.data[0]);
}

static void unbound_lex_step(struct unbound_lex *lex)
{
    bool is_newline = lex->text.data[0] == '\n';
    lex->line += is_newline;
    lex->column = is_newline ? 1 : lex->column + 1;
    lex->text.data++;
    lex->text.len--;
}

/* Skips to the first byte of a word, or to the end of the text or line. */
static void unbound_lex_skip(struct unbound_lex *lex, bool in_line)
{
    while (unbound_lex_is_at(lex, in_line ? " \t#" : " \t\r\n#")) {
        if (!unbound_lex_is_at(lex, "#")) {
            unbound_lex_step(lex);
            continue;
        }
        while (lex->text.len && !unbound_lex_is_at(lex, "\r\n"))
            unbound_lex_step(lex);
    }
}

static struct unbound_token token_at(const struct unbound_lex *lex, enum unbound_token_kind kind)
{
    return (struct unbound_token){kind, lex->line, lex->column, {lex->text.data, 0}};
}

static struct unbound_token error_at(struct unbound_token token, const char *sentence)
{
    token.kind = UNBOUND_ERROR;
    token.text = span_of(sentence, strlen(sentence));
    return token;
}

/* Takes the bytes up to one of ends, unless escaped, or to the end of the text. */
static void unbound_lex_take(struct unbound_lex *lex, struct unbound_token *token, const char *ends)
{
    while (lex->text.len && !unbound_lex_is_at(lex, ends)) {
        if (unbound_lex_is_at(lex, "\\") && lex->text.len > 1 && lex->text.data[1] != '\n')
            unbound_lex_step(lex);
        unbound_lex_step(lex);
    }
    token->text.len = (size_t)(lex->text.data - token->text.data);
}

struct unbound_token unbound_lex_keyword(struct unbound_lex *lex)
{
    unbound_lex_skip(lex, false);
    struct unbound_token token = token_at(lex, UNBOUND_WORD);
    if (!lex->text.len)
        return token_at(lex, UNBOUND_END);
    if (unbound_lex_is_at(lex, "\"'"))
        return error_at(token, "an option is expected here, not quoted text");
    unbound_lex_take(lex, &token, ":\"' \t\r\n");
    if (!unbound_lex_is_at(lex, ":"))
        return error_at(token, "this is not an option: no colon follows it");
    unbound_lex_step(lex);
    return token;
}

static struct unbound_token quoted(struct unbound_lex *lex, struct unbound_token token)
{
    const char ends[] = {(char)lex->text.data[0], '\n', '\0'};
    unbound_lex_step(lex);
    token.text.data = lex->text.data;
    unbound_lex_take(lex, &token, ends);
    if (!lex->text.len || unbound_lex_is_at(lex, "\n"))
        return error_at(token, "the quote is not closed on its line");
    unbound_lex_step(lex);
    return token;
}

struct unbound_token unbound_lex_value(struct unbound_lex *lex, bool in_line)
{
    unbound_lex_skip(lex, in_line);
    struct unbound_token token = token_at(lex, UNBOUND_WORD);
    if (!lex->text.len || unbound_lex_is_at(lex, "\r\n"))
        return token_at(lex, UNBOUND_END);
    if (unbound_lex_is_at(lex, "\"'"))
        return quoted(lex, token);
    unbound_lex_take(lex, &token, "\"' \t\r\n");
    return token;
}
