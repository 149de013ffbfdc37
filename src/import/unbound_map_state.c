/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Reads the values of statements for the maps, and leaves notes about them. */
#include "import/unbound_map_state.h"

#include <string.h>

#include "config/options.h"

void map_note(struct unbound_map_state *map, const struct unbound_statement *statement,
              const char *sentence)
{
    draft_note(map->draft, statement->origin, sentence);
}

void map_warn(struct unbound_map_state *map, const struct draft_origin *origin,
              const char *sentence)
{
    static const char start[] = "Not imported: ";
    bool repeats = strncmp(sentence, start, sizeof(start) - 1) == 0;
    const char *text = draft_format(
        map->draft, "%s:%u:1: warning: %s is not imported, which weakens security%s %s\n",
        origin->file, origin->line, origin->text, repeats ? ":" : ".",
        sentence + (repeats ? sizeof(start) - 1 : 0));
    /* A message that does not fit is dropped: the note in the output remains. */
    if (buf_append(map->source->messages, text, strlen(text)))
        return;
}

static bool is_of_module(char c)
{
    return c != '\0' && c != ' ' && c != '\t';
}

bool map_has_module(const struct unbound_map_state *map, const char *name)
{
    const char *modules = map->modules.origin ? map->modules.text : "";
    for (const char *at = modules; *at;) {
        size_t len = 0;
        while (is_of_module(at[len]))
            len++;
        if (len == strlen(name) && memcmp(at, name, len) == 0)
            return true;
        at += len ? len : 1;
    }
    return false;
}

bool map_take_flag(struct unbound_map_state *map, const struct unbound_statement *statement,
                   bool *yes)
{
    *yes = strcmp(statement->args[0], "yes") == 0;
    if (*yes || strcmp(statement->args[0], "no") == 0)
        return true;
    map_note(map, statement, "Not imported: it takes yes or no.");
    return false;
}

bool map_take_number(struct unbound_map_state *map, const struct unbound_statement *statement,
                     uint64_t *number)
{
    const char *text = statement->args[0];
    size_t len = strlen(text);
    *number = 0;
    if (len == 0 || len > 15 || strspn(text, "0123456789") != len) {
        map_note(map, statement, "Not imported: it takes a number.");
        return false;
    }
    for (; *text; text++)
        *number = *number * 10 + (uint64_t)(*text - '0');
    return true;
}

bool map_has_row(struct unbound_map_state *map, const struct unbound_statement *statement)
{
    if (options_find(statement->word->path))
        return true;
    map_note(map, statement, *statement->word->note ? statement->word->note : "No counterpart.");
    return false;
}

const char *map_word(struct unbound_map_state *map, const struct unbound_statement *statement,
                     const char *text)
{
    const char *word = draft_word(map->draft, text);
    if (!word)
        map_note(map, statement, "Not imported: it has non-ASCII characters.");
    return word;
}

const char *map_path(struct unbound_map_state *map, const char *name)
{
    if (!*name || *name == '/')
        return name;
    return draft_format(map->draft, "%s/%s", map->source->directory, name);
}

struct unbound_value *map_keep(struct unbound_map_state *map,
                               const struct unbound_statement *statement)
{
    struct unbound_value *value = arena_take(&map->draft->arena, sizeof(*value));
    if (value)
        *value = (struct unbound_value){.text = statement->args[0], .origin = statement->origin};
    else
        map->draft->err = ERR_NO_MEMORY;
    return value;
}
