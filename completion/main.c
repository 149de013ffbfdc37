/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Makes the completions for shells during the build, from the tables of include/nailup, so that no
 * command or option is forgotten.
 *
 * nailup_completion SHELL PROGRAM FILE
 */

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "completion.h"
#include "dns/rrtype.h"

const struct option_row option_rows[] = {
#define PROGRAM_OPTION(program, command, name, letter, argument, sentence)                         \
    {program, command, name, letter, argument, sentence},
#include "nailup/programs.def"
};
const size_t option_count = ARRAY_LEN(option_rows);

const struct command_row command_rows[] = {
#define COMMAND(verb, arguments, handler, sentence) {"nailupctl", verb, arguments, sentence},
#include "nailup/commands.def"
#define PROGRAM_OPTION(program, command, name, letter, argument, sentence)
#define PROGRAM_COMMAND(program, name, arguments, sentence) {program, name, arguments, sentence},
#include "nailup/programs.def"
};
const size_t command_count = ARRAY_LEN(command_rows);

bool option_belongs_to(const struct option_row *row, const char *program, const char *command)
{
    return strcmp(row->program, program) == 0 && strcmp(row->command, command) == 0;
}

int clause_len(const char *sentence)
{
    size_t len = strcspn(sentence, ":;");
    for (size_t i = 0; i < len; i++) {
        if (sentence[i] == '.' && (sentence[i + 1] == ' ' || sentence[i + 1] == '\0'))
            return (int)i;
    }
    return (int)len;
}

/* ---- arguments ---- */

static void add_word(struct argument *argument, const char *word)
{
    size_t len = strlen(argument->words);
    int more = snprintf(argument->words + len, sizeof(argument->words) - len, "%s%s",
                        len ? " " : "", word);
    MUST(more > 0 && (size_t)more < sizeof(argument->words) - len);
}

/* Adds the types that have a name, unlike TYPE28. */
static void add_types(struct argument *argument)
{
    char text[RRTYPE_TEXT_MAX];
    for (unsigned type = 1; type < 0x10000; type++) {
        rrtype_name((uint16_t)type, text);
        if (strncmp(text, "TYPE", 4) != 0 &&
            (!rrtype_is_meta((uint16_t)type) || type == RRTYPE_ANY))
            add_word(argument, text);
    }
}

static void add_choices(struct argument *argument)
{
    char name[sizeof(argument->name)];
    char *rest = NULL;
    memcpy(name, argument->name, sizeof(name));
    for (char *word = strtok_r(name, "|", &rest); word; word = strtok_r(NULL, "|", &rest))
        add_word(argument, word);
}

static const struct {
    const char *name;
    enum argument_kind kind;
    const char *words;
} known_arguments[] = {
    {"FILE", ARGUMENT_FILE, ""},
    {"SOCKET", ARGUMENT_FILE, ""},
    {"PREFIX", ARGUMENT_PREFIX, ""},
    {"LEVEL", ARGUMENT_WORDS, "error|warning|notice|info|debug"}, /* base/log.h */
};

static void set_kind(struct argument *argument)
{
    for (size_t i = 0; i < ARRAY_LEN(known_arguments); i++) {
        if (strcmp(argument->name, known_arguments[i].name) != 0)
            continue;
        argument->kind = known_arguments[i].kind;
        if (*known_arguments[i].words)
            snprintf(argument->name, sizeof(argument->name), "%s", known_arguments[i].words);
    }
    if (strcmp(argument->name, "TYPE") == 0) {
        argument->kind = ARGUMENT_WORDS;
        add_types(argument);
    } else if (strchr(argument->name, '|')) {
        argument->kind = ARGUMENT_WORDS;
        add_choices(argument);
    }
}

void argument_read(struct argument *out, const char *text, size_t len)
{
    *out = (struct argument){.is_optional = len > 1 && *text == '['};
    if (out->is_optional) {
        text++;
        len -= 2;
    }
    out->is_repeated = len > 3 && memcmp(text + len - 3, "...", 3) == 0;
    if (out->is_repeated)
        len -= 3;
    snprintf(out->name, sizeof(out->name), "%.*s", (int)len, text);
    set_kind(out);
}

size_t arguments_read(struct argument out[ARGUMENTS_MAX], const char *text)
{
    size_t count = 0;
    while (*text) {
        size_t len = strcspn(text, " ");
        if (len == 3 && strncmp(text, "...", 3) == 0 && count > 0) {
            out[count - 1].is_repeated = true;
        } else {
            MUST(count < ARGUMENTS_MAX);
            argument_read(&out[count++], text, len);
        }
        text += len + (text[len] == ' ');
    }
    return count;
}

/* ---- the file ---- */

static const struct {
    const char *name;
    void (*write)(FILE *out, const char *program);
} shells[] = {{"bash", bash_write}, {"zsh", zsh_write}, {"fish", fish_write}};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 4 && i < ARRAY_LEN(shells); i++) {
        if (strcmp(argv[1], shells[i].name) != 0)
            continue;
        FILE *out = fopen(argv[3], "w");
        if (!out) {
            perror(argv[3]);
            return 1;
        }
        shells[i].write(out, argv[2]);
        if (fclose(out) == 0)
            return 0;
        perror(argv[3]);
        remove(argv[3]);
        return 1;
    }
    fputs("usage: nailup_completion bash|zsh|fish PROGRAM FILE\n", stderr);
    return 2;
}
