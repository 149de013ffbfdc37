/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_COMPLETION_COMPLETION_H
#define NAILUP_COMPLETION_COMPLETION_H

/* Reads the options and commands of a program from the tables of include/nailup, and writes
 * completions for shells. One thread, during the build. */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct option_row {
    const char *program, *command, *name;
    char letter; /* 0: none */
    const char *argument, *sentence;
};

struct command_row {
    const char *program, *name, *arguments, *sentence;
};

extern const struct option_row option_rows[];
extern const struct command_row command_rows[];
extern const size_t option_count, command_count;

/* The kinds of arguments. */
enum argument_kind {
    ARGUMENT_OTHER,  /* completion offers nothing */
    ARGUMENT_FILE,   /* files, including sockets */
    ARGUMENT_WORDS,  /* one of the words below */
    ARGUMENT_PREFIX, /* an upstream's address, from the running daemon */
};

enum { ARGUMENT_WORDS_MAX = 2048, ARGUMENTS_MAX = 8 };

struct argument {
    char name[256];                /* as written in the row, without brackets and dots */
    bool is_optional, is_repeated; /* written in brackets; followed by dots */
    enum argument_kind kind;
    char words[ARGUMENT_WORDS_MAX]; /* separated by blanks */
};

/* Reads one argument, or all arguments of a command; the latter returns their number. */
void argument_read(struct argument *out, const char *text, size_t len);
size_t arguments_read(struct argument out[ARGUMENTS_MAX], const char *text);

/* The length in bytes of the sentence's first clause. */
int clause_len(const char *sentence);

bool option_belongs_to(const struct option_row *row, const char *program, const char *command);

/* Writes the file for one program. */
void bash_write(FILE *out, const char *program);
void zsh_write(FILE *out, const char *program);
void fish_write(FILE *out, const char *program);

#endif
