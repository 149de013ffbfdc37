/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Reads files, follows includes, and passes statements on. An included text continues the clause of
 * its include, and the text after it continues the clause at its end; include-toplevel starts and
 * ends outside of all clauses. Invariant: every bound of the header holds, however files include
 * each other.
 */
#include "import/unbound_source.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "import/unbound_lex.h"

struct file {
    const char *name;
    struct unbound_lex lex;
    int depth;
};

/* ---- messages ---- */

static enum err source_complain(struct unbound_source *source, const char *file, uint32_t line,
                                uint32_t column, const char *format, ...) PRINTF_LIKE(5, 6);

static enum err source_complain(struct unbound_source *source, const char *file, uint32_t line,
                                uint32_t column, const char *format, ...)
{
    char sentence[512], text[DRAFT_TEXT_MAX + 600];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof(sentence), format, args);
    va_end(args);
    int len =
        snprintf(text, sizeof(text), "%.1024s:%u:%u: error: %s\n", file, line, column, sentence);
    /* Messages that do not fit are dropped: the first ones matter most. */
    if (buf_append(source->messages, text, (size_t)len))
        return ERR_INVALID;
    return ERR_INVALID;
}

static enum err complain_token(struct unbound_source *source, const struct file *file,
                               const struct unbound_token *token)
{
    return source_complain(source, file->name, token->line, token->column, "%.*s",
                           (int)token->text.len, (const char *)token->text.data);
}

/* ---- statements ---- */

static const char *copy(struct draft *draft, struct span text)
{
    char *out = arena_take(&draft->arena, text.len + 1);
    if (!out) {
        draft->err = ERR_NO_MEMORY;
        return "";
    }
    if (text.len)
        memcpy(out, text.data, text.len);
    out[text.len] = '\0';
    return out;
}

static struct draft_origin *new_origin(struct unbound_source *source, const struct file *file,
                                       uint32_t line, const char *text)
{
    struct draft_origin *origin = arena_take(&source->draft->arena, sizeof(*origin));
    if (!origin) {
        source->draft->err = ERR_NO_MEMORY;
        return NULL;
    }
    bool *is_accounted = arena_take(&source->draft->arena, sizeof(*is_accounted));
    if (!is_accounted) {
        source->draft->err = ERR_NO_MEMORY;
        return NULL;
    }
    *is_accounted = false;
    *origin = (struct draft_origin){
        .file = file->name,
        .line = line,
        .order = source->order++,
        .text = text,
        .is_accounted = is_accounted,
    };
    return origin;
}

/* Whether the value is a secret that the output must not show. */
static bool is_secret(struct span keyword)
{
    static const char *const ends[] = {"secret", "seed", "password"};
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        size_t len = strlen(ends[i]);
        if (keyword.len >= len && memcmp(keyword.data + keyword.len - len, ends[i], len) == 0)
            return true;
    }
    return false;
}

/* The statement as one line. */
static const char *shown(struct unbound_source *source, const struct unbound_token *keyword,
                         const struct unbound_token *values, size_t count)
{
    static const struct unbound_token hidden = {.text = {(const uint8_t *)"(not shown)", 11}};
    char text[4 * DRAFT_TEXT_MAX];
    size_t len = (size_t)snprintf(text, sizeof(text), "%.*s:", (int)keyword->text.len,
                                  (const char *)keyword->text.data);
    if (is_secret(keyword->text)) {
        values = &hidden;
        count = 1;
    }
    for (size_t i = 0; i < count && len < sizeof(text); i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, " %.*s", (int)values[i].text.len,
                                (const char *)values[i].text.data);
    return draft_shown(source->draft, span_of(text, strlen(text)));
}

static void unbound_source_hand_out(struct unbound_source *source,
                                    const struct unbound_statement *statement)
{
    if (!source->draft->err)
        source->on_statement(source->context, statement);
}

/* Reads up to wanted values. The number of values of an unknown option is unknown, so its values
 * end with the line. */
static enum err read_values(struct unbound_source *source, struct file *file, size_t wanted,
                            bool in_line, struct unbound_token *values, size_t *count)
{
    for (*count = 0; *count < wanted; ++*count) {
        values[*count] = unbound_lex_value(&file->lex, in_line);
        if (values[*count].kind == UNBOUND_ERROR)
            return complain_token(source, file, &values[*count]);
        if (values[*count].kind == UNBOUND_END)
            return ERR_OK;
    }
    return ERR_OK;
}

