/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Cuts unbound.conf into words. A # begins a comment where a word could begin, not inside of one:
 * so a server's name can stand behind its address. A backslash protects the next character and
 * stays where it is. Invariant: each call takes a byte or ends.
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

/* To the first byte of a word, or to the end, or to that of the line. */
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

/* Bytes up to one of ends or the end of the text; escaped ones are none of them. */
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
        return error_at(token, "stands between quotes where an option is expected");
    unbound_lex_take(lex, &token, ":\"' \t\r\n");
    if (!unbound_lex_is_at(lex, ":"))
        return error_at(token, "is no option: there is no colon right behind it");
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
        return error_at(token, "has a quote that is not closed in its line");
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
