/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_PROBLEMS_H
#define NAILUP_CONFIG_PROBLEMS_H

/*
 * The errors found in one file, collected from everywhere and reported once, in the file's order.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "config/config.h"

struct problem {
    struct config_position position;
    unsigned order; /* of discovery, for those at one position */
    char *text;     /* "PATH: sentence" */
};

enum { PROBLEM_FILES_MAX = 256 }; /* files besides the one that was named */

struct problems {
    size_t file_count;
    char *files[PROBLEM_FILES_MAX]; /* names of the included ones, by config_position.file - 1 */
    size_t count;                   /* found */
    size_t kept;                    /* of these, in list: at most CONFIG_ERRORS_MAX */
    bool no_memory;
    struct problem list[CONFIG_ERRORS_MAX];
};

void problems_init(struct problems *problems);
void problems_deinit(struct problems *problems);

/* A further file: the number for positions in it; 0: memory is out, or there are too many. */
uint16_t problems_add_file(struct problems *problems, const char *name);

/* What the file of a position is called; file_name is what the one that was named is. */
const char *problems_file(const struct problems *problems, struct config_position position,
                          const char *file_name);

/* Adds an error: path is a key path such as "server.listen[1]". The sentence says what is wrong and
 * what to do about it. */
void problems_add(struct problems *problems, struct config_position position, const char *path,
                  const char *format, ...) PRINTF_LIKE(4, 5);

/* Memory ran out while the file was read. */
void problems_no_memory(struct problems *problems);

static inline bool problems_is_empty(const struct problems *problems)
{
    return problems->count == 0 && !problems->no_memory;
}

/* Whether a further error would only be counted: no need to find words for it. */
static inline bool problems_is_full(const struct problems *problems)
{
    return problems->kept == CONFIG_ERRORS_MAX;
}

/* Appends a line for each, sorted by file and position. Lines that do not fit out are left out. */
void problems_print(struct problems *problems, const char *file_name, struct buf *out);

/* One error about the file as a whole, for where no struct problems is at hand. */
void problems_print_one(const char *file_name, struct buf *out, const char *sentence);

/* Text of the file, made fit for an error line: unprintable bytes become '?', long text is cut. */
enum { PROBLEM_QUOTE_MAX = 64 };
const char *problem_quote(const char *text, size_t len, char out[PROBLEM_QUOTE_MAX]);

#endif
