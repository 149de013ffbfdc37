/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_PROBLEMS_H
#define NAILUP_CONFIG_PROBLEMS_H

/*
 * The errors of one file, collected from all modules and reported once, in the order of the file.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "config/config.h"

struct problem {
    struct config_position position;
    unsigned order; /* of discovery, for errors at the same position */
    char *text;     /* "PATH: sentence" */
};

enum { PROBLEM_FILES_MAX = 256 }; /* included files */

struct problems {
    size_t file_count;
    char *files[PROBLEM_FILES_MAX]; /* names of the included files, by config_position.file - 1 */
    size_t count;                   /* found */
    size_t kept;                    /* in list: at most CONFIG_ERRORS_MAX */
    bool no_memory;
    char scope[32]; /* before each path: "views[3].", or "" */
    struct problem list[CONFIG_ERRORS_MAX];
};

void problems_init(struct problems *problems);
void problems_deinit(struct problems *problems);

/* Adds an included file and returns its number for positions. 0: out of memory, or too many files.
 */
uint16_t problems_add_file(struct problems *problems, const char *name);

/* The name of the position's file; file_name is the name of the main file. */
const char *problems_file(const struct problems *problems, struct config_position position,
                          const char *file_name);

/* Adds an error. path is a key path such as "server.listen[1]". The sentence explains the error and
 * how to correct it. */
void problems_add(struct problems *problems, struct config_position position, const char *path,
                  const char *format, ...) PRINTF_LIKE(4, 5);

/* Records that memory ran out while the file was read. */
void problems_no_memory(struct problems *problems);

static inline bool problems_is_empty(const struct problems *problems)
{
    return problems->count == 0 && !problems->no_memory;
}

/* Whether a further error would only be counted, so that it needs no text. */
static inline bool problems_is_full(const struct problems *problems)
{
    return problems->kept == CONFIG_ERRORS_MAX;
}

/* Appends a line for each error, sorted by file and position. Drops lines that do not fit out. */
void problems_print(struct problems *problems, const char *file_name, struct buf *out);

/* Appends one error about the whole file, for callers without a struct problems. */
void problems_print_one(const char *file_name, struct buf *out, const char *sentence);

/* Makes text of the file fit for an error line: replaces unprintable bytes by '?' and cuts long
 * text. */
enum { PROBLEM_QUOTE_MAX = 64 };
const char *problem_quote(const char *text, size_t len, char out[PROBLEM_QUOTE_MAX]);

#endif
