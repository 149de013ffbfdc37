/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Finds the ends of tokens and entries. Invariant: rest only shrinks, so reading ends. */
#include "zone/zone_lexer.h"

#include <string.h>
#include <strings.h>

void zone_lexer_init(struct zone_lexer *lexer, struct span text)
{
    lexer->rest = text;
    lexer->line = lexer->entry_line = 1;
    lexer->count = 0;
}

bool zone_token_is(const struct zone_token *token, const char *word)
{
    size_t len = strlen(word);
    return !token->is_quoted && token->text.len == len &&
           strncasecmp((const char *)token->text.data, word, len) == 0;
}

static void lexer_drop(struct zone_lexer *lexer, size_t len)
{
    lexer->rest = span_of(lexer->rest.data + len, lexer->rest.len - len);
}

static void drop_comment(struct zone_lexer *lexer)
{
    const uint8_t *end = memchr(lexer->rest.data, '\n', lexer->rest.len);
    lexer_drop(lexer, end ? (size_t)(end - lexer->rest.data) : lexer->rest.len);
}

static bool ends_word(uint8_t byte)
{
    switch (byte) {
    case ' ':
    case '\t':
    case '\r':
    case '\n':
    case ';':
    case '(':
    case ')':
    case '"':
        return true;
    default:
        return false;
    }
}

/* Returns the length of a word; an escape hides the byte after it. */
static size_t word_len(struct span rest)
{
    size_t at = 0;
    while (at < rest.len && !ends_word(rest.data[at]))
        at += rest.data[at] == '\\' && at + 1 < rest.len && rest.data[at + 1] != '\n' ? 2 : 1;
    return at;
}

/* Returns the length up to the closing quote, or rest.len when the line ends before it. */
static size_t quoted_len(struct span rest)
{
    for (size_t at = 0; at < rest.len && rest.data[at] != '\n'; at++) {
        if (rest.data[at] == '"')
            return at;
        at += rest.data[at] == '\\' && at + 1 < rest.len && rest.data[at + 1] != '\n';
    }
    return rest.len;
}

static enum err lexer_fail(const struct zone_lexer *lexer, struct zone_file_fault *fault,
                           const char *sentence)
{
    *fault = (struct zone_file_fault){.line = lexer->line, .sentence = sentence};
    return ERR_INVALID;
}

/* Takes the word or the quoted text at the start of rest. */
static enum err take_token(struct zone_lexer *lexer, struct zone_file_fault *fault)
{
    if (lexer->count == ZONE_FILE_TOKENS_MAX) {
        (void)lexer_fail(lexer, fault, "the record has too many words");
        return ERR_LIMIT;
    }
    bool is_quoted = lexer->rest.data[0] == '"';
    if (is_quoted)
        lexer_drop(lexer, 1);
    size_t len = is_quoted ? quoted_len(lexer->rest) : word_len(lexer->rest);
    if (is_quoted && len == lexer->rest.len)
        return lexer_fail(lexer, fault, "the quoted text does not end in its line");
    if (lexer->count == 0)
        lexer->entry_line = lexer->line;
    lexer->tokens[lexer->count++] = (struct zone_token){span_of(lexer->rest.data, len), is_quoted};
    lexer_drop(lexer, len + is_quoted);
    return ERR_OK;
}

/* Reads up to the end of the entry: of the line, or of the line where its parentheses are closed.
 */
static enum err read_entry(struct zone_lexer *lexer, struct zone_file_fault *fault)
{
    size_t depth = 0;
    while (lexer->rest.len > 0) {
        enum err err = ERR_OK;
        uint8_t byte = lexer->rest.data[0];
        if (byte == '\n') {
            lexer_drop(lexer, 1);
            lexer->line++;
            if (depth == 0)
                return ERR_OK;
        } else if (byte == ' ' || byte == '\t' || byte == '\r') {
            lexer_drop(lexer, 1);
        } else if (byte == ';') {
            drop_comment(lexer);
        } else if (byte == '(' || byte == ')') {
            if (byte == ')' && depth == 0)
                return lexer_fail(lexer, fault, "a closing parenthesis has no opening one");
            depth = byte == '(' ? depth + 1 : depth - 1;
            lexer_drop(lexer, 1);
        } else if ((err = take_token(lexer, fault)) != ERR_OK) {
            return err;
        }
    }
    return depth ? lexer_fail(lexer, fault, "a parenthesis is not closed") : ERR_OK;
}

enum err zone_lexer_next(struct zone_lexer *lexer, struct zone_file_fault *fault)
{
    lexer->count = 0;
    while (lexer->count == 0 && lexer->rest.len > 0) {
        lexer->begins_with_blank = lexer->rest.data[0] == ' ' || lexer->rest.data[0] == '\t';
        enum err err = read_entry(lexer, fault);
        if (err != ERR_OK)
            return err;
    }
    return ERR_OK;
}
