/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Lines, words and durations of scenario files. script.c and entry.c know their meaning. */
#include "scenario/reader.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void reader_init(struct reader *reader, const char *data, size_t len)
{
    reader->at = data;
    reader->end = data + len;
    reader->line = 0;
    reader->repeated = NULL;
    reader->text[0] = '\0';
}

/* A ';' in quotes or after a backslash belongs to a record. */
static void cut_comment(char *text)
{
    bool quoted = false;
    for (; *text; text++) {
        if (*text == '\\' && text[1])
            text++;
        else if (*text == '"')
            quoted = !quoted;
        else if (*text == ';' && !quoted)
            *text = '\0';
        if (!*text)
            return;
    }
}

static void trim(char *text)
{
    size_t blanks = strspn(text, " \t\r");
    size_t len = strlen(text);
    while (len > blanks && strchr(" \t\r", text[len - 1]))
        len--;
    memmove(text, text + blanks, len - blanks);
    text[len - blanks] = '\0';
}

static void put_number(char text[READER_LINE_MAX], unsigned number)
{
    char digits[16];
    size_t len = (size_t)snprintf(digits, sizeof(digits), "%u", number);
    for (char *at = text; (at = strchr(at, '%')) != NULL; at += len) {
        size_t rest = strlen(at); /* the bytes from the mark to the end, with the NUL */
        if ((size_t)(at - text) + len + rest > READER_LINE_MAX)
            return;
        memmove(at + len, at + 1, rest);
        memcpy(at, digits, len);
    }
}

/* Returns whether the line belongs to the file's contents. */
static bool follow_repeat(struct reader *reader)
{
    if (sscanf(reader->text, "REPEAT %u", &reader->times) == 1) {
        reader->repeated = reader->at;
        reader->repeated_line = reader->line;
        reader->time = 0;
        return false;
    }
    if (!reader->repeated)
        return true;
    if (strcmp(reader->text, "REPEAT_END") != 0) {
        put_number(reader->text, reader->time);
        return true;
    }
    if (++reader->time < reader->times) {
        reader->at = reader->repeated;
        reader->line = reader->repeated_line;
    } else {
        reader->repeated = NULL;
    }
    return false;
}

bool reader_next(struct reader *reader)
{
    while (reader->at < reader->end) {
        const char *stop = memchr(reader->at, '\n', (size_t)(reader->end - reader->at));
        size_t len = (size_t)((stop ? stop : reader->end) - reader->at);
        if (len >= READER_LINE_MAX)
            len = READER_LINE_MAX - 1;
        memcpy(reader->text, reader->at, len);
        reader->text[len] = '\0';
        reader->at = stop ? stop + 1 : reader->end;
        reader->line++;
        cut_comment(reader->text);
        trim(reader->text);
        if (reader->text[0] && follow_repeat(reader))
            return true;
    }
    return false;
}

bool reader_word(const char **at, char *word, size_t size, bool *quoted)
{
    const char *text = *at + strspn(*at, " \t\r");
    bool in_quotes = false, any_quotes = false;
    size_t len = 0;
    for (; *text && (in_quotes || !strchr(" \t\r", *text)); text++) {
        if (*text == '"') {
            in_quotes = !in_quotes;
            any_quotes = true;
        } else if (len + 1 < size) {
            word[len++] = *text;
        }
    }
    word[len] = '\0';
    *at = text;
    if (quoted)
        *quoted = any_quotes;
    return len > 0 || any_quotes;
}

bool reader_duration(const char *text, uint64_t *us)
{
    char *unit;
    double value = strtod(text, &unit);
    if (unit == text || value < 0 || !isdigit((unsigned char)*text))
        return false;
    if (strcmp(unit, "ms") == 0)
        value *= 1e3;
    else if (strcmp(unit, "us") != 0)
        value *= 1e6;
    *us = (uint64_t)(value + 0.5);
    return !*unit || strcmp(unit, "s") == 0 || strcmp(unit, "ms") == 0 || strcmp(unit, "us") == 0;
}

const char *reader_value(const char *word, const char *key)
{
    size_t len = strlen(key);
    return strncmp(word, key, len) == 0 && word[len] == '=' ? word + len + 1 : NULL;
}
