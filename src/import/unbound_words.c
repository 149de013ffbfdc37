/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Looks up words of unbound.conf by walking the table: a few hundred rows for each line of a file.
 */
#include "import/unbound_words.h"

#include <string.h>

#include "base/check.h"

static const char *const clauses[UNBOUND_CLAUSES] = {
#define CLAUSE(id, name) [UNBOUND_CLAUSE_##id] = (name),
#include "import/unbound_words.def"
};

static const struct unbound_word words[] = {
#define WORD(clause, name, args, map, path, note)                                                  \
    {UNBOUND_CLAUSE_##clause, name, args, UNBOUND_MAP_##map, path, note},
#include "import/unbound_words.def"
};

static bool is_unbound_word(struct span span, const char *word)
{
    return span_equal(span, span_of(word, strlen(word)));
}

const struct unbound_word *unbound_word_find(enum unbound_clause clause, struct span name)
{
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (words[i].clause == clause && is_unbound_word(name, words[i].name))
            return &words[i];
    return NULL;
}

enum unbound_clause unbound_clause_find(struct span name)
{
    for (int i = UNBOUND_NO_CLAUSE + 1; i < UNBOUND_CLAUSES; i++)
        if (is_unbound_word(name, clauses[i]))
            return (enum unbound_clause)i;
    return UNBOUND_NO_CLAUSE;
}

const char *unbound_clause_name(enum unbound_clause clause)
{
    return clauses[clause];
}

enum unbound_clause unbound_word_home(struct span name)
{
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (is_unbound_word(name, words[i].name))
            return words[i].clause;
    return UNBOUND_NO_CLAUSE;
}
