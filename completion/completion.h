/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_COMPLETION_COMPLETION_H
#define NAILUP_COMPLETION_COMPLETION_H

/* What shells are told of a program: its options and commands, from the tables of include/nailup.
 * One thread, for the time of the build. */

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

/* What an argument may be. */
enum argument_kind {
    ARGUMENT_OTHER,  /* nothing is offered */
    ARGUMENT_FILE,   /* files, sockets among them */
    ARGUMENT_WORDS,  /* one of words */
    ARGUMENT_PREFIX, /* an address of an upstream, which the running daemon knows */
};

enum { ARGUMENT_WORDS_MAX = 2048, ARGUMENTS_MAX = 8 };

struct argument {
    char name[256];       /* as it stands in the row, without brackets and dots */
    bool optional, again; /* in brackets; dots behind it */
    enum argument_kind kind;
    char words[ARGUMENT_WORDS_MAX]; /* with a blank between */
};

/* Reads one argument, or the words behind a command; returns how many. */
void argument_read(struct argument *out, const char *text, size_t len);
size_t arguments_read(struct argument out[ARGUMENTS_MAX], const char *text);

/* The first clause of a sentence: that many bytes of it. */
int clause_len(const char *sentence);

bool is_of(const struct option_row *row, const char *program, const char *command);

/* Writes the file for one program. */
void bash_write(FILE *out, const char *program);
void zsh_write(FILE *out, const char *program);
void fish_write(FILE *out, const char *program);

#endif
