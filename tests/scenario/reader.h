/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_SCENARIO_READER_H
#define NAILUP_TESTS_SCENARIO_READER_H

/*
 * Reads a text file line by line, without comments, and each line word by word. The lines from
 * "REPEAT n" to REPEAT_END come n times. Each % in them becomes the number of the repetition, from
 * 0.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { READER_LINE_MAX = 70000 };

struct reader {
    const char *at, *end;
    int line;             /* number of the line in text, from 1 */
    const char *repeated; /* the first line to repeat; NULL: none */
    int repeated_line;    /* the number of the line before the first repeated one */
    unsigned times, time; /* how often the lines repeat, and the number of the present repetition */
    char text[READER_LINE_MAX];
};

void reader_init(struct reader *reader, const char *data, size_t len);

/* Finds the next line with content. Removes its comment (from an unquoted ';') and the blanks at
 * both ends. Returns false at the end. */
bool reader_next(struct reader *reader);

/* Takes the next word of a line into word (cut at size), or "" at the end. Quotes make one word and
 * are removed. *quoted (may be NULL) is set if there were quotes. */
bool reader_word(const char **at, char *word, size_t size, bool *quoted);

/* Converts "12", "1.5", "1.5s" or "250ms" to microseconds. Returns false for other text. */
bool reader_duration(const char *text, uint64_t *us);

/* Returns the value if word begins with "key=", else NULL. */
const char *reader_value(const char *word, const char *key);

#endif