/* Skips the rest of the line of an unknown option. */
static enum err skip_line(struct unbound_source *source, struct file *file)
{
    struct unbound_token token;
    do {
        token = unbound_lex_value(&file->lex, true);
    } while (token.kind == UNBOUND_WORD);
    return token.kind == UNBOUND_ERROR ? complain_token(source, file, &token) : ERR_OK;
}

/* Lists of a million names are common. When no more of them fit, further ones cost no memory. */
static bool is_surplus(const struct unbound_source *source, const struct unbound_word *word)
{
    return word && source->draft->local_left_out &&
           (word->map == UNBOUND_MAP_local_zone || word->map == UNBOUND_MAP_local_data);
}

static enum err read_option(struct unbound_source *source, struct file *file,
                            enum unbound_clause clause, const struct unbound_token *keyword)
{
    struct unbound_token values[UNBOUND_ARGS_MAX];
    struct unbound_statement statement = {.clause = clause};
    statement.word = unbound_word_find(clause, keyword->text);
    size_t wanted = statement.word ? statement.word->args : UNBOUND_ARGS_MAX, count;
    bool is_counted_only = is_surplus(source, statement.word);
    enum err err = read_values(source, file, wanted, !statement.word, values, &count);
    if (!err && !statement.word && count == wanted)
        err = skip_line(source, file);
    if (err)
        return err;
    if (statement.word && count < wanted)
        return source_complain(source, file->name, keyword->line, keyword->column,
                               "%s takes %zu values, but has %zu", statement.word->name, wanted,
                               count);
    if (is_counted_only) {
        source->statements--;
        source->draft->local_left_out++;
        return ERR_OK;
    }
    for (size_t i = 0; i < count; i++)
        statement.args[i] = copy(source->draft, values[i].text);
    statement.origin =
        new_origin(source, file, keyword->line, shown(source, keyword, values, count));
    if (!statement.origin)
        return ERR_OK;
    statement.origin->next = source->draft->origins;
    source->draft->origins = statement.origin;
    unbound_source_hand_out(source, &statement);
    return ERR_OK;
}

static void begin_clause(struct unbound_source *source, const struct file *file,
                         enum unbound_clause clause, const struct unbound_token *keyword)
{
    struct unbound_statement statement = {.clause = clause, .begins_clause = true};
    statement.origin = new_origin(source, file, keyword->line, shown(source, keyword, NULL, 0));
    if (statement.origin)
        unbound_source_hand_out(source, &statement);
}

/* ---- files ---- */

static enum err read_text(struct unbound_source *source, struct file *file,
                          enum unbound_clause *clause);

