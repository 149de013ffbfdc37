/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_SCENARIO_READER_H
#define NAILUP_TESTS_SCENARIO_READER_H

/*
 * Reads a text file line by line, without comments, and a line word by word. The lines from
 * "REPEAT n" to REPEAT_END come n times; each % in them is the number of the time, from 0.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { READER_LINE_MAX = 70000 };

struct reader {
    const char *at, *end;
    int line;             /* number of the line in text, from 1 */
    const char *repeated; /* the first line to repeat; NULL: none */
    int repeated_line;    /* the number of the line before it */
    unsigned times, time; /* how often, and which time this is */
    char text[READER_LINE_MAX];
};

void reader_init(struct reader *reader, const char *data, size_t len);

/* Finds the next line with content, without its comment (from an unquoted ';') and the blanks at
 * both ends. False at the end. */
bool reader_next(struct reader *reader);

/* Takes the next word of a line into word (cut at size); "" at the end. Quotes make one word and
 * are dropped; *quoted (may be NULL) says whether there were any. */
bool reader_word(const char **at, char *word, size_t size, bool *quoted);

/* Converts "12", "1.5", "1.5s" or "250ms" to microseconds. False for another text. */
bool reader_duration(const char *text, uint64_t *us);

/* Returns the value if word begins with "key=", else NULL. */
const char *reader_value(const char *word, const char *key);

#endif
