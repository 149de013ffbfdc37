/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_SCENARIO_READER_H
#define NAILUP_TESTS_SCENARIO_READER_H

/* A text file line by line, without comments, and a line word by word. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { READER_LINE_MAX = 70000 };

struct reader {
    const char *at, *end;
    int line; /* number of the line in text, from 1 */
    char text[READER_LINE_MAX];
};

void reader_init(struct reader *reader, const char *data, size_t len);

/* The next line that says something, comment (from an unquoted ';') and blanks at both ends cut
 * off; false at the end. */
bool reader_next(struct reader *reader);

/* Takes the next word of a line into word (cut at size); "" at the end. Quotes make one word and
 * are dropped; *quoted (may be NULL) says that there were some. */
bool reader_word(const char **at, char *word, size_t size, bool *quoted);

/* "12", "1.5", "1.5s", "250ms" to microseconds; false for another text. */
bool reader_duration(const char *text, uint64_t *us);

/* The value of "key=value" when word begins with "key=", else NULL. */
const char *reader_value(const char *word, const char *key);

#endif