static enum err read_fd(struct unbound_source *source, int fd, const char *path, struct span *text)
{
    struct stat status;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        return source_complain(source, path, 1, 1, "is not a regular file");
    size_t size = (size_t)status.st_size, len = 0;
    if (status.st_size > UNBOUND_FILE_MAX || source->bytes + size > UNBOUND_BYTES_MAX)
        return source_complain(source, path, 1, 1,
                               "exceeds %d MiB, or all files together exceed %d MiB",
                               UNBOUND_FILE_MAX >> 20, UNBOUND_BYTES_MAX >> 20);
    uint8_t *data = malloc(size + 1);
    while (data && len < size) {
        ssize_t got = read(fd, data + len, size - len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        len += (size_t)got;
    }
    if (!data)
        return source_complain(source, path, 1, 1, "does not fit into memory");
    source->bytes += size;
    *text = span_of(data, len);
    return ERR_OK;
}

/* Reads one file. path lives as long as the draft. */
static enum err read_unbound_file(struct unbound_source *source, const char *path, int depth,
                                  enum unbound_clause *clause)
{
    if (depth > UNBOUND_DEPTH_MAX || ++source->files > UNBOUND_FILES_MAX)
        return source_complain(
            source, path, 1, 1,
            "exceeds the depth (%d) or number (%d) of included files; does it include itself?",
            UNBOUND_DEPTH_MAX, UNBOUND_FILES_MAX);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO is refused, not waited for */
    if (fd < 0)
        return source_complain(source, path, 1, 1, "cannot be read: %s", strerror(errno));
    struct span text = {0};
    struct file file = {.name = draft_shown(source->draft, span_of(path, strlen(path))),
                        .depth = depth};
    enum err err = read_fd(source, fd, path, &text);
    close(fd);
    if (!err) {
        unbound_lex_init(&file.lex, text);
        err = read_text(source, &file, clause);
    }
    free((void *)(uintptr_t)text.data);
    return err;
}

static enum err read_pattern(struct unbound_source *source, const struct file *file,
                             const struct unbound_token *token, enum unbound_clause *clause)
{
    glob_t found = {0};
    enum err err = ERR_OK;
    const char *pattern = copy(source->draft, token->text);
    if (*pattern != '/' && *pattern != '~')
        pattern = draft_format(source->draft, "%s/%s", source->directory, pattern);
    /* A name without wildcards must exist; a pattern may match no file. */
    bool is_pattern = strpbrk(pattern, "*?[{~") != NULL;
    int result = is_pattern ? glob(pattern, GLOB_BRACE | GLOB_TILDE, NULL, &found) : GLOB_NOMATCH;
    if (!is_pattern)
        err = read_unbound_file(source, pattern, file->depth + 1, clause);
    for (size_t i = 0; result == 0 && i < found.gl_pathc && !err; i++)
        err = read_unbound_file(source, found.gl_pathv[i], file->depth + 1, clause);
    if (is_pattern && result != 0 && result != GLOB_NOMATCH)
        err = source_complain(source, file->name, token->line, token->column,
                              "the files to include cannot be listed");
    globfree(&found);
    return err;
}

static bool names_files(struct span text)
{
    size_t braces = 0;
    for (size_t i = 0; i < text.len; i++)
        braces += text.data[i] == '{';
    return text.len && text.len < UNBOUND_PATH_MAX && !memchr(text.data, '\0', text.len) &&
           braces <= UNBOUND_BRACES_MAX;
}

static enum err include(struct unbound_source *source, struct file *file,
                        const struct unbound_token *keyword, enum unbound_clause *clause,
                        bool is_toplevel)
{
    struct unbound_token value = unbound_lex_value(&file->lex, false);
    if (value.kind == UNBOUND_ERROR)
        return complain_token(source, file, &value);
    if (value.kind == UNBOUND_END || !names_files(value.text))
        return source_complain(source, file->name, keyword->line, keyword->column,
                               "names no file to include");
    if (!source->reads_files) {
        const struct draft_origin *origin =
            new_origin(source, file, keyword->line, shown(source, keyword, &value, 1));
        if (origin)
            draft_note(source->draft, origin, "The file was not read.");
        return ERR_OK;
    }
    if (is_toplevel)
        *clause = UNBOUND_NO_CLAUSE;
    enum err err = read_pattern(source, file, &value, clause);
    if (is_toplevel)
        *clause = UNBOUND_NO_CLAUSE;
    return err;
}

static enum err read_statement(struct unbound_source *source, struct file *file,
                               const struct unbound_token *keyword, enum unbound_clause *clause)
{
    enum unbound_clause begun = unbound_clause_find(keyword->text);
    bool is_toplevel = span_equal(keyword->text, span_of("include-toplevel", 16));
    if (is_toplevel || span_equal(keyword->text, span_of("include", 7)))
        return include(source, file, keyword, clause, is_toplevel);
    if (++source->statements > UNBOUND_STATEMENTS_MAX)
        return source_complain(source, file->name, keyword->line, keyword->column,
                               "has more than %d options, all files together",
                               UNBOUND_STATEMENTS_MAX);
    if (begun == UNBOUND_NO_CLAUSE)
        return read_option(source, file, *clause, keyword);
    *clause = begun;
    begin_clause(source, file, begun, keyword);
    return ERR_OK;
}

static enum err read_text(struct unbound_source *source, struct file *file,
                          enum unbound_clause *clause)
{
    enum err err = ERR_OK;
    while (!err) {
        struct unbound_token token = unbound_lex_keyword(&file->lex);
        if (token.kind == UNBOUND_END)
            break;
        if (token.kind == UNBOUND_ERROR)
            return complain_token(source, file, &token);
        err = read_statement(source, file, &token, clause);
    }
    return err ? err : source->draft->err;
}

enum err unbound_source_file(struct unbound_source *source, const char *path)
{
    enum unbound_clause clause = UNBOUND_NO_CLAUSE;
    return read_unbound_file(source, path, 0, &clause);
}

enum err unbound_source_text(struct unbound_source *source, const char *name, struct span text)
{
    enum unbound_clause clause = UNBOUND_NO_CLAUSE;
    struct file file = {.name = name};
    unbound_lex_init(&file.lex, text);
    return read_text(source, &file, &clause);
}
