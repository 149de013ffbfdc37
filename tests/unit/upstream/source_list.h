/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_UNIT_UPSTREAM_SOURCE_LIST_H
#define NAILUP_TESTS_UNIT_UPSTREAM_SOURCE_LIST_H

/* Lists of source addresses from text. */

#include <string.h>

#include "upstream/sources.h"

/* text: addresses and prefixes with a space between two. The caller drops the reference. */
static inline struct sources *source_list(const char *text)
{
    struct prefix list[SOURCES_MAX];
    unsigned count = 0;
    char words[4096], *rest = NULL;

    strcpy(words, text);
    for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        assert_int_equal(prefix_parse(&list[count++], word), ERR_OK);
    struct sources *sources = sources_new(list, count);
    assert_non_null(sources);
    return sources;
}

#endif
